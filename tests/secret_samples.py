"""Made-up secrets, one or more of every kind that is known by how it begins."""

import msgspec

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 20
HEX = "0123456789abcdef" * 8


class Sample(msgspec.Struct, frozen=True):
    text: str
    """As it stands in a text, with what it is told by."""
    secret: str
    is_open: bool = True
    """Whether it may be longer than it is today."""


def _whole(text: str, *, is_open: bool = True) -> Sample:
    return Sample(text, text, is_open)


def _in(text: str, secret: str, *, is_open: bool = False) -> Sample:
    return Sample(text.format(secret), secret, is_open)


SAMPLES: dict[str, Sample] = {
    "anthropic": _whole(f"sk-ant-api03-{LETTERS[:80]}"),
    "openrouter": _whole(f"sk-or-v1-{LETTERS[:64]}"),
    "openai": _whole(f"sk-proj-{LETTERS[:60]}"),
    "openai-old": _whole(f"sk-{LETTERS[:48]}"),
    "github": _whole(f"ghp_{LETTERS[:36]}"),
    "github-app": _whole(f"ghs_{LETTERS[:36]}"),
    "github-new": _whole(f"github_pat_{LETTERS[:60]}"),
    "gitlab": _whole(f"glpat-{LETTERS[:20]}"),
    "aws": _whole("AKIAIOSFODNN7EXAMPLE", is_open=False),
    "assignment": _in("export DB_PASSWORD={}", LETTERS[:12]),
    "assignment-quoted": _in('SERVICE_TOKEN="{}"', LETTERS[:20]),
    "aws-secret": _in("aws_secret_access_key = {}", LETTERS[:40]),
    "google": _whole(f"AIza{LETTERS[:35]}", is_open=False),
    "google-oauth": _whole(f"GOCSPX-{LETTERS[:28]}"),
    "google-access": _whole(f"ya29.{LETTERS[:60]}"),
    "gcp": _in('"private_key_id": "{}"', HEX[:40]),
    "slack": _whole(f"xoxb-1234567890-{LETTERS[:24]}"),
    "slack-app": _whole(f"xapp-1-A0-{LETTERS[:24]}"),
    "stripe": _whole(f"sk_live_{LETTERS[:24]}"),
    "stripe-webhook": _whole(f"whsec_{LETTERS[:32]}"),
    "huggingface": _whole(f"hf_{LETTERS[:34]}"),
    "npm": _whole(f"npm_{LETTERS[:36]}"),
    "pypi": _whole(f"pypi-AgEIcHlwaS5vcmc{LETTERS[:60]}"),
    "supabase": _whole(f"sbp_{HEX[:40]}", is_open=False),
    "supabase-new": _whole(f"sb_secret_{LETTERS[:31]}"),
    "sendgrid": _whole(f"SG.{LETTERS[:22]}.{LETTERS[:43]}"),
    "age": _whole("AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2, is_open=False),
    "groq": _whole(f"gsk_{LETTERS[:52]}"),
    "xai": _whole(f"xai-{LETTERS[:80]}"),
    "nvidia": _whole(f"nvapi-{LETTERS[:64]}"),
    "docker": _whole(f"dckr_pat_{LETTERS[:27]}"),
    "digitalocean": _whole(f"dop_v1_{HEX[:64]}", is_open=False),
    "vault": _whole(f"hvs.{LETTERS[:90]}"),
    "linear": _whole(f"lin_api_{LETTERS[:40]}"),
    "notion": _whole(f"ntn_{LETTERS[:46]}"),
    "shopify": _whole(f"shpat_{HEX[:32]}", is_open=False),
    "jwt": _whole(f"eyJ{LETTERS[:20]}.eyJ{LETTERS[:60]}.{LETTERS[:43]}"),
    "jwe": _whole(f"eyJ{LETTERS[:20]}..{LETTERS[:16]}.{LETTERS[:43]}.{LETTERS[:22]}"),
    "telegram": _whole(f"123456789:AA{LETTERS[:33]}", is_open=False),
    "azure": _in("AccountKey={}", f"{LETTERS[:86]}=="),
    "bearer": _in("Bearer {}", LETTERS[:40], is_open=True),
    "basic": _in("Authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    "authorization": _in('"Authorization": "Token {}"', LETTERS[:40]),
    "authorization-bare": _in("Authorization: {}", LETTERS[:40]),
    "api-key": _in("x-api-key: {}", LETTERS[:40], is_open=True),
    "private-key": _whole(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAbb\n-----END RSA PRIVATE KEY-----",
        is_open=False,
    ),
    "url-password": _in("postgres://app:{}@db.example.test:5432/shop", "hunter22"),
}
