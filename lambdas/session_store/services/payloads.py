"""Payloads: message contents, checkpoint data, inputs and outcomes of tool calls.

A small payload is stored in its item, a large one in a bucket. The object is written before the item that
refers to it, and that item commits it. A crash in between leaves an object without a reference, which is
deleted with its session.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from msgspec import Struct

from session_store.domain.json_values import JsonValue, check, decode_stored, encode
from session_store.domain.payload import StoredPayload, payload_size
from session_store.errors import PayloadMissingError, PayloadTooLargeError
from session_store.ports import PayloadStorage
from session_store.schema import payload_key
from session_store.services.home import Home

INLINE_LIMIT: Final = 300 * 1024
"""Bytes of JSON in one item; the rest of DynamoDB's 400 KB is left to its other attributes."""

LARGEST: Final = 1024 * 1024
"""Bytes of JSON of all payloads in one request: as many as its body may have."""

OUTCOME_ROOM: Final = 1024
"""Bytes that an input leaves for its outcome, so that work that was begun can always be finished."""

PARALLEL: Final = 8

ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")


class Payloads(Struct, frozen=True, kw_only=True):
    """``storage``: makes this region's adapter, at its first use; None where no bucket is configured."""

    storage: Callable[[], PayloadStorage] | None
    home: Home

    def check(self, value: JsonValue, *, path: str) -> int:
        """Check a payload; returns its size in bytes of JSON.

        Raises:
            InvalidRequestError: it could not be read back equal; names the path.
            PayloadTooLargeError: more than this deployment stores.
        """
        check(value, path=path)
        return self.check_size(payload_size(value), path=path)

    def check_size(self, size: int, *, path: str, limit: int | None = None) -> int:
        """Check the size of payloads that share an item; ``limit`` if it differs from the item's.

        Raises:
            PayloadTooLargeError
        """
        most = self.limit if limit is None else limit
        if size > most:
            raise PayloadTooLargeError(
                f"At most {most} bytes of JSON (at {path})", path=path, limit=most, size=size
            )
        return size

    def check_together(self, parts: Mapping[str, JsonValue], *, beside: int = 0) -> None:
        """Check payloads, by path, that share an item with ``beside`` bytes that it already holds.

        Raises:
            PayloadTooLargeError: names the paths of those that are there.
        """
        present = {path: value for path, value in parts.items() if value is not None}
        self.check_size(beside + sum(map(payload_size, present.values())), path=", ".join(present))

    @property
    def limit(self) -> int:
        """Bytes of JSON that the payloads of one item may have together."""
        return INLINE_LIMIT if self.storage is None else LARGEST

    def store(self, session_id: str, large: Sequence[tuple[str, JsonValue]]) -> list[StoredPayload]:
        """Write values to the bucket, each with the sort key of the item that will refer to it.

        Raises:
            ThrottledError: some objects may have been written; nothing refers to them.
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

        return _map(put, large)

    def load(
        self, session_id: str, wanted: Sequence[tuple[str, StoredPayload]], *, home: str
    ) -> list[JsonValue]:
        """Read values from the bucket, each by the sort key of its item. ``home``: the session's home region.

        Raises:
            MisdirectedError: they are in the bucket of another region, the session's home.
            PayloadMissingError: one is absent or has another SHA-256.
            ThrottledError
        """
        if not wanted:
            return []
        self.home.check(home)
        if self.storage is None:
            raise _missing(wanted[0][1])
        bucket = self.storage()

        def get(one: tuple[str, StoredPayload]) -> JsonValue:
            sk, stored = one
            text = bucket.get(payload_key(session_id, sk, stored.sha256))
            if text is None or hashlib.sha256(text).hexdigest() != stored.sha256:
                raise _missing(stored)
            return decode_stored(text.decode())

        return _map(get, wanted)


def check_inline(parts: Mapping[str, JsonValue], *, beside: int = 0) -> None:
    """Check the size of payloads, by path, that stay in one item together with ``beside`` bytes of others.

    One that is None counts for nothing: of an output and an error only one is stored.

    Raises:
        PayloadTooLargeError: together more than 300 KB of JSON.
    """
    present = {path: value for path, value in parts.items() if value is not None}
    size = beside + sum(map(payload_size, present.values()))
    if size > INLINE_LIMIT:
        where = ", ".join(present)
        detail = (
            f"At most {INLINE_LIMIT} bytes of JSON in one item, including what it already holds (at {where})"
        )
        raise PayloadTooLargeError(detail, path=where, limit=INLINE_LIMIT, size=size)


def _missing(stored: StoredPayload) -> PayloadMissingError:
    return PayloadMissingError(size=stored.size, sha256=stored.sha256)


def _map(do: Callable[[ArgumentT], ResultT], arguments: Sequence[ArgumentT]) -> list[ResultT]:
    """Apply ``do`` to each value, several at a time; the results are in the order of the values."""
    if len(arguments) == 1:
        return [do(arguments[0])]
    with ThreadPoolExecutor(min(PARALLEL, len(arguments))) as pool:
        return list(pool.map(do, arguments))
