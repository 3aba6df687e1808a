"""Tokens never change: a retry sent by a newer release must be the same request."""

from msgspec.structs import replace

from session_store.domain import free_claim, tool_call
from session_store.domain.settlement import settlement_token
from session_store.domain.tokens import token_of
from tests.support.samples import a_free_claim, a_running_call, a_session

CALL = replace(a_running_call(a_session()), session_id="s1", tool_call_id="c1")


def test_a_token_is_of_its_parts_and_as_long_as_dynamodb_takes() -> None:
    assert token_of("task", "t1", 7, "complete", "h") == "26573e726f8b9b1266a9aef9f25d2b46e6a3"
    assert token_of("a", "b") != token_of("b", "a")
    assert token_of("ab") != token_of("a", "b")


def test_the_end_of_a_call_has_the_token_it_always_had() -> None:
    token = settlement_token(CALL, fence=7, operation="complete", outcome_hash="h")
    assert token == "4372c9f3c57d8a314f6bf07b6c0d4c0d6943"


def test_a_tool_hands_on_the_token_it_always_handed_on() -> None:
    assert tool_call.downstream_token(CALL) == "8349d8b43bdfbe512c9bb4db3727746681c8"
    free = a_free_claim(key_hash="k", started_at=1_800_000_000_500)
    assert free_claim.downstream_token(free) == "446605bfa4f98ef766c5d675aebb5bdab377"
