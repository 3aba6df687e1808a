"""Secrets, in AWS Secrets Manager."""

from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError
from msgspec import Struct

from session_store.errors import UnavailableError
from session_store.storage.dynamodb.attempts import error_code

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager.client import SecretsManagerClient

NO_SECRET: Final = frozenset({"ResourceNotFoundException", "InvalidRequestException"})
"""There is no such secret, or it is scheduled for deletion."""


class SecretsManager(Struct, frozen=True, kw_only=True):
    client: "SecretsManagerClient"

    def read(self, name: str) -> str | None:
        try:
            answer = self.client.get_secret_value(SecretId=name)
        except ClientError as error:
            code = error_code(error)
            if code in NO_SECRET:
                return None
            raise UnavailableError(f"a secret could not be read ({code})") from error
        except (UnreachableError, HTTPClientError) as error:
            raise UnavailableError("Secrets Manager did not answer") from error
        # A binary secret has no text; this store reads text only.
        return answer.get("SecretString", "")
