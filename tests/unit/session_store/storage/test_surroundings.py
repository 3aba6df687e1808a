"""The meaning of the answers of other AWS services."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.stub import Stubber

from session_store.domain.notice import Notice, NoticeName
from session_store.errors import UnavailableError, UndeliveredError
from session_store.storage.integrations.event_bus import EventBridgeBus
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.integrations.secrets_manager import SecretsManager
from tests.support.samples import NOW_MS

NOTICE = Notice(
    name=NoticeName.SESSION_ENDED, event_id="e", at=NOW_MS + 7, detail={"eventId": "e", "childrenDeleted": 2}
)


def stubbed(service: str) -> tuple[Any, Stubber]:
    make: Any = boto3.client
    client = make(service, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
    return client, Stubber(client)


@pytest.fixture
def events() -> Iterator[tuple[EventBridgeBus, Stubber]]:
    client, stubber = stubbed("events")
    with stubber:
        yield EventBridgeBus(events=client, name="session-store-dev"), stubber
        stubber.assert_no_pending_responses()


def test_a_notice_is_an_entry_of_the_bus(events: tuple[EventBridgeBus, Stubber]) -> None:
    bus, stubber = events
    sent: dict[str, Any] = {}
    bus.events.meta.events.register(
        "provide-client-params.events.PutEvents", lambda params, **_: sent.update(params)
    )
    stubber.add_response("put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})
    bus.emit([NOTICE])
    (entry,) = sent["Entries"]
    assert json.loads(entry["Detail"]) == NOTICE.detail
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"], entry["Time"].isoformat()) == (
        "session-store-dev",
        "session-store",
        "SessionEnded",
        "2027-01-15T08:00:00+00:00",
    )


def test_events_that_the_bus_did_not_take_are_an_error(events: tuple[EventBridgeBus, Stubber]) -> None:
    bus, stubber = events
    entries: list[dict[str, str]] = [{"EventId": "1"}, {"ErrorCode": "InternalFailure", "ErrorMessage": "x"}]
    stubber.add_response("put_events", {"FailedEntryCount": 1, "Entries": entries})
    with pytest.raises(UndeliveredError, match=r"^1 of 2 events: InternalFailure$"):
        bus.emit([NOTICE, NOTICE])


@pytest.fixture
def secrets() -> Iterator[tuple[SecretsManager, Stubber]]:
    client, stubber = stubbed("secretsmanager")
    with stubber:
        yield SecretsManager(client=client), stubber


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "InvalidRequestException"])
def test_a_missing_secret_is_none(secrets: tuple[SecretsManager, Stubber], code: str) -> None:
    storage, stubber = secrets
    stubber.add_client_error("get_secret_value", code)
    assert storage.read("a") is None


def test_a_binary_secret_has_no_text(secrets: tuple[SecretsManager, Stubber]) -> None:
    storage, stubber = secrets
    stubber.add_response("get_secret_value", {"SecretBinary": b"\x00"})
    assert storage.read("a") == ""


@pytest.mark.parametrize("code", ["ThrottlingException", "AccessDeniedException", "InternalServiceError"])
def test_a_secret_that_cannot_be_read_now_is_read_later(
    secrets: tuple[SecretsManager, Stubber], code: str
) -> None:
    storage, stubber = secrets
    stubber.add_client_error("get_secret_value", code, "marker-1b7d")
    with pytest.raises(UnavailableError, match=code) as raised:
        storage.read("a")
    assert "marker-1b7d" not in str(raised.value)


def test_an_unreachable_secrets_manager_is_unavailable(secrets: tuple[SecretsManager, Stubber]) -> None:
    storage, _ = secrets

    def away(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://secretsmanager")

    storage.client.meta.events.register("provide-client-params.secretsmanager", away)
    with pytest.raises(UnavailableError):
        storage.read("a")


def test_an_object_that_could_not_be_deleted_is_an_error() -> None:
    client, stubber = stubbed("s3")
    stubber.add_response("list_objects_v2", {"IsTruncated": False, "Contents": [{"Key": "a/1"}]})
    stubber.add_response("delete_objects", {"Errors": [{"Key": "a/1", "Code": "AccessDenied"}]})
    with stubber, pytest.raises(UnavailableError, match="AccessDenied"):
        PayloadBucket(s3=client, bucket="payloads").erase_some("a")
