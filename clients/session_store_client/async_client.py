"""The API, called without waiting: the same calls and rules as ``Client``, on asyncio or trio."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Self, TypeVar

import anyio
import anyio.to_thread
import httpx

from session_store_client import (
    checkpoint_calls,
    child_calls,
    claim_calls,
    operator_calls,
    session_calls,
    task_calls,
)
from session_store_client.answers import Page
from session_store_client.authentication import Authentication, SigV4
from session_store_client.calls import Call, next_page
from session_store_client.exchanges import Event, Pause, Retries, Setting, Step, exchange
from session_store_client.methods import async_call_method, async_list_method
from session_store_client.subjects import checked_subject
from session_store_client.transport import checked_url, lost, options, prepared, received

AnswerT = TypeVar("AnswerT")
ItemT = TypeVar("ItemT")


class AsyncClient:
    """Calls ``url``, which ends in the stage, as whoever ``authentication`` says.

    Without one it signs as AWS's tools would (``SigV4.default``). What is sent again and when: ``Retries``,
    and each method's own words. ``decimals``: every number that is not whole comes back as a ``Decimal``.
    As ``Client``, awaited.
    """

    def __init__(
        self,
        url: str,
        authentication: Authentication | None = None,
        *,
        subject: str | None = None,
        retries: Retries | None = None,
        decimals: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._setting = Setting(
            url=checked_url(url),
            authentication=authentication or SigV4.default(url),
            subject=checked_subject(subject),
            retries=retries or Retries(),
            decimals=decimals,
        )
        self._http = httpx.AsyncClient(transport=transport, **options(url))

    def acting_for(self, subject: str) -> "AsyncClient":
        """The same caller on behalf of an end user, over the same connections.

        Raises:
            ValueError: the store takes no such name.
        """
        other = object.__new__(type(self))
        other._setting = replace(self._setting, subject=checked_subject(subject))
        other._http = self._http
        return other

    async def aclose(self) -> None:
        """Let the connections go, also those of clients made from this one."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._setting.url!r}, {self._setting.authentication!r})"

    async def send(self, call: Call[AnswerT], /) -> AnswerT:
        """Any call of the modules ``*_calls``; the methods below are these."""
        steps = exchange(call, self._setting)
        step = next(steps)
        try:
            while True:
                try:
                    event = await self._done(step)
                except Exception as error:  # noqa: BLE001 - the exchange decides what it means, and raises
                    step = steps.throw(error)
                else:
                    step = steps.send(event)
        except StopIteration as end:
            answer: AnswerT = end.value
            return answer

    async def iterate(self, first: Call[Page[ItemT]], /) -> AsyncIterator[ItemT]:
        """All items of a list that begins with this page."""
        call: Call[Page[ItemT]] | None = first
        while call is not None:
            page = await self.send(call)
            for item in page.items:
                yield item
            call = None if page.next_cursor is None else next_page(call, page.next_cursor)

    async def _done(self, step: Step) -> Event:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        # Credentials may be fetched over the network, and token providers block.
        request = await anyio.to_thread.run_sync(prepared, step, self._setting)
        try:
            return received(await self._http.send(request))
        except httpx.RequestError as error:
            return lost(error)

    create_session = async_call_method(session_calls.create_session)
    get_session = async_call_method(session_calls.get_session)
    list_sessions = async_list_method(session_calls.list_sessions)
    replace_state = async_call_method(session_calls.replace_state)
    change_state = async_call_method(session_calls.change_state)
    move_session = async_call_method(session_calls.move_session)
    touch_session = async_call_method(session_calls.touch_session)
    delete_session = async_call_method(session_calls.delete_session)
    append_messages = async_call_method(child_calls.append_messages)
    list_messages = async_list_method(child_calls.list_messages)
    add_checkpoint = async_call_method(checkpoint_calls.add_checkpoint)
    list_checkpoints = async_list_method(checkpoint_calls.list_checkpoints)
    get_latest_checkpoint = async_call_method(checkpoint_calls.get_latest_checkpoint)
    get_checkpoint = async_call_method(checkpoint_calls.get_checkpoint)
    record_tool_call = async_call_method(child_calls.record_tool_call)
    get_tool_call = async_call_method(child_calls.get_tool_call)
    list_tool_calls = async_list_method(child_calls.list_tool_calls)
    begin_tool_call = async_call_method(claim_calls.begin_tool_call)
    complete_tool_call = async_call_method(claim_calls.complete_tool_call)
    fail_tool_call = async_call_method(claim_calls.fail_tool_call)
    extend_tool_call = async_call_method(claim_calls.extend_tool_call)
    reconcile_tool_call = async_call_method(claim_calls.reconcile_tool_call)
    get_recovery = async_call_method(claim_calls.get_recovery)
    begin_claim = async_call_method(claim_calls.begin_claim)
    get_claim = async_call_method(claim_calls.get_claim)
    complete_claim = async_call_method(claim_calls.complete_claim)
    fail_claim = async_call_method(claim_calls.fail_claim)
    extend_claim = async_call_method(claim_calls.extend_claim)
    reconcile_claim = async_call_method(claim_calls.reconcile_claim)
    create_task = async_call_method(task_calls.create_task)
    list_tasks = async_list_method(task_calls.list_tasks)
    get_task = async_call_method(task_calls.get_task)
    claim_tasks = async_call_method(task_calls.claim_tasks)
    extend_task = async_call_method(task_calls.extend_task)
    complete_task = async_call_method(task_calls.complete_task)
    fail_task = async_call_method(task_calls.fail_task)
    cancel_task = async_call_method(task_calls.cancel_task)
    decide_task = async_call_method(task_calls.decide_task)
    get_history = async_call_method(child_calls.get_history)
    list_audit = async_list_method(child_calls.list_audit)
    list_expiring = async_list_method(operator_calls.list_expiring)
    drain_sessions = async_call_method(operator_calls.drain_sessions)
    list_dead_letters = async_call_method(operator_calls.list_dead_letters)
    redrive_dead_letters = async_call_method(operator_calls.redrive_dead_letters)
    get_health = async_call_method(operator_calls.get_health)
