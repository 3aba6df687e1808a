"""A loader of botocore's service models that lists services without opening all of their folders."""

from pathlib import Path

from botocore.loaders import Loader


class ServiceModels(Loader):
    def list_available_services(self, type_name: str) -> list[str]:
        """The names of all services, which botocore needs only for the error about an unknown name.

        The original looks into each of some four hundred folders, twice for the first client. The folder
        names are enough.
        """
        del type_name
        folders = [Path(path) for path in self.search_paths]
        return sorted({each.name for folder in folders if folder.is_dir() for each in folder.iterdir()})
