"""Fixtures that more than one folder of tests uses."""

from tests.support.emulator import deployed, emulator

__all__ = ["deployed", "emulator"]
