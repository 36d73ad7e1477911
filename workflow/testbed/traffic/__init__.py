"""What sends and receives."""
