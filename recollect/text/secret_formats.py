"""The formats of keys and tokens that vendors give out: what each is called, its beginning, and how it is written.

Facts of format, from the vendors' documentation and from what they tell GitHub's secret scanning and the rules of
gitleaks, betterleaks and trufflehog, which are public. The sources stand over each group; "GitHub Docs" is the page
"Supported secret scanning patterns", "gitleaks" its `config/gitleaks.toml` and `config/betterleaks.toml` of its
successor, compared with this table in November 2026. A format is one row: its name as people know it, a
text that stands in every key of it, and a pattern of the whole. Keys without a mark of their own (32 hexadecimal
digits) are no format: they are known by what stands before them (`recollect.text.secrets`).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple


class Format(NamedTuple):
    """A format of keys. `cue` stands in each of them, so that a text without it is passed over at once."""

    name: str
    cue: str
    pattern: str


_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_W = r"[\w-]"  # letters, digits, _ and -
_A = "[A-Za-z0-9]"

# fmt: off
FORMATS = tuple(Format(*row) for row in (
    # Clouds. Sources: AWS IAM "Unique identifiers"; Google Cloud "API keys overview"; Microsoft Purview "Azure …
    # (SIT) entity definitions"; DigitalOcean "Personal access tokens"; Yandex Cloud "IAM token"; the others: GitHub
    # Docs, gitleaks.
    ("AWS access key", "AKIA", "AKIA[A-Z0-9]{16}"),
    ("AWS access key", "ASIA", "ASIA[A-Z0-9]{16}"),
    ("AWS access key", "ABIA", "ABIA[A-Z0-9]{16}"),
    ("AWS access key", "ACCA", "ACCA[A-Z0-9]{16}"),
    ("AWS Bedrock key", "ABSK", "ABSK[A-Za-z0-9+/]{40,300}={0,2}"),
    ("AWS Bedrock key", "bedrock-api-key-", "bedrock-api-key-[A-Za-z0-9+/]{40,}={0,2}"),
    ("AWS session token", "FwoG", "FwoG[A-Za-z0-9+/]{80,}={0,2}"),
    ("AWS session token", "IQoJb3JpZ2lu", "IQoJb3JpZ2lu[A-Za-z0-9+/]{80,}={0,2}"),
    ("AWS AppSync key", "da2-", "da2-[a-z0-9]{26}"),
    ("Google API key", "AIza", rf"AIza{_W}{{35}}"),
    ("Google API key", "AQ.A", rf"AQ\.A{_W}{{40,120}}"),
    ("Google OAuth secret", "GOCSPX-", rf"GOCSPX-{_W}{{24,40}}"),
    ("Google OAuth token", "ya29.", r"ya29\.[\w.-]{20,}"),
    ("Google refresh token", "1//0", rf"1//0{_W}{{30,}}"),
    ("Azure storage key", "AccountKey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{40,}={0,2}"),
    ("Azure shared key", "SharedAccessKey=", r"(?<=SharedAccessKey=)[A-Za-z0-9+/]{40,}={0,2}"),
    ("Azure signature", "sig=", r"(?<=[?&;]sig=)[A-Za-z0-9%+/]{40,}={0,2}"),
    ("Azure client secret", "Q~", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    ("Azure DevOps token", "AZDO", f"{_A}{{76}}AZDO{_A}{{4}}"),
    ("Azure key", "JQQJ9", f"{_A}{{52}}JQQJ9{_A}{{27}}"),
    ("Azure storage key", "+ASt", r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{4,6}={0,2}"),
    ("Azure Cosmos key", "ACDb", r"[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{4,6}={0,2}"),
    ("Azure Functions key", "AzFu", rf"{_W}{{44}}AzFu[\w-]{{4,6}}={{0,2}}"),
    ("Azure Search key", "AzSe", f"{_A}{{42}}AzSe{_A}{{6}}"),
    ("Azure Redis key", "AzCa", f"{_A}{{33}}AzCa{_A}{{6}}={{0,1}}"),
    ("Azure registry key", "+ACR", r"[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}"),
    ("DigitalOcean token", "_v1_", "do[opr]_v1_[0-9a-f]{64}"),
    ("Alibaba access key", "LTAI", f"LTAI{_A}{{12,24}}"),
    ("Tencent secret ID", "AKID", f"AKID{_A}{{32}}"),
    ("Volcengine access key", "AKLT", f"AKLT{_A}{{40,60}}"),
    ("IBM cloud key", "ApiKey-", f"ApiKey-{_UUID}"),
    ("Scaleway access key", "SCW", "SCW[A-Z0-9]{17}"),
    ("Yandex key", "AQVN", rf"AQVN{_W}{{35,38}}"),
    ("Cloudflare origin key", "v1.0-", "v1\\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ("Cloudflare token", "cf", rf"cf(?:k|ut|at)_{_W}{{40,}}"),
    ("Heroku key", "HRKU-", rf"HRKU-{_W}{{36,64}}"),
    ("Fly.io token", "fo1_", rf"fo1_{_W}{{43}}"),
    ("Fly.io token", "fm", r"fm[12][ar]?_[A-Za-z0-9+/]{80,}={0,3}"),
    ("Render key", "rnd_", f"rnd_{_A}{{28,40}}"),
    ("Vercel token", "vc", rf"vc[pcairk]_{_W}{{24,}}"),
    ("Vercel Blob token", "vercel_blob_rw_", r"vercel_blob_rw_\w{30,}"),
    ("Netlify token", "nf", f"nf[pcoub]_{_A}{{36}}"),
    ("Deno token", "dd", f"dd[opw]_{_A}{{36}}"),
    ("Tailscale key", "tskey-", rf"tskey-[a-z]{{2,16}}-{_A}{{4,40}}-{_A}{{20,}}"),
    ("RunPod key", "rpa_", f"rpa_{_A}{{30,60}}"),
    ("Azure service key", "+ASb", r"[A-Za-z0-9+/]{33}\+ASb[A-Za-z0-9+/]{5}="),
    ("Azure service key", "+AEh", r"[A-Za-z0-9+/]{33}\+AEh[A-Za-z0-9+/]{5}="),
    ("Azure service key", "+ARm", r"[A-Za-z0-9+/]{33}\+ARm[A-Za-z0-9+/]{5}="),
    ("Azure service key", "AIoT", r"[A-Za-z0-9+/]{33}AIoT[A-Za-z0-9+/]{5}="),
    ("Azure batch key", "+ABa", r"[A-Za-z0-9+/]{76}\+ABa[A-Za-z0-9+/]{4,6}={0,2}"),
    ("Baidu cloud key", "bce-v3/", f"bce-v3/ALTAK-{_A}{{21}}/[0-9a-f]{{40}}"),
    ("Yandex token", "_AgAAAA", rf"y[0-3]_{_W}{{55}}"),
    ("Exoscale key", "EXO", f"EXO{_A}{{24,30}}"),
    ("UpCloud token", "ucat_", f"ucat_{_A}{{24,32}}"),
    ("Akamai token", "akab-", "akab-[a-z0-9]{16}-[a-z0-9]{16}"),
    ("Backblaze key", "K00", "K00[0-9][A-Za-z0-9/+]{27}"),
    ("Aiven password", "AVNS_", rf"AVNS_{_W}{{17,24}}"),
    ("OpenShift token", "sha256~", rf"sha256~{_W}{{43}}"),
    ("Porkbun key", "k1_", "[ps]k1_[0-9a-f]{64}"),
    ("Modal token", "ak-", f"ak-{_A}{{22}}"),
    ("Modal token", "as-", f"as-{_A}{{22}}"),
    ("Alibaba STS key", "STS.", rf"STS\.{_A}{{16,64}}"),
    ("Scalingo token", "tk-us-", rf"tk-us-{_W}{{48}}"),
    ("Docker Swarm token", "SWMTKN-1-", "SWMTKN-1-[a-z0-9]{50,60}-[a-z0-9]{24,30}"),
    ("Docker Swarm key", "SWMKEY-1-", "SWMKEY-1-[A-Za-z0-9+/]{40,50}"),
    # Code and packages. Sources: GitHub "About authentication to GitHub"; GitLab "Token overview: token prefixes";
    # Atlassian "API tokens"; npm "About access tokens"; PyPI "API tokens"; HashiCorp Vault "Tokens"; Django
    # `startproject`; the others: GitHub Docs, gitleaks.
    ("GitHub token", "gh", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("GitHub token", "ghs_", r"ghs_\d{1,20}_eyJ[\w.-]{40,}"),
    ("GitHub token", "github_pat_", r"github_pat_\w{30,255}"),
    ("GitLab token", "gl", rf"gl(?:pat|dt|ft|soat|rtr?|cbt|ptt|imt|agent|oas|wt)-{_W}{{20,}}(?:\.[\w-]{{2,}}){{0,2}}"),
    ("GitLab token", "glffct-", rf"glffct-{_W}{{20,}}"),
    ("GitLab runner token", "GR1348941", rf"GR1348941{_W}{{20,}}"),
    ("Bitbucket app password", "ATBB", f"ATBB{_A}{{28,40}}"),
    ("Bitbucket token", "ATCTT3", r"ATCTT3[\w=-]{60,}"),
    ("Atlassian token", "ATATT3", r"ATATT3[\w=-]{60,}"),
    ("Trello token", "ATTA", "ATTA[0-9a-fA-F]{60,80}"),
    ("npm token", "npm_", f"npm_{_A}{{36}}"),
    ("PyPI token", "pypi-", rf"pypi-{_W}{{50,}}"),
    ("RubyGems key", "rubygems_", "rubygems_[0-9a-f]{48}"),
    ("NuGet key", "oy2", "oy2[a-z0-9]{43}"),
    ("crates.io token", "cio", f"cio{_A}{{32}}"),
    ("Clojars token", "CLOJARS_", "CLOJARS_[a-zA-Z0-9]{60}"),
    ("Docker Hub token", "dckr_", rf"dckr_[po]at_{_W}{{24,40}}"),
    ("JFrog key", "AKCp", f"AKCp{_A}{{65,75}}"),
    ("JFrog token", "cmVmdGtu", f"cmVmdGtu{_A}{{56}}"),
    ("SonarQube token", "sq", "sq[uap]_[0-9a-f]{40}"),
    ("CircleCI token", "CCI", rf"CCI(?:PAT|PRJ)_{_A}{{20,24}}_[0-9a-z]{{40}}"),
    ("Buildkite token", "bk", r"bk(?:[a-z]{2}|pat)_[\w-]{40,340}"),
    ("Sourcegraph token", "sgp_", "sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}"),
    ("Postman key", "PMAK-", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Pulumi token", "pul-", "pul-[0-9a-f]{40}"),
    ("Terraform token", ".atlasv1.", rf"{_A}{{14}}\.atlasv1\.[\w=-]{{60,70}}"),
    ("Vault token", "hv", rf"hv[sbr]\.{_W}{{24,}}"),
    ("Doppler token", "dp.", rf"dp\.(?:pt|st|ct|sa|scim|audit)(?:\.[\w-]{{1,60}})?\.{_A}{{40,44}}"),
    ("1Password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/_-]{80,}={0,3}"),
    ("1Password secret key", "A3-", "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    ("age secret key", "AGE-SECRET-KEY-1", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    ("LaunchDarkly key", "sdk-", f"sdk-{_UUID}"),
    ("LaunchDarkly key", "api-", f"api-{_UUID}"),
    ("ReadMe key", "rdme_", "rdme_[a-z0-9]{70}"),
    ("Infracost key", "ico-", f"ico-{_A}{{32}}"),
    ("Prefect key", "pn", f"pn[ub]_{_A}{{36}}"),
    ("Django key", "django-insecure-", r"django-insecure-[a-z0-9!@#$%^&*()\-_=+]{20,60}"),
    ("Harness token", "at.", rf"[ps]at\.{_W}{{22}}\.{_A}{{24}}\.{_A}{{20}}"),
    ("Octopus key", "API-", "API-[A-Z0-9]{26,32}"),
    ("Infisical token", "st.", r"st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("Defined token", "dnkey-", r"dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
    ("Gitpod token", "gitpod_pat_", rf"gitpod_pat_{_W}{{30,}}"),
    ("Trigger.dev key", "tr_", f"tr_(?:dev|prod|stg|pat|preview)_{_A}{{20,}}"),
    ("Convex key", "|", r"(?:prod|dev|preview|project):[\w:-]{1,60}\|[A-Za-z0-9+/=_-]{40,}"),
    ("PASETO", ".local.", r"v[1-4]\.local\.[\w-]{60,}"),
    ("PASETO", ".public.", r"v[1-4]\.public\.[\w-]{60,}"),
    ("GitLab session", "_gitlab_session=", r"(?<=_gitlab_session=)[0-9a-z]{32}"),
    ("Aikido token", "AIK_", f"AIK_(?:CI|SECRET)_{_A}{{20,64}}"),
    ("Cloudsmith key", "csa_", f"csa_[0-9a-f]{{30,40}}{_A}{{4,6}}"),
    ("ConfigCat key", "configcat-sdk-", rf"configcat-sdk-1/{_W}{{22}}/{_W}{{22}}"),
    ("DevCycle key", "dvc_server_", rf"dvc_server_{_W}{{16,60}}"),
    ("Ionic token", "ion_", f"ion_{_A}{{42}}"),
    ("Mergify key", "mergify_", rf"mergify_application_key_{_W}{{40,}}"),
    ("Val Town token", "vtwn_", rf"vtwn_{_W}{{20,80}}"),
    ("Unkey key", "unkey_", f"unkey_{_A}{{20,32}}"),
    ("WakaTime key", "waka_", "waka_[a-z0-9-]{36,64}"),
    ("Authress key", ".acc",
     r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,120}"),
    # Models and what is built on them. Sources: Keys as the vendors' API references show them (OpenAI, Anthropic,
    # Hugging Face "User access tokens", Apify "API integration", Dify, Kaggle …); GitHub Docs; gitleaks.
    ("OpenAI key", "T3BlbkFJ", rf"sk-[\w-]{{0,200}}T3BlbkFJ{_W}{{20,}}"),
    ("OpenAI key", "sk-", rf"sk-(?:proj|svcacct|admin|None|service)-{_W}{{20,}}"),
    ("Anthropic key", "sk-ant-", rf"sk-ant-[a-z]+\d*-{_W}{{20,}}"),
    ("OpenRouter key", "sk-or-", "sk-or-v1-[0-9a-f]{64}"),
    ("Langfuse key", "sk-lf-", f"sk-lf-{_UUID}"),
    ("API key (sk-)", "sk-", rf"sk-(?:[a-z]{{2,6}}-)?{_A}{{20,}}(?:-{_A}{{4,}})*"),
    ("Hugging Face token", "hf_", f"hf_{_A}{{30,40}}"),
    ("Hugging Face token", "api_org_", f"api_org_{_A}{{34}}"),
    ("Replicate token", "r8_", f"r8_{_A}{{37}}"),
    ("Groq key", "gsk_", f"gsk_{_A}{{40,60}}"),
    ("xAI key", "xai-", rf"xai-{_W}{{60,120}}"),
    ("Perplexity key", "pplx-", f"pplx-{_A}{{40,64}}"),
    ("Together key", "tgp_v1_", rf"tgp_v1_{_W}{{40,}}"),
    ("Fireworks key", "fw_", f"fw_{_A}{{22,40}}"),
    ("Cerebras key", "csk-", "csk-[a-z0-9]{40,56}"),
    ("NVIDIA key", "nvapi-", rf"nvapi-{_W}{{60,70}}"),
    ("Voyage key", "pa-", rf"pa-{_W}{{43}}"),
    ("Jina key", "jina_", rf"jina_[0-9a-f]{{32}}{_W}{{20,40}}"),
    ("ElevenLabs key", "sk_", "sk_[0-9a-f]{48}"),
    ("Tavily key", "tvly-", rf"tvly-{_W}{{20,60}}"),
    ("Firecrawl key", "fc-", "fc-[0-9a-f]{32}"),
    ("LangSmith key", "lsv2_", "lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("Pinecone key", "pcsk_", rf"pcsk_{_A}{{4,8}}_{_A}{{40,80}}"),
    ("Weights & Biases key", "wandb_v1_", rf"wandb_v1_{_W}{{40,}}"),
    ("Browserbase key", "bb_live_", rf"bb_live_{_W}{{20,}}"),
    ("E2B key", "e2b_", "e2b_[0-9a-f]{40}"),
    ("Apify token", "apify_", f"apify_(?:api|proxy|oauth)_{_A}{{30,40}}"),
    ("LlamaCloud key", "llx-", f"llx-{_A}{{40,56}}"),
    ("Logfire token", "pylf_v", rf"pylf_v\d_(?:us|eu|stagingus)_{_W}{{40,}}"),
    ("Brave key", "BSA", rf"BSA{_W}{{24,40}}"),
    ("Mem0 key", "m0-", f"m0-{_A}{{40}}"),
    ("Context7 key", "ctx7sk-", f"ctx7sk-{_UUID}"),
    ("Cursor key", "key_", "(?:key|crsr)_[0-9a-f]{64}"),
    ("Cartesia key", "sk_car_", f"sk_car_{_A}{{20,}}"),
    ("Zhipu key", ".", f"[0-9a-f]{{32}}\\.{_A}{{16}}"),
    ("Kaggle token", "KGAT_", "KGAT_[0-9a-f]{32}"),
    ("Dify key", "app-", f"app-{_A}{{24}}"),
    ("Dify key", "dataset-", f"dataset-{_A}{{24}}"),
    ("Helicone key", "sk-helicone-", r"sk-helicone-[\w-]{20,}"),
    ("LangSmith key", "ls__", "ls__[0-9a-f]{32}"),
    ("MiniMax key", "sk-api-", rf"sk-api-{_W}{{100,}}"),
    ("Devin key", "apk_", "apk_(?:user_)?[A-Za-z0-9+/]{80,180}={0,2}"),
    ("Devin token", "cog_", "cog_[a-z2-7]{52}"),
    # Payments. Sources: Stripe "API keys"; Square "Access tokens"; Shopify "Access tokens"; Paddle "API keys:
    # format"; Mollie "Authentication"; GoCardless; Adyen "API credentials"; the others: GitHub Docs, gitleaks.
    ("Stripe key", "sk_", f"sk_(?:live|test|prod)_{_A}{{16,250}}"),
    ("Stripe key", "rk_", f"rk_(?:live|test|prod)_{_A}{{16,250}}"),
    ("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("Square token", "sq0", rf"sq0(?:atp|csp|idp)-{_W}{{22,44}}"),
    ("Square token", "EAAA", r"EAAA[\w-]{58,62}"),
    ("Shopify token", "shp", "shp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32}"),
    ("Braintree token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("Plaid token", "access-", f"access-(?:sandbox|development|production)-{_UUID}"),
    ("Razorpay key", "rzp_", f"rzp_(?:live|test)_{_A}{{14}}"),
    ("Flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?"),
    ("Shippo token", "shippo_", "shippo_(?:live|test)_[0-9a-f]{40}"),
    ("EasyPost key", "EZ", f"EZ[AT]K{_A}{{54}}"),
    ("Lob key", "live_", "live_[0-9a-f]{35}"),
    ("Lob key", "test_", "test_[0-9a-f]{35}"),
    ("Duffel token", "duffel_", r"duffel_(?:live|test)_[\w=-]{43}"),
    ("Paddle key", "pdl_", f"pdl_(?:(?:live|sdbx)_apikey|ntfset)_[a-z0-9]{{26}}_{_A}{{20,36}}(?:_{_A}{{3}})?"),
    ("Polar token", "polar_", rf"polar_[a-z]{{2,4}}_{_W}{{20,}}"),
    ("Mollie key", "live_", f"live_{_A}{{30}}"),
    ("Mollie key", "test_", f"test_{_A}{{30}}"),
    ("GoCardless token", "live_", rf"live_{_W}{{40}}"),
    ("Checkout.com key", "sk_", "sk_(?:sbox_)?[a-z0-9]{26,27}[a-z0-9*#$=]?"),
    ("Adyen key", "AQE", r"AQE[A-Za-z0-9+/]{30,300}={0,2}-[A-Za-z0-9+/]{20,80}={0,2}-.{10,24}"),
    ("Shopify partner token", "prtapi_", "prtapi_[0-9a-f]{32,}"),
    ("Shopify access token", "atkn_", "atkn_[0-9a-f]{32,}"),
    ("Asaas token", "$aact_", rf"\$aact_(?:prod|hmlg)_{_W}{{20,}}"),
    ("Mercury token", "mercury_", rf"mercury_(?:production|sandbox)_{_W}{{40,}}"),
    ("Midtrans key", "Mid-server-", r"(?:SB-)?Mid-server-\w{16,}"),
    ("Persona key", "persona_", rf"persona_(?:production|sandbox)_{_W}{{20,}}"),
    ("Ramp secret", "ramp_sec_", f"ramp_sec_{_A}{{48}}"),
    # Messages and mail. Sources: Slack "Tokens"; Discord "Reference: authentication"; Telegram "Bot API: authorizing
    # your bot"; Twilio "API keys"; Matrix "Synapse: access tokens"; DeepL "Authentication"; the others: GitHub Docs,
    # gitleaks.
    ("Slack token", "xox", r"xox[abceoprsd](?:\.xox[bp])?-(?:\d-)?[\w%+/=-]{16,}"),
    ("Slack app token", "xapp-", r"xapp-\d-[A-Z0-9]{5,20}-\d{5,20}-[a-z0-9]{30,}"),
    ("Slack webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"),
    ("Discord token", ".", r"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,40}"),
    ("Discord webhook", "/api/webhooks/", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{40,}"),
    ("Teams webhook", "webhook.office.com", rf"https://[\w.-]{{1,80}}\.webhook\.office\.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/[0-9a-f]{{32}}/{_UUID}(?:/[\w-]+)?"),
    ("Telegram bot token", ":A", rf"\d{{8,11}}:A{_W}{{34}}"),
    ("Twilio key", "SK", "SK[0-9a-f]{32}"),
    ("SendGrid key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    ("Mailgun key", "key-", "key-[0-9a-f]{32}"),
    ("Mailgun key", "-", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    ("Mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    ("Mandrill key", "md-", rf"md-{_W}{{22}}"),
    ("Brevo key", "sib-", f"x(?:key|smtp)sib-[0-9a-f]{{64}}-{_A}{{16}}"),
    ("Resend key", "re_", f"re_{_A}{{6,10}}_{_A}{{20,30}}"),
    ("Nylas key", "nyk_v0_", f"nyk_v0_{_A}{{40,}}"),
    ("Telegram bot token", "bot", rf"bot\d{{8,11}}:A{_W}{{34}}"),
    ("MailerSend token", "mlsn.", rf"mlsn\.{_A}{{30,100}}"),
    ("Klaviyo key", "pk_", "pk_[0-9a-f]{34}"),
    ("Telnyx key", "KEY", f"KEY[0-9A-F]{{32}}_{_A}{{22}}"),
    ("DeepL key", ":fx", f"{_UUID}:fx"),
    ("Matrix token", "syt_", f"syt_[A-Za-z0-9+/=]{{1,80}}_{_A}{{20}}_{_A}{{6}}"),
    ("Twitch token", "oauth:", "oauth:[a-z0-9]{30}"),
    ("Firebase key", ":APA91b", rf"AAAA{_W}{{7}}:APA91b{_W}{{100,160}}"),
    ("Feishu webhook", "/open-apis/bot/", rf"https://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/{_UUID}"),
    ("Zapier webhook", "hooks.zapier.com", r"https://hooks\.zapier\.com/hooks/catch/\d+/\w{5,}"),
    ("Make webhook", ".make.com/", r"https://hook\.\w{2,4}\d?\.make\.com/\w{20,}"),
    ("OneSignal key", "os_v2_", "os_v2_(?:app|org)_[a-z2-7]{103}"),
    # Offices, products, pages. Sources: Linear, Notion "Authentication"; Airtable "Personal access tokens"; Figma
    # "Access tokens"; Mapbox "Access tokens"; Nostr NIP-19; Bitcoin BIP-32; the others: GitHub Docs, gitleaks.
    ("Linear key", "lin_", f"lin_(?:api|oauth)_{_A}{{32,64}}"),
    ("Notion token", "ntn_", f"ntn_{_A}{{40,50}}"),
    ("Notion token", "secret_", f"secret_{_A}{{43}}"),
    ("Airtable token", "pat", rf"pat{_A}{{14}}\.[0-9a-f]{{64}}"),
    ("Figma token", "fig", rf"fig[dou]_{_W}{{36,60}}"),
    ("Asana token", ":", r"\d/\d{16}(?:/\d{16})?:[0-9a-f]{32}"),
    ("HubSpot token", "pat-", f"pat-(?:na|eu|ap)\\d-{_UUID}"),
    ("Typeform token", "tfp_", r"tfp_[\w.=-]{40,}"),
    ("Contentful token", "CFPAT-", rf"CFPAT-{_W}{{43}}"),
    ("Dropbox token", "sl.", rf"sl\.(?:u\.)?{_W}{{100,}}"),
    ("Mapbox token", "sk.eyJ", r"sk\.eyJ[\w-]{40,400}\.[\w-]{16,}"),
    ("Facebook token", "EAA", f"EAA{_A}{{80,}}"),
    ("Twitter token", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{50,}"),
    ("Frame.io token", "fio-u-", r"fio-u-[\w=-]{64}"),
    ("Cal.com key", "cal_", "cal_(?:live_|test_)?[0-9a-f]{32}"),
    ("Adobe secret", "p8e-", f"p8e-{_A}{{32}}"),
    ("MaxMind key", "_mmk", f"{_A}{{6}}_{_A}{{29}}_mmk"),
    ("Salesforce token", "!", r"00[A-Za-z0-9]{13,16}![\w.-]{60,}"),
    ("Intercom token", "dG9rO", "dG9rO[A-Za-z0-9+/]{40,}={0,2}"),
    ("ClickUp token", "pk_", r"pk_\d{6,9}_[A-Z0-9]{32}"),
    ("Zoho token", "1000.", r"1000\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("Close key", "api_", f"api_{_A}{{22}}\\.{_A}{{22}}"),
    ("Onfido token", "api_", r"api_(?:live|sandbox)(?:_(?:us|ca|eu))?\.[\w.-]{20,80}"),
    ("RapidAPI key", "jsn", "[a-f0-9]{10}msh[a-f0-9]{15}p1[a-f0-9]{5,6}jsn[a-f0-9]{12}"),
    ("Sanity token", "sk", f"sk{_A}{{80,190}}"),
    ("Dub key", "dub_", f"dub_{_A}{{24}}"),
    ("Nostr secret key", "nsec1", "nsec1[a-z0-9]{58}"),
    ("Canva secret", "cnvca", rf"cnvca{_W}{{51}}"),
    ("Pinterest token", "pina_", rf"pina_{_W}{{20,}}"),
    ("Samsara token", "samsara_api_", f"samsara_api_{_A}{{26,32}}"),
    ("Facebook app token", "|", r"\d{15,16}\|[\w-]{27,40}"),
    ("42 secret", "s-s4t2", "s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    ("Lichess token", "lip_", r"lip_\w{16,60}"),
    ("Workato token", "wrka", r"wrka(?:[a-z]{2})?-eyJ[\w-]{8,}\.[\w-]{16,}\.[\w-]{64,}"),
    ("wallet key", "xprv", f"xprv{_A}{{107}}"),
    # Data and watching. Sources: Databricks "Personal access tokens"; Supabase "API keys"; Grafana "Service account
    # tokens"; Dynatrace "Token format"; Sentry "Auth tokens"; Axiom "API tokens"; the others: GitHub Docs, gitleaks.
    ("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("Databricks secret", "dose", "dose[0-9a-f]{32}"),
    ("Supabase token", "sbp_", "sbp_(?:v0_|oauth_)?[0-9a-f]{40}"),
    ("Supabase key", "sb_secret_", rf"sb_secret_{_W}{{20,}}"),
    ("Neon key", "napi_", f"napi_{_A}{{50,70}}"),
    ("PlanetScale token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w.=-]{32,64}"),
    ("MongoDB Atlas secret", "mdb_sa_sk_", rf"mdb_sa_sk_{_W}{{40,}}"),
    ("ClickHouse key", "4b1d", f"4b1d{_A}{{38}}"),
    ("New Relic key", "NR", r"NR(?:AK|RA|II|AL|JS|IQ|SP)-[A-Za-z0-9_-]{19,36}"),
    ("Sentry token", "sntry", r"sntry(?:u_[0-9a-f]{64}|s_eyJ[\w=+/-]{60,}|i_[0-9a-f]{64})"),
    ("Grafana token", "glsa_", f"glsa_{_A}{{32}}_[0-9a-fA-F]{{8}}"),
    ("Grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,}={0,3}"),
    ("Grafana key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/_-]{60,}={0,3}"),
    ("PostHog key", "phx_", rf"phx_{_W}{{40,60}}"),
    ("Dynatrace token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    ("Datadog key", "dd", f"dd(?:app|pat)_{_A}{{34,60}}"),
    ("Honeycomb key", "hc", "hc[a-z]{2,3}k_[a-z0-9]{58}"),
    ("Confluent secret", "cflt", r"cflt[A-Za-z0-9+/]{60}"),
    ("CockroachDB key", "CCDB1_", f"CCDB1_{_A}{{22}}_{_A}{{40}}"),
    ("Elastic key", "essu_", r"essu_[A-Za-z0-9+/_-]{40,}={0,2}"),
    ("Xata key", "xau_", f"xau_{_A}{{30,}}"),
    ("Tinybird token", "p.eyJ", r"p\.eyJ[\w-]{20,400}\.[\w-]{20,}"),
    ("QStash token", "eyJVc2VySUQi", "eyJVc2VySUQi[A-Za-z0-9+/]{60,}={0,2}"),
    ("Axiom token", "xaat-", f"xaat-{_UUID}"),
    ("Axiom token", "xapt-", f"xapt-{_UUID}"),
    ("Statsig key", "secret-", f"secret-{_A}{{40,}}"),
    ("Inngest key", "signkey-", "signkey-[a-z]{3,8}-[0-9a-f]{64}"),
    ("Zuplo key", "zpka_", f"zpka_{_A}{{32}}_[0-9a-f]{{8}}"),
    ("Rootly key", "rootly_", "rootly_[0-9a-f]{64}"),
    ("Astra token", "AstraCS:", r"AstraCS:[\w:]{20,}"),
    ("Tableau token", "==:", rf"[A-Za-z0-9+/]{{22}}==:{_A}{{32}}"),
    ("SettleMint token", "sm_", f"sm_[aps]at_{_A}{{16}}"),
    ("Thunderstore token", "tss_", rf"tss_{_W}{{20,80}}"),
    ("Segment token", "sgp_", f"sgp_{_A}{{64}}"),
    ("dbt token", "dbt", rf"dbt[cu]_{_W}{{30,}}"),
    # Signed tokens. Sources: RFC 7519.
    ("JSON web token", "eyJ", r"eyJ(?:(?<![A-Za-z0-9]eyJ)|(?<=\\[nrt]eyJ)|(?<=%[0-9A-F]{2}eyJ)|(?<=25[0-9A-F]{2}eyJ)"
     r"|(?<=00[0-9a-f]{2}eyJ)|(?<=\dmeyJ))[\w-]{10,4000}\."
     r"(?:eyJ[\w-]{10,}|[\w-]*\.[\w-]{10,}\.[\w-]{10,})\.[\w-]{10,}={0,2}"),
))
# fmt: on


# What names and values are those of secrets: passwords, keys made by a machine, and what only stands for one.

_FEWEST = 4  # different letters of a value
_SHORTEST_KEY = 16
#: Passwords that stand in every example of a database: they open nothing.
EVERYWHERE = ("password", "passwd", "pass", "secret", "postgres", "root", "admin", "user", "mysql", "guest", "test")
_PLACEHOLDER = re.compile(
    r"""example|your|placeholder|change[_-]?me|redacted|dummy|sample|insert|replace|todo|xxxx|\*{3,}|\.{3}|…|\#{4,}
      |__{2,}|^<|>$|</|<[A-Za-z][\w .-]{2,}>|\{\{|\$\{|\$\(|%\(|%s|\[secret:|\[redacted|^\[[\w -]+\]$
      |1234567890|0123456789|abcdefghij|abcdef0123|(.)\1{7,}
      |^(?:\$|%)[A-Za-z_]+%?$|^(?:my|the|some|test|fake|new|old)?[_-]?(?:super)?[_-]?(?:password|passwd|passwort|secret
      |token|api[_-]?key|key|pass|pw|credential)s?[_-]?(?:here|value|name|\d{0,3})?!?\??$
      |(?-i:^[a-z_]*password\d*$)|^(?:none|null|true|false|undefined|string|str|text|required|optional|password|hidden|empty|nil|default|n/a)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAMPLE = re.compile(
    r"example|your[_-]|[_-]key[_-]here|xxxx|1234567890|0123456789|abcdefghij|abcdef0123|\.{3}|([^A])\1{7,}",
    re.IGNORECASE,
)
_EXPRESSION = re.compile(
    r"""[\w\])]\(|\[["'\w]|^\w+(?:\.\w+)+$|^[\w.]*(?:\benv\b|environ|process\.|config|settings|self\.|this\.)
      |^[&*]?(?:str|string|bytes|int|bool|any|object|field|optional|option|list|dict|secretstr|varchar)\b
      |^[@$%{(\[]|=>|\|\||&&|::|^/[\w./-]+$|^https?:|(?-i:^[A-Z][a-z]+(?:[A-Z][a-z]+)+$)""",
    re.IGNORECASE | re.VERBOSE,
)
#: What a password and a key are called in other languages.
PASSWORD_WORDS = (
    r"kennwort|mot[ ]de[ ]passe|contraseña|clave|senha|wachtwoord|lösenord|hasło|parola|şifre|пароль|密码|パスワード"
    r"|비밀번호|كلمة[ ]المرور|סיסמה|mật[ ]khẩu"
)
KEY_WORDS = r"schlüssel|clé[ ]api|clave[ ]api|clave[ ]secreta|ключ|токен"
_PASSWORD_NAME = re.compile(
    rf"(?:pass(?:words?|wort|wd|phrase|code)?|pwd|{PASSWORD_WORDS}"
    r"|(?:\b|_|bind|root)pw|\bpsk|_psk|identified by|masterauth)$",
    re.I,
)
_KEY_NAME = re.compile(
    r"""(?:api|access|secret|private|auth|encryption|decryption|master|signing|signature|account|storage|shared|client
      |consumer|webhook|license|service|admin|bot|refresh|bearer|app|deploy|personal|security|session|jwt|hmac|rest
      |subscription|integration|identity|fernet|write|read|ingest|project|server|live|user|oauth\d?|id|x|bypass|primary|secondary)
      [_\-. ]?(?:api[_\- ]?)?(?:key|token|secret)(?:[_ -]?base(?:64)?)?s?$
      |(?:^|\s)(?:the|my|your|our|new)[ ](?:api[ ])?(?:key|secret)$|schlüssel$|clé[ ]api$|clave[ ](?:api|secreta)$
      |ключ$|токен$|apikey$|secrets?$|(?:^|[_\- ])token$|^auth$|_auth(?:token)?$|credentials?$|authtoken$""",
    re.IGNORECASE | re.VERBOSE,
)
_NO_KEY_NAME = re.compile(
    r"(?:public|publishable|next|page|continuation|[ebs]os|pad|unk|sep|cls|mask|stop|special|csrf|xsrf|sync"
    r")[_\-. ]?(?:access[_ -]?)?(?:key|token)$|(?<![a-z_-])signingkey$",
    re.IGNORECASE,
)
_A_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]{1,15}|[A-Z]{1,16}")
_KEY_VALUE = re.compile(r"[A-Za-z0-9_\-.~+/=:%!$*@#^&|]{16,400}")
_WHOLE_KEY_VALUE = re.compile(r"[!-~]{16,400}")
_SHORT_KEY_VALUE = re.compile(r"[A-Za-z0-9_\-+/=%!$*@#^&~.?]{12,15}")


def is_password_name(name: str) -> bool:
    """Whether such a name is that of a password."""
    return bool(_PASSWORD_NAME.search(name))


def is_key_name(name: str) -> bool:
    """Whether such a name is that of a key. Any `…_KEY` of an environment is; of other keys only those that open."""
    if _NO_KEY_NAME.search(name):
        return False
    return bool(_KEY_NAME.search(name)) or bool(re.search(r"(?:^|\s|\.)[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET)$", name))


def is_placeholder(value: str) -> bool:
    """Whether a value stands for one that is to be put in."""
    return not value or bool(_PLACEHOLDER.search(value)) or len(set(value)) < _FEWEST


def is_expression(value: str) -> bool:
    """Whether a value is what a program computes, or where a value stands. A key may have dots as names do."""
    dotted = "." in value and any(
        len(part) >= _SHORTEST_KEY and changes(part) >= len(part) / 4 for part in value.split(".")
    )
    return not dotted and bool(_EXPRESSION.search(value))


def is_word(value: str) -> bool:
    """Whether a value may be a word of any text, such as a password that somebody took from a dictionary."""
    return bool(_A_WORD.fullmatch(value))


def is_password_value(value: str, *, plain: bool) -> bool:
    """Whether somebody may have chosen this as a password. A `plain` value has no quotation marks, nor a name as in an
    environment: a word alone says nothing then.
    """
    if not 5 <= len(value) <= 128 or any(map(str.isspace, value)):
        return False
    has_digit, has_sign = any(map(str.isdigit, value)), bool(re.search(r"[!@#$%^&*+~?=/\\-]", value[:-1]))
    has_letter = any(map(str.isalpha, value))
    if re.fullmatch(r"[\d.,:/%-]+|v?\d+(?:\.\d+)+", value):
        return not plain and has_digit and len(value) >= 6 and value.isdigit()
    if plain:
        return has_letter and (has_digit or (has_sign and not re.fullmatch(r"[A-Za-z]+(?:[-/][A-Za-z]+)+", value)))
    return has_letter and (has_digit or has_sign or len(value) >= 8) and "|" not in value


def is_key_value(value: str, *, whole: bool = False) -> bool:
    """Whether a value looks like made by a machine; one that is known to be whole may have any sign."""
    letters = _WHOLE_KEY_VALUE if whole else _KEY_VALUE
    return bool(letters.fullmatch(value)) and _is_random(value)


def is_short_key(value: str) -> bool:
    """Whether a value of 12 to 15 letters looks like made by a machine: of several kinds, which change often."""
    signs = re.findall(r"[!@#$%^&*+~]", value)
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]")) + bool(signs)
    turns = len(signs) + changes(value)
    return bool(_SHORT_KEY_VALUE.fullmatch(value)) and turns >= (3 if kinds >= 3 else 5)


def _is_random(value: str) -> bool:
    """Whether letters and digits change too often for words and names."""
    if is_placeholder(value) or len(set(value)) < 8:
        return False
    if sum(map(str.isdigit, value)) < 2:
        return changes(value) >= 0.15 * len(value) and len(value) >= 30
    return changes(value) >= 0.12 * len(value)


def changes(value: str) -> int:
    """How often letters and digits, small letters and capitals change; a word may begin with a capital."""
    return sum(1 for a, b in pairwise(value) if _turns(a, b))


def is_given_out(value: str) -> bool:
    """Whether a value of a vendor's format is a key, and not one from the vendor's documentation."""
    varied = any(letter.isdigit() or letter.isupper() for letter in value)
    return varied and len(set(value)) >= 8 and not _SAMPLE.search(value)


def _turns(a: str, b: str) -> bool:
    """Whether two letters side by side are of different kinds."""
    if a.isdigit() != b.isdigit():
        return a.isalnum() and b.isalnum()
    return a.islower() and b.isupper()


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits, and is no version, time or amount."""
    return bool(re.fullmatch(r"(?=.*[A-Za-z].*[A-Za-z])(?=.*\d)[^\s()\[\]/.,|]{6,60}", value))
