"""How a worker asks for the end of a task."""

from collections.abc import Sequence

from msgspec import Struct

from session_store.domain.fingerprints import fingerprint, present_members
from session_store.domain.json_values import JsonValue
from session_store.services.tasks.new_tasks import NewTask


class TaskFailure(Struct, frozen=True, kw_only=True):
    """``retry_in``: seconds until the next attempt; None for the backoff of the attempts so far."""

    fence: int
    error: JsonValue
    retry_in: int | None = None

    @property
    def outcome_hash(self) -> str:
        """The fingerprint of the request except for the fence."""
        return fingerprint(
            "task-failed",
            present_members({}, {"error": (self.error, None), "retryInSeconds": (self.retry_in, None)}),
        )


class TaskCompletion(Struct, frozen=True, kw_only=True):
    """``following``: the tasks that are created with the completion."""

    fence: int
    result: JsonValue
    following: Sequence[NewTask] = ()

    @property
    def outcome_hash(self) -> str:
        """The fingerprint of the request except for the fence."""
        following = [new.members for new in self.following]
        return fingerprint(
            "task-completed", present_members({}, {"result": (self.result, None), "next": (following, [])})
        )
