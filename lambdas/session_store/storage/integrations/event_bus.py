"""The event bus, in EventBridge."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from session_store.domain.json_values import encode
from session_store.domain.notice import Notice
from session_store.domain.times import seconds
from session_store.errors import UndeliveredError
from session_store.schema import EVENT_SOURCE

if TYPE_CHECKING:
    from mypy_boto3_events.client import EventBridgeClient
    from mypy_boto3_events.type_defs import PutEventsRequestEntryTypeDef


class EventBridgeBus(Struct, frozen=True, kw_only=True):
    events: "EventBridgeClient"
    name: str

    def emit(self, notices: Sequence[Notice]) -> None:
        answer = self.events.put_events(Entries=[self._entry(notice) for notice in notices])
        if answer["FailedEntryCount"]:
            codes = {entry["ErrorCode"] for entry in answer["Entries"] if entry.get("ErrorCode")}
            raise UndeliveredError(
                f"{answer['FailedEntryCount']} of {len(notices)} events: {', '.join(sorted(codes))}"
            )

    def _entry(self, notice: Notice) -> "PutEventsRequestEntryTypeDef":
        return {
            "EventBusName": self.name,
            "Source": EVENT_SOURCE,
            "DetailType": notice.name.value,
            "Detail": encode(notice.detail).decode(),
            "Time": datetime.fromtimestamp(seconds(notice.at), UTC),
        }
