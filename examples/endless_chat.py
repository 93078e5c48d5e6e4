"""A chat without an end: only the newest words are sent, and the memory gives the model what came before.

OPENAI_API_KEY=… python examples/endless_chat.py MODEL
OPENAI_BASE_URL=http://localhost:11434/v1 OPENAI_API_KEY=none python examples/endless_chat.py MODEL

Each line that you type is one request; an empty one ends it. Start it again tomorrow, and it goes on.
"""

from __future__ import annotations

import sys

import openai

import recollect


def main(model: str) -> None:
    """Talks until an empty line."""
    with recollect.wrap(openai.OpenAI(), conversation="examples/endless_chat") as client:
        while words := input("you: ").strip():
            asked = {"role": "user", "content": words}
            print("model: ", end="")
            for chunk in client.chat.completions.create(model=model, messages=[asked], stream=True):
                if chunk.choices:
                    print(chunk.choices[0].delta.content or "", end="", flush=True)
            print()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
