"""The payloads of an item: in it, or in the bucket where they are too large for that."""

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


class Parts(Struct, Generic[ItemT], frozen=True, kw_only=True):
    """``names``: the attributes that are payloads. ``sk``: the sort key that names their objects."""

    names: tuple[str, ...]
    sk: Callable[[ItemT], str]

    def stored(self, payloads: Payloads, items: Sequence[ItemT]) -> tuple[ItemT, ...]:
        """The items, of one session, as the table has them.

        The largest parts of each are in the bucket before it, the rest fits.

        Raises:
            ThrottledError: some may be there; nothing refers to them.
        """
        large = [(place, name) for place, item in enumerate(items) for name in self._too_large(item)]
        wanted = [(self.sk(items[place]), getattr(items[place], name)) for place, name in large]
        return _with(items, large, payloads.stored(items[0].session_id, wanted) if large else [])

    def opened(self, payloads: Payloads, items: Sequence[ItemT], *, home: str) -> tuple[ItemT, ...]:
        """The items, of one session whose home region is ``home``, with the parts that lie in the bucket.

        Raises:
            MisdirectedError, PayloadMissingError, ThrottledError
        """
        aside = [(place, name) for place, item in enumerate(items) for name in self._aside(item)]
        wanted = [(self.sk(items[place]), getattr(items[place], name)) for place, name in aside]
        return _with(items, aside, payloads.opened(items[0].session_id, wanted, home=home) if aside else [])

    def as_given(self, item: ItemT, **given: JsonValue) -> ItemT:
        """The item with the parts that the caller knows: what lies elsewhere need not be asked for."""
        return replace(item, **{name: given[name] for name in self._aside(item) if name in given})

    def has_large(self, item: ItemT) -> bool:
        """Whether ``stored`` puts some of it into the bucket."""
        return bool(self._too_large(item))

    def _aside(self, item: ItemT) -> list[str]:
        return [name for name in self.names if isinstance(getattr(item, name), StoredPayload)]

    def _too_large(self, item: ItemT) -> list[str]:
        """The largest of those that do not lie in the bucket yet, until the rest fits."""
        aside = self._aside(item)
        sizes = {name: payload_size(getattr(item, name)) for name in self.names if name not in aside}
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
    """The items with new values for ``parts``, each of them a place in ``items`` and a name."""
    new: dict[int, dict[str, object]] = {}
    for (place, name), value in zip(parts, values, strict=True):
        new.setdefault(place, {})[name] = value
    return tuple(replace(item, **new[place]) if place in new else item for place, item in enumerate(items))


def _message_sk(message: Message) -> str:
    return message_sk(message.message_id)


def _checkpoint_sk(checkpoint: Checkpoint) -> str:
    return checkpoint_sk(checkpoint.namespace, checkpoint.checkpoint_id)


def _call_sk(call: Claim | ToolCallRecord) -> str:
    """Of the claim, which decides: a record's own has a time in it, which a retry may tell anew."""
    return claim_sk(call.tool_call_id)


MESSAGES: Final = Parts[Message](names=("content",), sk=_message_sk)
CHECKPOINTS: Final = Parts[Checkpoint](names=("data",), sk=_checkpoint_sk)
CLAIMS: Final = Parts[Claim](names=("input",), sk=_call_sk)
RECORDS: Final = Parts[ToolCallRecord](names=("input", "output", "error"), sk=_call_sk)
