"""What lies beside a session: messages, checkpoints, payloads, and all of it at its end."""

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
        """None when the message is new and now stored; the one that has its id otherwise."""
        ...

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        """Store all the messages or none: empty when stored, else what holds their ids."""
        ...

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        """Those of the messages that exist, by id, read consistently."""
        ...

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        """A session's messages in the order of their ids, read consistently."""
        ...


class CheckpointStorage(Protocol):
    """Told apart by session, namespace and id; one that is expired stands in no new one's way."""

    def put(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """None when the checkpoint is new and now stored; the one that has its id otherwise."""
        ...

    def put_under_key(self, checkpoint: Checkpoint, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        """Store the checkpoint and the claim, both or neither.

        Returns None when this very operation has been done, now or before; else the claim that
        holds the key; or, where the key is free, the checkpoint that has the id.
        """
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """The claim that holds a key, read consistently, whether or not it is expired."""
        ...

    def read(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        """A checkpoint, read consistently, whether or not it is expired."""
        ...

    def has(self, session_id: str, namespace: str, checkpoint_id: str, *, now_ms: int) -> bool:
        """Whether there is such a checkpoint, not expired, read consistently; its data stays where it is."""
        ...

    def page(
        self, session_id: str, namespace: str, page: PageRequest[CheckpointPosition]
    ) -> Page[Checkpoint, CheckpointPosition]:
        """Checkpoints of a namespace in the order of their ids, the expired among them, read consistently."""
        ...


class ChildStorage(Protocol):
    """What lies beside a session's metadata, of whatever kind."""

    def first(self, session_id: str, *, limit: int) -> Sequence[str]:
        """The sort keys of the first children, in order, read consistently; none when there are none."""
        ...

    def erase(self, session_id: str, sks: Sequence[str]) -> None:
        """Delete these children; those that are gone already are no error."""
        ...

    def read_erasure(self, session_id: str) -> Erasure: ...

    def advance(self, session_id: str, before: Erasure, after: Erasure, *, ttl: int) -> Erasure:
        """Keep ``after`` until ``ttl`` if ``before`` is what is kept; returns what is kept then."""
        ...


class PayloadStorage(Protocol):
    """Objects by key, ``schema.payload_key``: one key, one content. They are no part of any transaction."""

    def put(self, key: str, text: bytes) -> None:
        """Keep the text. Put twice, it is there once.

        Raises:
            ThrottledError: it may be there; nothing refers to it.
        """
        ...

    def get(self, key: str) -> bytes | None:
        """What is there, read consistently; None where nothing is, or nothing that may be read.

        Raises:
            ThrottledError
        """
        ...

    def erase_some(self, session_id: str) -> bool:
        """Delete some of a session's objects; whether there may be more."""
        ...
