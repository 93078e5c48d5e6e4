"""Live sources: folders where agents write their sessions, followed while they do, and the hooks that they call."""
