"""Names that are known beforehand, by type: what a word alone cannot tell."""

from __future__ import annotations

from recollect.text.words import word_lists

_NAMES = {name: frozenset(words) for name, words in word_lists("names").items()}

FIRST_NAMES, PLACES, TECHNOLOGY, ORGANISATIONS = (
    _NAMES[name] for name in ("first names", "places", "technology", "organisations")
)
KNOWN = FIRST_NAMES | PLACES | TECHNOLOGY | ORGANISATIONS
#: Plain words that are names only where something beside the capital says so.
WORDS_TOO = _NAMES["words too"]

#: Short forms that mean one thing to everybody who writes them.
SHORT_FORMS = {
    "postgres": "postgresql",
    "k8s": "kubernetes",
    "golang": "go language",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "mongo": "mongodb",
    "react.js": "react",
    "reactjs": "react",
    "vue.js": "vue",
    "vuejs": "vue",
    "node": "node.js",
    "express.js": "express",
    "tailwind css": "tailwind",
    "tailwindcss": "tailwind",
    "gcp": "google cloud",
    "usa": "united states",
    "us": "united states",
    "uk": "united kingdom",
    "nyc": "new york city",
    "la": "los angeles",
    "sf": "san francisco",
    "gh": "github",
    "vs code": "visual studio code",
    "vscode": "visual studio code",
    "hf": "hugging face",
}
