"""The paths of the API, in OpenAPI's form."""

from typing import Final

HEALTH: Final = "/health"

SESSIONS: Final = "/sessions"
SESSION: Final = f"{SESSIONS}/{{sessionId}}"
STATE: Final = f"{SESSION}/state"
STATUS: Final = f"{SESSION}/status"
TOUCH: Final = f"{SESSION}/touch"
CONTEXT: Final = f"{SESSION}/context"
CHECKPOINTS: Final = f"{SESSION}/checkpoints"
LATEST_CHECKPOINT: Final = f"{CHECKPOINTS}/latest"
CHECKPOINT: Final = f"{CHECKPOINTS}/{{checkpointId}}"
TOOL_CALLS: Final = f"{SESSION}/tool-calls"
TOOL_CALL: Final = f"{TOOL_CALLS}/{{toolCallId}}"
HISTORY: Final = f"{SESSION}/history"
RECOVERY: Final = f"{SESSION}/recovery"
AUDIT: Final = f"{SESSION}/audit"

CLAIM: Final = "/claims/{key}"

TASKS: Final = "/tasks"
TASK: Final = f"{TASKS}/{{taskId}}"

EXPIRING: Final = "/ops/expiring"
DRAIN: Final = "/ops/drain"
DEAD_LETTERS: Final = "/ops/dlq"
REDRIVE: Final = f"{DEAD_LETTERS}/redrive"
