"""Answers from the memory: ask, chat, research, and the tools that a model calls to look things up."""
