"""Follow the session files of coding agents as they are written, and the hooks they call."""
