"""The deployed dashboard as an HTML page, drawn from the local stack's metrics."""
