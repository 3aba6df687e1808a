"""The payloads of a call: in its item, or in the bucket where they are too large for that."""

from collections.abc import Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from session_store.domain.json_values import JsonValue
from session_store.domain.payload import StoredPayload, payload_size
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.schema import claim_sk
from session_store.services.payloads import INLINE_LIMIT, Payloads

PARTS: Final = ("input", "output", "error")
"""The payloads of a record. The claim of a call that is not settled has the first."""

Call = TypeVar("Call", bound=Claim | ToolCallRecord)


def stored(payloads: Payloads, call: Call) -> Call:
    """The call as its item has it: the largest parts are in the bucket before it, the rest fits."""
    sizes = {part: payload_size(getattr(call, part)) for part in _parts(call, aside=False)}
    large: list[str] = []
    for part in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if sum(sizes.values()) > INLINE_LIMIT:
            large.append(part)
            sizes[part] = 0
    wanted = [(_sk(call), getattr(call, part)) for part in large]
    aside: dict[str, JsonValue] = dict(zip(large, payloads.stored(call.session_id, wanted), strict=True))
    return replace(call, **aside)


def opened(payloads: Payloads, calls: Sequence[Call], *, home: str) -> tuple[Call, ...]:
    """The calls, of one session whose home region is ``home``, with the parts that lie in the bucket.

    Raises:
        MisdirectedError, PayloadMissingError, ThrottledError
    """
    elsewhere = [(call, part) for call in calls for part in _parts(call, aside=True)]
    if not elsewhere:
        return tuple(calls)
    wanted = [(_sk(call), getattr(call, part)) for call, part in elsewhere]
    values = payloads.opened(calls[0].session_id, wanted, home=home)
    found: dict[str, dict[str, JsonValue]] = {}
    for (call, part), value in zip(elsewhere, values, strict=True):
        found.setdefault(_sk(call), {})[part] = value
    return tuple(replace(call, **found.get(_sk(call), {})) for call in calls)


def as_given(call: Call, **given: JsonValue) -> Call:
    """The call with the parts that the caller knows: what lies elsewhere need not be asked for."""
    return replace(call, **{part: given[part] for part in _parts(call, aside=True) if part in given})


def _parts(call: Claim | ToolCallRecord, *, aside: bool) -> list[str]:
    """Those that lie elsewhere, or those that do not."""
    parts = PARTS if isinstance(call, ToolCallRecord) else PARTS[:1]
    return [part for part in parts if isinstance(getattr(call, part), StoredPayload) is aside]


def _sk(call: Claim | ToolCallRecord) -> str:
    """Of the claim, which decides: a record's own has a time in it, which a retry may tell anew."""
    return claim_sk(call.tool_call_id)
