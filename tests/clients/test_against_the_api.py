"""The client calls the API's own code in process, with responses lost."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest

from session_store_client import Bearer, Client, OutcomeUnknownError, Retries, errors
from tests.support.calls import message_id
from tests.support.in_process_transport import API, InProcessTransport


@pytest.fixture
def client(transport: InProcessTransport) -> Client:
    return Client(
        API,
        Bearer("t"),
        subject="alice",
        transport=httpx.MockTransport(transport),
        retries=Retries(pause_seconds=0),
    )


def test_a_whole_life_is_played(client: Client) -> None:
    session = client.create_session(state={"goal": "trip", "price": Decimal("89.90")}, idle_timeout=60)
    session_id = session.session_id
    assert session.state == {"goal": "trip", "price": 89.9}
    assert client.move_session(session_id, "active").status == "active"
    changed = client.change_state(session_id, set={"city": "Lisbon"}, increment={"n": 2}, append={"l": [1]})
    assert changed.state["n"] == 2
    replaced = client.replace_state(session_id, {"a": [1, 2.5]}, version=changed.version)
    assert client.get_session(session_id, min_version=replaced.version).state == {"a": [1, 2.5]}
    with pytest.raises(errors.VersionConflictError) as raised:
        client.replace_state(session_id, {}, version=changed.version)
    assert raised.value.current_version == replaced.version
    appended = client.append_messages(session_id, ["one", {"n": 0.1}], atomic=True)
    assert [each.content for each in client.list_messages(session_id, limit=1)] == ["one", {"n": 0.1}]
    assert [each.message_id for each in appended.items] == [
        each.message_id for each in client.list_messages(session_id)
    ]
    record = client.record_tool_call(session_id, "c/1", tool_name="t", input={}, duration_ms=5)
    assert client.get_tool_call(session_id, "c/1") == record
    assert list(client.list_tool_calls(session_id)) == [record]
    assert client.get_history(session_id).items == (record,)
    assert client.touch_session(session_id).session_id == session_id
    assert [each.session_id for each in client.list_sessions(status="active")] == [session_id]
    assert client.get_health().status == "ok"
    client.delete_session(session_id)
    with pytest.raises(errors.SessionNotFoundError):
        client.get_session(session_id)


def test_another_users_session_is_not_found(client: Client) -> None:
    session_id = client.create_session().session_id
    with pytest.raises(errors.SessionNotFoundError):
        client.acting_for("bob").get_session(session_id)


def test_operators_calls_are_read(client: Client) -> None:
    session_id = client.create_session(idle_timeout=10).session_id
    client.move_session(session_id, "active")
    (ending,) = client.list_expiring(within_seconds=60)
    assert ending.session_id == session_id
    drained = client.drain_sessions(within_seconds=60)
    assert (drained.moved, drained.more) == (1, False)
    with pytest.raises(errors.NotFoundError):
        client.list_dead_letters()


@pytest.mark.parametrize("losses", [1, 2])
def test_a_message_is_appended_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client, losses: int
) -> None:
    session_id = client.create_session().session_id
    transport.losing = losses
    client.append_messages(session_id, ["once"])
    assert [each.content for each in client.list_messages(session_id)] == ["once"]


@pytest.mark.parametrize("losses", [1, 2])
def test_a_checkpoint_is_added_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client, losses: int
) -> None:
    session_id = client.create_session().session_id
    first = client.add_checkpoint(session_id, {"step": 1}, namespace="a#b")
    transport.losing = losses
    second = client.add_checkpoint(
        session_id, {"step": 2}, namespace="a#b", parent_id=first.checkpoint_id, retain_seconds=900
    )
    assert list(client.list_checkpoints(session_id, namespace="a#b")) == [first, second]
    assert client.get_latest_checkpoint(session_id, namespace="a#b") == second
    assert client.get_checkpoint(session_id, first.checkpoint_id, namespace="a#b") == first
    with pytest.raises(errors.NotFoundError):
        client.get_latest_checkpoint(session_id)
    with pytest.raises(ValueError, match="not a checkpoint id"):
        client.get_checkpoint(session_id, "latest")


def test_a_checkpoint_is_newer_than_its_parent_whose_clock_is_ahead(client: Client) -> None:
    session_id = client.create_session().session_id
    parent = message_id(seconds_off=240)
    client.add_checkpoint(session_id, "parent", checkpoint_id=parent)
    client.add_checkpoint(session_id, "child", parent_id=parent)
    assert client.get_latest_checkpoint(session_id).data == "child"
    with pytest.raises(errors.InvalidRequestError) as raised:
        client.add_checkpoint(session_id, "late", checkpoint_id=message_id(), parent_id=parent)
    assert raised.value.path == "$.checkpointId"


def test_a_call_is_recorded_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client
) -> None:
    session_id = client.create_session().session_id
    transport.losing = 2
    record = client.record_tool_call(session_id, "c1", tool_name="t", input=1, output=2, duration_ms=5)
    assert list(client.list_tool_calls(session_id)) == [record]


def test_a_lost_response_to_a_delete_is_a_success(transport: InProcessTransport, client: Client) -> None:
    session_id = client.create_session().session_id
    transport.losing = 1
    client.delete_session(session_id)


def test_a_lost_response_to_a_replacement_leaves_its_outcome_unknown(
    transport: InProcessTransport, client: Client
) -> None:
    session = client.create_session()
    transport.losing = 1
    with pytest.raises(OutcomeUnknownError) as raised:
        client.replace_state(session.session_id, {"a": 1}, version=1)
    assert raised.value.facts["currentVersion"] == 2
    assert isinstance(raised.value.__cause__, errors.VersionConflictError)
    assert client.get_session(session.session_id).state == {"a": 1}


def test_a_lost_response_to_a_move_is_retried_with_success(
    transport: InProcessTransport, client: Client
) -> None:
    session_id = client.create_session().session_id
    transport.losing = 1
    assert client.move_session(session_id, "active", version=1).version == 2


@pytest.mark.parametrize("losses", [1, 2])
def test_an_increment_counts_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client, losses: int
) -> None:
    session_id = client.create_session(state={"n": 1}).session_id
    transport.losing = losses
    assert client.change_state(session_id, increment={"n": 1}, append={"l": ["x"]}).state == {
        "n": 2,
        "l": ["x"],
    }


def test_a_session_is_created_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client
) -> None:
    transport.losing = 2
    session = client.create_session()
    assert [each.session_id for each in client.list_sessions()] == [session.session_id]


@pytest.mark.parametrize(
    "call",
    [
        lambda client, session_id: client.change_state(session_id, set={"a": float("nan")}),
        lambda client, session_id: client.append_messages(session_id, [{1: 2}]),
    ],
)
def test_a_value_that_is_no_json_is_not_sent(client: Client, call: Callable[[Client, str], Any]) -> None:
    session_id = client.create_session().session_id
    with pytest.raises(ValueError, match="JSON"):
        call(client, session_id)
    assert json.dumps(dict(client.get_session(session_id).state)) == "{}"


def test_a_task_is_done_and_followed_by_another(client: Client) -> None:
    worker = client.acting_for("worker-1")
    task = client.create_task(queue="mail", payload={"to": "bob", "price": 0.1})
    (held,) = worker.claim_tasks(queue="mail", lease_seconds=60).items
    assert (held.task_id, held.payload, held.owner) == (task.task_id, {"to": "bob", "price": 0.1}, "worker-1")
    assert worker.extend_task(held.task_id, fence=held.fence, lease_seconds=90).status == "claimed"
    follow = [{"queue": "post", "payload": 2}]
    done = worker.complete_task(held.task_id, fence=held.fence, result={"ok": True}, following=follow)
    assert [each.task_id for each in client.list_tasks()] == list(done.next)
    (failing,) = worker.claim_tasks(queue="post", lease_seconds=60, max_tasks=2).items
    back = worker.fail_task(failing.task_id, fence=failing.fence, error="e", retry_in_seconds=9)
    assert (back.status, back.error, back.attempts) == ("pending", "e", 1)
    with pytest.raises(errors.FencedError):
        worker.extend_task(failing.task_id, fence=failing.fence, lease_seconds=90)
    assert client.cancel_task(failing.task_id).status == "cancelled"
    assert client.get_task(failing.task_id).ended_at is not None


def test_an_approval_is_decided_by_another(client: Client) -> None:
    wanted = client.create_task(queue="boss", payload="may I?", kind="approval")
    with pytest.raises(errors.ForbiddenError):
        client.decide_task(wanted.task_id, decision="approved")
    boss = client.acting_for("boss")
    assert boss.decide_task(wanted.task_id, decision="approved", comment="fine").decided_by == "boss"
    with pytest.raises(errors.AlreadyDecidedError):
        boss.decide_task(wanted.task_id, decision="rejected")


@pytest.mark.parametrize("losses", [1, 2])
def test_tasks_are_created_and_completed_once_even_if_responses_are_lost(
    transport: InProcessTransport, client: Client, losses: int
) -> None:
    transport.losing = losses
    task = client.create_task(queue="mail", payload=1)
    assert [each.task_id for each in client.list_tasks()] == [task.task_id]
    (held,) = client.claim_tasks(queue="mail", lease_seconds=60).items
    transport.losing = losses
    done = client.complete_task(
        held.task_id, fence=held.fence, result=1, following=[{"queue": "mail", "payload": 2}]
    )
    assert [each.task_id for each in client.list_tasks()] == list(done.next)


def test_a_lost_response_to_a_claim_leaves_its_outcome_unknown(
    transport: InProcessTransport, client: Client
) -> None:
    client.create_task(queue="mail", payload=1)
    transport.losing = 1
    with pytest.raises(OutcomeUnknownError):
        client.claim_tasks(queue="mail", lease_seconds=60)
    assert [task.status for task in client.list_tasks()] == ["claimed"]
