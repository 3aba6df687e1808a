"""The mark of a session whose ``SessionExpiringSoon`` event was sent."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.session import Author, Session


class ExpiryMark(Struct, frozen=True, kw_only=True):
    """The event was sent for the end at ``ttl``. The version stays: a warning must not fail an If-Match."""

    session_id: str
    ttl: int
    region: str
    author: Author


def admits_mark(session: Session | None, mark: ExpiryMark) -> bool:
    """Whether the session still ends at the mark's ``ttl``, is at home here and has no such mark yet."""
    return (
        session is not None
        and session.ttl == mark.ttl
        and session.home_region == mark.region
        and session.warned_ttl != mark.ttl
    )


def apply_mark(session: Session, mark: ExpiryMark) -> Session:
    """The session after an admitted mark."""
    return replace(session, warned_ttl=mark.ttl, updated_by=mark.author, write_region=mark.region)
