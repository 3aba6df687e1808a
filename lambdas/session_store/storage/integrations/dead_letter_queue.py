"""A dead-letter queue in SQS."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError
from msgspec import Struct

from session_store.domain.dead_letter import Letter, ShardRange, Unreadable
from session_store.domain.session_end import SessionEnd
from session_store.errors import InvalidRequestError, ThrottledError
from session_store.storage.dynamodb.attempts import error_code
from session_store.storage.integrations.cleanup_queue import session_end_from
from session_store.storage.integrations.transient_errors import transient_as_throttled

if TYPE_CHECKING:
    from mypy_boto3_sqs.client import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

MOST_AT_ONCE: Final = 10
"""Messages that one call receives at most."""

WAIT_SECONDS: Final = 1
"""Long polling asks all SQS servers; short polling may miss letters that exist."""

DEPTHS: Final = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")

NOT_HELD: Final = frozenset({"MessageNotInflight", "ReceiptHandleIsInvalid"})
"""The visibility timeout has passed: another receiver has the letter, or has removed it."""

Decode = Callable[[str], tuple[ShardRange | SessionEnd | Unreadable, str | None]]
"""Decodes a letter's body: its contents, and the condition that it names."""


class SqsDeadLetterQueue(Struct, frozen=True, kw_only=True):
    sqs: "SQSClient"
    url: str
    read: Decode
    wait: int = WAIT_SECONDS

    def depth(self) -> int:
        with transient_as_throttled("The dead-letter queue"):
            answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=DEPTHS)
        return sum(int(answer["Attributes"][name]) for name in DEPTHS)

    def receive(self, *, most: int, hidden: int) -> tuple[Letter, ...]:
        with transient_as_throttled("The dead-letter queue"):
            answer = self.sqs.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=min(most, MOST_AT_ONCE),
                VisibilityTimeout=hidden,
                WaitTimeSeconds=self.wait,
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
            )
        return tuple(self._letter(message) for message in answer.get("Messages", ()))

    def remove(self, letter: Letter) -> None:
        with transient_as_throttled("The dead-letter queue"):
            try:
                self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=letter.receipt)
            except ClientError as error:
                if error_code(error) not in NOT_HELD:
                    raise

    def release(self, letters: Sequence[Letter]) -> None:
        # Letters that are not released reappear when their visibility timeout passes.
        with contextlib.suppress(ThrottledError), transient_as_throttled("The dead-letter queue"):
            for letter in letters:
                self._release(letter)

    def _release(self, letter: Letter) -> None:
        try:
            self.sqs.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=letter.receipt, VisibilityTimeout=0
            )
        except ClientError as error:
            if error_code(error) not in NOT_HELD:
                raise

    def _letter(self, message: "MessageTypeDef") -> Letter:
        contents, condition = self.read(message["Body"])
        return Letter(
            message_id=message["MessageId"],
            receipt=message["ReceiptHandle"],
            sent_at=int(message["Attributes"]["SentTimestamp"]),
            receive_count=int(message["Attributes"]["ApproximateReceiveCount"]),
            contents=contents,
            condition=condition,
        )


def read_session_end(body: str) -> tuple[SessionEnd | Unreadable, None]:
    """Decode a letter of the clean-up queue, which is the message that was sent to it."""
    try:
        return session_end_from(body), None
    except (InvalidRequestError, KeyError, TypeError, ValueError):
        return Unreadable(reason="not the end of a session"), None
