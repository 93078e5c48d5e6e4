"""Made-up secrets: of vendors' formats and chosen by people. No one was ever given out."""

from __future__ import annotations

from benchmarks.secret_texts.values import made, pem

OPENAI = made("sk-proj-<w120>")
GITHUB = made("ghp_<a36>")
AWS = made("AKIA<T16>")
PASSWORD = "blue-Mango7"

#: Current formats, each with what it is found as.
LISTED = {
    AWS: "AWS access key",
    made("AIza<a35>"): "Google API key",
    made("GOCSPX-<a28>"): "Google OAuth secret",
    GITHUB: "GitHub token",
    made("github_pat_<a82>"): "GitHub token",
    made("glpat-<a20>"): "GitLab token",
    OPENAI: "OpenAI key",
    made("sk-ant-api03-<w95>"): "Anthropic key",
    made("hf_<l34>"): "Hugging Face token",
    made("sk_live_<a24>"): "Stripe key",
    made("xoxb-<d12>-<d12>-<a24>"): "Slack token",
    made("SG.<a22>.<a43>"): "SendGrid key",
    made("npm_<a36>"): "npm token",
    made("pypi-AgEIcHlwaS5vcmc<a90>"): "PyPI token",
    made("dop_v1_<h64>"): "DigitalOcean token",
    made("dckr_pat_<a27>"): "Docker Hub token",
    made("shpat_<h32>"): "Shopify token",
    made("123456789:AA<a33>"): "Telegram bot token",
    made("eyJ<a33>.eyJ<a60>.<a43>"): "JSON web token",
    pem(): "private key",
    pem("PGP PRIVATE KEY BLOCK"): "private key",
}


def parts(secret: str, length: int = 12) -> set[str]:
    """The parts of a secret of which none may be told."""
    return {secret[at : at + length] for at in range(max(1, len(secret) - length + 1))}
