"""Both clients have a documented, typed method for each operation."""

import inspect
import re
from collections.abc import AsyncIterator, Iterator

import pytest

from session_store_client import AsyncClient, Client
from session_store_client.answers import Message, Session
from session_store_client.calls import Repeat
from tests.clients.operations import OPERATIONS, function_of, whole


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_every_operation_is_a_method_of_its_name_and_no_other_is(client: type) -> None:
    methods = {name for name, value in vars(client).items() if hasattr(value, "__signature__")}
    assert methods == {function_of(name).__name__ for name in OPERATIONS}


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_method_says_what_it_does_and_whether_it_may_be_repeated(operation_id: str) -> None:
    text = inspect.getdoc(function_of(operation_id)) or ""
    assert re.search(r"[Ss]afe\s+to|[Rr]etried", text)


def test_both_clients_have_the_same_methods() -> None:
    def described(client: type) -> dict[str, tuple[str, str | None]]:
        return {
            name: (str(inspect.signature(value).parameters), value.__doc__)
            for name, value in vars(client).items()
            if hasattr(value, "__signature__")
        }

    assert described(Client) == described(AsyncClient)
    assert len(described(Client)) == len(OPERATIONS)


def test_a_methods_signature_has_the_type_that_it_returns() -> None:
    def returned(method: object) -> object:
        return inspect.signature(method).return_annotation  # type: ignore[arg-type] # a method

    assert returned(Client.get_session) == returned(AsyncClient.get_session) == Session
    assert returned(Client.list_messages) == Iterator[Message]
    assert returned(AsyncClient.list_messages) == AsyncIterator[Message]
    assert returned(Client.delete_session) is type(None)


REPEATED_WRITES = {
    "createSession": Repeat.RECOGNISED,
    "changeState": Repeat.RECOGNISED,
    "createTask": Repeat.RECOGNISED,
    "completeToolCall": Repeat.RECOGNISED,
    "failToolCall": Repeat.RECOGNISED,
    "completeClaim": Repeat.RECOGNISED,
    "failClaim": Repeat.RECOGNISED,
    "completeTask": Repeat.RECOGNISED,
    "cancelTask": Repeat.RECOGNISED,
    "decideTask": Repeat.RECOGNISED,
    "appendMessages": Repeat.RECOGNISED_APPEND,
    "addCheckpoint": Repeat.RECOGNISED_APPEND,
    "recordToolCall": Repeat.RECOGNISED_APPEND,
    "beginToolCall": Repeat.RECOGNISED_APPEND,
    "beginClaim": Repeat.RECOGNISED_APPEND,
    "replaceState": Repeat.CONDITIONAL,
    "moveSession": Repeat.CONDITIONAL,
    "reconcileToolCall": Repeat.RECONCILIATION,
    "reconcileClaim": Repeat.RECONCILIATION,
    "failTask": Repeat.CONDITIONAL,
    "deleteSession": Repeat.DELETION,
    "touchSession": Repeat.IDEMPOTENT,
    "extendToolCall": Repeat.IDEMPOTENT,
    "extendClaim": Repeat.IDEMPOTENT,
    "extendTask": Repeat.IDEMPOTENT,
    "claimTasks": Repeat.NEVER,
    "drainSessions": Repeat.NEVER,
    "redriveDeadLetters": Repeat.NEVER,
}
"""As docs/client.md tells it. Every operation that is not here reads."""


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_a_call_is_repeated_as_its_operation_allows(operation_id: str) -> None:
    call = whole(operation_id)
    assert (call.method == "GET") == (operation_id not in REPEATED_WRITES)
    assert call.repeat is REPEATED_WRITES.get(operation_id, Repeat.IDEMPOTENT)
