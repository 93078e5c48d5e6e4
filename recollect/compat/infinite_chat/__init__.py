"""`InfiniteChatStorage` of the Infinite Chat specification [4], with the records that it hands out.

>>> from recollect.compat.infinite_chat import InfiniteChatStorage
"""

from recollect.compat.infinite_chat.chat import ChatMessage as Message
from recollect.compat.infinite_chat.chat import ChatToolCall as ToolCall
from recollect.compat.infinite_chat.chat import InfiniteChat, SearchResult
from recollect.compat.infinite_chat.storage import InfiniteChatStorage

__all__ = ["InfiniteChat", "InfiniteChatStorage", "Message", "SearchResult", "ToolCall"]
