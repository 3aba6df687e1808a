"""The payloads of a recorded call: in its record, or in the bucket where they are too large for that."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from session_store.domain.json_values import JsonValue
from session_store.domain.payload import StoredPayload, payload_size
from session_store.domain.session import Session
from session_store.domain.tool_call import ToolCallRecord
from session_store.schema import claim_sk
from session_store.services.payloads import INLINE_LIMIT, Payloads

PARTS: Final = ("input", "output", "error")
"""The payloads of a call, and of its record."""


def stored(payloads: Payloads, record: ToolCallRecord) -> ToolCallRecord:
    """The record as its item has it: the largest parts are in the bucket before it, the rest fits."""
    sizes = {part: payload_size(getattr(record, part)) for part in PARTS}
    large: list[str] = []
    for part in sorted(PARTS, key=sizes.__getitem__, reverse=True):
        if sum(sizes.values()) > INLINE_LIMIT:
            large.append(part)
            sizes[part] = 0
    wanted = [(_sk(record), getattr(record, part)) for part in large]
    aside: dict[str, JsonValue] = dict(zip(large, payloads.stored(record.session_id, wanted), strict=True))
    return replace(record, **aside)


def opened(
    payloads: Payloads, session: Session, records: Sequence[ToolCallRecord]
) -> tuple[ToolCallRecord, ...]:
    """The records with the parts that lie in the bucket."""
    elsewhere = [
        (record, part)
        for record in records
        for part in PARTS
        if isinstance(getattr(record, part), StoredPayload)
    ]
    wanted = [(_sk(record), getattr(record, part)) for record, part in elsewhere]
    found: dict[str, dict[str, JsonValue]] = {}
    for (record, part), value in zip(elsewhere, payloads.opened(session, wanted), strict=True):
        found.setdefault(_sk(record), {})[part] = value
    return tuple(replace(record, **found.get(_sk(record), {})) for record in records)


def has_any_aside(record: ToolCallRecord) -> bool:
    return any(isinstance(getattr(record, part), StoredPayload) for part in PARTS)


def _sk(record: ToolCallRecord) -> str:
    """Of the claim, which decides: a record's own has a time in it, which a retry may tell anew."""
    return claim_sk(record.tool_call_id)
