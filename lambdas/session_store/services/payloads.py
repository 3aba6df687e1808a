"""Payloads that are kept whole: message contents, tool inputs and outputs.

A small one stands in its item. A large one lies in a bucket, put there before the
item that refers to it and so commits it: a crash in between leaves an object that
nobody refers to, and that goes with its session.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from msgspec import Struct

from session_store.domain.json_values import JsonValue, check_nesting, decode_stored, encode
from session_store.domain.payload import StoredPayload, payload_size
from session_store.errors import MisdirectedError, PayloadMissingError, PayloadTooLargeError
from session_store.ports import PayloadStorage
from session_store.schema import payload_key

INLINE_LIMIT: Final = 300 * 1024
"""Bytes of JSON inside an item; the rest of DynamoDB's 400 KB is room for its other attributes."""

LARGEST: Final = 1024 * 1024
"""Bytes of JSON of all the payloads that one call brings: as many as a request's body."""

OUTCOME_ROOM: Final = 1024
"""Bytes that an input leaves for the outcome of its work, so that whatever is begun can be ended."""

PARALLEL: Final = 8

Given = TypeVar("Given")
Made = TypeVar("Made")


class Payloads(Struct, frozen=True, kw_only=True):
    """``storage`` is this region's, made at its first use; None where no bucket is configured."""

    storage: Callable[[], PayloadStorage] | None
    region: str

    def check(self, value: JsonValue, *, path: str) -> int:
        """The bytes of its JSON.

        Raises:
            InvalidRequestError: nested too deep; names the path.
            PayloadTooLargeError: more than this deployment keeps.
        """
        check_nesting(value, path=path)
        return self.check_size(payload_size(value), path=path)

    def check_size(self, size: int, *, path: str, limit: int | None = None) -> int:
        most = self.limit if limit is None else limit
        if size > most:
            raise PayloadTooLargeError(
                f"At most {most} bytes of JSON (at {path})", path=path, limit=most, size=size
            )
        return size

    @property
    def limit(self) -> int:
        """Bytes of JSON that the payloads of one item may have."""
        return INLINE_LIMIT if self.storage is None else LARGEST

    def stored(self, session_id: str, large: Sequence[tuple[str, JsonValue]]) -> list[StoredPayload]:
        """Put values into the bucket, each with the sort key of the item that will refer to it.

        Raises:
            ThrottledError: some may be there; nothing refers to them.
        """
        if self.storage is None or not large:
            return []
        bucket = self.storage()

        def put(one: tuple[str, JsonValue]) -> StoredPayload:
            sk, value = one
            text = encode(value)
            stored = StoredPayload(size=len(text), sha256=hashlib.sha256(text).hexdigest())
            bucket.put(payload_key(session_id, sk, stored.sha256), text)
            return stored

        return _each(put, large)

    def opened(
        self, session_id: str, wanted: Sequence[tuple[str, StoredPayload]], *, home: str
    ) -> list[JsonValue]:
        """The values again, each asked for with the sort key of its item. ``home``: the session's region.

        Raises:
            MisdirectedError: they lie in the session's home region.
            PayloadMissingError: one is not there, or is another.
            ThrottledError
        """
        if not wanted:
            return []
        if home != self.region:
            raise MisdirectedError(home_region=home)
        if self.storage is None:
            raise _missing(wanted[0][1])
        bucket = self.storage()

        def get(one: tuple[str, StoredPayload]) -> JsonValue:
            sk, stored = one
            text = bucket.get(payload_key(session_id, sk, stored.sha256))
            if text is None or hashlib.sha256(text).hexdigest() != stored.sha256:
                raise _missing(stored)
            return decode_stored(text.decode())

        return _each(get, wanted)


def check_inline(parts: Mapping[str, JsonValue], *, beside: int = 0) -> None:
    """Judge payloads, by their paths, that stay in one item with ``beside`` bytes of others.

    Raises:
        InvalidRequestError: nested too deep; names the path.
        PayloadTooLargeError: together more than 300 KB of JSON.
    """
    for path, value in parts.items():
        check_nesting(value, path=path)
    size = beside + sum(map(payload_size, parts.values()))
    if size > INLINE_LIMIT:
        where = ", ".join(parts)
        detail = f"At most {INLINE_LIMIT} bytes of JSON, with what is there already (at {where})"
        raise PayloadTooLargeError(detail, path=where, limit=INLINE_LIMIT, size=size)


def _missing(stored: StoredPayload) -> PayloadMissingError:
    return PayloadMissingError(size=stored.size, sha256=stored.sha256)


def _each(do: Callable[[Given], Made], given: Sequence[Given]) -> list[Made]:
    """One after another in no order, several at a time; each gives up in its own time."""
    if len(given) == 1:
        return [do(given[0])]
    with ThreadPoolExecutor(min(PARALLEL, len(given))) as pool:
        return list(pool.map(do, given))
