"""Where tests find what is not in the repo."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Conversation sets and foreign exports, read where they lie. Absent in a stranger's clone: such tests then say so.
SHARED = ROOT.parent / "shared"
