"""What every function that uses the tables has: their names, access to their key, an alarm on errors."""

from collections.abc import Mapping

from aws_cdk import Duration, Stack
from constructs import Construct

from infra.cache.network import Placement
from infra.config import Config
from infra.key_use import BOTH_WAYS
from infra.logged_function import LoggedFunction, Shared
from session_store.metric_names import service_of
from session_store.schema import Env


class TableFunction(LoggedFunction):
    """Has the tables' names in its environment, and no access to them until allowed."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        package: str,
        description: str,
        timeout: Duration,
        environment: Mapping[str, str],
        placement: Placement | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package=package,
            description=description,
            timeout=timeout,
            environment={**_environment(shared.config), **environment},
            placement=placement,
        )
        self.table_arn, self.audit_table_arn = (
            Stack.of(self).format_arn(service="dynamodb", resource="table", resource_name=name)
            for name in (shared.config.table_name, shared.config.audit_table_name)
        )
        self.allow_key(*BOTH_WAYS, through="dynamodb")
        self.alarms.on_errors(
            self.function,
            service_of(package),
            says=f"{service_of(package)} failed or timed out",
        )

    @property
    def indexes_arn(self) -> str:
        return f"{self.table_arn}/index/*"


def _environment(config: Config) -> dict[str, str]:
    return {
        Env.TABLE_NAME.value: config.table_name,
        Env.AUDIT_TABLE_NAME.value: config.audit_table_name,
        Env.REGIONS.value: ",".join(config.regions),
        Env.STATUS_SHARDS.value: str(config.status_shards),
        Env.AUDIT_RETENTION_DAYS.value: str(config.audit_retention_days),
    }
