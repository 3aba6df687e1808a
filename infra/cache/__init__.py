"""The cache of a region, and its network."""
