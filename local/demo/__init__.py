"""What the store does, played and shown step by step."""
