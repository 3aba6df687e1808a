"""The whole stack on one machine: never deployed."""
