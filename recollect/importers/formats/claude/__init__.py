"""Claude exports."""
