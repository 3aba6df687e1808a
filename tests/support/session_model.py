"""What a session has to be after what clients did with it."""

import copy
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

KEYS: Final = st.sampled_from(["a", "b"])
VALUES: Final = st.one_of(st.integers(-3, 3), st.lists(st.integers(0, 3), max_size=2), st.text(max_size=2))
CHANGES: Final = st.one_of(
    st.builds(lambda key, value: {"set": {key: value}}, KEYS, VALUES),
    st.builds(lambda key: {"remove": [key]}, KEYS),
    st.builds(lambda amount: {"increment": {"n": amount}}, st.integers(-2, 2)),
    st.builds(lambda items: {"append": {"l": items}}, st.lists(st.integers(0, 9), max_size=2)),
    st.builds(lambda items: {"append": {"a": items}}, st.lists(st.integers(0, 9), max_size=1)),
    st.builds(
        lambda items: {"increment": {"n": 1}, "append": {"l": items}}, st.lists(st.just(7), max_size=1)
    ),
)
NEXT: Final = {"active": {"initializing"}, "closing": {"initializing", "active"}, "closed": {"closing"}}


@dataclass
class Modelled:
    """What a session has to be. ``seen`` is the highest version that was ever answered."""

    client: int
    status: str = "initializing"
    version: int = 1
    state: dict[str, Any] = field(default_factory=dict)
    gone: bool = False
    messages: list[tuple[str, Any]] = field(default_factory=list)
    checkpoints: dict[str, list[Any]] = field(default_factory=dict)
    """Their data by namespace, in their order."""
    calls: set[str] = field(default_factory=set)
    seen: int = 1

    def changed(self, body: dict[str, Any]) -> "Modelled":
        after = copy.deepcopy(self)
        after.version += 1
        for key, value in body.get("set", {}).items():
            after.state[key] = value
        for key in body.get("remove", []):
            after.state.pop(key, None)
        for key, amount in body.get("increment", {}).items():
            after.state[key] = after.state.get(key, 0) + amount
        for key, items in body.get("append", {}).items():
            after.state[key] = [*after.state.get(key, []), *items]
        return after

    @property
    def writable(self) -> bool:
        return self.status in ("initializing", "active")


@dataclass
class Keyed:
    """A change that went through under a key, to be sent again."""

    session_id: str
    key: str
    body: dict[str, Any]
