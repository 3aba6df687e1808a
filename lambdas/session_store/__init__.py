"""A durable session store on DynamoDB for MCP servers and agents.

``bootstrap.open_store`` opens it; ``docs/library.md`` of the project shows how.
"""
