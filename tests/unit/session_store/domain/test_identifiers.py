"""Identifiers are minted in one form, never twice, and checked before they become keys."""

import itertools
import re
import threading
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store.domain.identifiers import (
    SESSION_ID_PATTERN,
    MessageIds,
    check_identifier,
    check_message_id,
    check_session_id,
    message_time,
    mint_session_id,
    region_code,
)
from session_store.errors import InvalidRequestError
from session_store.system import RandomIds
from tests.support.samples import NOW_MS

REGIONS = re.findall(
    r"\S+",
    """
    us-east-1 us-east-2 us-west-1 us-west-2 af-south-1 ap-east-1 ap-east-2 ap-south-1 ap-south-2
    ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6
    ap-southeast-7 ap-northeast-1 ap-northeast-2 ap-northeast-3 ca-central-1 ca-west-1 eu-central-1
    eu-central-2 eu-west-1 eu-west-2 eu-west-3 eu-south-1 eu-south-2 eu-north-1 il-central-1
    mx-central-1 me-south-1 me-central-1 sa-east-1 us-gov-east-1 us-gov-west-1 cn-north-1 cn-northwest-1
    us-iso-east-1 us-iso-west-1 us-isob-east-1 us-isob-west-1 eu-isoe-west-1 us-isof-east-1
    us-isof-south-1 eusc-de-east-1
    """,
)
NOW = 1_800_000_000_123


def message_ids() -> MessageIds:
    counter = itertools.count()
    return MessageIds(random_bytes=lambda length: next(counter).to_bytes(length))


def test_every_region_has_a_code_of_its_own() -> None:
    assert len(REGIONS) == len({region_code(region) for region in REGIONS})


@pytest.mark.parametrize("region", REGIONS)
def test_every_region_mints_ids_of_the_form(region: str) -> None:
    session_id = mint_session_id(region=region, random_bytes=lambda length: b"\xff" * length)
    assert check_session_id(session_id) == session_id
    assert session_id.partition("-")[0] == region_code(region)
    assert re.search(SESSION_ID_PATTERN, session_id)


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us-east-1", "use1"), ("ap-northeast-1", "apne1"), ("us-gov-west-1", "usgovw1")],
)
def test_a_region_code_is_short(region: str, expected: str) -> None:
    assert expected == region_code(region)


@pytest.mark.parametrize(
    "region", ["", "mars", "us-east", "us-east-1 ", "US-EAST-1", "us_east_1", "us-east-1\n"]
)
def test_no_region_has_no_code(region: str) -> None:
    with pytest.raises(ValueError, match="not the name of an AWS region"):
        region_code(region)


def test_a_session_id_carries_160_random_bits() -> None:
    asked = []

    def random_bytes(length: int) -> bytes:
        asked.append(length)
        return bytes(length)

    assert mint_session_id(region="us-east-1", random_bytes=random_bytes) == "use1-" + "a" * 32
    assert asked == [20]


def test_session_ids_are_never_the_same() -> None:
    ids = RandomIds()
    assert len({ids.session_id("us-east-1") for _ in range(10_000)}) == 10_000


@pytest.mark.parametrize(
    "value",
    [
        "",
        " use1-" + "a" * 32,
        "use1-" + "a" * 32 + "\n",
        "use1-" + "a" * 31,
        "use1-" + "a" * 33,
        "use1-" + "A" * 32,
        "use1-" + "1" * 32,
        "use-" + "a" * 32,
        "use1-" + "a" * 31 + "#",
        "s1",
        "s1,s1",
        "s\0",
        "use٣-" + "a" * 32,
        "x" * 2049,
    ],
)
def test_what_this_store_never_minted_is_no_session_id(value: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_session_id(value)
    assert refused.value.facts["path"] == "sessionId"


@pytest.mark.parametrize("value", ["a", "...", ".a", "a#b", "a%23b", "~", "!", "a/b", "x" * 127, "x" * 128])
def test_printable_ascii_is_an_identifier(value: str) -> None:
    assert check_identifier(value, path="$.a") == value


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", " ", "a b", " a", "a ", "a\n", "\t", "\0", "\x1f", "\x7f", "é", "\u3000", "x" * 129],
)
def test_anything_else_is_no_identifier(value: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_identifier(value, path="$.a")
    assert refused.value.facts["path"] == "$.a"


def test_an_identifier_may_be_as_long_as_its_kind_admits() -> None:
    assert check_identifier("x" * 256, path="id", longest=256) == "x" * 256
    with pytest.raises(InvalidRequestError):
        check_identifier("x" * 257, path="id", longest=256)


@given(st.text(max_size=8))
def test_an_identifier_is_printable_ascii_and_nothing_else(value: str) -> None:
    admitted = len(value) >= 1 and value not in (".", "..") and all("!" <= letter <= "~" for letter in value)
    if admitted:
        assert check_identifier(value, path="id") == value
    else:
        with pytest.raises(InvalidRequestError):
            check_identifier(value, path="id")


def test_message_ids_rise_while_the_clock_is_stuck() -> None:
    ids = message_ids()
    minted = [ids.mint(NOW) for _ in range(5000)]
    assert minted == sorted(set(minted))
    assert {NOW, NOW + 1} == {message_time(message_id) for message_id in minted}


def test_message_ids_rise_while_the_clock_steps_back() -> None:
    ids = message_ids()
    minted = [ids.mint(at) for at in (NOW, NOW - 1, NOW - 60_000, 0, NOW, NOW + 1, NOW)]
    assert minted == sorted(set(minted))


def test_a_message_id_follows_the_clock_again_once_it_has_caught_up() -> None:
    ids = message_ids()
    ids.mint(NOW)
    ids.mint(NOW - 1000)
    assert message_time(ids.mint(NOW + 5)) == NOW + 5


def test_message_ids_of_16_threads_are_distinct_and_rise_in_each() -> None:
    ids = RandomIds()
    minted: list[list[str]] = [[] for _ in range(16)]
    threads = [
        threading.Thread(target=lambda own=own: own.extend(ids.message_id(NOW) for _ in range(500)))
        for own in minted
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({message_id for own in minted for message_id in own}) == 16 * 500
    assert minted == [sorted(own) for own in minted]


@given(st.integers(0, 2**48 - 1))
def test_a_message_id_tells_its_millisecond(now_ms: int) -> None:
    message_id = message_ids().mint(now_ms)
    assert message_time(message_id) == now_ms
    assert check_message_id(message_id, path="id") == message_id


@given(st.integers(1, 2**48 - 2), st.integers(0, 2**48 - 2))
def test_a_message_id_is_later_than_the_one_it_follows_and_the_next_is_of_its_own_time(
    now_ms: int, other_ms: int
) -> None:
    ids, parent = message_ids(), MessageIds(random_bytes=lambda length: b"\xff" * length).mint(other_ms)
    child = ids.mint(now_ms, after=parent)
    assert child > parent
    assert message_time(child) == (now_ms if now_ms > other_ms else other_ms + 1)
    assert message_time(ids.mint(now_ms)) == now_ms


def test_there_is_no_millisecond_after_the_last_one() -> None:
    last = "ffffffff-ffff-7fff-bfff-ffffffffffff"
    assert message_time(message_ids().mint(5, after=last)) == message_time(last)


@given(st.integers(1, 2**48 - 1), st.binary(min_size=8, max_size=8))
def test_a_message_id_is_a_uuid_of_version_7(now_ms: int, random: bytes) -> None:
    minted = uuid.UUID(MessageIds(random_bytes=lambda _: random).mint(now_ms))
    assert (minted.version, minted.variant) == (7, uuid.RFC_4122)
    assert minted.int >> 80 == now_ms
    assert minted.int & (2**62 - 1) == int.from_bytes(random) & (2**62 - 1)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "message-1",
        "01A1B2C3-D4E5-7000-8000-000000000000",
        "01a1b2c3d4e570008000000000000000",
        "01a1b2c3-d4e5-4000-8000-000000000000",
        "01a1b2c3-d4e5-7000-c000-000000000000",
        "01a1b2c3-d4e5-7000-8000-000000000000\n",
        "{01a1b2c3-d4e5-7000-8000-000000000000}",
    ],
)
def test_only_a_uuid_of_version_7_in_lower_case_is_a_message_id(value: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_message_id(value, path="$.messages[0].messageId")
    assert refused.value.facts["path"] == "$.messages[0].messageId"


def test_an_operation_id_serves_as_a_client_request_token() -> None:
    ids = RandomIds()
    assert len(ids.operation_id()) == 36
    assert ids.operation_id() != ids.operation_id()
    assert message_time(ids.message_id(NOW_MS)) == NOW_MS
