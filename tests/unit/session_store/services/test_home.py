"""A region writes what is at home in it, and names the home of everything else."""

import pytest

from session_store.errors import MisdirectedError
from session_store.services.home import Home
from tests.support.samples import REGION

HOME = Home(region=REGION)


def test_a_region_is_the_home_of_its_own_items() -> None:
    assert HOME.is_home(REGION)
    HOME.check(REGION)


def test_an_item_of_another_region_is_refused_with_its_home() -> None:
    assert not HOME.is_home("eu-west-1")
    with pytest.raises(MisdirectedError) as refused:
        HOME.check("eu-west-1")
    assert refused.value.facts == {"homeRegion": "eu-west-1"}
