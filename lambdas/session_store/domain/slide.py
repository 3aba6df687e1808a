"""Moving the window of a session that is used."""

from dataclasses import dataclass, replace

from session_store.domain.session import SLIDING, Author, Owner, Session
from session_store.domain.times import is_over, seconds
from session_store.domain.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide:
    """Moving a session's window: no new version, never backwards, never on an expired session."""

    session_id: str
    owner: Owner
    region: str
    now_ms: int
    window: Window
    author: Author


def slides(session: Session | None, slide: Slide) -> bool:
    """Whether the slide may still be done (another use may have done it meanwhile)."""
    return (
        session is not None
        and session.owner == slide.owner
        and session.home_region == slide.region
        and not is_over(session.ttl, slide.now_ms)
        and session.status in SLIDING
        and session.slide_after <= seconds(slide.now_ms)
        and session.ttl < slide.window.ttl
    )


def slid(session: Session, slide: Slide) -> Session:
    """What an admitted slide makes of the session."""
    return replace(
        session,
        ttl=slide.window.ttl,
        slide_after=slide.window.slide_after,
        updated_by=slide.author,
        write_region=slide.region,
    )
