"""Numbers come back equal, exact and of the same kind, whatever way they took."""

from decimal import Decimal

import pytest

from session_store.schema import Attribute
from tests.support.calls import Acting, assert_problem, create, exact
from tests.support.raw_table import RawTable

NUMBERS = (
    "0",
    "7",
    "-7",
    "0.1",
    "-0.1",
    "9007199254740993",
    "-9007199254740993",
    "18446744073709551617",
    "0.30000000000000004",
    "3.141592653589793238462643383279502884",
    "12345678901234567890123456789012345678",
    "-0.12345678901234567890123456789012345678",
    "123456789.12345678901234567890123456789",
    "9.9999999999999999999999999999999999999e125",
    "1e-130",
    "1e20",
)
"""As they stand in a body."""

TEXTS = ('"0.1"', '"9007199254740993"', '"007"')
REFUSED = {
    "39 digits": "123456789012345678901234567890123456789",
    "39 decimals": "0.123456789012345678901234567890123456789",
    "too large": "1e126",
    "too small": "1e-131",
}
"""What DynamoDB's number type cannot hold."""

LISTED = f"[{','.join(NUMBERS + TEXTS)}]"
EXPECTED = exact(LISTED.encode())


def text(value: str) -> str:
    """A number as it stands in an answer where it has no exponent: no double in between."""
    return f'"v":{value}'


def put(api: Acting, method: str, path: str, template: str, value: str) -> tuple[int, bytes]:
    answer = api.call(method, path, template.replace("@", value).encode(), {"If-Match": "*"})
    return answer.status, answer.body


@pytest.mark.parametrize("number", ["0.1", "9007199254740993", NUMBERS[10], NUMBERS[11]])
def test_a_number_keeps_every_digit_in_the_text_of_every_answer(api: Acting, number: str) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}"
    sent = f'{{"v":{number}}}'
    writes = [
        put(api, "POST", "/sessions", '{"state":@}', sent),
        put(api, "POST", "/sessions", '{"protocol":@}', sent),
        put(api, "PUT", f"{path}/state", "@", sent),
        put(api, "PATCH", f"{path}/state", '{"set":@}', sent),
        put(api, "PATCH", f"{path}/state", '{"append":{"l":[@]}}', sent),
        put(api, "POST", f"{path}/context", '{"messages":[{"content":@}]}', sent),
        put(api, "POST", f"{path}/checkpoints", '{"data":@}', sent),
        put(api, "PUT", f"{path}/tool-calls/c", '{"toolName":"t","input":@,"output":@,"durationMs":1}', sent),
        put(api, "PUT", f"{path}/tool-calls/f", '{"toolName":"t","input":1,"error":@,"durationMs":1}', sent),
    ]
    assert {status for status, _ in writes} == {200, 201}
    for _, body in writes:
        assert text(number) in body.decode()
    for read in (
        path,
        f"{path}/context",
        f"{path}/checkpoints",
        f"{path}/checkpoints/latest",
        f"{path}/tool-calls",
        f"{path}/tool-calls/c",
        f"{path}/history",
    ):
        assert text(number) in api.call("GET", read).body.decode()


def test_numbers_in_the_state_come_back_exactly(api: Acting) -> None:
    created = api.call("POST", "/sessions", f'{{"state":{{"v":{LISTED}}}}}'.encode())
    assert created.status == 201
    path = f"/sessions/{created.json['sessionId']}"
    assert exact(created.body)["state"]["v"] == EXPECTED
    assert exact(api.call("GET", path).body)["state"]["v"] == EXPECTED
    patch = f'{{"set":{{"w":{LISTED}}},"append":{{"v":{LISTED}}}}}'.encode()
    patched = api.call("PATCH", f"{path}/state", patch)
    assert exact(patched.body)["state"] == {"v": [*EXPECTED, *EXPECTED], "w": EXPECTED}
    replaced = api.call("PUT", f"{path}/state", f'{{"x":{LISTED}}}'.encode(), {"If-Match": "*"})
    assert exact(replaced.body)["state"] == {"x": EXPECTED}


def test_numbers_in_messages_and_tool_calls_come_back_exactly(api: Acting) -> None:
    path = f"/sessions/{create(api)['sessionId']}"
    message = api.call("POST", f"{path}/context", f'{{"messages":[{{"content":{LISTED}}}]}}'.encode())
    assert exact(message.body)["items"][0]["content"] == EXPECTED
    assert exact(api.call("GET", f"{path}/context").body)["items"][0]["content"] == EXPECTED
    call = f'{{"toolName":"t","input":{LISTED},"output":{LISTED},"durationMs":1}}'.encode()
    recorded = api.call("PUT", f"{path}/tool-calls/c", call)
    assert recorded.status == 201
    again = api.call("PUT", f"{path}/tool-calls/c", call)
    assert again.status == 200
    for body in (recorded.body, again.body, api.call("GET", f"{path}/tool-calls/c").body):
        assert exact(body)["input"] == EXPECTED
        assert exact(body)["output"] == EXPECTED


def test_state_lies_in_the_table_as_numbers_of_the_same_value(api: Acting, raw: RawTable) -> None:
    created = api.call("POST", "/sessions", f'{{"state":{{"v":[{",".join(NUMBERS)}]}}}}'.encode())
    metadata = raw.metadata(created.json["sessionId"])
    assert metadata is not None
    stored = [Decimal(entry["N"]) for entry in metadata[Attribute.STATE]["M"]["v"]["L"]]
    assert stored == [Decimal(number) for number in NUMBERS]


@pytest.mark.parametrize("number", ["7", "-0.1", "9007199254740993", "1"])
def test_a_whole_number_is_no_float_and_a_boolean_is_no_number(api: Acting, number: str) -> None:
    created = api.call("POST", "/sessions", f'{{"state":{{"v":{number},"t":true,"n":null}}}}'.encode())
    assert f'"state":{{"v":{number},"t":true,"n":null}}' in created.body.decode()


def test_increments_add_exactly(api: Acting) -> None:
    path = f"/sessions/{create(api)['sessionId']}/state"
    for body in (b'{"increment":{"v":0.1,"w":9007199254740992}}', b'{"increment":{"v":0.2,"w":1}}'):
        assert api.call("PATCH", path, body).status == 200
    answer = api.call("PATCH", path, b'{"increment":{"v":-0.3,"w":-0.5}}')
    assert exact(answer.body)["state"] == {"v": 0, "w": Decimal("9007199254740992.5")}
    assert '"w":9007199254740992.5' in answer.body.decode()


def test_a_sum_past_the_range_of_numbers_is_refused(api: Acting, raw: RawTable) -> None:
    session_id = api.call("POST", "/sessions", b'{"state":{"v":9e125,"n":1}}').json["sessionId"]
    before = raw.partition(session_id)
    answer = api.call("PATCH", f"/sessions/{session_id}/state", b'{"increment":{"v":9e125}}')
    assert_problem(answer, 400, "invalid-request")
    assert answer.json["path"] == "$.increment.v"
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("number", REFUSED.values(), ids=REFUSED)
def test_a_number_that_cannot_be_kept_is_refused_by_its_path(api: Acting, raw: RawTable, number: str) -> None:
    session_id = create(api, {"state": {"v": 1}})["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}"
    for method, target, body, where in (
        ("POST", "/sessions", f'{{"state":{{"v":[{number}]}}}}', "$.state.v[0]"),
        ("PUT", f"{path}/state", f'{{"v":{number}}}', "$.v"),
        ("PATCH", f"{path}/state", f'{{"set":{{"w":{number}}}}}', "$.set.w"),
        ("PATCH", f"{path}/state", f'{{"increment":{{"v":{number}}}}}', "$.increment.v"),
        ("PATCH", f"{path}/state", f'{{"append":{{"w":[{number}]}}}}', "$.append.w[0]"),
        ("POST", f"{path}/context", f'{{"messages":[{{"content":{number}}}]}}', "$.messages[0].content"),
        ("POST", f"{path}/checkpoints", f'{{"data":{number}}}', "$.data"),
        ("PUT", f"{path}/tool-calls/c", f'{{"toolName":"t","input":{number},"durationMs":1}}', "$.input"),
    ):
        answer = api.call(method, target, body.encode(), {"If-Match": "*"})
        assert_problem(answer, 400, "invalid-request", {"path": where})
    assert raw.partition(session_id) == before
