"""The fingerprints of requests, fixed: a replay after an upgrade has to match the one stored before it.

A digest here never changes. A new member of a request gets a default in the request's ``members``, which
leaves these as they are, and cases of its own.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.checkpoint import content_hash_of
from session_store.domain.claim import ClaimStatus
from session_store.domain.json_values import digest
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.domain.task import TaskKind
from session_store.services.context import NewMessage
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.new_sessions import NewSession
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tasks.requests import TaskCompletion, TaskFailure
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.record import RecordedCall
from session_store.services.tool_calls.requests import NO_CHANGE, CallOutcome, SessionChange
from tests.support.samples import ALICE
from tests.support.world import World

KEY = "k1"
MESSAGE_ID = "01920000-0000-7000-8000-000000000001"
PARENT_ID = "01920000-0000-7000-8000-000000000002"
VALUE = {"b": [1, Decimal("0.1"), None, True], "a": "ünï"}

SMALL_TASK = NewTask(queue="q", payload=VALUE)
WHOLE_TASK = NewTask(
    queue="q",
    payload=VALUE,
    kind=TaskKind.APPROVAL,
    due_at=1_000,
    deadline=2_000,
    session_id="use1-0123456789abcdefghjkmnpqrs",
    retain_days=7,
)
OPERATIONS = StateOperations(
    set={"a": VALUE}, remove=["b"], increment={"c": Decimal("0.5")}, append={"d": [1]}
)
CHANGE = SessionChange(
    operations=OPERATIONS,
    messages=[NewMessage(content=VALUE), NewMessage(content=1, message_id=MESSAGE_ID)],
    to=Status.CLOSING,
    expected_version=3,
    tasks=[SMALL_TASK, WHOLE_TASK],
)


def recorded(**given: Any) -> RecordedCall:
    call = {"tool_call_id": "c1", "tool_name": "t", "input": VALUE, "output": None, "error": None}
    return RecordedCall(**{**call, "duration_ms": 5, "started_at": None, **given})


COMPLETED = CallOutcome(status=ClaimStatus.COMPLETED)
FIXED = [
    (
        "call",
        NewCall(tool_call_id="c1", tool_name="t", input=VALUE).input_hash,
        "7a149e2688421130ad92da364642e47f7d4f996bbc3509acdf75471779d75955",
    ),
    (
        "call recorded",
        recorded().input_hash,
        "7a149e2688421130ad92da364642e47f7d4f996bbc3509acdf75471779d75955",
    ),
    (
        "recorded outcome, none",
        recorded().outcome_hash,
        "365c9d337e8f1bca220135092504ad5fd5e7fb25b666bbe866a4b52a147ad447",
    ),
    (
        "recorded outcome, output",
        recorded(output=VALUE, started_at=1_000).outcome_hash,
        "b389b89c987e6dd5f685c2df543b4782cb9dac845c44b207eb086b1aaf6f758d",
    ),
    (
        "recorded outcome, error",
        recorded(error=VALUE).outcome_hash,
        "cd14dedd134100fecac31d8a448eeef548a1bab87cc9f2fc7d45df53d75f668b",
    ),
    (
        "call outcome, none",
        COMPLETED.hash_with(NO_CHANGE),
        "d5877410bf26df770f460c864c60b83f4885e5a76ef2bffc20c981ee7acc22d9",
    ),
    (
        "call outcome, whole",
        CallOutcome(status=ClaimStatus.COMPLETED, output=VALUE, duration_ms=5).hash_with(CHANGE),
        "6d123c469f6a9e01cb74e00751db036e097fb498eb559ac54b02dba71587c894",
    ),
    (
        "call outcome, failed",
        CallOutcome(status=ClaimStatus.FAILED, error=VALUE).hash_with(NO_CHANGE),
        "7c4672647d9b92a8a95cb4f04ca9c170ec372d44d3ac2c2bb1e3248f1c01868a",
    ),
    (
        "claim",
        NewClaim(input=VALUE).input_hash,
        "86e918da939e98d4261d08522b4aeba95be8bc7dd2520416e5364028fdc6f3da",
    ),
    (
        "claim outcome, none",
        ClaimOutcome(status=ClaimStatus.COMPLETED).hash,
        "20e8b3267c4c889cae14020af40d709aa1ca6c62d7dec5fa66787eb16cb41c8f",
    ),
    (
        "claim outcome, output",
        ClaimOutcome(status=ClaimStatus.COMPLETED, output=VALUE).hash,
        "9f5a48114c1eb38aa9d42d4d10b8bf130b11de3a1869e65aba313a455e6f1c36",
    ),
    (
        "claim outcome, error",
        ClaimOutcome(status=ClaimStatus.FAILED, error=VALUE).hash,
        "cc5d5c3d41eee37f86fa905342419bbdf17ef5734a033a207e9224ccb189a5f8",
    ),
    (
        "task completed, no result",
        TaskCompletion(fence=1, result=None).outcome_hash,
        "de1e8ec8f3a82ad84d142d9a5e9dcc8c7ea1be9a9ada2652698ccd5b88e1a67b",
    ),
    (
        "task completed, whole",
        TaskCompletion(fence=1, result=VALUE, following=[SMALL_TASK, WHOLE_TASK]).outcome_hash,
        "f5ca09e0f5ffc62b4839d2e20e4ce284ab13efaee9f8ead1f919270e4944e96c",
    ),
    (
        "task failed, no error",
        TaskFailure(fence=1, error=None).outcome_hash,
        "0a707efc4ff4b7154600fbd7e91b6fc306cfea0578960a1c0405224a050db7bd",
    ),
    (
        "task failed, whole",
        TaskFailure(fence=1, error=VALUE, retry_in=5).outcome_hash,
        "b5f3293882793ef79f5dfcdb2d257dc27d520eae9168cecdee8d562c3bf25e9d",
    ),
    ("message content", digest(VALUE), "e5c68f4939d3c02aab0e58ccf751a9858df29e2b51338625a69a10f7a590553d"),
    (
        "checkpoint content",
        content_hash_of(VALUE, parent_id=None, retain_seconds=None),
        "7e3f1bda7bbf7e08ed77dc86f77f00bd0289dce7be3ab8be3d238055d0e3010e",
    ),
    (
        "checkpoint content, whole",
        content_hash_of(VALUE, parent_id=PARENT_ID, retain_seconds=900),
        "fc7d86617fa2caadeef61f3265831665f0ba7e6848eb976fb4353a203bf97cdd",
    ),
]


@pytest.mark.parametrize(
    ("actual", "expected"), [(a, e) for _, a, e in FIXED], ids=[name for name, *_ in FIXED]
)
def test_the_fingerprint_of_a_request_never_changes(actual: str, expected: str) -> None:
    assert actual == expected


def a_session(**given: Any) -> NewSession:
    new = {"idle_timeout": 3600, "max_lifetime": 7200, "state": {}, "protocol": {}, "credential_refs": ()}
    return NewSession(**{**new, **given})


def create(world: World, new: NewSession) -> None:
    world.store.keyed_sessions.create(ALICE, new, key=KEY)


def change_state(world: World, operations: StateOperations, *, version: int | None = None) -> None:
    session_id = world.store.sessions.create(ALICE, a_session(state={"b": 1, "c": 1, "d": []})).session_id
    world.store.keyed_sessions.change_state(ALICE, session_id, operations, key=KEY, version=version)


def add_checkpoint(world: World, new: NewCheckpoint) -> None:
    session_id = world.store.sessions.create(ALICE, a_session()).session_id
    world.store.keyed_checkpoints.add(ALICE, session_id, new, key=KEY)


def create_task(world: World, new: NewTask) -> None:
    world.store.keyed_tasks.create(ALICE, new, key=KEY)


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        (
            lambda world: create(world, a_session()),
            "889a95602531d3355833665b93e2ac94377820b255e55d34ee3b7b0af0c75bf6",
        ),
        (
            lambda world: create(
                world, a_session(state={"a": VALUE}, protocol={"p": 1}, credential_refs=("secret/a",))
            ),
            "ab368241ca686865f7e36d3862e2e394b8223ee4a87a1d724ed6a3932888a61a",
        ),
        (
            lambda world: change_state(world, StateOperations(remove=("b",))),
            "c0cd75fb274921315e3bf804b9b3d8042e889743e7ac2bf6dab67887a3a7d396",
        ),
        (
            lambda world: change_state(world, OPERATIONS, version=1),
            "0ee95ae04807e031ce2b4bcc9455a8d9d3d81fdaa5c5d7f81779cf04bc15c2af",
        ),
        (
            lambda world: add_checkpoint(world, NewCheckpoint(data=VALUE)),
            "a483bad9fa111f644d69f3e75f5e6a75fe0c02a3d093aa4bb1eae3df49be2969",
        ),
        (
            lambda world: add_checkpoint(world, NewCheckpoint(data=VALUE, namespace="n", retain_seconds=900)),
            "3eac41145917428ff2b268f04bf3eeed5e47d622845199c031cecebd28889827",
        ),
        (
            lambda world: create_task(world, SMALL_TASK),
            "b8d84bf399c55e3432e4a5ceb2cc754533b5a606192ce90d80c5c6cc4128591d",
        ),
        (
            lambda world: create_task(world, replace(WHOLE_TASK, session_id=None)),
            "36e49cd68e84eff477cd9c5e4460dcaa3a9fb9a8ecb149e77d6a8cb324718b76",
        ),
    ],
    ids=[
        "session",
        "session, whole",
        "state change",
        "state change, whole",
        "checkpoint",
        "checkpoint, whole",
        "task",
        "task, whole",
    ],
)
def test_the_fingerprint_under_a_key_never_changes(
    world: World, send: Callable[[World], None], expected: str
) -> None:
    send(world)
    (claim,) = world.memory.keys.values()
    assert claim.input_hash == expected
