"""The session files of Claude Code."""
