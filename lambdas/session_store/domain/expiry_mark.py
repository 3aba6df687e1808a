"""The mark of a session whose owner has been told that it ends soon."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.session import Author, Session


class ExpiryMark(Struct, frozen=True, kw_only=True):
    """Told of the end at ``ttl``. No new version: who holds one must not lose to a warning."""

    session_id: str
    ttl: int
    region: str
    author: Author


def admits_mark(session: Session | None, mark: ExpiryMark) -> bool:
    """Whether the session still ends when the warning said, here is its home, and it has no such mark."""
    return (
        session is not None
        and session.ttl == mark.ttl
        and session.home_region == mark.region
        and session.warned_ttl != mark.ttl
    )


def apply_mark(session: Session, mark: ExpiryMark) -> Session:
    """What an admitted mark makes of the session."""
    return replace(session, warned_ttl=mark.ttl, updated_by=mark.author, write_region=mark.region)
