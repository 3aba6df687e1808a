"""The names of the stacks and of what they put out, for what deploys them and for what looks for them.

What a dashboard shows has a name as well: CloudWatch knows functions, queues and APIs by nothing else, and a
stack cannot refer to what another region's stack made.
"""

from typing import Final

from session_store.metric_names import service_of

API_FUNCTION_OUTPUT: Final = "ApiFunctionName"
"""Of a regional stack: the function behind its API, whose settings say where all else is."""

CLEANUP_QUEUE: Final = "cleanup"
CLEANUP_DEAD_LETTERS: Final = "cleanup-dead-letters"
STREAM_DEAD_LETTERS: Final = "stream-dead-letters"


def data_stack(stage: str) -> str:
    return f"SessionStore-{stage}-Data"


def regional_stack(stage: str, region: str) -> str:
    return f"SessionStore-{stage}-Regional-{region}"


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


def cache_cluster(stage: str) -> str:
    """Of a region's DAX cluster; at most 20 long, as DAX has it: a stage with a long name is cut."""
    return f"sessions-{stage}"[:20].rstrip("-")
