"""The principals that scheduled functions write as."""

from typing import Final

EXPIRY_CLEANUP: Final = "session-store expiry-cleanup"
EXPIRY_WATCH: Final = "session-store expiry-watch"
HEARTBEAT: Final = "session-store heartbeat"
