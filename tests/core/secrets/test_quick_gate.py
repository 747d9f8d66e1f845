"""A hook without time calls nothing clean that holds a secret."""

import base64
import json
from itertools import product
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profiles import examples
from secret_samples import SAMPLES, VALUE
from ullage.core.secrets.env_file import read_assignments
from ullage.core.secrets.quick_gate import is_clean
from ullage.core.secrets.rules import RULES, SIGNS, Rule, may_match
from ullage.core.secrets.scan import find_secrets, list_known_secrets, mask

PLAIN = "/work/shop/src/components/Cart.tsx cd /work && npm test -- --run cart"


def gate(text: str, env: dict[str, str], env_texts: list[str]) -> bool:
    return is_clean(text, list(SIGNS), env, env_texts)


def masks(text: str, env: dict[str, str], env_texts: list[str]) -> bool:
    sources = (env, *map(read_assignments, env_texts))
    known = tuple(value for source in sources for value in list_known_secrets(source))
    return mask(text, known) != text


@pytest.mark.parametrize("kind", SAMPLES)
def test_no_sample_of_a_rule_is_clean(kind: str) -> None:
    text = f"cat {SAMPLES[kind].text} "
    assert masks(text, {}, [])
    assert not gate(text, {}, [])


heads = st.sampled_from(sorted({head for rule in RULES if rule.label for head in rule.heads}))
labels = st.text(st.sampled_from(" \t\n\"'`\\:=>,ru"), max_size=6)
values = st.sampled_from(sorted({sample.secret for sample in SAMPLES.values()}))


@settings(max_examples=examples(1_000))
@example("password", ",'", "Tr0ub4dor&3")
@given(heads | st.sampled_from([sample.text for sample in SAMPLES.values()]), labels, values)
def test_what_a_rule_finds_is_seen_beforehand(head: str, label: str, value: str) -> None:
    text = f"f({head}{label}{value}{label})"
    if find_secrets(text):
        assert may_match(text)
        assert not gate(text, {}, [])


NAMING = [rule for rule in RULES if rule.ends]


@pytest.mark.parametrize("rule", NAMING, ids=[f"{rule.kind} {rule.label}" for rule in NAMING])
def test_no_sign_between_a_name_and_its_value_hides_it(rule: Rule) -> None:
    signs = (*" \t\n\"'`\\:=,", ":=", "=>", ", ", '": "', '\\": \\"', " => ")
    for head, sign, quotation in product(rule.heads, signs, ("", '"', "'")):
        text = f"f({head}{sign}{quotation}{VALUE}a1B2c3D4e5F6g7H8{quotation})"
        assert not find_secrets(text) or (may_match(text) and not gate(text, {}, [])), text


def test_an_ordinary_call_is_clean_also_beside_secrets() -> None:
    env = {"API_KEY": "hunter2hunter2", "DB": "postgres://me:correct-horse@db/shop", "HOME": "/h"}
    assert gate(PLAIN, env, ['TOKEN="abcdefgh1234"\n# comment\nDEBUG=true\n'])


@pytest.mark.parametrize("before", [b"", b"x", b"xy"])
def test_a_known_value_is_found_in_base64_wherever_it_begins(before: bytes) -> None:
    encoded = base64.b64encode(before + b"hunter2hunter2").decode()
    assert not gate(f"echo {encoded} | base64 -d", {"API_KEY": "hunter2hunter2"}, [])


def test_a_file_whose_values_go_over_lines_is_not_judged() -> None:
    assert not gate("x", {}, ['KEY="first\nsecond"\n'])
    assert not gate("x", {}, ['KEY="a\\"b"\n'])


names = st.sampled_from(
    ("API_KEY", "token", "DB_PASS", "PGPASSWORD2", "HOME", "X_CREDENTIALS", "A")
)
secrets = st.text(st.sampled_from("abcXYZ019-_./+= !\"'#\\%@:é\n\r\t"), min_size=6, max_size=16)
urls = secrets.map(lambda secret: f"https://me:{secret}@host/x")
forms = st.sampled_from(
    (
        lambda value: value,
        lambda value: value.strip(),
        lambda value: json.dumps(value)[1:-1],
        lambda value: json.dumps(json.dumps(value)[1:-1])[1:-1],
        lambda value: quote(value, safe=""),
        lambda value: base64.b64encode(value.encode()).decode(),
        lambda value: base64.urlsafe_b64encode(b"x:" + value.encode()).decode(),
    )
)
lines = st.sampled_from(("{}={}", 'export {}="{}"', " {} = '{}' # c", "{}={} # c", "x\r{}={}"))


@settings(max_examples=examples(400))
@given(names, secrets | urls, forms, lines, st.booleans())
def test_what_would_be_masked_is_never_clean(name, value, form, line, is_in_file) -> None:
    env = {} if is_in_file else {name: value}
    env_texts = [line.format(name, value)] if is_in_file else []
    shown = value.removeprefix("https://me:").removesuffix("@host/x")
    text = f"cat /work/{form(shown)}/a.py"
    assert not masks(text, env, env_texts) or not gate(text, env, env_texts)
