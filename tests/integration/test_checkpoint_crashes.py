"""A process that ends before or after any write of a checkpoint: tried again, it is as if it ran once."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec.structs import replace

from session_store.domain.page import PageRequest
from session_store.domain.session import Session, Status
from session_store.ports import Storage
from session_store.schema import payload_prefix
from session_store.services.checkpoints import AddedCheckpoint
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.payloads import INLINE_LIMIT
from session_store.settings import Settings
from session_store.storage.dynamodb.attempts import Attempts
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.store import Store, store_on
from tests.support.faults import lose_first_answer
from tests.support.patient import patient_s3
from tests.support.samples import ALICE, kept
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_s3.client import S3Client

WRITES: Final = ("dynamodb.PutItem", "dynamodb.UpdateItem", "dynamodb.TransactWriteItems", "s3.PutObject")
DATA: Final = {"small": {"step": 2}, "large": {"step": 2, "memory": "x" * INLINE_LIMIT}}
DUE: Final = 400
"""Seconds after which a use moves the window: one write more."""


class CrashError(BaseException):
    """The process has ended."""


@dataclass
class Writes:
    """Those of both clients, as they come. ``end(n)``: with the n-th from now (the first is 0) all ends."""

    done: list[str] = field(default_factory=list)
    _at: int | None = None
    _after: bool = False

    def watch(self, *clients: Any) -> "Writes":
        for client in clients:
            for write in WRITES:
                if write.startswith(client.meta.service_model.endpoint_prefix):
                    client.meta.events.register(f"before-send.{write}", self._before)
                    client.meta.events.register(f"after-call.{write}", self._done)
        return self

    def end(self, number: int | None, *, after: bool) -> None:
        self.done.clear()
        self._at, self._after = number, after

    def _before(self, **_: Any) -> None:
        if not self._after and self._at == len(self.done):
            raise CrashError

    def _done(self, model: Any, **_: Any) -> None:
        self.done.append(model.name)
        if self._after and self._at == len(self.done) - 1:
            raise CrashError


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A session of Alice's with a checkpoint before, and its window due to move."""

    store: Store
    storage: Storage
    bucket: PayloadBucket
    session: Session
    clock: SettableClock
    parent_id: str

    def add(self, new: NewCheckpoint, *, key: str | None) -> AddedCheckpoint:
        """In a request of its own, so that no retry is taken for the request itself."""
        caller = replace(ALICE, request_id=secrets.token_hex(8))
        session_id = self.session.session_id
        if key is None:
            return self.store.checkpoints.add(caller, session_id, new)
        return self.store.keyed_checkpoints.add(caller, session_id, new, key=key)

    def seen(self) -> list[Any]:
        """What any reader sees, each with its data whole."""
        page: PageRequest[Any] = PageRequest(limit=100)
        found = self.store.checkpoints.page(ALICE, self.session.session_id, page).items
        newest = self.store.checkpoints.latest(ALICE, self.session.session_id)
        assert newest == found[-1]
        return [each.data for each in found]

    def objects(self) -> int:
        prefix = payload_prefix(self.session.session_id)
        return self.bucket.s3.list_objects_v2(Bucket=self.bucket.bucket, Prefix=prefix)["KeyCount"]


@pytest.fixture
def s3(dynamodb: "DynamoDBClient") -> "S3Client":
    """The product's client of the emulator that ``dynamodb`` has told the environment of."""
    del dynamodb
    return patient_s3()


@pytest.fixture
def scenes(on_dynamodb: Storage, tables: Settings, s3: "S3Client") -> Callable[[], Scene]:
    name = f"payloads-{secrets.token_hex(4)}"
    s3.create_bucket(Bucket=name)
    bucket = PayloadBucket(s3=s3, bucket=name, attempts=Attempts(sleep=lambda _: None))

    def scene() -> Scene:
        clock = SettableClock()
        store = store_on(on_dynamodb, tables, clock=clock, payloads=lambda: bucket)
        session = kept(on_dynamodb)
        before = store.checkpoints.add(ALICE, session.session_id, NewCheckpoint(data="before"))
        clock.pass_(DUE)
        return Scene(
            store=store,
            storage=on_dynamodb,
            bucket=bucket,
            session=session,
            clock=clock,
            parent_id=before.checkpoint.checkpoint_id,
        )

    return scene


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
@pytest.mark.parametrize("known_by", ["id", "key", "id and key"])
@pytest.mark.parametrize("size", DATA)
def test_a_process_may_end_at_any_write(
    scenes: Callable[[], Scene],
    dynamodb: "DynamoDBClient",
    s3: "S3Client",
    size: str,
    known_by: str,
    *,
    after: bool,
) -> None:
    writes = Writes().watch(dynamodb, s3)
    data = DATA[size]

    def asked(scene: Scene) -> tuple[NewCheckpoint, str | None]:
        named = scene.store.context.ids.message_id(scene.clock.now_ms()) if "id" in known_by else None
        new = NewCheckpoint(data=data, checkpoint_id=named, parent_id=scene.parent_id)
        return new, "k" if "key" in known_by else None

    undisturbed = scenes()
    new, key = asked(undisturbed)
    writes.end(None, after=after)
    undisturbed.add(new, key=key)
    expected = [*writes.done]
    commit = "TransactWriteItems" if key else "PutItem"
    assert expected == ["PutObject"] * (size == "large") + [commit, "UpdateItem"]
    for number, write in enumerate(expected):
        scene = scenes()
        new, key = asked(scene)
        writes.end(number, after=after)
        with pytest.raises(CrashError):
            scene.add(new, key=key)
        writes.end(None, after=after)
        there = write == "UpdateItem" or (write == commit and after)
        assert scene.seen() == (["before", data] if there else ["before"]), write
        again = scene.add(new, key=key)
        assert (again.replayed, again.checkpoint.data) == (there, data), write
        assert scene.seen() == ["before", data], write
        # Without an id of the caller's each attempt mints one, and its object is the attempt's own.
        orphans = known_by == "key" and not there and (after or write == commit)
        assert scene.objects() == (1 + orphans if size == "large" else 0), write


def test_all_that_is_read_is_read_consistently(
    scenes: Callable[[], Scene], dynamodb: "DynamoDBClient"
) -> None:
    scene = scenes()
    read: list[bool] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        read.append(params.get("ConsistentRead") is True)

    for operation in ("GetItem", "Query"):
        dynamodb.meta.events.register(f"provide-client-params.dynamodb.{operation}", note)
    large = NewCheckpoint(data=DATA["large"], parent_id=scene.parent_id)
    scene.add(large, key="k")
    scene.store.sessions.move(ALICE, scene.session.session_id, Status.CLOSING)
    assert scene.add(large, key="k").by_key
    scene.seen()
    # Session, parent, claim; session, claim; and a page and the newest, each with its session.
    assert read == [True] * (3 + 2 + 4)


@pytest.mark.parametrize(("key", "times"), [(None, 1), ("k", 1), ("k", 2)])
def test_a_lost_answer_of_the_item_is_recognised(
    scenes: Callable[[], Scene], dynamodb: "DynamoDBClient", key: str | None, times: int
) -> None:
    scene = scenes()
    with lose_first_answer(dynamodb, "TransactWriteItems" if key else "PutItem", times=times):
        assert not scene.add(NewCheckpoint(data=1), key=key).replayed
    assert scene.seen() == ["before", 1]


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("named", [True, False])
def test_of_many_who_add_the_same_at_once_one_does(
    scenes: Callable[[], Scene], key: str | None, *, named: bool
) -> None:
    scene = scenes()
    chosen = scene.store.context.ids.message_id(scene.clock.now_ms()) if named else None
    new = NewCheckpoint(data=DATA["small"], checkpoint_id=chosen)
    with ThreadPoolExecutor(16) as pool:
        added = list(pool.map(lambda _: scene.add(new, key=key), range(16)))
    count = 1 if named or key else 16
    assert sum(not each.replayed for each in added) == count
    assert len({each.checkpoint.checkpoint_id for each in added}) == count
    assert scene.seen() == ["before", *[DATA["small"]] * count]
