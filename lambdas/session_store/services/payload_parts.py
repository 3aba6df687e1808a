"""The payload attributes of items, which move to the bucket where an item gets too large."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.json_values import JsonValue
from session_store.domain.message import Message
from session_store.domain.payload import StoredPayload, payload_size
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.schema import checkpoint_sk, claim_sk, message_sk
from session_store.services.payloads import INLINE_LIMIT, Payloads

ItemT = TypeVar("ItemT", bound=Message | Checkpoint | Claim | ToolCallRecord)


class PayloadAttributes(Struct, Generic[ItemT], frozen=True, kw_only=True):
    """The payload attributes of one kind of item.

    ``names``: the attributes. ``sk``: the sort key that their objects are named by.
    """

    names: tuple[str, ...]
    sk: Callable[[ItemT], str]

    def store(self, payloads: Payloads, items: Sequence[ItemT]) -> tuple[ItemT, ...]:
        """Upload what is too large and return the items as the table stores them. They share one session.

        Of each item the largest payloads are uploaded, until the rest fits.

        Raises:
            ThrottledError: some objects may have been written; nothing refers to them.
        """
        large = [(place, name) for place, item in enumerate(items) for name in self._too_large(item)]
        wanted = [(self.sk(items[place]), getattr(items[place], name)) for place, name in large]
        return _with(items, large, payloads.store(items[0].session_id, wanted) if large else [])

    def load(self, payloads: Payloads, items: Sequence[ItemT], *, home: str) -> tuple[ItemT, ...]:
        """Load from the bucket what the stored items refer to. They share one session, at home in ``home``.

        Raises:
            MisdirectedError, PayloadMissingError, ThrottledError
        """
        offloaded = [(place, name) for place, item in enumerate(items) for name in self._offloaded(item)]
        wanted = [(self.sk(items[place]), getattr(items[place], name)) for place, name in offloaded]
        return _with(
            items, offloaded, payloads.load(items[0].session_id, wanted, home=home) if offloaded else []
        )

    def with_given(self, item: ItemT, **given: JsonValue) -> ItemT:
        """The stored item with the payloads that the caller has just sent, which spares loading them."""
        return replace(item, **{name: given[name] for name in self._offloaded(item) if name in given})

    def has_large(self, item: ItemT) -> bool:
        """Whether ``store`` uploads a part of it."""
        return bool(self._too_large(item))

    def _offloaded(self, item: ItemT) -> list[str]:
        return [name for name in self.names if isinstance(getattr(item, name), StoredPayload)]

    def _too_large(self, item: ItemT) -> list[str]:
        """The largest payloads that are not in the bucket yet, until the rest fits."""
        offloaded = self._offloaded(item)
        values = {name: getattr(item, name) for name in self.names if name not in offloaded}
        sizes = {name: payload_size(value) for name, value in values.items() if value is not None}
        left = sum(sizes.values())
        large: list[str] = []
        for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
            if left > INLINE_LIMIT:
                large.append(name)
                left -= sizes[name]
        return large


def _with(
    items: Sequence[ItemT], parts: Sequence[tuple[int, str]], values: Sequence[object]
) -> tuple[ItemT, ...]:
    """The items with new values for ``parts``, each a position in ``items`` and an attribute name."""
    new: dict[int, dict[str, object]] = {}
    for (place, name), value in zip(parts, values, strict=True):
        new.setdefault(place, {})[name] = value
    return tuple(replace(item, **new[place]) if place in new else item for place, item in enumerate(items))


def _message_sk(message: Message) -> str:
    return message_sk(message.message_id)


def _checkpoint_sk(checkpoint: Checkpoint) -> str:
    return checkpoint_sk(checkpoint.namespace, checkpoint.checkpoint_id)


def _call_sk(call: Claim | ToolCallRecord) -> str:
    """The claim's sort key, since a record's own contains a time, which a retry may change."""
    return claim_sk(call.tool_call_id)


MESSAGES: Final = PayloadAttributes[Message](names=("content",), sk=_message_sk)
CHECKPOINTS: Final = PayloadAttributes[Checkpoint](names=("data",), sk=_checkpoint_sk)
CLAIMS: Final = PayloadAttributes[Claim](names=("input",), sk=_call_sk)
RECORDS: Final = PayloadAttributes[ToolCallRecord](names=("input", "output", "error"), sk=_call_sk)
