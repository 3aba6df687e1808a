from typing import Any

import pytest

from audit_consumer.records import decode_record
from session_store.domain.stream_record import StreamEvent
from session_store.errors import UnreadableRecordError
from tests.support.samples import a_session
from tests.support.stream import AT, SERVICE, STREAM, a_record, image_of


def test_a_record_is_decoded_into_the_stores_own_terms() -> None:
    session = a_session(state={"n": 1})
    raw = a_record(old=image_of(session), identity=SERVICE)
    record = decode_record(raw)
    assert (record.event, record.by_service, record.at) == (StreamEvent.REMOVE, True, AT)
    assert (record.pk, record.sk) == (f"session#{session.session_id}", "metadata")
    assert (record.stream, record.sequence_number) == (STREAM, raw["dynamodb"]["SequenceNumber"])
    assert record.old["state"] == {"n": 1}
    assert record.new == {}


def _without(record: dict[str, Any], *path: str) -> dict[str, Any]:
    inner = record
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return record


@pytest.mark.parametrize(
    "path",
    [
        ("eventName",),
        ("dynamodb",),
        ("dynamodb", "Keys"),
        ("dynamodb", "SequenceNumber"),
        ("dynamodb", "ApproximateCreationDateTime"),
        ("dynamodb", "OldImage"),
        ("dynamodb", "NewImage"),
        ("eventSourceARN",),
    ],
)
def test_a_record_with_a_part_missing_is_unreadable(path: tuple[str, ...]) -> None:
    image = image_of(a_session())
    with pytest.raises(UnreadableRecordError):
        decode_record(_without(a_record(old=image, new=image), *path))


@pytest.mark.parametrize(
    "value", [{"B": "AA=="}, {"SS": ["a"]}, {"N": "not a number"}, {}, None, "text", {"X": 1}]
)
def test_a_value_that_the_store_never_writes_is_unreadable(value: Any) -> None:
    with pytest.raises(UnreadableRecordError):
        decode_record(a_record(new={**image_of(a_session()), "odd": value}))


@pytest.mark.parametrize("name", ["insert", "", "UPSERT", None])
def test_an_unknown_event_is_unreadable(name: str | None) -> None:
    record = {**a_record(new=image_of(a_session())), "eventName": name}
    with pytest.raises(UnreadableRecordError):
        decode_record(record)
