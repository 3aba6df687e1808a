"""The queue of ended sessions for the clean-up, in SQS."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from session_store.domain.json_values import encode, parse
from session_store.domain.session import Owner
from session_store.domain.session_end import EndReason, SessionEnd
from session_store.storage.integrations.transient_errors import transient_as_throttled

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient


class SqsCleanupQueue(Struct, frozen=True, kw_only=True):
    """``delay`` in seconds: a child item that was in flight when its session ended is written by then."""

    sqs: "SQSClient"
    url: str
    delay: int

    def send(self, end: SessionEnd) -> None:
        with transient_as_throttled("The clean-up queue"):
            self.sqs.send_message(QueueUrl=self.url, MessageBody=message_of(end), DelaySeconds=self.delay)


def message_of(end: SessionEnd) -> str:
    return encode(
        {
            "sessionId": end.session_id,
            "tenant": end.owner.tenant,
            "subject": end.owner.subject,
            "reason": end.reason.value,
            "status": end.status,
            "version": end.version,
            "createdAt": end.created_at,
            "endedAt": end.ended_at,
            "credentialRefs": list(end.credential_refs),
        }
    ).decode()


def session_end_from(body: str) -> SessionEnd:
    """The session end in a message that ``message_of`` wrote.

    Raises:
        InvalidRequestError, KeyError, ValueError: the message is not one of this store.
    """
    message: Mapping[str, Any] = parse(body)
    return SessionEnd(
        session_id=message["sessionId"],
        owner=Owner(tenant=message["tenant"], subject=message["subject"]),
        reason=EndReason(message["reason"]),
        status=message["status"],
        version=message["version"],
        created_at=message["createdAt"],
        ended_at=message["endedAt"],
        credential_refs=tuple(message["credentialRefs"]),
    )
