"""The client as the end-to-end tests use it."""

from session_store_client import Client, Retries, SigV4
from tests.support.calls import new_subject
from tests.support.emulator import LiveStack


def client_of(stack: LiveStack, name: str, *, url: str | None = None, subject: str | None = None) -> Client:
    """Signed in as ``name``, for an end user that nobody else knows."""
    key = stack.keys[name]
    signing = SigV4.key(key.access_key_id, key.secret_access_key, region=key.region)
    return Client(
        url or stack.deployed.api_url,
        signing,
        subject=subject or new_subject(),
        retries=Retries(pause_seconds=0.01, deadline_seconds=120, attempt_seconds=60),
    )
