"""Work that is done once: a tool call or a free key, in a block that is called or awaited."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from session_store.domain.session import Status
from session_store.errors import StoreError
from session_store.services.free_claims import NewClaim
from session_store.services.new_sessions import NewSession
from session_store.services.tool_calls.begin import NewCall
from session_store.store import Store
from tests.support.samples import ALICE

CALL: Final = "tool call"
KEY: Final = "free key"
KINDS: Final = (CALL, KEY)

Body = Callable[[Any], Awaitable[object]]


class LookedError(Exception):
    """Of a block that only looked: nothing was done."""


@dataclass(frozen=True, kw_only=True)
class Once:
    """One piece of work in a store, in any number of blocks. ``awaited``: by ``async with``."""

    store: Store
    kind: str
    awaited: bool
    session_id: str
    name: str

    def block(self, *, lease_seconds: int = 60, retry_safe: bool = False, **terms: Any) -> Any:
        """``terms`` are those of ``Store.tool_call``."""
        if self.kind == KEY:
            claim = NewClaim(input={"n": 1}, lease_seconds=lease_seconds, retry_safe=retry_safe)
            return self.store.claim(ALICE, self.name, claim, **terms)
        call = NewCall(
            tool_call_id=self.name,
            tool_name="pay",
            input={"n": 1},
            lease_seconds=lease_seconds,
            retry_safe=retry_safe,
        )
        return self.store.tool_call(ALICE, self.session_id, call, **terms)

    def run(self, body: Body, **how: Any) -> Any:
        """What the block gave, once ``body`` was through with it."""
        return asyncio.run(self.ran(body, **how))

    async def ran(self, body: Body, **how: Any) -> Any:
        """As ``run``, in the loop that runs."""
        if self.awaited:
            async with self.block(**how) as work:
                await body(work)
        else:
            with self.block(**how) as work:
                await body(work)
        return work

    def told(self, **how: Any) -> str:
        """How the work stands for somebody else: an error's name, ``completed``, ``failed`` or ``begun``."""

        async def look(work: Any) -> None:
            if not work.finished:
                raise LookedError

        try:
            work = self.run(look, **how)
        except LookedError:
            return "begun"
        except StoreError as error:
            return type(error).__name__
        return "failed" if work.failed else "completed"


async def given(answer: Any) -> Any:
    """What a method answers, awaited where it has to be."""
    return await answer if inspect.isawaitable(answer) else answer


def once(store: Store, kind: str, *, awaited: bool = False, name: str = "w1") -> Once:
    """The kind's work, in an active session of its own."""
    new = NewSession(idle_timeout=3600, max_lifetime=86_400, state={"n": 0}, protocol={}, credential_refs=())
    session_id = store.sessions.create(ALICE, new).session_id
    store.sessions.move(ALICE, session_id, Status.ACTIVE)
    return Once(store=store, kind=kind, awaited=awaited, session_id=session_id, name=name)
