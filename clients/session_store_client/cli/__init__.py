"""The command ``sessions``."""
