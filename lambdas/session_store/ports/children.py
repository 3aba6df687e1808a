"""Child items of a session: messages, checkpoints, payloads, and their erasure at its end."""

from collections.abc import Sequence
from typing import Protocol

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.erasure import Erasure
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.message import Message
from session_store.domain.page import (
    CheckpointPosition,
    MessagePosition,
    Page,
    PageRequest,
)


class MessageStorage(Protocol):
    def put(self, message: Message) -> Message | None:
        """Store the message. None when it is new and stored; otherwise the message that has its id."""
        ...

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        """Store all messages or none. Empty when stored; otherwise the messages that have their ids."""
        ...

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        """Read those of the messages that exist, by id, consistently."""
        ...

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        """Read a session's messages in the order of their ids, consistently."""
        ...


class CheckpointStorage(Protocol):
    """A checkpoint is identified by session, namespace and id. A new one may replace an expired one."""

    def put(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """Store the checkpoint. None when it is new and stored; otherwise the checkpoint that has its id."""
        ...

    def put_under_key(self, checkpoint: Checkpoint, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        """Store the checkpoint and the claim, both or neither.

        None when this operation was written, by this request or an earlier attempt. Otherwise the claim that
        holds the key or, where the key is free, the checkpoint that has the id.
        """
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """Read the claim that holds a key consistently, expired or not."""
        ...

    def read(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        """Read a checkpoint consistently, expired or not."""
        ...

    def has(self, session_id: str, namespace: str, checkpoint_id: str, *, now_ms: int) -> bool:
        """Whether the checkpoint exists and has not expired, read consistently and without its data."""
        ...

    def page(
        self, session_id: str, namespace: str, page: PageRequest[CheckpointPosition]
    ) -> Page[Checkpoint, CheckpointPosition]:
        """Read checkpoints of a namespace in the order of their ids, expired ones included, consistently."""
        ...


class ChildStorage(Protocol):
    """The child items of a session, of every kind."""

    def first(self, session_id: str, *, limit: int) -> Sequence[str]:
        """Read the sort keys of the first child items, in order, consistently."""
        ...

    def erase(self, session_id: str, sks: Sequence[str]) -> None:
        """Delete the child items. Those that do not exist are ignored."""
        ...

    def read_erasure(self, session_id: str) -> Erasure:
        """Read how far the erasure has come."""
        ...

    def advance(self, session_id: str, before: Erasure, after: Erasure, *, ttl: int) -> Erasure:
        """Replace ``before`` by ``after``, kept until ``ttl``; returns what is stored afterwards."""
        ...


class PayloadStorage(Protocol):
    """Objects by ``schema.payload_key``, which has the content's hash. They take part in no transaction."""

    def put(self, key: str, text: bytes) -> None:
        """Store the text. Idempotent.

        Raises:
            ThrottledError: it may have been stored; nothing refers to it.
        """
        ...

    def get(self, key: str) -> bytes | None:
        """Read an object consistently. None where there is none, or where reading it is denied.

        Raises:
            ThrottledError
        """
        ...

    def erase_some(self, session_id: str) -> bool:
        """Delete some of a session's objects. True where there may be more."""
        ...
