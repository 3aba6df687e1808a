"""The names of the stacks and of what is in them, for what deploys them and for what looks for them."""

from typing import Final

API_FUNCTION_OUTPUT: Final = "ApiFunctionName"
"""Of a regional stack: the function behind its API, whose settings say where all else is."""


def key_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Key-{region}"


def data_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Data"


def cache_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Cache-{region}"


def regional_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Regional-{region}"


def session_table(stage: str) -> str:
    return f"session-store-{stage}"


def audit_table(stage: str) -> str:
    return f"session-store-audit-{stage}"


def event_bus(stage: str) -> str:
    return f"session-store-{stage}"


def credential_prefix(stage: str) -> str:
    """What the names of the secrets of all tenants begin with, unless another prefix is configured."""
    return f"session-store/{stage}"
