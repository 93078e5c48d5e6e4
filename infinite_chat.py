"""The module that the Infinite Chat specification imports: `from infinite_chat import InfiniteChatStorage`."""

from recollect.compat.infinite_chat import InfiniteChat, InfiniteChatStorage, Message, SearchResult, ToolCall

__all__ = ["InfiniteChat", "InfiniteChatStorage", "Message", "SearchResult", "ToolCall"]
