"""The demo, step by step."""
