"""Answers: `ask`, `chat`, `research`, and the tools by which a model looks things up itself."""
