"""Attributes that items share: the session, the owner and the author."""

from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author, Owner
from session_store.schema import SESSION_PK_PREFIX, Attribute

A: Final = Attribute

Attributes = Mapping[str, Any]


def session_id_of(item: Attributes) -> str:
    """The session id in the partition key; minted ids contain nothing that keys escape."""
    return str(item[A.PK]).removeprefix(SESSION_PK_PREFIX)


def author_attribute(author: Author) -> dict[str, JsonValue]:
    return {A.ACTOR: author.principal, A.REQUEST_ID: author.request_id}


def author_from(stored: Attributes) -> Author:
    author = stored[A.UPDATED_BY]
    return Author(principal=author[A.ACTOR], request_id=author[A.REQUEST_ID])


def owner_from(stored: Attributes) -> Owner:
    return Owner(tenant=stored[A.TENANT], subject=stored[A.SUBJECT])
