"""Secrets are masked wherever they stand, nothing else is, and no text takes long."""

import base64
import json
import random
import re
import time
from typing import cast
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from secret_samples import SAMPLES
from ullage.core.secrets.redaction import Redactor
from ullage.core.secrets.rules import (
    ALL_RULES,
    FEW_RULES,
    RULES,
    SIGNS,
    JoinedRules,
    choose_heads,
    find_by_rules,
    find_named,
    may_match,
)
from ullage.core.secrets.scan import (
    find_secrets,
    list_known_secrets,
    list_texts,
    mask,
    mask_value,
    may_hold_secret,
)
from ullage.core.transcript.entries import JsonObject

PLACES = (
    "{}",
    "key={} and more",
    '"{}"',
    "line\n{}\nline",
    "({})",
    "schlüssel:ü{}ü",
    "密钥{}密钥",
    "\u200b{}\u2028",
    "printf first\\n{}\\nlast",
    "https://example.test/?a=%3D{}&b=1",
    "\x1b[31m{}\x1b[0m",
    "diff\n-{}\n+{}",
    "<b>{}</b>",
)


@pytest.mark.parametrize("place", PLACES, ids=ascii)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_secret_is_masked_wherever_it_stands(name: str, place: str) -> None:
    sample = SAMPLES[name]
    masked = mask(place.replace("{}", sample.text))
    assert sample.secret not in masked
    assert "[REDACTED:" in masked


@pytest.mark.parametrize("name", SAMPLES)
def test_a_short_text_is_read_like_a_long_one(name: str) -> None:
    text = f"use {SAMPLES[name].text} here"
    assert mask(f"{text} ~{' ~' * 12_000}").startswith(mask(text))


@pytest.mark.parametrize("n_more", [0, 12_000], ids=["short", "long"])
@pytest.mark.parametrize("name", SAMPLES)
def test_what_a_text_names_is_found_without_the_other_rules(name: str, n_more: int) -> None:
    text = f"use {SAMPLES[name].text} here{' ~' * n_more}"
    named = {found for found in find_by_rules(text) if found.is_labelled}
    assert named == {found for found in find_named(text) if found.is_labelled}


def test_every_rule_has_a_sample() -> None:
    texts = [sample.text for sample in SAMPLES.values()]
    kinds = {secret.kind for text in texts for secret in find_secrets(text)}
    assert kinds == {rule.kind for rule in RULES}
    for rule in RULES:
        assert any(head in text for head in rule.heads for text in texts), rule.heads


def test_the_quick_look_sees_every_beginning() -> None:
    texts = [text for rule in RULES if not rule.ends for text in rule.signs or rule.heads]
    assert [text for text in texts if text != "://" and not may_match(f"so {text}.")] == []
    assert [name for name, sample in SAMPLES.items() if not may_match(sample.text)] == []
    assert not may_match("Nothing to see, but https://example.test:8443/a?b=c and 12:30 o'clock.")


_PARTS = ("a", "1", " ", ":", "@", "/", "A" * 40, "a1" * 20, "123456789", "\n", '": "')


_texts = st.lists(
    st.sampled_from(
        [
            *_PARTS,
            *(head for rule in RULES for head in rule.heads),
            *(sample.text for sample in SAMPLES.values()),
        ]
    )
).map("".join)


@given(_texts)
def test_the_quick_look_overlooks_nothing_that_is_found(text: str) -> None:
    is_found = any(find_by_rules(text))
    assert may_match(text) or not is_found
    assert any(sign in text for sign in SIGNS) or not is_found


@given(_texts)
def test_rules_with_the_heads_of_a_text_find_what_all_find(text: str) -> None:
    _assert_chosen_are_enough(text)


@pytest.mark.parametrize("name", SAMPLES)
def test_rules_with_the_heads_of_a_sample_find_it(name: str) -> None:
    _assert_chosen_are_enough(f"see {SAMPLES[name].text}.\n")


def test_a_sign_without_a_head_chooses_no_rule() -> None:
    for sign in SIGNS:
        _assert_chosen_are_enough(f"0{sign}0")


def _assert_chosen_are_enough(text: str) -> None:
    found, choice = list(ALL_RULES.find(text)), choose_heads(text)
    if len(choice) <= FEW_RULES:
        assert (list(JoinedRules(choice).find(text)) if choice else []) == found


@given(st.lists(st.sampled_from(["open sesame 12", "s3cr3t-value", "a", " ", "\n", "x-", "é"])))
def test_known_values_are_found_with_and_without_spaces(parts: list[str]) -> None:
    text = "".join(parts)
    masked = mask(text, ("open sesame 12", "s3cr3t-value"))
    assert "sesame" not in masked
    assert "s3cr3t" not in masked


@pytest.mark.parametrize("name", SAMPLES)
def test_a_secret_that_is_longer_than_any_today_leaves_no_rest(name: str) -> None:
    sample = SAMPLES[name]
    if sample.is_open:
        longer = sample.text + "a1B2" * 5_000
        assert mask(longer).endswith("]")
        assert "a1B2" not in mask(longer)


def test_only_the_secret_goes_and_what_tells_its_use_stays() -> None:
    text = "curl -H 'Authorization: Bearer abcdefgh12345678XYZ' https://me:pa55word@host.test/x"
    assert re.sub(r"[0-9a-f]{6}\]", "…]", mask(text)) == (
        "curl -H 'Authorization: Bearer [REDACTED:authorization:…]'"
        " https://[REDACTED:url-password:…]@host.test/x"
    )


def test_equal_secrets_have_equal_markers_and_others_have_others() -> None:
    one, other = SAMPLES["github"].text, SAMPLES["openai-old"].text
    assert mask(one) == mask(one)
    assert mask(one) != mask(other)
    assert re.fullmatch(r"\[REDACTED:github:[0-9a-f]{6}\]", mask(one))


KEY_LINES = ("MIIEowIBAAKCAQEA0123456789+/abcdefgh", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=")
KEYS = {
    "plain": "-----BEGIN RSA PRIVATE KEY-----\n{0}\n{1}\n-----END RSA PRIVATE KEY-----",
    "windows": "-----BEGIN PRIVATE KEY-----\r\n{0}\r\n{1}\r\n-----END PRIVATE KEY-----",
    "in JSON": '{{"k": "-----BEGIN PRIVATE KEY-----\\n{0}\\n{1}\\n-----END PRIVATE KEY-----"}}',
    "in a diff": "+-----BEGIN EC PRIVATE KEY-----\n+{0}\n+{1}\n+-----END EC PRIVATE KEY-----",
    "numbered": "1\t-----BEGIN PRIVATE KEY-----\n2\t{0}\n3\t{1}\n4\t-----END PRIVATE KEY-----",
    "encrypted": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
    "DEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{0}\n{1}\n",
    "cut off": "-----BEGIN OPENSSH PRIVATE KEY-----\n{0}\n{1}",
    "PGP": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{0}\n{1}\n-----END PGP PRIVATE KEY BLOCK-----",
    "of a service account": '{{"type": "service_account", "private_key_id": "' + "0a" * 20 + '",'
    '"private_key": "-----BEGIN PRIVATE KEY-----\\n{0}\\n{1}\\n-----END PRIVATE KEY-----\\n"}}',
}


@pytest.mark.parametrize("name", KEYS)
def test_a_private_key_is_masked_over_all_of_its_lines(name: str) -> None:
    masked = mask("before\n" + KEYS[name].format(*KEY_LINES) + "\nafter it, all the same.")
    assert not any(line in masked for line in KEY_LINES)
    assert "0a0a" not in masked
    assert masked.startswith("before\n")
    assert "all the same." in masked


UNTOUCHED = {
    "SHA-256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "git": "commit 4f1c9e27ab30de5a9b7c8d6e5f4a3b2c1d0e9f8a",
    "UUID": "session 019c2f00-0000-7000-8000-000000000001",
    "image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "signature": "EqkBCkYIBxgCKkDf3signature/of+a+thinking/block==",
    "npm lock": '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XY=="',
    "poetry lock": '"sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"',
    "Cargo lock": 'checksum = "b1946ac92492d2347c6235b4d2611184a1b2c3d4e5f60718293a4b5c6d7e8f90"',
    "go.sum": "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=",
    "docker": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "public key": "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+g\n-----END CERTIFICATE-----",
    "ssh public": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMockMockMockMockMockMock me@host",
    "sk-learn": "sk-learn and ask-me-anything-about-scikit, sk-the-longest-name-of-a-package",
    "task": "task-force-one-hundred-and-twenty-three desk-project-of-the-month-2026",
    "URL": "https://example.test:8443/path?q=a:b@c",
    "URL template": "postgres://${USER}:${PASSWORD}@db and https://{user}:{password}@host",
    "variable": "the variable OPENAI_API_KEY is unset",
    "code": "token = get_token()\npassword = os.environ['DB_PASSWORD']\nself.api_key = api_key",
    "header name": "authorization = request.headers.get('Authorization')",
    "header words": "Authorization: Bearer <token>, Bearer ${TOKEN}, bearer authentication scheme",
    "header in prose": "Authorization: required for every endpoint; bearer some_long_variable_name",
    "version": "pypi-server npm_config_registry hf_hub_download SG.x ghp_ xoxb- AKIA",
    "time": "2026-02-03T10:00:00.000Z 12345678:AA",
    "path": "/home/me/project/src/eyJson.parser.main.py",
    "already masked": "[REDACTED:openai:0a1b2c] and Bearer [REDACTED:bearer:0a1b2c]",
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_only_looks_random_is_left_alone(name: str) -> None:
    assert mask(UNTOUCHED[name]) == UNTOUCHED[name]


@given(st.binary(max_size=300))
def test_hexadecimal_digits_are_left_alone(data: bytes) -> None:
    assert mask(data.hex()) == data.hex()


texts = st.lists(
    st.sampled_from([sample.text for sample in SAMPLES.values()])
    | st.text(max_size=20)
    | st.sampled_from(["canary-value", "://", "Bearer ", "sk-", "\n-", '"', "\ud83d"]),
    max_size=6,
).map("".join)


@example("sbp_" + "0123456789abcdef" * 2 + "01234567" + "canary-value")
@given(texts)
def test_masked_text_stays_as_it_is(text: str) -> None:
    masked = mask(text, ("canary-value",))
    assert "canary-value" not in masked
    assert mask(masked, ("canary-value",)) == masked


@given(texts)
def test_secrets_lie_in_order_and_apart(text: str) -> None:
    end = 0
    for secret in find_secrets(text, ("canary-value",)):
        assert end <= secret.start < secret.end <= len(text)
        end = secret.end


@pytest.mark.parametrize("name", ["json-password", "curl", "netrc", "set-cookie", "bearer", "flag"])
def test_what_is_masked_by_its_name_is_masked_where_it_stands_alone(name: str) -> None:
    sample = SAMPLES[name]
    for text in (f"{sample.text} then {sample.secret}.", f"{sample.secret}, as in {sample.text}"):
        assert sample.secret not in mask(text)


def test_a_public_word_is_masked_at_its_name_alone() -> None:
    text = "DB_PASSWORD=development and the development of the shop"
    assert mask(text).endswith(" and the development of the shop")


def test_a_member_of_an_object_is_masked_by_its_key() -> None:
    value = {"env": {"dbPassword": "tr0ub4dor+7x", "name": "tr0ub4dor+7y"}}
    masked = json.dumps(mask_value(value))
    assert "tr0ub4dor+7x" not in masked
    assert "tr0ub4dor+7y" in masked


SIGNED = (
    'ab"cd1234!xyzKK99',
    "ab'cd1234!xyz",
    "ab\\cd1234`xyz",
    "<pa55>word",
    "correct horse 4 staple",
    "tr0ub4dor\nsecond line",
    " s3cr3t-value\n",
    "a1B2c3!d" * 500,
)


@pytest.mark.parametrize("value", SIGNED, ids=[f"{value:.20}" for value in SIGNED])
def test_a_member_is_masked_whole_whatever_signs_it_has(value: str) -> None:
    masked = mask_value([f"before, {value}", {"password": value}, f"and after: {value}"])
    texts = "\n".join(list_texts(masked))
    assert value.strip() not in texts
    assert texts.count("[REDACTED:") == 3
    assert not set(value) & set("\"'\\<>") & set(texts)


def test_a_sentence_about_a_password_is_none() -> None:
    value = {"password": "It has 8 characters, one of them a digit"}
    assert mask_value(value) == value


# Known values


def test_values_of_secret_variables_are_known() -> None:
    env = {
        "SHOP_API_KEY": "not-a-prefix-123",
        "DB_PASSWORD": "correct horse",
        "rails.secret_key_base": "0123456789",
        "OPENAI_API_KEY_2": "the second of two",
        "DATABASE_URL": "postgres://app:hunter-of-two@db.test/shop",
        "EDITOR": "vim-is-an-editor",
        "CI_TOKEN": "short",
        "POSTGRES_PASSWORD": "postgres",
        "SMTP_PASS": "the post office",
        "MYSQL_PWD": "a word to pass",
        "PWD": "/work/the-shop",
        "OLDPWD": "/work/the-depot",
        "COMPASS": "to the north-west",
    }
    assert set(list_known_secrets(env)) == {
        "not-a-prefix-123",
        "correct horse",
        "0123456789",
        "the second of two",
        "hunter-of-two",
        "the post office",
        "a word to pass",
    }


KNOWN = ("correct horse/battery+staple", 'quo"ted\\ Ünïcode\nvalue', "plain-value-1")


@pytest.mark.parametrize("value", KNOWN, ids=ascii)
def test_a_known_value_is_masked_in_every_form(value: str) -> None:
    forms = (
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(value))[1:-1],
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        quote(value, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
        base64.b64encode(value.encode()).decode(),
        base64.urlsafe_b64encode(value.encode()).decode(),
    )
    marker = mask(value, KNOWN)
    assert re.fullmatch(r"\[REDACTED:known:[0-9a-f]{6}\]", marker)
    for form in forms:
        assert marker in mask(f"before{form}after", KNOWN), form
        assert form not in mask(f"before{form}after", KNOWN)


@given(st.binary(max_size=7), st.binary(max_size=7), st.sampled_from(KNOWN))
def test_a_known_value_is_found_in_base64_of_more(before: bytes, after: bytes, value: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + value.encode() + after).decode()
        masked = mask(text, KNOWN)
        assert "[REDACTED:known:" in masked
        # A character at either end also holds bits of its neighbor.
        assert len(masked) - len(mask(value, KNOWN)) <= 4 * (len(before) + len(after)) / 3 + 8


def test_a_known_value_at_the_end_of_a_text_ends_there() -> None:
    (secret,) = find_secrets("use plain==value", ("plain==value",))
    assert (secret.start, secret.end) == (4, 16)


def test_a_known_value_within_a_token_does_not_save_the_rest_of_it() -> None:
    token = SAMPLES["anthropic"].text
    masked = mask(f"{token} and", (token[20:40],))
    assert re.fullmatch(r"\[REDACTED:anthropic:[0-9a-f]{6}\] and", masked)


def test_keys_of_objects_are_masked_too() -> None:
    value = {"a plain-value-1": [{"b": "plain-value-1"}, 1, None, True]}
    masked = mask_value(value, KNOWN)
    assert "plain-value-1" not in json.dumps(masked)
    assert json.dumps(masked).count("REDACTED") == 2


@given(
    st.lists(
        st.sampled_from(["a", "plain-", "value-1", ":", "@", "://", "sk-", "1a" * 12, "TOKEN="])
        | st.sampled_from([sample.text for sample in SAMPLES.values()])
    )
)
def test_one_look_over_all_texts_overlooks_none_of_them(parts: list[str]) -> None:
    value = {"at": parts, "with": {"key": "".join(parts)}}
    masked = mask_value(value, KNOWN)
    assert masked == value or may_hold_secret("\0".join(list_texts(value)), KNOWN)


# Time

HARD_TEXTS = {
    **{f"{rule.kind} {head}": head for rule in RULES for head in rule.heads[:1]},
    **{f"{rule.kind} {head}…": f"{head}{'a' * 15}." for rule in RULES for head in rule.heads[:1]},
    **{f"{rule.kind} {head}a": f"{head}a" for rule in RULES for head in rule.heads[:1]},
    "JWT parts": "eyJaaaaaaaa.",
    "key heads": "-----BEGIN PRIVATE KEY-----",
    "key bodies": "-----BEGIN PRIVATE KEY-----" + "a" * 30_000,
    "dashes": "-----BEGIN PRIVATE KEY----------x",
    "basic": f"Authorization: Basic {'abcd' * 10}a ",
    "passwords": f"://{'a' * 99}:{'b' * 999} ",
    "one letter": "a",
    "one digit": "1",
    "escapes": "[31m",
    "words": "The quick brown fox jumps over the lazy dog, and x = f(y) + 1\n",
}
KILOBYTE = 1024


@pytest.mark.parametrize("unit", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_a_text_made_to_be_hard_takes_time_by_its_length(unit: str) -> None:
    # Quadratic would be 64 times the time of an eighth, at least where it matters: above 0.1 s.
    n_chars = 48 * KILOBYTE
    text = (unit * (n_chars // len(unit) + 1))[:n_chars]
    eighth = cpu_s(text[: n_chars // 8])
    assert cpu_s(text) < 16 * eighth + 0.1


def test_a_thousand_known_values_take_no_longer_than_ten() -> None:
    source = random.Random(7)
    values = tuple(base64.b64encode(source.randbytes(24)).decode() for _ in range(1000))
    text = base64.b64encode(source.randbytes(192 * KILOBYTE)).decode()
    mask("", values)
    mask("", values[:10])
    few, many = cpu_s(text, values[:10]), cpu_s(text, values)
    assert many < 4 * few + 0.1


def cpu_s(text: str, known: tuple[str, ...] = ()) -> float:
    """Measure three times: what Python clears up falls into one of them."""

    def measure() -> float:
        began = time.process_time()
        mask(text, known)
        return time.process_time() - began

    return min(measure() for _ in range(3))


def test_many_members_that_are_secret_take_time_as_they_are_many() -> None:
    source = random.Random(7)
    members = [{"password": base64.b64encode(source.randbytes(15)).decode()} for _ in range(1000)]

    def mask_some(n: int) -> float:
        began = time.process_time()
        mask_value(members[:n])
        Redactor((), "/home/marvin").redact(cast(list[JsonObject], members[:n]))
        return time.process_time() - began

    mask_some(1)
    assert mask_some(1000) < 16 * mask_some(125) + 0.1
