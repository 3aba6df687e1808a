"""The machine's clock and randomness, as adapters of the ports ``Clock`` and ``Ids``."""

import secrets
import time
import uuid

from session_store.domain.identifiers import MessageIds, mint_session_id, mint_task_id


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


class RandomIds:
    def __init__(self) -> None:
        self._messages = MessageIds(random_bytes=secrets.token_bytes)

    def session_id(self, region: str) -> str:
        return mint_session_id(region=region, random_bytes=secrets.token_bytes)

    def task_id(self, region: str) -> str:
        return mint_task_id(region=region, random_bytes=secrets.token_bytes)

    def message_id(self, now_ms: int, *, after: str | None = None) -> str:
        return self._messages.mint(now_ms, after=after)

    def operation_id(self) -> str:
        return str(uuid.uuid4())
