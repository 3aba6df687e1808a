"""The local stack: emulator, deployment, stream delivery, demo and dashboard. Never deployed."""
