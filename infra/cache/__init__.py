"""The cache of a region, and the network that it and what reads through it stand in."""
