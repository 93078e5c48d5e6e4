"""Code in a box: its language, a button that copies it, its words coloured."""

from __future__ import annotations

import re

from markupsafe import escape

_CODE_LONGEST = 30_000  # characters that are coloured
_NAME = re.compile(r"[^\w+#.-]+")
_LABELS = {"js": "JavaScript", "ts": "TypeScript", "py": "Python", "sh": "Shell", "bash": "Shell", "yml": "YAML"}
_PLAIN = ("", "text", "txt", "plain", "plaintext", "output", "console")


def code_html(code: str, language: str) -> str:
    """The box, as HTML."""
    name = _NAME.sub("", language)[:30]
    coloured, label = _coloured(code.rstrip("\n"), name)
    what = f"{label} code" if label else "Code"
    return (
        f'<figure class="codebox"><figcaption><span>{escape(label or "Text")}</span>'
        f'<button class="plain" type="button" data-copy="">Copy</button></figcaption>'
        f'<pre tabindex="0" role="group" aria-label="{escape(what)}"><code>{coloured}</code></pre></figure>\n'
    )


def _coloured(code: str, name: str) -> tuple[str, str]:
    """The code with its words in spans, and the name of its language; as it is where nobody knows that."""
    plain = str(escape(code))
    if name.lower() in _PLAIN:
        return plain, ""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    label = _LABELS.get(name.lower())
    try:
        lexer = get_lexer_by_name(name.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain, label or name
    if len(code) > _CODE_LONGEST:
        return plain, label or str(lexer.name)
    return highlight(code, lexer, HtmlFormatter(nowrap=True)).rstrip("\n"), label or str(lexer.name)
