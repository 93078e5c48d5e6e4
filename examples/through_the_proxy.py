"""A program that knows nothing of Recollect, and remembers: its Anthropic client asks through `recollect serve`.

recollect serve --namespace acme/rex &
ANTHROPIC_BASE_URL=http://127.0.0.1:7070 ANTHROPIC_API_KEY=… python examples/through_the_proxy.py MODEL "your question"
"""

from __future__ import annotations

import sys

import anthropic


def main(model: str, question: str) -> None:
    """Prints the answer as it comes, then what the memory says of it."""
    asked = {"role": "user", "content": question}
    with anthropic.Anthropic().messages.stream(model=model, max_tokens=1_000, messages=[asked]) as stream:
        for words in stream.text_stream:
            print(words, end="", flush=True)
        told = stream.response.headers
    print(f"\n(memory: {told.get('X-Recollect-Namespace')}, {told.get('X-Recollect-Context')} tokens given)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
