"""Where functions are driven: what their environment names, in the emulator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from infra.api.function import STREAMS_URL
from local.emulator import ACCOUNT, Emulator
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.session import Owner
from session_store.ports import Storage
from session_store.schema import BusEnv, CleanupEnv, Env, PayloadEnv, RedriveEnv, StreamEnv
from tests.support.redrive import Places
from tests.support.revocation import AuthorizationServer
from tests.support.samples import settings

OWNER: Final = Owner(tenant=f"{ACCOUNT}:user/tenant-a", subject="-")


@dataclass(frozen=True, kw_only=True)
class Ground:
    places: Places
    bus: str
    payloads: str
    server: AuthorizationServer

    @property
    def emulator(self) -> Emulator:
        return self.places.emulator

    @property
    def storage(self) -> Storage:
        """Through a client that nobody records."""
        tables = settings(table=self.places.table, audit_table=self.places.audit_table)
        return dynamodb_storage(tables, self.emulator.client("dynamodb"), Deadline())

    @property
    def stands_for(self) -> Mapping[str, str]:
        """What a variable has here for what the template has there, by its name."""
        return {
            Env.TABLE_NAME: self.places.table,
            Env.AUDIT_TABLE_NAME: self.places.audit_table,
            BusEnv.EVENT_BUS_NAME: self.bus,
            StreamEnv.CLEANUP_QUEUE_URL: self.places.urls["again"],
            StreamEnv.QUARANTINE_BUCKET: self.places.table,
            PayloadEnv.PAYLOAD_BUCKET: self.payloads,
            RedriveEnv.STREAM_DEAD_LETTERS_URL: self.places.urls["stream"],
            RedriveEnv.CLEANUP_DEAD_LETTERS_URL: self.places.urls["cleanup"],
            RedriveEnv.CONSUMER_FUNCTION: self.places.table,
            CleanupEnv.REVOCATION_ENDPOINT: self.server.url,
            STREAMS_URL: self.emulator.endpoint,
        }

    def environment(self, template: Mapping[str, str]) -> dict[str, str]:
        here = {name: self.stands_for.get(name, value) for name, value in template.items()}
        unknown = {name: value for name, value in here.items() if "<" in value}
        assert not unknown, f"what stands in the emulator for {unknown}? {__name__}.Ground.stands_for"
        return {**here, **self.emulator.environment}
