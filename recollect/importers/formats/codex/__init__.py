"""The session files of Codex."""
