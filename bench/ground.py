"""What most benchmarks stand on: an emulator of its own, both tables, and a function's environment."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from bench.spending import Spending
from local.credentials import REGION
from local.emulator import ACCOUNT, Emulator, running
from local.loopback import free_port
from session_store.schema import Env
from session_store.storage.integrations.aws_clients import aws_session, dynamodb_client
from tests.support.tables import create_tables

TABLE: Final = "sessions"
AUDIT_TABLE: Final = "audit"
SECONDS: Final = 60


class Context(LambdaContext):
    """Of an invocation that may take a minute."""

    def __init__(self, package: str) -> None:
        self._function_name = package
        self._memory_limit_in_mb = 1024
        self._invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{package}"
        self._aws_request_id = "bench"

    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override] # a static method in Powertools' type
        return SECONDS * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """``plain`` is a client that nobody watches."""

    emulator: Emulator
    plain: Any

    def watched(self) -> tuple[Any, Spending]:
        """A client as the product makes it, and what goes through it."""
        client = dynamodb_client(region=REGION)
        return client, Spending(self.plain, client.meta.events)


@contextmanager
def ground() -> Iterator[Ground]:
    """This process becomes the function: it finds the emulator, and the tables, in its environment."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "emulator", port=free_port()) as emulator,
    ):
        plain = emulator.client("dynamodb")
        create_tables(plain, table=TABLE, audit_table=AUDIT_TABLE)
        os.environ.update(environment(emulator))
        aws_session.cache_clear()
        yield Ground(emulator=emulator, plain=plain)


def environment(emulator: Emulator) -> Mapping[str, str]:
    """What Lambda would tell the API's function."""
    return {
        **emulator.environment,
        Env.TABLE_NAME.value: TABLE,
        Env.AUDIT_TABLE_NAME.value: AUDIT_TABLE,
        Env.REGIONS.value: REGION,
        Env.STATUS_SHARDS.value: "4",
        Env.AUDIT_RETENTION_DAYS.value: "90",
        Env.DELEGATES.value: "*",
        "POWERTOOLS_SERVICE_NAME": "session-api",
        "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
    }
