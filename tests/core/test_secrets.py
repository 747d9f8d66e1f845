"""Secrets are masked by their prefixes, nothing else is, and no text takes long."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.secrets import known_secrets, mask

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 20

SECRETS = {
    "anthropic": f"sk-ant-api03-{LETTERS[:80]}",
    "openrouter": f"sk-or-v1-{LETTERS[:64]}",
    "openai": f"sk-proj-{LETTERS[:60]}",
    "openai-old": f"sk-{LETTERS[:48]}",
    "github": f"ghp_{LETTERS[:36]}",
    "github-new": f"github_pat_{LETTERS[:60]}",
    "gitlab": f"glpat-{LETTERS[:20]}",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "google": f"AIza{LETTERS[:35]}",
    "slack": f"xoxb-1234567890-{LETTERS[:24]}",
    "stripe": f"sk_live_{LETTERS[:24]}",
    "webhook": f"whsec_{LETTERS[:32]}",
    "huggingface": f"hf_{LETTERS[:34]}",
    "npm": f"npm_{LETTERS[:36]}",
    "pypi": f"pypi-AgEIcHlwaS5vcmc{LETTERS[:60]}",
    "supabase": "sbp_" + "0123456789abcdef" * 2 + "01234567",
    "sendgrid": f"SG.{LETTERS[:22]}.{LETTERS[:43]}",
    "age": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "jwt": f"eyJ{LETTERS[:20]}.eyJ{LETTERS[:60]}.{LETTERS[:43]}",
    "telegram": f"123456789:AA{LETTERS[:33]}",
    "azure": f"AccountKey={LETTERS[:86]}==",
    "bearer": f"Bearer {LETTERS[:40]}",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAbb\n-----END RSA PRIVATE KEY-----",
    "url": "hunter22",
}
PLACES = ("{}", "key={} and more", '"{}"', "line\n{}\nline", "({})")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [kind for kind in SECRETS if kind != "url"])
def test_a_secret_is_masked_wherever_it_stands(kind: str, place: str) -> None:
    masked = mask(place.format(SECRETS[kind]))
    assert SECRETS[kind] not in masked
    assert "[REDACTED:" in masked


def test_the_password_in_a_url_is_masked_and_its_host_is_not() -> None:
    masked = mask("postgres://app:hunter22@db.example.test:5432/shop")
    assert "hunter22" not in masked
    assert masked.startswith("postgres://[REDACTED:url-password:")
    assert masked.endswith("@db.example.test:5432/shop")


def test_equal_secrets_have_equal_markers_and_others_have_others() -> None:
    one, other = SECRETS["github"], SECRETS["openai"]
    assert mask(one) == mask(one)
    assert mask(one) != mask(other)


@pytest.mark.parametrize(
    "text",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 4f1c9e27ab30de5a9b7c8d6e5f4a3b2c1d0e9f8a",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "sk-learn and ask-me-anything-about-scikit",
        "task-force-one-hundred-and-twenty-three",
        "https://example.test:8443/path?q=a:b@c",
        "the variable OPENAI_API_KEY is unset",
        "EqkBCkYIBxgCKkDf3signature/of+a+thinking/block==",
    ],
)
def test_what_only_looks_random_is_left_alone(text: str) -> None:
    assert mask(text) == text


@given(st.text(max_size=300))
def test_text_without_a_prefix_is_left_alone(text: str) -> None:
    if not any(
        mark in text for mark in ("-", "_", "AKIA", "ASIA", "AIza", "SG.", ":", "=", "earer")
    ):
        assert mask(text) == text


def test_values_of_secret_variables_are_known() -> None:
    env = {
        "SHOP_API_KEY": "not-a-prefix-123",
        "DB_PASSWORD": "correct horse",
        "EDITOR": "vim-is-an-editor",
        "CI_TOKEN": "short",
    }
    known = known_secrets(env)
    assert set(known) == {"not-a-prefix-123", "correct horse"}
    assert "correct horse" not in mask("login with correct horse now", known)


HARD_TEXTS = {
    "prefixes": "sk-ant-" * 150_000,
    "jwt heads": "eyJ" * 350_000,
    "jwt heads apart": "eyJ." * 260_000,
    "key heads": "-----BEGIN PRIVATE KEY-----" * 40_000,
    "urls": "a://b:c" * 150_000,
    "colons": "://" * 350_000,
    "bearers": "Bearer " * 150_000,
    "letters": "a" * 1_000_000,
    "digits": "123456789:A" * 90_000,
}


@pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS.keys())
def test_a_megabyte_made_to_be_hard_takes_about_as_long_as_its_halves(text: str) -> None:
    half = min(cpu_s(text[: len(text) // 2]) for _ in range(3))
    assert min(cpu_s(text) for _ in range(3)) < 4 * half + 0.1


def cpu_s(text: str) -> float:
    began = time.process_time()
    mask(text)
    return time.process_time() - began
