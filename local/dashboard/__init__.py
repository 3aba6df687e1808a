"""The local stack's dashboard as one page: the deployed panels, drawn from the local metrics."""
