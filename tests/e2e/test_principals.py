"""Who may do what: one that is no delegate, one that may do nothing, the operator, a tenant past the API."""

import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.access import Principal
from local.credentials import OPERATOR, Credentials
from local.event_listener import listening
from local.principals import provision_user, tenant_policy
from local.signed_http import Api
from tests.support.calls import Acting, assert_problem, create, ids, new_subject, read
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable


@pytest.fixture(scope="module")
def outsider(deployed: LiveStack) -> Api:
    """May call the API, and is not among the delegates."""
    emulator = deployed.emulator
    key = provision_user(emulator, name="outsider", policy=tenant_policy(deployed.deployed))
    return deployed.api().as_(key)


@pytest.fixture(scope="module")
def powerless(deployed: LiveStack) -> Api:
    """A user of the account whom no policy lets call the API."""
    iam = deployed.emulator.client("iam")
    iam.create_user(UserName="powerless")
    key = iam.create_access_key(UserName="powerless")["AccessKey"]
    credentials = Credentials(access_key_id=key["AccessKeyId"], secret_access_key=key["SecretAccessKey"])
    return deployed.api().as_(credentials)


def test_who_is_no_delegate_may_not_name_a_subject(outsider: Api, api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    for subject in (api.subject, new_subject()):
        acting = Acting(outsider, subject)
        for method, path, body in (
            ("POST", "/sessions", {}),
            ("GET", "/sessions", None),
            ("GET", f"/sessions/{session_id}", None),
            ("DELETE", f"/sessions/{session_id}", None),
            ("PATCH", f"/sessions/{session_id}/state", {"set": {"stolen": 1}}),
        ):
            assert_problem(acting.call(method, path, body), 403, "forbidden")
    assert raw.partition(session_id) == before


def test_who_is_no_delegate_owns_its_own_sessions(outsider: Api, api: Acting) -> None:
    session_id = create(outsider)["sessionId"]
    assert read(outsider, session_id)["subject"] == "-"
    assert session_id in ids(outsider, "/sessions")
    assert_problem(api.call("GET", f"/sessions/{session_id}"), 404, "session-not-found")


def test_who_may_not_call_the_api_is_refused(powerless: Api, api: Acting, raw: RawTable) -> None:
    """The emulator words this refusal itself: only its status is the gateway's."""
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}/state"
    assert powerless.call("PUT", path, {"stolen": 1}, {"If-Match": "*"}).status == 403
    assert powerless.call("GET", "/sessions").status == 403
    assert raw.partition(session_id) == before


@pytest.fixture(scope="module")
def operator(deployed: LiveStack) -> Principal:
    return Principal(endpoint=deployed.emulator.endpoint, credentials=deployed.keys[OPERATOR])


def denied(call: Callable[..., object], **arguments: object) -> bool:
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"] in {"AccessDenied", "AccessDeniedException"}
    return False


def key_of(session_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"session#{session_id}"}, "sk": {"S": "metadata"}}


def test_an_operator_calls_what_is_for_operators_and_nothing_else(deployed: LiveStack, api: Acting) -> None:
    session_id = create(api)["sessionId"]
    operator = deployed.api(OPERATOR)
    for path in ("/ops/expiring", "/ops/dlq"):
        assert operator.call("GET", path).status == 200
    for method, path, body in (
        ("POST", "/sessions", {}),
        ("GET", "/sessions", None),
        ("GET", f"/sessions/{session_id}", None),
        ("DELETE", f"/sessions/{session_id}", None),
        ("PUT", f"/sessions/{session_id}/tool-calls/%2Fops%2Fx", {}),
        ("DELETE", "/ops/dlq", None),
    ):
        assert operator.call(method, path, body).status == 403, (method, path)


def test_an_operator_reads_the_tables_and_writes_them_not(
    deployed: LiveStack, operator: Principal, api: Acting
) -> None:
    key = key_of(create(api)["sessionId"])
    dynamodb = operator.client("dynamodb")
    for table in (deployed.deployed.table_name, deployed.deployed.audit_table_name):
        assert not denied(dynamodb.get_item, TableName=table, Key=key)
        assert denied(dynamodb.put_item, TableName=table, Item=key)
        assert denied(dynamodb.delete_item, TableName=table, Key=key)
        assert denied(dynamodb.scan, TableName=table)


def test_an_operator_keeps_secrets_for_tenants_and_reads_none(operator: Principal) -> None:
    manager = operator.client("secretsmanager")
    name = f"session-store/local/{secrets.token_hex(8)}"
    manager.create_secret(Name=name, SecretString="hush")
    manager.put_secret_value(SecretId=name, SecretString="hush again")
    assert manager.describe_secret(SecretId=name)["Name"] == name
    assert denied(manager.get_secret_value, SecretId=name)
    manager.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)
    assert denied(manager.create_secret, Name="session-store-of-others/x", SecretString="hush")


def test_an_operator_takes_nothing_from_the_queues_of_the_store(
    deployed: LiveStack, operator: Principal
) -> None:
    sqs, url = operator.client("sqs"), deployed.deployed.cleanup_queue_url
    assert denied(sqs.receive_message, QueueUrl=url)
    assert denied(sqs.delete_queue, QueueUrl=url)
    assert denied(sqs.create_queue, QueueName="of-others")
    assert denied(operator.client("iam").list_users)


def test_an_ear_leaves_nothing_behind(deployed: LiveStack, operator: Principal) -> None:
    bus = deployed.deployed.event_bus_name
    events, sqs = deployed.emulator.client("events"), deployed.emulator.client("sqs")

    def rules() -> dict[str, str]:
        return {rule["Name"]: rule["Arn"] for rule in events.list_rules(EventBusName=bus)["Rules"]}

    before = rules()
    with listening(operator, bus=bus):
        ((name, arn),) = rules().items() - before.items()
        (url,) = sqs.list_queues(QueueNamePrefix=name)["QueueUrls"]
        policy = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])["Attributes"]["Policy"]
        (statement,) = json.loads(policy)["Statement"]
        assert statement["Condition"] == {"ArnEquals": {"aws:SourceArn": arn}}
    assert rules() == before
    assert not sqs.list_queues(QueueNamePrefix=name).get("QueueUrls")


def test_a_tenant_reaches_the_store_by_the_api_alone(deployed: LiveStack, api: Acting) -> None:
    tenant = Principal(endpoint=deployed.emulator.endpoint, credentials=deployed.keys["tenant-a"])
    key = key_of(create(api)["sessionId"])
    dynamodb = tenant.client("dynamodb")
    for table in (deployed.deployed.table_name, deployed.deployed.audit_table_name):
        assert denied(dynamodb.get_item, TableName=table, Key=key)
        query = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": key["pk"]}}
        assert denied(dynamodb.query, TableName=table, **query)
    assert denied(tenant.client("secretsmanager").list_secrets)
    assert denied(tenant.client("sqs").receive_message, QueueUrl=deployed.deployed.cleanup_queue_url)
