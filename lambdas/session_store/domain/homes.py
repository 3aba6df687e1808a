"""Home regions of items without a session, by a hash over the list of regions."""

from collections.abc import Sequence
from typing import Final

FNV_OFFSET: Final = 0x811C9DC5
FNV_PRIME: Final = 0x01000193


def fnv1a_32(text: str) -> int:
    """FNV-1a, 32 bits, of the UTF-8 bytes (draft-eastlake-fnv)."""
    result = FNV_OFFSET
    for byte in text.encode():
        result = (result ^ byte) * FNV_PRIME & 0xFFFFFFFF
    return result


def home_of(name: str, regions: Sequence[str]) -> str:
    """The only region that may write the item of this name; every region computes the same one."""
    return regions[fnv1a_32(name) % len(regions)]
