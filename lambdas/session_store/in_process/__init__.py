"""Blocks for work outside the database: what ``Store.tool_call`` and ``Store.claim`` return.

Loaded at first use, since no Lambda function runs such blocks.
"""
