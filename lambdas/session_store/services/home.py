"""Home regions: each item is written in one region, its home."""

from msgspec import Struct

from session_store.errors import MisdirectedError


class Home(Struct, frozen=True, kw_only=True):
    """Which home regions ``region`` writes for: its own."""

    region: str

    def is_home(self, home_region: str) -> bool:
        return home_region == self.region

    def check(self, home_region: str) -> None:
        """Check that this region may write what is at home in ``home_region``.

        Raises:
            MisdirectedError: names the region to go to.
        """
        if not self.is_home(home_region):
            raise MisdirectedError(home_region=home_region)
