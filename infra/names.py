"""The names of the stacks and of what is in them, for what deploys them and for what looks for them.

What a dashboard shows has a name as well: CloudWatch knows functions, queues and APIs by nothing else, and a
stack cannot refer to what another region's stack made.
"""

from typing import Final

from session_store.metric_names import service_of

API_FUNCTION_OUTPUT: Final = "ApiFunctionName"
"""Of a regional stack: the function behind its API, whose settings say where all else is."""

CLEANUP_QUEUE: Final = "cleanup"
CLEANUP_DEAD_LETTERS: Final = "cleanup-dead-letters"
EXPORT_DEAD_LETTERS: Final = "audit-export-dead-letters"
STREAM_DEAD_LETTERS: Final = "stream-dead-letters"


def key_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Key-{region}"


def data_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Data"


def cache_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Cache-{region}"


def regional_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Regional-{region}"


def session_table(stage: str) -> str:
    return f"session-store-{stage}"


def audit_table(stage: str) -> str:
    return f"session-store-audit-{stage}"


def event_bus(stage: str) -> str:
    return f"session-store-{stage}"


def credential_prefix(stage: str) -> str:
    """What the names of the secrets of all tenants begin with, unless another prefix is configured."""
    return f"session-store/{stage}"


def web_acl_logs(stage: str) -> str:
    """AWS WAF writes to log groups of this prefix alone."""
    return f"aws-waf-logs-session-store-{stage}"


def dashboard_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Dashboard"


def dashboard(stage: str) -> str:
    return f"session-store-{stage}"


def rest_api(stage: str) -> str:
    return f"session-store-{stage}"


def function(stage: str, package: str) -> str:
    """Of the function whose handler is in ``package``; at most 64 long, as Lambda has it."""
    return f"session-store-{stage}-{service_of(package)}"


def queue(stage: str, purpose: str) -> str:
    return f"session-store-{stage}-{purpose}"
