"""The stream consumer, invoked directly with an event as from the stream."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from session_store.domain.batch_answer import failed_positions
from session_store.domain.json_values import encode
from session_store.storage.dynamodb.stream_events import sequence_number
from session_store.storage.integrations.transient_errors import transient_as_throttled


class ConsumerFunction(Struct, frozen=True, kw_only=True):
    client: Any
    """A boto client of ``lambda``, with a read timeout long enough for a batch."""

    name: str

    def replay(self, records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
        with transient_as_throttled("The consumer of the stream"):
            answer = self.client.invoke(FunctionName=self.name, Payload=encode({"Records": list(records)}))
            payload = answer["Payload"].read()
        if answer.get("FunctionError") is not None:
            return tuple(range(len(records)))
        return failed_positions(payload, [sequence_number(record) for record in records])
