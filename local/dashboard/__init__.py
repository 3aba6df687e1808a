"""The dashboard of the local stack, as one page: the deployed panels, drawn from what is counted here."""
