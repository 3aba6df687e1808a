"""Events for the bus."""

from msgspec.structs import replace

from session_store.domain.notice import NoticeName, session_ended, session_expiring_soon
from session_store.domain.session import ExpiringSession, Status
from tests.support.ended import an_end
from tests.support.samples import NOW_MS, NOW_SECONDS, OWNER, REGION, a_session

SOON = ExpiringSession(
    session_id="use1-" + "a" * 32,
    owner=OWNER,
    status=Status.ACTIVE,
    ttl=NOW_SECONDS + 60,
    home_region=REGION,
)


def test_an_end_has_one_event_id_whatever_is_said_of_it() -> None:
    session = a_session()
    first = session_ended(an_end(session), {"childrenDeleted": 3}, region=REGION)
    again = session_ended(an_end(session, ended_at=NOW_MS), {"childrenDeleted": 4}, region=REGION)
    assert first.event_id == again.event_id == first.detail["eventId"]
    assert first.event_id != session_ended(an_end(a_session()), {}, region=REGION).event_id
    assert first.name is NoticeName.SESSION_ENDED
    assert (first.detail["sessionId"], first.detail["childrenDeleted"]) == (session.session_id, 3)


def test_a_warning_is_another_event_when_the_end_has_moved() -> None:
    first = session_expiring_soon(SOON, at=NOW_MS)
    assert first.event_id == session_expiring_soon(SOON, at=NOW_MS + 1).event_id
    assert first.event_id != session_expiring_soon(replace(SOON, ttl=SOON.ttl + 1), at=NOW_MS).event_id
    assert first.detail == {
        "eventId": first.event_id,
        "sessionId": SOON.session_id,
        "tenant": OWNER.tenant,
        "subject": OWNER.subject,
        "region": REGION,
        "status": "active",
        "ttl": NOW_SECONDS + 60,
        "expiresAt": "2027-01-15T08:01:00.000Z",
    }
