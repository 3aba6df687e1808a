"""A request as a route sees it: its caller, and its parsed and validated input."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Struct, field

from session_store.domain.caller import Caller
from session_store.domain.idempotency_key import check_key
from session_store.domain.json_values import parse
from session_store.errors import InvalidRequestError, PayloadTooLargeError, PreconditionRequiredError
from session_store.store import Store

MAX_BODY: Final = 1024 * 1024
"""Bytes of a decoded body."""

ANONYMOUS: Final = Caller(tenant="")
"""The caller of an operation that needs none."""

IF_MATCH: Final = "If-Match"
MIN_VERSION: Final = "Session-Min-Version"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
IDEMPOTENT_REPLAYED: Final = "Idempotent-Replayed"

_ETAG: Final = re.compile(r'"(0|[1-9][0-9]{0,14})"\Z')
_WHOLE: Final = re.compile(r"[0-9]{1,15}\Z")
_LOCATED: Final = re.compile(r"(?P<detail>.*) - at `(?P<path>[^`]*)`\Z", re.DOTALL)

BodyT = TypeVar("BodyT")
Body_co = TypeVar("Body_co", covariant=True)


class Headers(Struct, frozen=True):
    """Header fields by name in lower case."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def single(self, name: str) -> str | None:
        """The value of a header, in any case; None where it is absent.

        Raises:
            InvalidRequestError: sent more than once, so that the caller's intent is unclear.
        """
        values = self.fields.get(name.lower(), ())
        if len(values) > 1:
            raise InvalidRequestError("Must not be sent more than once", path=f"header {name}")
        return values[0] if values else None


def parse_headers(event: Mapping[str, Any]) -> Headers:
    fields: dict[str, list[str]] = {}
    for name, values in (event.get("multiValueHeaders") or {}).items():
        fields.setdefault(name.lower(), []).extend(values)
    for name, value in (event.get("headers") or {}).items():
        fields.setdefault(name.lower(), [value])
    return Headers(fields)


class Query(Struct, frozen=True, kw_only=True):
    """Query parameters that the operation knows, each sent once."""

    values: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        return self.values.get(name)

    def integer(self, name: str, *, default: int, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``; ``default`` where the parameter is absent.

        Raises:
            InvalidRequestError: anything else; names the parameter.
        """
        text = self.values.get(name)
        if text is None:
            return default
        if not _WHOLE.match(text) or not low <= int(text) <= high:
            raise InvalidRequestError(f"Must be a whole number from {low} to {high}", path=f"query {name}")
        return int(text)

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """One of ``choices``; None where the parameter is absent.

        Raises:
            InvalidRequestError: anything else; names the parameter.
        """
        text = self.values.get(name)
        if text is not None and text not in choices:
            raise InvalidRequestError(f"Must be one of {', '.join(choices)}", path=f"query {name}")
        return text


def parse_query(event: Mapping[str, Any], known: Sequence[str]) -> Query:
    """The query parameters of an operation that knows ``known``.

    Raises:
        InvalidRequestError: an unknown parameter, or one sent twice; names it.
    """
    values: dict[str, str] = {}
    for name, given in (event.get("multiValueQueryStringParameters") or {}).items():
        path = f"query {name[:64]}"
        if name not in known:
            raise InvalidRequestError(f"Unknown; allowed: {', '.join(known) or 'none'}", path=path)
        if len(given) != 1:
            raise InvalidRequestError("Must not be sent more than once", path=path)
        values[name] = given[0]
    return Query(values=values)


class Request(Struct, Generic[Body_co], frozen=True, kw_only=True):
    """A validated request.

    ``min_version``: the version of the session that the caller has seen (Session-Min-Version). ``key``: its
    Idempotency-Key. ``body``: of the type that the operation declares, None where it declares none.
    """

    store: Store
    body: Body_co
    caller: Caller = ANONYMOUS
    path: Mapping[str, str] = field(default_factory=dict)
    headers: Headers = field(default_factory=Headers)
    query: Query = field(default_factory=Query)
    min_version: int = 0
    key: str | None = None

    @property
    def session_id(self) -> str:
        return self.path["sessionId"]

    def expected_version(self, *, required: bool = False) -> int | None:
        """The version in If-Match; None where the header is absent or ``*``.

        Raises:
            PreconditionRequiredError: absent although required.
            InvalidRequestError: neither ``*`` nor one version in double quotes.
        """
        value = self.headers.single(IF_MATCH)
        if value is None:
            if required:
                raise PreconditionRequiredError
            return None
        if value == "*":
            return None
        match = _ETAG.match(value)
        if match is None:
            raise InvalidRequestError(
                'Must be * or one version in double quotes, like "7"', path=f"header {IF_MATCH}"
            )
        return int(match[1])


def parse_min_version(headers: Headers) -> int:
    """The version of a session that the caller has seen; 0 where the header is absent.

    Raises:
        InvalidRequestError: not a whole number.
    """
    value = headers.single(MIN_VERSION)
    if value is None:
        return 0
    if not _WHOLE.match(value):
        raise InvalidRequestError("Must be a whole number of up to 15 digits", path=f"header {MIN_VERSION}")
    return int(value)


def parse_idempotency_key(headers: Headers, *, accepted: bool) -> str | None:
    """The Idempotency-Key; None where the header is absent.

    A caller that sends one relies on it, so an operation that does not accept keys refuses it.

    Raises:
        InvalidRequestError: sent twice, malformed, or not accepted.
    """
    key = headers.single(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not accepted:
        raise InvalidRequestError("Not accepted by this operation", path=f"header {IDEMPOTENCY_KEY}")
    return check_key(key)


def refuse_if_match(headers: Headers, *, instead: str | None) -> None:
    """Refuse a version in If-Match that the operation would ignore: its caller relies on it.

    ``*`` holds whatever the version. ``instead``: the member of the body that takes a version, if any.

    Raises:
        InvalidRequestError
    """
    if headers.single(IF_MATCH) not in {None, "*"}:
        hint = "" if instead is None else f"; use {instead} in the body"
        raise InvalidRequestError(f"Not accepted by this operation{hint}", path=f"header {IF_MATCH}")


def check_ignored_body(event: Mapping[str, Any]) -> None:
    """Hold a body that the operation ignores to the limit of every body.

    Raises:
        InvalidRequestError: broken base64.
        PayloadTooLargeError: over 1 MiB.
    """
    if event.get("body"):
        _raw_body(event)


def parse_body(event: Mapping[str, Any], kind: type[BodyT]) -> BodyT:
    """The body as ``kind``, a struct or ``dict``.

    Raises:
        InvalidRequestError: empty, broken base64, not a JSON object, or of another shape; names the path.
        PayloadTooLargeError: over 1 MiB.
    """
    raw = _raw_body(event)
    if not raw.strip():
        raise InvalidRequestError("The body is empty; it must be a JSON object", path="$")
    value = parse(raw)
    if not isinstance(value, dict):
        raise InvalidRequestError("The body must be a JSON object", path="$")
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _with_path(error) from error


def _raw_body(event: Mapping[str, Any]) -> bytes:
    body = event.get("body") or ""
    raw = _decode_base64(body) if event.get("isBase64Encoded") else body.encode(errors="surrogatepass")
    if len(raw) > MAX_BODY:
        detail = f"The body may have at most {MAX_BODY} bytes"
        raise PayloadTooLargeError(detail, limit=MAX_BODY, size=len(raw))
    return raw


def _decode_base64(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError("The body is not valid base64", path="$") from error


def _with_path(error: msgspec.ValidationError) -> InvalidRequestError:
    """The error with its path as a fact: msgspec ends its message in "- at `$.path`"."""
    message = str(error).replace("`decimal`", "`number`")
    match = _LOCATED.match(message)
    if match is None:
        return InvalidRequestError(message, path="$")
    return InvalidRequestError(match["detail"], path=match["path"])
