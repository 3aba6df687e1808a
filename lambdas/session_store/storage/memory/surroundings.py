"""The other services in memory: event bus, secrets, payload bucket, authorization server."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from session_store.domain.credential import Credential
from session_store.domain.notice import Notice
from session_store.schema import payload_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBus:
    notices: list[Notice] = field(default_factory=list)

    def emit(self, notices: Sequence[Notice]) -> None:
        self.notices.extend(notices)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySecrets:
    """Secret texts by name."""

    texts: dict[str, str] = field(default_factory=dict, repr=False)

    def read(self, name: str) -> str | None:
        return self.texts.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPayloads:
    """Payload texts by key; ``page`` is how many one call erases."""

    texts: dict[str, bytes] = field(default_factory=dict, repr=False)
    page: int = 1000

    def put(self, key: str, text: bytes) -> None:
        self.texts[key] = text

    def get(self, key: str) -> bytes | None:
        return self.texts.get(key)

    def erase_some(self, session_id: str) -> bool:
        keys = sorted(key for key in self.texts if key.startswith(payload_prefix(session_id)))
        for key in keys[: self.page]:
            del self.texts[key]
        return len(keys) > self.page


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRevoker:
    """Tokens that were revoked; ``refused`` has the failure of each token that cannot be."""

    revoked: list[Credential] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict, repr=False)

    def revoke(self, credential: Credential) -> str | None:
        if credential.token in self.refused:
            return self.refused[credential.token]
        self.revoked.append(credential)
        return None
