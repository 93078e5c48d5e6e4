"""Everything that changes the record: imports, live messages, edits, deletions, forgetting, in whole transactions.

The only way in, for imports and for live writing alike. A change that was planned on what somebody else has changed
meanwhile is planned again. Each part of it is a file.
"""

from __future__ import annotations

from recollect.ingest.changes import Changes
from recollect.ingest.conversations import Conversations
from recollect.ingest.documents.writing import Documents
from recollect.ingest.live import Live
from recollect.ingest.secrets import Secrets


class Ingest(Conversations, Documents, Live, Changes, Secrets):
    """Writes into one space."""
