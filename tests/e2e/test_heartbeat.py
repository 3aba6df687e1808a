"""The heartbeat of the deployed stack, by its own function under its own role."""

import json
import time
from collections.abc import Iterator

import pytest

from local.credentials import REGION
from session_store.domain.times import from_iso
from session_store.schema import HEARTBEAT_SK, Attribute, heartbeat_pk
from tests.support.calls import Acting, create_in, items
from tests.support.delivery import delivered, eventually
from tests.support.emulator import LiveStack
from tests.support.raw_table import Item, RawTable

KEY = {Attribute.PK: {"S": heartbeat_pk(REGION)}, Attribute.SK: {"S": HEARTBEAT_SK}}
MINUTES_MS = 5 * 60_000


@pytest.fixture(scope="module", autouse=True)
def stack(deployed: LiveStack) -> Iterator[LiveStack]:
    """For this module alone, as for the audit's."""
    with delivered(deployed) as running:
        yield running


def beat(stack: LiveStack) -> None:
    name = stack.function("heartbeat")
    answer = stack.emulator.client("lambda").invoke(FunctionName=name, Payload=json.dumps({}))
    assert "FunctionError" not in answer, answer["Payload"].read()


def heartbeat(raw: RawTable) -> Item:
    found: Item = raw.dynamodb.get_item(TableName=raw.name, Key=KEY, ConsistentRead=True)["Item"]
    return found


def test_a_run_writes_the_item_of_its_region_anew(stack: LiveStack, raw: RawTable) -> None:
    beat(stack)
    first = heartbeat(raw)
    beat(stack)
    second = heartbeat(raw)
    assert set(second) == {
        *KEY,
        *(Attribute.ENTITY, Attribute.HOME_REGION, Attribute.WRITE_REGION),
        *(Attribute.UPDATED_AT, Attribute.UPDATED_BY),
    }
    assert second[Attribute.HOME_REGION] == second[Attribute.WRITE_REGION] == {"S": REGION}
    at = from_iso(second[Attribute.UPDATED_AT]["S"])
    assert from_iso(first[Attribute.UPDATED_AT]["S"]) <= at
    assert abs(at - time.time() * 1000) < MINUTES_MS


def test_the_streams_consumer_neither_audits_a_beat_nor_puts_it_away(
    stack: LiveStack, api: Acting, raw_audit: RawTable
) -> None:
    beat(stack)
    session_id = create_in(api, "active")
    assert eventually(lambda: len(items(api, f"/sessions/{session_id}/audit")) >= 2)
    assert (
        raw_audit.dynamodb.query(
            TableName=raw_audit.name,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeNames={"#pk": Attribute.PK},
            ExpressionAttributeValues={":pk": KEY[Attribute.PK]},
        )["Items"]
        == []
    )
    name = stack.function("audit_consumer")
    functions = stack.emulator.client("lambda")
    variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    kept = stack.emulator.client("s3").list_objects_v2(Bucket=variables["QUARANTINE_BUCKET"])
    beats = [entry["Key"] for entry in kept.get("Contents", [])]
    assert not [key for key in beats if "heartbeat" in body(stack, variables["QUARANTINE_BUCKET"], key)]


def body(stack: LiveStack, bucket: str, key: str) -> str:
    text: bytes = stack.emulator.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return text.decode()
