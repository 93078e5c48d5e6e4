"""Made-up secrets, and what looks like them: random letters in the formats that vendors give out. None was ever valid.

A format is a text with letters to choose: `<a20>` are 20 letters and digits, `<h32-40>` between 32 and 40 hexadecimal
ones (`_LETTERS` lists the kinds), `<word>` and `<Word>` a word. Where a name has several formats, one is chosen.
"""

from __future__ import annotations

import base64
import re
import string
from random import Random

_ALPHANUMERIC = string.ascii_letters + string.digits
_LETTERS = {
    "a": _ALPHANUMERIC,
    "w": _ALPHANUMERIC + "-_",
    "b": _ALPHANUMERIC + "+/",
    "l": string.ascii_letters,
    "c": string.ascii_lowercase,
    "C": string.ascii_uppercase,
    "d": string.digits,
    "n": string.ascii_lowercase + string.digits,
    "N": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "t": "abcdefghijklmnopqrstuvwxyz234567",
    "T": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "z": "023456789acdefghjklmnpqrstuvwxyz",
    "Z": "023456789ACDEFGHJKLMNPQRSTUVWXYZ",
    "s": _ALPHANUMERIC + "!#$%&*+=?^_~.",
}
_WORDS = """apple river candle tiger violet rocket copper maple saddle harbor pickle window falcon ginger button meadow
pepper lantern walrus orange castle kettle velvet tundra biscuit marble badger cactus pillow summit""".split()  # noqa: SIM905
_CHOICE = re.compile(r"<(?:(?P<word>[wW]ord)|(?P<kind>[a-zA-Z])(?P<least>\d+)(?:-(?P<most>\d+))?)>")
_PLACEHOLDER = re.compile(r"\{\{(?P<name>(?P<format>[a-z][a-z0-9_]*)(?:#\w+)?)\}\}")

_JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ"
_UUID = "<h8>-<h4>-4<h3>-a<h3>-<h12>"
_STRONG = ("<a12>", "<a14>", "<a16>", "<a20>", "<a24>", "<a32>")
_CHOSEN = (
    "<Word><d4>", "<Word><d4>!", "<Word><d4>#", "<word>-<word>-<word>", "<word>-<word>-<word><d2>", "<Word><word><d3>",
    "<Word><word><d2>*", "<c3>4<c2>0<c2><d2>!", "<c2>3<c3>1<d2>", "<word><Word><d3>", "<Word><Word>$<d2>", "<n8-12>",
)  # fmt: skip

#: The formats of the placeholders. Those that begin with `x_` are of values that are not secret.
FORMATS: dict[str, str | tuple[str, ...]] = {
    # models
    "openai_legacy": "sk-<a20>T3BlbkFJ<a20>",
    "openai_proj": "sk-proj-<w74>T3BlbkFJ<w73>A",
    "openai_svcacct": "sk-svcacct-<w74>T3BlbkFJ<w73>A",
    "openai_admin": "sk-admin-<w74>T3BlbkFJ<w73>A",
    "anthropic_api": "sk-ant-api03-<w93>AA",
    "anthropic_wrapped": "sk-ant-api03-<w49>\n<w44>AA",
    "anthropic_admin": "sk-ant-admin01-<w93>AA",
    "anthropic_oat": "sk-ant-oat01-<w93>AA",
    "google_api": "AIzaSy<w33>",
    "google_aq": "AQ.Ab8RN6<w44>",
    "nvidia": "nvapi-<w64>",
    "cerebras": "csk-<n48>",
    "apify": "apify_api_<a36>",
    "bedrock": "ABSKQmVkcm9ja0FQSUtleS<b110>==",
    "azure_openai": "<a52>JQQJ99BCACYeBjFXJ3w3AAABACOG<a4>",
    "groq": "gsk_<a20>WGdyb3FY<a24>",
    "openrouter": "sk-or-v1-<h64>",
    "replicate": "r8_<a37>",
    "xai": "xai-<a80>",
    "perplexity": "pplx-<a48>",
    "mistral": "<a32>",
    "deepseek": "sk-<h32>",
    "elevenlabs": "sk_<h48>",
    "langsmith": ("lsv2_pt_<h32>_<h10>", "lsv2_sk_<h32>_<h10>"),
    "pinecone": "pcsk_<a6>_<a63>",
    "hf": "hf_<l34>",
    "fireworks": "fw_<a24>",
    "tavily": "tvly-dev-<a32>",
    "cohere": "<a40>",
    "brave": "BSA<w28>",
    # clouds
    "aws_akid": "AKIA<T16>",
    "aws_asia": "ASIA<T16>",
    "aws_secret": "<b40>",
    "aws_session": ("IQoJb3JpZ2luX2Vj<b280-420>==", "FwoGZXIvYXdzE<b280-420>=="),
    "azure_storage": "<b86>==",
    "azure_client_secret": "<a3>8Q~<w33><a1>",
    "google_oauth_secret": "GOCSPX-<w28>",
    "google_ya29": "ya29.a0A<w160>",
    "do_pat": "dop_v1_<h64>",
    "heroku": _UUID,
    "heroku_hrku": "HRKU-AA<w58>",
    "cloudflare": "<w40>",
    "cloudflare_user": "cfut_<a40><h8>",
    "cloudflare_account": "cfat_<a40><h8>",
    "cloudflare_global": "<h37>",
    "vercel": "<a24>",
    "vercel_vcp": "vcp_<a56>",
    "netlify": "nfp_<a36>",
    "supabase_secret": "sb_secret_<w22>_<w8>",
    "supabase_pat": "sbp_<h40>",
    "supabase_jwt": f"{_JWT}<w150>.<w43>",
    "neon_pw": "npg_<a12>",
    "fly": "FlyV1 fm2_<b200>",
    "render": "rnd_<a28>",
    "databricks": ("dapi<h32>", "dapi<h32>-2"),
    "vault": "hvs.CAESI<w90>",
    "tailscale": "tskey-auth-k<a11>CNTRL-<a32>",
    "planetscale": "pscale_tkn_<w43>",
    "terraform": "<a14>.atlasv1.<a67>",
    # code and packages
    "github_ghp": "ghp_<a36>",
    "github_gho": "gho_<a36>",
    "github_ghs": "ghs_<a36>",
    "github_ghu": "ghu_<a36>",
    "github_ghs_jwt": f"ghs_<d6>_{_JWT}<w240>.<w342>",
    "github_pat": "github_pat_<a22>_<a59>",
    "gitlab_pat": "glpat-<w20>",
    "gitlab_routable": "glpat-<w44>.01.<n9>",
    "gitlab_runner": "glrt-<w20>",
    "gitlab_deploy": "gldt-<w20>",
    "npm": "npm_<a36>",
    "pypi": "pypi-AgEIcHlwaS5vcmcC<w150-172>",
    "dockerhub": "dckr_pat_<w27>",
    "dockerhub_oat": "dckr_oat_<w32>",
    "rubygems": "rubygems_<h48>",
    "crates": "cio<a32>",
    "sonar": "sqp_<h40>",
    "postman": "PMAK-<h24>-<h34>",
    "doppler": "dp.pt.<a43>",
    "atlassian": "ATATT3xFfGF0<w171>=<H8>",
    # messages and mail
    "slack_bot": "xoxb-<d13>-<d13>-<a24>",
    "slack_user": "xoxp-<d12>-<d12>-<d13>-<h32>",
    "slack_app": "xapp-1-A0<N9>-<d13>-<h64>",
    "slack_webhook": "https://hooks.slack.com/services/T0<N9>/B0<N9>/<a24>",
    "discord_bot": "MT<a22-24>.<w6>.<w38>",
    "discord_webhook": "https://discord.com/api/webhooks/1<d18>/<w68>",
    "telegram": "7<d9>:AAF<w32>",
    "twilio_token": "<h32>",
    "twilio_key": "SK<h32>",
    "sendgrid": "SG.<w22>.<w43>",
    "mailgun": "key-<h32>",
    "mailgun_new": "<h32>-<h8>-<h8>",
    "mailchimp": "<h32>-us<d1>",
    "resend": "re_<a8>_<a24>",
    # payments
    "stripe_sk": "sk_live_51<a97>",
    "stripe_rk": "rk_live_51<a97>",
    "stripe_test": "sk_test_51<a97>",
    "stripe_short": "sk_live_<a24>",
    "stripe_whsec": "whsec_<a32>",
    "shopify": "shpat_<h32>",
    "square": "EAAA<w60>",
    "square_secret": "sq0csp-<w43>",
    # data, watching, offices
    "datadog_api": "<h32>",
    "datadog_app": "<h40>",
    "newrelic": "NRAK-<N27>",
    "newrelic_license": "<h36>NRAL",
    "sentry_org": "sntrys_eyJpYXQiOjE3<b130>=_<b43>",
    "sentry_user": "sntryu_<h64>",
    "grafana": "glsa_<a32>_<h8>",
    "posthog": "phx_<a43>",
    "notion": "ntn_<d11><a35>",
    "notion_old": "secret_<a43>",
    "linear": "lin_api_<a40>",
    "airtable": "pat<a14>.<h64>",
    "figma": "figd_<w40>",
    # without a format
    "jwt": f"{_JWT}<w90-160>.<w43>",
    "jwt_rs": f"{_JWT}<w90-160>.<w342>",
    "totp": ("<T16>", "<T32>"),
    "wgpriv": "<b43>=",
    "b64key": "<b43>=",
    "age": "AGE-SECRET-KEY-1<Z58>",
    "bearer": ("<a40>", "<h64>", "<w43>", "<a32>"),
    "hex64": "<h64>",
    "hex32": "<h32>",
    "django": "<n8>!@#<n10>^&*<n12>(-_=+)<n9>",
    "pw": _STRONG,
    "pw_sym": "<a1><s10-16><a1>",
    "pw_human": _CHOSEN,
    "urlpw": ("<w12><d1>", "<w16><d1>", "<w20><d1>", "<w32><d1>", "<Word><d4>", "<word>-<word><d2>"),
    # told in sentences
    "pin4": "<d4>",
    "pin5": "<d5>",
    "pin6": "<d6>",
    "dash_code": "<d3>-<d3>",
    "door": ("<d4>#", "#<d4>", "<d4>B", "C<d4>V", "<d6>", "<d2>A<d2>"),
    "wifi": ("<d16>", "<d20>", "<n10>", "<N8>", "<c8><d2>", *_CHOSEN),
    "phrase": " ".join(["<word>"] * 12),
    "words": "<word> <word> <word>",
    # not secret: hashes and IDs
    "x_md5": "<h32>",
    "x_sha1": "<h40>",
    "x_sha256": "<h64>",
    "x_short": "<h7>",
    "x_hex8": "<h8>",
    "x_hex12": "<h12>",
    "x_hex16": "<h16>",
    "x_digest": "sha256:<h64>",
    "x_pypihash": "--hash=sha256:<h64>",
    "x_sri": "sha512-<b86>==",
    "x_sri256": "sha256-<b43>=",
    "x_nixsri": "sha256-<b43>=",
    "x_nix": "<z32>",
    "x_go": "h1:<b43>=",
    "x_etag": 'W/"<h10>"',
    "x_trace": "00-<h32>-<h16>-01",
    "x_uuid": _UUID,
    "x_uuidu": "<H8>-<H4>-4<H3>-A<H3>-<H12>",
    "x_ulid": "01J<N23>",
    "x_oid": "6<h23>",
    "x_nano": "<w21>",
    "x_cuid": "c<n24>",
    "x_notionid": "<h32>",
    "x_pod": "<h9>-<n5>",
    "x_arnid": "i-0<h16>",
    "x_vpc": "vpc-0<h16>",
    "x_gdoc": "1<w43>",
    "x_mid": "<CA<w40>@mail.gmail.com>",
    "x_yt": "<w11>",
    "x_spotify": "<a22>",
    "x_tweet": "19<d17>",
    "x_hash8": "<w8>",
    "x_q": "<w64>",
    "x_call": "call_<a24>",
    "x_toolu": "toolu_01<a22>",
    "x_msg": "msg_01<a22>",
    "x_req": "req_011C<a20>",
    "x_chatcmpl": "chatcmpl-<a29>",
    "x_cus": "cus_<a14>",
    "x_pi": "pi_3<a23>",
    "x_price": "price_1<a23>",
    "x_twsid": "AC<h32>",
    "x_bcrypt_id": "<n6>",
    "x_eth": "0x<h40>",
    "x_tx": "0x<h64>",
    "x_btc": "bc1q<z38>",
    "x_sol": "<a44>",
    "x_cid": "bafybei<t52>",
    # not secret: keys that are published, pictures
    "x_recaptcha": "6Lc<w37>",
    "x_phc": "phc_<a43>",
    "x_dsn": "https://<h32>@o<d6>.ingest.us.sentry.io/<d16>",
    "x_vapid": "B<w86>",
    "x_wgpub": "<b43>=",
    "x_jwkn": "<w342>",
    "x_ga": "G-<N10>",
    "x_pk_test": "pk_test_51<a97>",
    "x_pk_live": "pk_live_51<a97>",
    "x_sb_pub": "sb_publishable_<w22>_<w8>",
    "x_sshpub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43>",
    "x_sshrsa": "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ<b334>",
    "x_fpr": "SHA256:<b43>",
    "x_gpgfpr": " ".join(["<H4>"] * 10),
    "x_b64": "<b40-120>",
    "x_b64s": "<b16>",
    "x_b64img": "iVBORw0KGgoAAAANSUhEUgAA<b120-500>AAAABJRU5ErkJggg==",
    "x_jpg": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDA<b100-300>",
    # not secret: numbers and codes of daily life
    **{f"x_n{count}": f"1<d{count - 1}>" for count in (3, 4, 5, 6, 8, 10, 12, 18)},
    "x_ts": "2026-0<d1>-1<d1>T1<d1>:<d2>:<d2>.<d3>Z",
    "x_ip": "10.1<d2>.1<d2>.1<d1>",
    "x_mac": ":".join(["<h2>"] * 6),
    "x_addr": "0x00007f<h10>",
    "x_color": "#<h6>",
    "x_phone": "+49 17<d1> <d7>",
    "x_iban": "DE<d2> <d4> <d4> <d4> <d4> <d2>",
    "x_isbn": "978-1-<d4>-<d4>-<d1>",
    "x_doi": "10.1<d3>/<c4>.2021.<d5>",
    "x_arxiv": "21<d2>.<d5>",
    "x_ups": "1Z<N6><d10>",
    "x_post": ("RR<d9>DE", "LX<d9>CN", "CP<d9>FR", "EE<d9>US"),
    "x_order": "1<d2>-<d7>-<d7>",
    "x_asin": "B0<N8>",
    "x_serial": "<N4>-<N4>-<N3>",
    "x_sn": ("C02<N9>", "F2L<N9>", "PF<N9>"),
    "x_vin": "WVW<Z14>",
}  # fmt: skip
#: Blocks in PEM: what each is called, and how many letters it has.
_BLOCKS = {
    "pem_rsa": ("RSA PRIVATE KEY", 1588),
    "pem_yaml": ("RSA PRIVATE KEY", 1588),
    "pem_ec": ("EC PRIVATE KEY", 160),
    "pem_openssh": ("OPENSSH PRIVATE KEY", 350),
    "pem_diff": ("OPENSSH PRIVATE KEY", 350),
    "pem_pkcs8": ("PRIVATE KEY", 1620),
    "gcp_pk": ("PRIVATE KEY", 1620),
    "pgp": ("PGP PRIVATE KEY BLOCK", 700),
    "x_pubpem": ("PUBLIC KEY", 390),
    "x_cert": ("CERTIFICATE", 830),
}
#: How the line breaks of a block are written, where it is not by themselves.
_BREAKS = {"pem_yaml": "\n    ", "pem_diff": "\n-", "gcp_pk": "\\n"}


def made(form: str, seed: object = 1) -> str:
    """A value of a format: the same for the same seed."""
    random = Random(f"{form} {seed}")

    def chosen(match: re.Match[str]) -> str:
        if word := match["word"]:
            return random.choice(_WORDS).capitalize() if word == "Word" else random.choice(_WORDS)
        least = int(match["least"])
        count = random.randint(least, int(match["most"] or least))
        return "".join(random.choices(_LETTERS[match["kind"]], k=count))

    return _CHOICE.sub(chosen, form)


def pem(kind: str = "RSA PRIVATE KEY", letters: int = 768, seed: object = 1) -> str:
    """A private key as a file holds it."""
    lines = re.findall(".{1,64}", made(f"<b{letters}>", seed))
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])


def value_of(name: str, seed: object = 1) -> str:
    """A value for the placeholder of such a name."""
    if name in _BLOCKS:
        block = pem(*_BLOCKS[name], seed)
        return block.replace("\n", _BREAKS.get(name, "\n")) + ("\\n" if name == "gcp_pk" else "")
    if name == "basic":
        return base64.b64encode(made("<word>:<a16>", seed).encode()).decode()
    if name == "pw_b64":
        return base64.b64encode(made("<a16>", seed).encode()).decode()
    forms = FORMATS[name]
    return made(forms if isinstance(forms, str) else Random(f"{name} {seed}").choice(forms), seed)


def filled(text: str, seed: object = 1) -> tuple[str, list[str]]:
    """The text with a value in the place of each placeholder, and those of them that are secret, each once."""
    values: dict[str, str] = {}

    def value(match: re.Match[str]) -> str:
        name = match["format"]
        if not (name in FORMATS or name in _BLOCKS or name in ("basic", "pw_b64")):
            return match.group()  # a text may have such brackets of its own
        return values.setdefault(match["name"], value_of(name, f"{match['name']} {seed}"))

    whole = _PLACEHOLDER.sub(value, text)
    return whole, [value for name, value in values.items() if not name.startswith("x_")]
