"""A request as the routes see it: who calls, and what was sent, judged and typed."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct, field

from session_store.domain.caller import Caller
from session_store.domain.idempotency_key import check_key
from session_store.domain.json_values import parse
from session_store.errors import InvalidRequestError, PayloadTooLargeError, PreconditionRequiredError
from session_store.store import Store

MAX_BODY: Final = 1024 * 1024
"""Bytes of a decoded body."""

NOBODY: Final = Caller(tenant="")
"""Who calls an operation that needs no caller."""

IF_MATCH: Final = "If-Match"
MIN_VERSION: Final = "Session-Min-Version"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"

_ETAG: Final = re.compile(r'"(0|[1-9][0-9]{0,14})"\Z')
_WHOLE: Final = re.compile(r"[0-9]{1,15}\Z")
_WHERE: Final = re.compile(r"(?P<detail>.*) - at `(?P<path>[^`]*)`\Z", re.DOTALL)

BodyT = TypeVar("BodyT", bound=msgspec.Struct)


class Headers(Struct, frozen=True):
    """Header fields by name, whatever the case they were sent in."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def one(self, name: str) -> str | None:
        """The value of a header that decides something, so that it may stand only once.

        Raises:
            InvalidRequestError: sent more than once.
        """
        values = self.fields.get(name.lower(), ())
        if len(values) > 1:
            raise InvalidRequestError("Must not be sent more than once", path=f"header {name}")
        return values[0] if values else None


def headers_of(event: Mapping[str, Any]) -> Headers:
    fields: dict[str, list[str]] = {}
    for name, values in (event.get("multiValueHeaders") or {}).items():
        fields.setdefault(name.lower(), []).extend(values)
    for name, value in (event.get("headers") or {}).items():
        fields.setdefault(name.lower(), [value])
    return Headers(fields)


class Query(Struct, frozen=True, kw_only=True):
    """Query parameters, each at most once and none unknown."""

    values: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        return self.values.get(name)

    def whole(self, name: str, *, default: int, low: int, high: int) -> int:
        """A whole number in a range.

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
        """One of the choices, or None where the parameter is absent.

        Raises:
            InvalidRequestError: anything else; names the parameter.
        """
        text = self.values.get(name)
        if text is not None and text not in choices:
            raise InvalidRequestError(f"Must be one of {', '.join(choices)}", path=f"query {name}")
        return text


def query_of(event: Mapping[str, Any], known: Sequence[str]) -> Query:
    """The query, if it holds known parameters only and none twice.

    Raises:
        InvalidRequestError: names the parameter.
    """
    values: dict[str, str] = {}
    for name, given in (event.get("multiValueQueryStringParameters") or {}).items():
        path = f"query {name[:64]}"
        if name not in known:
            raise InvalidRequestError("Not a parameter of this call", path=path)
        if len(given) != 1:
            raise InvalidRequestError("Must not be sent more than once", path=path)
        values[name] = given[0]
    return Query(values=values)


class Request(Struct, frozen=True, kw_only=True):
    """``min_version`` is the version of the session that the caller has seen (Session-Min-Version).

    ``body`` is an instance of the operation's body type; the plain map where that is ``dict``.
    """

    store: Store
    caller: Caller = NOBODY
    path: Mapping[str, str] = field(default_factory=dict)
    headers: Headers = field(default_factory=Headers)
    query: Query = field(default_factory=Query)
    min_version: int = 0
    key: str | None = None
    body: Any = None

    @property
    def session_id(self) -> str:
        return self.path["sessionId"]

    def version(self, *, required: bool = False) -> int | None:
        """The version that If-Match expects; None where it is absent or ``*``.

        Raises:
            PreconditionRequiredError: absent where required.
            InvalidRequestError: no version in double quotes.
        """
        value = self.headers.one(IF_MATCH)
        if value is None:
            if required:
                raise PreconditionRequiredError
            return None
        if value == "*":
            return None
        match = _ETAG.match(value)
        if match is None:
            raise InvalidRequestError(
                'Must be one version in double quotes, like "7"', path=f"header {IF_MATCH}"
            )
        return int(match[1])


def minimum_version(headers: Headers) -> int:
    """The version of a session that the caller has seen; 0 where it says none.

    Raises:
        InvalidRequestError: no whole number.
    """
    value = headers.one(MIN_VERSION)
    if value is None:
        return 0
    if not _WHOLE.match(value):
        raise InvalidRequestError("Must be a whole number", path=f"header {MIN_VERSION}")
    return int(value)


def idempotency_key(headers: Headers, *, taken: bool) -> str | None:
    """The key that makes the call happen once; None where none is sent.

    Who sends one counts on it, so a call that takes none does not pass over it.

    Raises:
        InvalidRequestError: sent twice, malformed, or to a call that takes none.
    """
    key = headers.one(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not taken:
        raise InvalidRequestError("This call takes none", path=f"header {IDEMPOTENCY_KEY}")
    return check_key(key)


def refuse_large_body(event: Mapping[str, Any]) -> None:
    """Judge the size of a body that nobody will read.

    Raises:
        InvalidRequestError, PayloadTooLargeError
    """
    if event.get("body"):
        _raw(event)


def body_of(event: Mapping[str, Any], kind: type[BodyT] | type[dict[str, Any]]) -> BodyT | dict[str, Any]:
    """The body as ``kind``.

    Raises:
        InvalidRequestError: empty, broken base64, no JSON, no object, or of another shape; names the path.
        PayloadTooLargeError: over 1 MB.
    """
    raw = _raw(event)
    if not raw.strip():
        raise InvalidRequestError("The body is empty", path="$")
    value = parse(raw)
    if not isinstance(value, dict):
        raise InvalidRequestError("The body must be a JSON object", path="$")
    if kind is dict:
        return value
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _located(error) from error


def _raw(event: Mapping[str, Any]) -> bytes:
    body = event.get("body") or ""
    raw = _decoded(body) if event.get("isBase64Encoded") else body.encode(errors="surrogatepass")
    if len(raw) > MAX_BODY:
        detail = f"A body may have at most {MAX_BODY} bytes"
        raise PayloadTooLargeError(detail, limit=MAX_BODY, size=len(raw))
    return raw


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError("The body is not valid base64", path="$") from error


def _located(error: msgspec.ValidationError) -> InvalidRequestError:
    message = str(error).replace("`decimal`", "`number`")
    match = _WHERE.match(message)
    if match is None:
        return InvalidRequestError(message, path="$")
    return InvalidRequestError(match["detail"], path=match["path"])
