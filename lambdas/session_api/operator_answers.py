"""Response bodies to operators, and the health check's."""

from typing import Literal

from session_api.answers import Answer, iso_of_seconds
from session_api.session_answers import StatusName
from session_store.domain.session import ExpiringSession


class ExpiringSessionAnswer(Answer, frozen=True):
    """A session of any tenant that expires soon."""

    session_id: str
    """The session's id."""

    status: StatusName
    """The session's status."""

    tenant: str
    """The tenant that owns the session."""

    subject: str
    """The end user that owns the session within its tenant; `-` where none was named."""

    ttl: int
    """When the session expires unless it is used before: `expiresAt` in epoch seconds."""

    expires_at: str
    """When the session expires unless it is used before."""

    home_region: str
    """The AWS region that alone writes the session."""


class ExpiringPage(Answer, frozen=True):
    """A page of sessions that expire soon, soonest first."""

    items: list[ExpiringSessionAnswer]
    """Possibly fewer than the limit, also before the last page."""

    next_cursor: str | None
    """The `cursor` of the next page; null at the end of the list."""


class DrainAnswer(Answer, frozen=True):
    """What one drain did."""

    moved: int
    """Sessions moved to `closing`."""

    skipped: int
    """Sessions used or ended in the meantime, or at home in another region."""

    more: bool
    """Whether the call reached its limit of sessions or time first; if so, call again."""


class HealthAnswer(Answer, frozen=True):
    """The function runs."""

    status: Literal["ok"]
    """Always `ok`."""


def expiring_answer(session: ExpiringSession) -> ExpiringSessionAnswer:
    return ExpiringSessionAnswer(
        session_id=session.session_id,
        status=session.status.value,
        tenant=session.owner.tenant,
        subject=session.owner.subject,
        ttl=session.ttl,
        expires_at=iso_of_seconds(session.ttl),
        home_region=session.home_region,
    )
