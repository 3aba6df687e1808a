"""Idempotency tokens: for DynamoDB transactions, and for services that a tool calls."""

from typing import Final

from session_store.domain.json_values import JsonValue, digest

LENGTH: Final = 36
"""The longest ``ClientRequestToken`` that DynamoDB takes."""


def token_of(*parts: JsonValue) -> str:
    """36 hex digits, the same for the same parts in the same order."""
    return digest(list(parts))[:LENGTH]
