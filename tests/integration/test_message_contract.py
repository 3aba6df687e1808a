"""What every MessageStorage promises."""

from decimal import Decimal
from functools import partial

import pytest
from msgspec.structs import replace

from session_store.domain.page import PageRequest
from session_store.ports import Storage
from session_store.storage.dynamodb.partition import PAGE_BYTES
from tests.support.pages import every_item
from tests.support.samples import NOW_SECONDS, a_message, a_session, operation_id


@pytest.mark.parametrize(
    "content", [None, "", {"text": "ß", "": [0, Decimal("0.1"), 9007199254740993]}, [[]], False]
)
def test_a_message_is_read_back_equal(storage: Storage, content: object) -> None:
    message = a_message(a_session(), content)
    assert storage.messages.put(message) is None
    found = storage.messages.page(message.session_id, PageRequest(limit=10))
    assert found.items == (message,)
    assert storage.messages.read_all(message.session_id, [message.message_id]) == {
        message.message_id: message
    }


def test_an_id_that_is_taken_keeps_what_it_has(storage: Storage) -> None:
    message = a_message(a_session())
    storage.messages.put(message)
    other = replace(message, content="other", content_hash="other", appended_at=message.appended_at + 1)
    assert storage.messages.put(other) == message
    assert storage.messages.page(message.session_id, PageRequest(limit=10)).items == (message,)


def test_an_expired_message_counts_as_none(storage: Storage) -> None:
    message = a_message(a_session(), ttl=NOW_SECONDS)
    storage.messages.put(message)
    other = replace(message, content="other", ttl=NOW_SECONDS + 60)
    assert storage.messages.put(other) is None
    assert storage.messages.page(message.session_id, PageRequest(limit=10)).items == (other,)


def test_all_messages_are_stored_or_none(storage: Storage) -> None:
    session = a_session()
    taken, *new = (a_message(session, at) for at in range(4))
    storage.messages.put(taken)
    assert storage.messages.put_all([*new, taken], operation_id=operation_id()) == {taken.message_id: taken}
    assert storage.messages.page(session.session_id, PageRequest(limit=10)).items == (taken,)
    assert storage.messages.put_all(new, operation_id=operation_id()) == {}
    assert len(storage.messages.page(session.session_id, PageRequest(limit=10)).items) == 4


def test_only_those_that_exist_are_read(storage: Storage) -> None:
    session = a_session()
    messages = [a_message(session, at) for at in range(30)]
    for message in messages[:20]:
        storage.messages.put(message)
    wanted = [message.message_id for message in messages]
    found = storage.messages.read_all(session.session_id, wanted)
    assert found == {message.message_id: message for message in messages[:20]}


@pytest.mark.parametrize("descending", [True, False])
def test_messages_come_in_the_order_of_their_ids_page_by_page(storage: Storage, *, descending: bool) -> None:
    session = a_session()
    messages = [a_message(session, "x" * 10_000) for _ in range(25)]
    for message in reversed(messages):
        storage.messages.put(message)
    storage.messages.put(a_message(a_session()))
    assert every_item(partial(storage.messages.page, session.session_id), limit=7, descending=descending) == (
        messages[::-1] if descending else messages
    )


def test_a_page_is_full_though_it_is_larger_than_one_answer_of_dynamodb(storage: Storage) -> None:
    session = a_session()
    messages = [a_message(session, "x" * 230_000) for _ in range(6)]
    for message in messages:
        storage.messages.put(message)
    found = storage.messages.page(session.session_id, PageRequest(limit=5))
    assert [message.message_id for message in found.items] == [message.message_id for message in messages[:5]]
    assert found.next is not None


@pytest.mark.parametrize("content", ["x" * 300_000, "\u6f22" * 100_000], ids=["letters", "CJK"])
def test_a_page_ends_by_its_bytes_before_an_answer_would_be_too_large(storage: Storage, content: str) -> None:
    session = a_session()
    messages = [a_message(session, content) for _ in range(12)]
    for message in messages:
        storage.messages.put(message)
    found = storage.messages.page(session.session_id, PageRequest(limit=100))
    sizes = [len(message.content.encode()) for message in found.items]
    assert sum(sizes[:-1]) < PAGE_BYTES
    assert found.next is not None
    assert every_item(partial(storage.messages.page, session.session_id), limit=100) == messages
