"""Made-up secrets: of vendors' formats and chosen by people. No one was ever given out."""

from __future__ import annotations

import string
from random import Random

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def made(prefix: str, count: int, letters: str = _ALNUM, *, seed: int = 1) -> str:
    """A key: what all of its kind begin with, and so many random letters."""
    random = Random(f"{prefix}{count}{letters}{seed}")
    return prefix + "".join(random.choice(letters) for _ in range(count))


def pem(kind: str = "RSA PRIVATE KEY", lines: int = 12) -> str:
    """A private key as a file holds it."""
    body = "\n".join(made("", 64, _ALNUM + "+/", seed=line) for line in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


OPENAI = made("sk-proj-", 120, _ALNUM + "_-")
GITHUB = made("ghp_", 36)
AWS = made("AKIA", 16, string.ascii_uppercase + "234567")
PASSWORD = "blue-Mango7"

#: Current formats, each with what it is found as.
LISTED = {
    AWS: "AWS access key",
    made("AIza", 35): "Google API key",
    made("GOCSPX-", 28): "Google OAuth secret",
    GITHUB: "GitHub token",
    made("github_pat_", 82, _ALNUM): "GitHub token",
    made("glpat-", 20): "GitLab token",
    OPENAI: "OpenAI key",
    made("sk-ant-api03-", 95, _ALNUM + "_-"): "Anthropic key",
    made("hf_", 34, string.ascii_letters): "Hugging Face token",
    made("sk_live_", 24): "Stripe key",
    f"xoxb-{made('', 12, string.digits)}-{made('', 12, string.digits, seed=2)}-{made('', 24)}": "Slack token",
    f"SG.{made('', 22)}.{made('', 43)}": "SendGrid key",
    made("npm_", 36): "npm token",
    made("pypi-AgEIcHlwaS5vcmc", 90): "PyPI token",
    made("dop_v1_", 64, _HEX): "DigitalOcean token",
    made("dckr_pat_", 27): "Docker Hub token",
    made("shpat_", 32, _HEX): "Shopify token",
    f"{made('123456789:AA', 33)}": "Telegram bot token",
    f"eyJ{made('', 33)}.eyJ{made('', 60)}.{made('', 43)}": "JSON web token",
    pem(): "private key",
    pem("PGP PRIVATE KEY BLOCK"): "private key",
}


def parts(secret: str, length: int = 12) -> set[str]:
    """The parts of a secret of which none may be told."""
    return {secret[at : at + length] for at in range(max(1, len(secret) - length + 1))}
