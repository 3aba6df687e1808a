"""What people look at when something is wrong: one file a group of panels, composed by ``stack``."""
