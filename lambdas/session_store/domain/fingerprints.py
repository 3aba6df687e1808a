"""Fingerprints: digests by which a replay is told from another request.

They are stored with claims, calls, tasks and checkpoints for as long as a replay may come, which can be
after an upgrade. So a fingerprint covers an object keyed by member names, never a list of values, and
leaves out optional members at their defaults: a member that is added later, as an optional one, leaves the
fingerprints of all requests without it unchanged (``docs/decisions/0024-fingerprints-are-keyed-by-name.md``).
"""

from collections.abc import Mapping

from session_store.domain.json_values import JsonValue, digest

Members = dict[str, JsonValue]
"""A request, or a part of one, by the names of its members."""


def present_members(
    required: Mapping[str, JsonValue], optional: Mapping[str, tuple[JsonValue, JsonValue]] | None = None
) -> Members:
    """The required members, and of the optional ones those whose value differs from the default.

    ``optional`` maps each name to value and default. Once a request with the default is stored, neither
    the default nor the name may change.
    """
    present = dict(required)
    for name, (value, default) in (optional or {}).items():
        if not _is_same(value, default):
            present[name] = value
    return present


def fingerprint(kind: str, of: Members) -> str:
    """SHA-256, in hex, of the canonical JSON of the members of a request of this kind."""
    return digest({"kind": kind, "members": of})


def _is_same(value: JsonValue, default: JsonValue) -> bool:
    """Whether both are one JSON value; in Python ``True`` equals 1."""
    return bool(value == default) and isinstance(value, bool) == isinstance(default, bool)
