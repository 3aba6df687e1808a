"""Moving the window of a session that is used: no new version, and never backwards."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.session import Author, Session
from session_store.domain.session_write import Guard, violation
from session_store.domain.times import seconds
from session_store.domain.window import Window


class Slide(Struct, frozen=True, kw_only=True):
    """``guard`` holds for the use of the session that asks for the slide.

    ``due``: only where a rewrite is due; else also before, because the use needs the session longer.
    """

    session_id: str
    guard: Guard
    window: Window
    author: Author
    due: bool = True


def admits_slide(session: Session | None, slide: Slide) -> bool:
    """Whether the slide may still be done (another use may have done it meanwhile)."""
    return (
        session is not None
        and violation(session, slide.guard) is None
        and (not slide.due or session.slide_after <= seconds(slide.guard.now_ms))
        and session.ttl < slide.window.ttl
    )


def apply_slide(session: Session, slide: Slide) -> Session:
    """What an admitted slide makes of the session."""
    return replace(
        session,
        ttl=slide.window.ttl,
        slide_after=slide.window.slide_after,
        updated_by=slide.author,
        write_region=slide.guard.region,
    )
