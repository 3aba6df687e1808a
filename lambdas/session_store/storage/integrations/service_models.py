"""botocore's descriptions of AWS's services, found without a look at those that nobody asks for."""

from pathlib import Path

from botocore.loaders import Loader


class ServiceModels(Loader):
    def list_available_services(self, type_name: str) -> list[str]:
        """What botocore asks before it loads a model, to say of an unknown name which ones it knows.

        It would look into each of some four hundred folders, twice for the first client; their names
        are enough.
        """
        del type_name
        folders = [Path(path) for path in self.search_paths]
        return sorted({each.name for folder in folders if folder.is_dir() for each in folder.iterdir()})
