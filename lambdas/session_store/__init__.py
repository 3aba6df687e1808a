"""A durable session store on DynamoDB for MCP servers and agents."""
