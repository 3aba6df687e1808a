"""The trail of a session: its owner's page by page, any operator's as a whole."""

from collections.abc import Iterable

import pytest

from audit_consumer.records import decode_record
from session_store.domain.differences import Exposure
from session_store.domain.page import PageRequest
from session_store.domain.session import Session
from session_store.domain.session_end import SessionEnd
from session_store.errors import ForbiddenError, SessionNotFoundError
from session_store.services.audit_trail import WHOLE_PAGE
from session_store.services.stream_consumer import StreamConsumer
from session_store.storage.memory.audit import MemoryAudit
from tests.support.samples import ALICE, NOW_SECONDS, OPERATOR, REGION, STRANGER, a_session
from tests.support.stream import AT, a_record, image_of
from tests.support.world import World

DAY = 86_400


class NoEnds:
    def send(self, end: SessionEnd) -> None:
        raise AssertionError(end)


def audit(world: World, session: Session, seconds: Iterable[int], *, retention: int = DAY) -> None:
    """Consume a change of the session at each of the epoch seconds."""
    consumer = StreamConsumer(
        storage=MemoryAudit(memory=world.memory),
        cleanup=NoEnds(),
        exposure=Exposure(digested=frozenset(), payloads=frozenset()),
        region=REGION,
        audit_retention=retention,
    )
    for second in seconds:
        consumer.consume(decode_record(a_record(new=image_of(session), at=second)))


def test_the_trail_is_the_owners_and_in_time_order(world: World) -> None:
    session = world.open()
    audit(world, session, [NOW_SECONDS + second for second in (5, 3, 3, 4)])
    page = world.store.audit.page(ALICE, session.session_id, PageRequest(limit=10))
    assert [entry.at for entry in page.items] == [AT + second * 1000 for second in (3, 3, 4, 5)]
    numbers = [entry.sequence_number for entry in page.items[:2]]
    assert numbers == sorted(numbers, key=str)
    with pytest.raises(SessionNotFoundError):
        world.store.audit.page(STRANGER, session.session_id, PageRequest(limit=10))


def test_an_entry_past_its_retention_is_not_shown(world: World) -> None:
    session = world.open()
    audit(world, session, [world.clock.now // 1000 - 1], retention=1)
    assert world.store.audit.page(ALICE, session.session_id, PageRequest(limit=10)).items == ()
    assert list(world.store.audit.whole(OPERATOR, session.session_id)) == []


def test_an_operator_reads_the_whole_trail_of_a_session_that_is_gone(world: World) -> None:
    session = a_session()
    audit(world, session, [NOW_SECONDS + second for second in range(WHOLE_PAGE + 1)])
    times = [entry.at for entry in world.store.audit.whole(OPERATOR, session.session_id)]
    assert times == [AT + second * 1000 for second in range(WHOLE_PAGE + 1)]


def test_only_an_operator_reads_a_whole_trail(world: World) -> None:
    session = world.open()
    with pytest.raises(ForbiddenError):
        world.store.audit.whole(ALICE, session.session_id)
