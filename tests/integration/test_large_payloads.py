"""Large payloads in S3: what every PayloadStorage promises, crashes in between, costs, and the end."""

import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ConnectionClosedError

from session_store.domain.claim import ClaimStatus
from session_store.domain.identifiers import MessageIds
from session_store.domain.json_values import JsonValue
from session_store.domain.page import PageRequest
from session_store.domain.session import Session
from session_store.errors import OutcomeUnknownError, PayloadMissingError
from session_store.ports import PayloadStorage, Storage
from session_store.schema import payload_prefix
from session_store.services.context import NewMessage
from session_store.services.payloads import INLINE_LIMIT
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.record import RecordedCall
from session_store.services.tool_calls.requests import CallOutcome
from session_store.settings import Settings
from session_store.storage.dynamodb.attempts import Attempts
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.memory.surroundings import MemoryPayloads
from session_store.store import Store, store_on
from tests.support.ended import Surroundings, an_end
from tests.support.faults import Spending, crash_at, lose_every_answer, lose_first_answer, watch_spending
from tests.support.patient import patient_s3
from tests.support.samples import ALICE, NOW_MS, kept, recorded
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_s3.client import S3Client

PAGE: PageRequest[Any] = PageRequest(limit=100)
LARGE = {"marker": "x" * INLINE_LIMIT, "exact": [Decimal("0.1"), 9007199254740993]}
IDS = MessageIds(random_bytes=secrets.token_bytes)


class CrashError(BaseException):
    """The process has ended."""


@pytest.fixture
def s3(dynamodb: "DynamoDBClient") -> "S3Client":
    """The product's client of the emulator that ``dynamodb`` has told the environment of."""
    del dynamodb
    return patient_s3()


@pytest.fixture
def bucket(s3: "S3Client") -> PayloadBucket:
    name = f"payloads-{secrets.token_hex(4)}"
    s3.create_bucket(Bucket=name)
    return PayloadBucket(s3=s3, bucket=name, attempts=Attempts(sleep=lambda _: None))


@pytest.fixture(params=["s3", "memory"])
def payloads(request: pytest.FixtureRequest) -> Iterator[PayloadStorage]:
    """Each implementation in turn: the contract is one."""
    if request.param == "memory":
        yield MemoryPayloads()
    else:
        yield request.getfixturevalue("bucket")


def test_a_text_is_read_back_byte_for_byte(payloads: PayloadStorage) -> None:
    text = '[0.1,9007199254740993,"\u6f22\u0000"]'.encode() + b"x" * 1_048_576
    payloads.put("s/a/b", text)
    assert payloads.get("s/a/b") == text


def test_a_text_put_twice_is_there_once(payloads: PayloadStorage) -> None:
    for _ in range(2):
        payloads.put("s/a/b", b"1")
    assert payloads.get("s/a/b") == b"1"
    assert not payloads.erase_some("s")
    assert payloads.get("s/a/b") is None


def test_what_was_never_put_is_none(payloads: PayloadStorage) -> None:
    payloads.put("s/a/b", b"1")
    assert payloads.get("s/a/c") is None
    assert payloads.get("s/a") is None


@dataclass(frozen=True, kw_only=True)
class Large:
    """A store with a bucket, and a session of Alice's."""

    store: Store
    bucket: PayloadBucket
    session: Session
    clock: SettableClock

    def keys(self) -> list[str]:
        prefix = payload_prefix(self.session.session_id)
        listed = self.bucket.s3.list_objects_v2(Bucket=self.bucket.bucket, Prefix=prefix)
        return [entry["Key"] for entry in listed.get("Contents", [])]

    def append(self, *new: NewMessage, atomic: bool = False) -> int:
        """At a moment of its own, so that no retry is taken for the request itself."""
        self.clock.pass_(0.001)
        return self.store.context.append(ALICE, self.session.session_id, new, atomic=atomic).created

    def contents(self) -> list[Any]:
        page = self.store.context.page(ALICE, self.session.session_id, PAGE)
        return [message.content for message in page.items]

    def run(self) -> JsonValue:
        """A large call, begun and completed by one attempt at a moment of its own; its output."""
        self.clock.pass_(0.001)
        new = NewCall(tool_call_id="run", tool_name="search", input=LARGE, attempt_id="a")
        begun = self.store.running_calls.begin(ALICE, self.session.session_id, new)
        if begun.record is not None:
            return begun.record.output
        outcome = CallOutcome(status=ClaimStatus.COMPLETED, output=[LARGE])
        complete = self.store.finished_calls.finish
        id_, fence = self.session.session_id, begun.claim.fence
        done = complete(ALICE, id_, "run", fence=fence, outcome=outcome)
        return None if done.record is None else done.record.output

    def record(self, call: RecordedCall) -> bool:
        return not self.store.recorded_calls.record(ALICE, self.session.session_id, call).replayed


@pytest.fixture
def large(on_dynamodb: Storage, tables: Settings, bucket: PayloadBucket) -> Large:
    clock = SettableClock()
    store = store_on(on_dynamodb, tables, clock=clock, payloads=lambda: bucket)
    return Large(store=store, bucket=bucket, session=kept(on_dynamodb), clock=clock)


def message(content: Any = LARGE) -> NewMessage:
    return NewMessage(content=content, message_id=IDS.mint(NOW_MS))


def call() -> RecordedCall:
    return RecordedCall(
        tool_call_id="c1",
        tool_name="search",
        input=LARGE,
        output=[LARGE],
        error=None,
        duration_ms=1,
        started_at=NOW_MS,
    )


@pytest.mark.parametrize("atomic", [False, True])
def test_large_messages_beside_small_ones_are_read_back_exactly(large: Large, *, atomic: bool) -> None:
    assert large.append(message(), message("small"), message([LARGE]), atomic=atomic) == 3
    assert large.contents() == [LARGE, "small", [LARGE]]
    assert len(large.keys()) == 2


def test_a_large_call_is_read_back_exactly(large: Large) -> None:
    assert large.record(call())
    found = recorded(large.store.tool_calls.get(ALICE, large.session.session_id, "c1"))
    assert (found.input, found.output, found.error) == (LARGE, [LARGE], None)
    assert len(large.keys()) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before the item", "after the item"])
def test_a_process_that_ends_between_object_and_answer_is_made_good_by_the_retry(
    large: Large, dynamodb: "DynamoDBClient", *, after: bool
) -> None:
    new = message()
    crashes = crash_at(dynamodb, 0, CrashError, after=after)
    with pytest.raises(CrashError):
        large.append(new)
    crashes.armed = False
    assert len(large.keys()) == 1
    assert large.contents() == ([LARGE] if after else [])
    assert large.append(new) == (0 if after else 1)
    assert large.contents() == [LARGE]
    assert len(large.keys()) == 1


def test_a_process_that_ends_after_the_object_leaves_no_call_and_the_retry_makes_one(
    large: Large, dynamodb: "DynamoDBClient"
) -> None:
    armed = True

    def crash(**_: Any) -> None:
        if armed:
            raise CrashError

    dynamodb.meta.events.register("before-send.dynamodb.TransactWriteItems", crash)
    with pytest.raises(CrashError):
        large.record(call())
    armed = False
    assert len(large.keys()) == 2
    assert large.store.tool_calls.history(ALICE, large.session.session_id, PAGE)[1].items == ()
    assert large.record(call())
    assert not large.record(call())
    assert len(large.keys()) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
@pytest.mark.parametrize("write", ["PutItem", "TransactWriteItems"], ids=["begin", "complete"])
def test_a_large_running_call_is_run_once_whatever_write_its_worker_ends_at(
    large: Large, dynamodb: "DynamoDBClient", write: str, *, after: bool
) -> None:
    armed = True

    def crash(**_: Any) -> None:
        if armed:
            raise CrashError

    dynamodb.meta.events.register(f"{'after-call' if after else 'before-send'}.dynamodb.{write}", crash)
    with pytest.raises(CrashError):
        large.run()
    armed = False
    assert large.run() == [LARGE]
    found = recorded(large.store.tool_calls.get(ALICE, large.session.session_id, "run"))
    assert (found.input, found.output) == (LARGE, [LARGE])
    assert len(large.store.tool_calls.history(ALICE, large.session.session_id, PAGE)[1].items) == 1
    assert len(large.keys()) == 2


@pytest.mark.parametrize("times", [1, 2])
def test_a_lost_answer_of_the_bucket_is_asked_again(large: Large, times: int) -> None:
    lost = Counter[str]()

    def lose(**_: Any) -> None:
        if lost["answers"] < times:
            lost["answers"] += 1
            raise ConnectionClosedError(endpoint_url="http://127.0.0.1")

    events = large.bucket.s3.meta.events
    for operation in ("PutObject", "GetObject"):
        lost.clear()
        events.register(f"after-call.s3.{operation}", lose)
        if operation == "PutObject":
            assert large.append(message()) == 1
        assert large.contents() == [LARGE]
        events.unregister(f"after-call.s3.{operation}", lose)
        assert lost["answers"] == times


def test_a_lost_answer_of_the_item_is_recognised(large: Large, dynamodb: "DynamoDBClient") -> None:
    with lose_first_answer(dynamodb, "PutItem"):
        assert large.append(message()) == 1
    with lose_first_answer(dynamodb, "TransactWriteItems"):
        assert large.record(call())
    assert large.contents() == [LARGE]


def test_an_item_whose_answer_never_comes_is_there_all_the_same(
    large: Large, dynamodb: "DynamoDBClient"
) -> None:
    new = message()
    lose_every_answer(dynamodb, "PutItem")
    with pytest.raises(OutcomeUnknownError):
        large.append(new)
    assert large.contents() == [LARGE]


@pytest.mark.parametrize("atomic", [False, True])
def test_a_replay_needs_no_object(large: Large, *, atomic: bool) -> None:
    new = [message(), message([LARGE])]
    assert large.append(*new, atomic=atomic) == 2
    assert large.record(call())
    assert not large.bucket.erase_some(large.session.session_id)
    assert large.append(*new, atomic=atomic) == 0
    assert not large.record(call())
    large.bucket.erase_some(large.session.session_id)
    with pytest.raises(PayloadMissingError):
        large.contents()


def test_a_large_message_costs_one_put_of_an_object_more_than_a_small_one(
    large: Large, dynamodb: "DynamoDBClient"
) -> None:
    spending: Spending = watch_spending(dynamodb)
    objects = Counter[str]()
    large.bucket.s3.meta.events.register("after-call.s3", lambda model, **_: objects.update([model.name]))
    large.append(message("small"))
    small = (dict(spending.calls), spending.write_units)
    spending.reset()
    large.append(message())
    assert (dict(spending.calls), spending.write_units) == small == ({"GetItem": 1, "PutItem": 1}, 1)
    assert objects == {"PutObject": 1}
    objects.clear()
    spending.reset()
    large.contents()
    assert (objects, spending.calls) == ({"GetObject": 1}, {"GetItem": 1, "Query": 1})
    objects.clear()
    spending.reset()
    large.record(call())
    assert (objects, spending.calls) == ({"PutObject": 2}, {"GetItem": 1, "TransactWriteItems": 1})
    assert spending.write_units == 3 * 2


def test_nothing_of_it_is_left_after_the_end(large: Large, on_dynamodb: Storage) -> None:
    other = kept(on_dynamodb)
    large.store.context.append(ALICE, other.session_id, [message()])
    large.append(message(), message([LARGE]))
    large.record(call())
    large.store.sessions.delete(ALICE, large.session.session_id)
    around = Surroundings()
    around.payloads = large.bucket  # type: ignore[assignment] # the clean-up asks for the port alone
    around.cleanup(on_dynamodb).run(an_end(large.session), request_id="r")
    assert large.keys() == []
    (left,) = large.store.context.page(ALICE, other.session_id, PAGE).items
    assert left.content == LARGE


def test_every_page_counts_what_lies_elsewhere(large: Large) -> None:
    quarter = "y" * 400_000
    messages = [message([number, quarter]) for number in range(7)]
    for new in messages:
        large.append(new)
    page = large.store.context.page(ALICE, large.session.session_id, PageRequest(limit=100))
    assert [each.content[0] for each in page.items] == [0, 1]
    seen = list(page.items)
    following = partial(large.store.context.page, ALICE, large.session.session_id)
    while page.next is not None:
        page = following(PageRequest(limit=100, after=page.next))
        assert len(page.items) in (1, 2)
        seen += page.items
    assert [each.content for each in seen] == [new.content for new in messages]
