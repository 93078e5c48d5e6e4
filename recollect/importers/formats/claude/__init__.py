"""What Claude's apps export."""
