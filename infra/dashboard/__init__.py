"""The dashboard: one file per group of panels, composed by ``stack``."""
