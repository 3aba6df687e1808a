"""The synchronous client."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Self, TypeVar

import httpx

from session_store_client import (
    checkpoint_calls,
    claim_calls,
    message_calls,
    operator_calls,
    session_calls,
    task_calls,
    tool_call_calls,
)
from session_store_client.answers import Page
from session_store_client.authentication import Authentication, SigV4
from session_store_client.calls import Call, next_page
from session_store_client.exchanges import ClientSettings, Pause, Retries, Step, StepResult, exchange
from session_store_client.methods import call_method, list_method
from session_store_client.subjects import validated_subject
from session_store_client.transport import (
    build_request,
    httpx_options,
    read_response,
    transport_failure,
    validated_url,
)

AnswerT = TypeVar("AnswerT")
ItemT = TypeVar("ItemT")


class Client:
    """The session store's API at ``url``, which ends in the stage, such as ``https://….amazonaws.com/v1``.

    ``authentication``: who calls; without one, AWS credentials as the AWS tools find them
    (``SigV4.default``). ``subject``: the end user to act for (``Session-Subject``). ``retries``: when a call
    is sent again, and for how long. ``decimals``: decode every number that is not whole as a ``Decimal``.
    ``transport``: httpx's own, for tests.

    There is a method for each operation of ``docs/openapi.json``, under its name; a list is an iterator that
    fetches a page when it is reached. Besides what its own text lists, a method may raise

    - ``InvalidRequestError``: an argument is not valid; ``path`` says which.
    - ``UnauthenticatedError``, ``ForbiddenError``, ``CredentialsError``: about who calls.
    - ``MisdirectedError``: another region (``home_region``) holds the session, key or task.
    - ``ThrottledError``, ``UnreachableError``, ``ServerError``: given up after retries. Nothing was done, or
      the call is safe to repeat.
    - ``OutcomeUnknownError``: a write may or may not have taken effect. Reads never raise it.
    - ``UnreadableAnswerError``: something other than this API answered.
    - ``ValueError``: the call cannot be sent at all, such as a value that is not JSON. Nothing was sent.

    All but the last derive from ``SessionStoreError``.

    A client may be shared by threads.
    """

    def __init__(
        self,
        url: str,
        authentication: Authentication | None = None,
        *,
        subject: str | None = None,
        retries: Retries | None = None,
        decimals: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = ClientSettings(
            url=validated_url(url),
            authentication=authentication or SigV4.default(url),
            subject=validated_subject(subject),
            retries=retries or Retries(),
            decimals=decimals,
        )
        self._http = httpx.Client(transport=transport, **httpx_options(url))

    def acting_for(self, subject: str) -> "Client":
        """Return a client that acts for the end user ``subject`` over the same connections.

        Raises:
            ValueError: not a valid subject.
        """
        other = object.__new__(type(self))
        other._settings = replace(self._settings, subject=validated_subject(subject))
        other._http = self._http
        return other

    def close(self) -> None:
        """Close the connections, including those shared by ``acting_for``."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.url!r}, {self._settings.authentication!r})"

    def send(self, call: Call[AnswerT], /) -> AnswerT:
        """Send a call built by one of the modules ``*_calls``, with retries; the methods do so too.

        A list call returns one page.
        """
        steps = exchange(call, self._settings)
        step = next(steps)
        try:
            while True:
                try:
                    result = self._perform(step)
                except Exception as error:  # noqa: BLE001 - the exchange decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            answer: AnswerT = end.value
            return answer

    def iterate(self, first: Call[Page[ItemT]], /) -> Iterator[ItemT]:
        """Yield all items of a list from its page ``first`` on."""
        call: Call[Page[ItemT]] | None = first
        while call is not None:
            page = self.send(call)
            yield from page.items
            call = None if page.next_cursor is None else next_page(call, page.next_cursor)

    def _perform(self, step: Step) -> StepResult:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        request = build_request(step, self._settings)
        try:
            return read_response(self._http.send(request))
        except httpx.RequestError as error:
            return transport_failure(error)

    create_session = call_method(session_calls.create_session)
    get_session = call_method(session_calls.get_session)
    list_sessions = list_method(session_calls.list_sessions)
    replace_state = call_method(session_calls.replace_state)
    change_state = call_method(session_calls.change_state)
    move_session = call_method(session_calls.move_session)
    touch_session = call_method(session_calls.touch_session)
    delete_session = call_method(session_calls.delete_session)
    append_messages = call_method(message_calls.append_messages)
    list_messages = list_method(message_calls.list_messages)
    add_checkpoint = call_method(checkpoint_calls.add_checkpoint)
    list_checkpoints = list_method(checkpoint_calls.list_checkpoints)
    get_latest_checkpoint = call_method(checkpoint_calls.get_latest_checkpoint)
    get_checkpoint = call_method(checkpoint_calls.get_checkpoint)
    record_tool_call = call_method(tool_call_calls.record_tool_call)
    get_tool_call = call_method(tool_call_calls.get_tool_call)
    list_tool_calls = list_method(tool_call_calls.list_tool_calls)
    begin_tool_call = call_method(tool_call_calls.begin_tool_call)
    complete_tool_call = call_method(tool_call_calls.complete_tool_call)
    fail_tool_call = call_method(tool_call_calls.fail_tool_call)
    extend_tool_call = call_method(tool_call_calls.extend_tool_call)
    reconcile_tool_call = call_method(tool_call_calls.reconcile_tool_call)
    get_recovery = call_method(session_calls.get_recovery)
    begin_claim = call_method(claim_calls.begin_claim)
    get_claim = call_method(claim_calls.get_claim)
    complete_claim = call_method(claim_calls.complete_claim)
    fail_claim = call_method(claim_calls.fail_claim)
    extend_claim = call_method(claim_calls.extend_claim)
    reconcile_claim = call_method(claim_calls.reconcile_claim)
    create_task = call_method(task_calls.create_task)
    list_tasks = list_method(task_calls.list_tasks)
    get_task = call_method(task_calls.get_task)
    claim_tasks = call_method(task_calls.claim_tasks)
    extend_task = call_method(task_calls.extend_task)
    complete_task = call_method(task_calls.complete_task)
    fail_task = call_method(task_calls.fail_task)
    cancel_task = call_method(task_calls.cancel_task)
    decide_task = call_method(task_calls.decide_task)
    get_history = call_method(session_calls.get_history)
    list_audit = list_method(session_calls.list_audit)
    list_expiring = list_method(operator_calls.list_expiring)
    drain_sessions = call_method(operator_calls.drain_sessions)
    list_dead_letters = call_method(operator_calls.list_dead_letters)
    redrive_dead_letters = call_method(operator_calls.redrive_dead_letters)
    get_health = call_method(operator_calls.get_health)
