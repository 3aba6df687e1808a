"""Slides: extending the window of a session that is used, without a new version and never backwards."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.session import Author, Session
from session_store.domain.session_write import Guard, violation
from session_store.domain.times import MILLIS, seconds
from session_store.domain.window import Window


class Slide(Struct, frozen=True, kw_only=True):
    """One slide. ``guard`` is that of the use of the session that asks for it.

    ``ends_at``: when the session ends (epoch seconds) unless it slides. ``due``: slide only if a rewrite is
    due. False: slide before that too, because the use needs the session for longer.
    """

    session_id: str
    guard: Guard
    window: Window
    author: Author
    ends_at: int
    due: bool = True

    @property
    def seconds_left(self) -> float:
        """How long the session lives after the slide was built. A slide that is sent later may revive it."""
        return self.ends_at - self.guard.now_ms / MILLIS


def admits_slide(session: Session | None, slide: Slide) -> bool:
    """Whether the slide may be applied; another use may have slid the window already."""
    return (
        session is not None
        and violation(session, slide.guard) is None
        and (not slide.due or session.slide_after <= seconds(slide.guard.now_ms))
        and session.ttl < slide.window.ttl
    )


def apply_slide(session: Session, slide: Slide) -> Session:
    """The session after an admitted slide."""
    return replace(
        session,
        ttl=slide.window.ttl,
        slide_after=slide.window.slide_after,
        updated_by=slide.author,
        write_region=slide.guard.region,
    )
