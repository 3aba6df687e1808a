"""Sessions as items of the table, and back."""

from typing import Final

from session_store.domain.homes import fnv1a_32
from session_store.domain.json_values import JsonValue
from session_store.domain.page import OwnedPosition
from session_store.domain.session import ExpiringSession, Session, SessionSummary, Status
from session_store.domain.times import from_iso, iso
from session_store.schema import SESSION_SK, Attribute, Entity, session_pk
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.ownership import author_attribute, author_from, owner_from, session_id_of

A: Final = Attribute


def shard_of(session_id: str, shards: int) -> int:
    """The shard of the status/ttl index that a session is in."""
    return fnv1a_32(session_id) % shards


def metadata_key(session_id: str) -> Item:
    return to_item({A.PK: session_pk(session_id), A.SK: SESSION_SK})


def session_item(session: Session, *, shards: int) -> Item:
    # Absent without a mark: most sessions never have one.
    mark: dict[str, JsonValue] = {} if session.warned_ttl is None else {A.WARNED_TTL: session.warned_ttl}
    return to_item(
        {
            A.PK: session_pk(session.session_id),
            A.SK: SESSION_SK,
            A.ENTITY: Entity.SESSION,
            A.STATUS: session.status,
            A.SHARD: shard_of(session.session_id, shards),
            A.VERSION: session.version,
            A.TENANT: session.owner.tenant,
            A.SUBJECT: session.owner.subject,
            A.CREATED_AT: iso(session.created_at),
            A.UPDATED_AT: iso(session.updated_at),
            A.TTL: session.ttl,
            A.SLIDE_AFTER: session.slide_after,
            A.IDLE_TIMEOUT: session.idle_timeout,
            A.MAX_EXPIRES_AT: session.max_expires_at,
            A.HOME_REGION: session.home_region,
            A.WRITE_REGION: session.write_region,
            A.UPDATED_BY: author_attribute(session.updated_by),
            A.LAST_WRITE: session.last_write,
            A.STATE: session.state,
            A.PROTOCOL: session.protocol,
            A.CREDENTIAL_REFS: list(session.credential_refs),
            **mark,
        }
    )


def session_from(item: Item) -> Session:
    stored = from_item(item)
    return Session(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        version=stored[A.VERSION],
        created_at=from_iso(stored[A.CREATED_AT]),
        updated_at=from_iso(stored[A.UPDATED_AT]),
        ttl=stored[A.TTL],
        slide_after=stored[A.SLIDE_AFTER],
        idle_timeout=stored[A.IDLE_TIMEOUT],
        max_expires_at=stored[A.MAX_EXPIRES_AT],
        home_region=stored[A.HOME_REGION],
        write_region=stored[A.WRITE_REGION],
        updated_by=author_from(stored),
        last_write=stored[A.LAST_WRITE],
        state=stored[A.STATE],
        protocol=stored[A.PROTOCOL],
        credential_refs=tuple(stored[A.CREDENTIAL_REFS]),
        warned_ttl=stored.get(A.WARNED_TTL),
    )


def summary_from(item: Item) -> SessionSummary:
    stored = from_item(item)
    return SessionSummary(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        created_at=from_iso(stored[A.CREATED_AT]),
        ttl=stored[A.TTL],
        idle_timeout=stored[A.IDLE_TIMEOUT],
        max_expires_at=stored[A.MAX_EXPIRES_AT],
        home_region=stored[A.HOME_REGION],
    )


def expiring_from(item: Item) -> ExpiringSession:
    stored = from_item(item)
    return ExpiringSession(
        session_id=session_id_of(stored),
        owner=owner_from(stored),
        status=Status(stored[A.STATUS]),
        ttl=stored[A.TTL],
        home_region=stored[A.HOME_REGION],
        warned_ttl=stored.get(A.WARNED_TTL),
    )


def owned_position_from(key: Item) -> OwnedPosition:
    """The position at which a query of the owner index stopped."""
    stored = from_item(key)
    return OwnedPosition(created_at=from_iso(stored[A.CREATED_AT]), session_id=session_id_of(stored))
