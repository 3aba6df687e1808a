"""botocore's descriptions of AWS's services, found without a look at those that nobody asks for."""

from typing import Final

from botocore.loaders import Loader

SERVICES: Final = ("dynamodb", "dynamodbstreams", "events", "lambda", "s3", "secretsmanager", "sqs")
"""Of which clients are made."""


class ServiceModels(Loader):
    def list_available_services(self, type_name: str) -> list[str]:
        """What botocore asks before it loads a model, to say of an unknown name which ones it knows.

        It would look into some four hundred folders, twice for the first client.
        """
        del type_name
        return list(SERVICES)
