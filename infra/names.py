"""The names of stacks and of resources in them, for code that deploys them and code that looks them up.

What a dashboard shows needs a fixed name: CloudWatch identifies functions, queues and APIs by name, and a
stack cannot refer to resources of another region's stack.
"""

from typing import Final

from session_store.metric_names import service_of

API_FUNCTION_OUTPUT: Final = "ApiFunctionName"
"""Output of a regional stack: the function behind its API, whose environment names everything else."""

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
    """The default prefix of the names of all tenants' secrets."""
    return f"session-store/{stage}"


def web_acl_logs(stage: str) -> str:
    """AWS WAF only writes to log groups with this prefix."""
    return f"aws-waf-logs-session-store-{stage}"


def dashboard_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Dashboard"


def dashboard(stage: str) -> str:
    return f"session-store-{stage}"


def rest_api(stage: str) -> str:
    return f"session-store-{stage}"


def function(stage: str, package: str) -> str:
    """Of the function whose handler is in ``package``; at most 64 characters, Lambda's limit."""
    return f"session-store-{stage}-{service_of(package)}"


def queue(stage: str, purpose: str) -> str:
    return f"session-store-{stage}-{purpose}"
