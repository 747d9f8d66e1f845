"""Secrets that are told by how they begin: one table, one regular expression, one reading.

By fixed beginnings only: guessing by entropy destroys hashes, signatures and base64
(docs/safety.md, "Secrets"). No text is read more than a few times over: a rule begins with a fixed
text, what follows is taken possessively, and a rule that can fail late begins at the beginning of
a word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Literal, TypeAlias

import msgspec

Boundary: TypeAlias = Literal["any", "letter", "word"]
"""What may stand before: anything; no letter or digit; no `-` and `_` either."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    heads: tuple[str, ...]
    """Fixed texts, one of which it begins with."""
    rest: str
    """Pattern of what follows the head."""
    label: str | None = None
    """Pattern between head and rest; where there is one, it and the head are no secret."""
    boundary: Boundary = "letter"
    sign: str | None = None
    """A fixed text within it, where the heads stand in every other text."""


_REST = "[A-Za-z0-9_-]"
_ASSIGNED = r"""["'\\]{0,3}\s{0,4}[:=]\s{0,4}["'\\]{0,3}"""
"""Between a name and its value, in a header, in JSON and in a shell."""
_NO_PLACEHOLDER = r"(?![${<*\[]|%[s(])"
"""A password that begins so is a name to be filled in."""

RULES: tuple[Rule, ...] = (
    Rule(kind="anthropic", heads=("sk-ant-",), rest=rf"{_REST}{{16,}}+"),
    Rule(kind="openrouter", heads=("sk-or-v1-",), rest=rf"{_REST}{{16,}}+"),
    Rule(kind="openai", heads=("sk-proj-", "sk-svcacct-", "sk-admin-"), rest=rf"{_REST}{{20,}}+"),
    Rule(
        kind="openai",
        heads=("sk-",),
        rest=rf"(?=[a-z_-]*+[A-Z0-9]){_REST}{{20,}}+",
        boundary="word",
    ),
    Rule(
        kind="stripe",
        heads=("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        rest="[A-Za-z0-9]{16,}+",
    ),
    Rule(
        kind="github",
        heads=("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"),
        rest="[A-Za-z0-9_]{30,}+",
    ),
    Rule(kind="gitlab", heads=("glpat-", "glrt-", "gldt-"), rest=rf"{_REST}{{16,}}+"),
    Rule(kind="aws", heads=("AKIA", "ASIA"), rest="[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Rule(
        kind="aws",
        heads=("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey"),
        label=_ASSIGNED,
        rest="[A-Za-z0-9/+]{40,}+",
        boundary="any",
    ),
    Rule(kind="google", heads=("AIza",), rest=rf"{_REST}{{35}}"),
    Rule(kind="google", heads=("GOCSPX-",), rest=rf"{_REST}{{20,}}+"),
    Rule(kind="google", heads=("ya29.",), rest=r"[A-Za-z0-9._-]{20,}+"),
    Rule(
        kind="gcp",
        heads=("private_key_id",),
        label=_ASSIGNED,
        rest="[0-9a-f]{40}(?![0-9a-f])",
        boundary="any",
    ),
    Rule(
        kind="slack",
        heads=("xoxa-", "xoxb-", "xoxe-", "xoxe.xox", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        rest="[A-Za-z0-9-]{10,}+",
    ),
    Rule(kind="huggingface", heads=("hf_",), rest="[A-Za-z0-9]{30,}+", boundary="word"),
    Rule(kind="npm", heads=("npm_",), rest="[A-Za-z0-9]{36,}+", boundary="word"),
    Rule(kind="pypi", heads=("pypi-",), rest=rf"{_REST}{{50,}}+"),
    Rule(kind="supabase", heads=("sbp_",), rest="[a-f0-9]{40}(?![a-f0-9])"),
    Rule(kind="supabase", heads=("sb_secret_",), rest=rf"{_REST}{{20,}}+"),
    Rule(
        kind="sendgrid",
        heads=("SG.",),
        rest=rf"{_REST}{{16,64}}+\.{_REST}{{16,}}+",
        boundary="word",
    ),
    Rule(kind="age", heads=("AGE-SECRET-KEY-1",), rest="[A-Z0-9]{50,}+"),
    Rule(kind="groq", heads=("gsk_",), rest="[A-Za-z0-9]{40,}+"),
    Rule(kind="xai", heads=("xai-",), rest="[A-Za-z0-9]{40,}+"),
    Rule(kind="nvidia", heads=("nvapi-",), rest=rf"{_REST}{{40,}}+"),
    Rule(kind="docker", heads=("dckr_pat_",), rest=rf"{_REST}{{20,}}+"),
    Rule(kind="digitalocean", heads=("dop_v1_", "doo_v1_", "dor_v1_"), rest="[a-f0-9]{64}"),
    Rule(kind="vault", heads=("hvs.", "hvb."), rest=rf"{_REST}{{24,}}+"),
    Rule(kind="linear", heads=("lin_api_",), rest="[A-Za-z0-9]{32,}+"),
    Rule(kind="notion", heads=("ntn_",), rest="[A-Za-z0-9]{40,}+"),
    Rule(kind="shopify", heads=("shpat_", "shpca_", "shppa_", "shpss_"), rest="[a-fA-F0-9]{32}"),
    Rule(
        kind="jwt",
        heads=("eyJ",),
        # Signed: three parts. Encrypted: five, the second of which may be empty.
        rest=rf"{_REST}{{8,}}+\.(?:eyJ{_REST}{{8,}}+\.{_REST}{{8,}}+"
        rf"|{_REST}*+\.{_REST}{{8,}}+\.{_REST}{{8,}}+\.{_REST}{{8,}}+)",
        boundary="word",
    ),
    Rule(
        kind="telegram",
        heads=tuple("0123456789"),
        rest=rf"[0-9]{{7,9}}+:AA{_REST}{{33}}",
        sign=":AA",
    ),
    Rule(
        kind="azure",
        heads=("AccountKey=", "SharedAccessKey=", "accountkey="),
        label="",
        rest=r"[A-Za-z0-9+/]{40,}+={0,2}",
        boundary="any",
    ),
    Rule(
        kind="private-key",
        heads=("-----BEGIN ",),
        # Up to its end where there is one, however its lines are broken or marked; else as far
        # as words of base64 go, where a short one ends its line.
        rest=r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,64000}+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\\[nrt]|\s)++(?:(?:Proc-Type|DEK-Info):[^\n\\]{0,200}+|[A-Za-z0-9+/=]{20,}+"
        r"""|[A-Za-z0-9+/=]++(?=[\r\n\\"']|\Z))?)*+)""",
        boundary="any",
    ),
    Rule(
        kind="authorization",
        heads=("Authorization", "authorization", "AUTHORIZATION"),
        label=_ASSIGNED + r"(?:Basic|basic)\s{1,4}",
        rest=r"(?:[A-Za-z0-9+/]{4})++(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?![A-Za-z0-9+/=])",
        boundary="any",
    ),
    Rule(
        kind="authorization",
        heads=("Authorization", "authorization", "AUTHORIZATION"),
        label=_ASSIGNED + r"(?:[A-Za-z0-9-]{3,20}\s{1,4})?",
        rest=r"(?=[A-Za-z._~+/-]*+[0-9])[A-Za-z0-9._~+/=-]{16,}+(?![(\[])",
        boundary="any",
    ),
    Rule(
        kind="api-key",
        heads=("x-api-key", "X-API-Key", "X-Api-Key", "X-API-KEY"),
        label=_ASSIGNED,
        rest=r"(?=[A-Za-z._~+/-]*+[0-9])[A-Za-z0-9._~+/=-]{16,}+",
        boundary="any",
    ),
    Rule(
        kind="bearer",
        heads=("Bearer", "bearer", "BEARER"),
        label=r"\s{1,4}",
        rest=r"(?=[a-z._~+/-]*+[A-Z0-9])[A-Za-z0-9._~+/=-]{16,}+",
    ),
    Rule(
        kind="assignment",
        # As in a shell and in `.env` files; names in small letters are mostly those of code.
        heads=(
            "PASSWORD=",
            "PASSWD=",
            "PASSPHRASE=",
            "TOKEN=",
            "SECRET=",
            "API_KEY=",
            "APIKEY=",
            "ACCESS_KEY=",
            "SECRET_KEY=",
            "PRIVATE_KEY=",
        ),
        label=r"""["']?""",
        rest=rf"{_NO_PLACEHOLDER}(?![\w.]{{0,200}}+[(\[])[^\s\"'`$(){{}}<>;,&|\\]{{8,1000}}+",
        boundary="any",
    ),
    Rule(
        kind="url-password",
        heads=("://",),
        label="",
        rest=rf"[^\s/:@]{{0,100}}+:{_NO_PLACEHOLDER}[^\s/:@]{{3,1000}}+(?=@)",
        boundary="any",
    ),
)

_HEADS = tuple(dict.fromkeys(head for rule in RULES for head in rule.heads))
_SHORT_CHARS = 20_000
"""Up to this, to look for each sign takes less time than to compile an expression of all rules."""


def find_by_rules(text: str) -> Iterator[tuple[int, int, str]]:
    """Give start, end and kind of each secret, in order."""
    rules = _compiled_for(text)
    if rules is None:
        return
    match = rules.anywhere.search(text)
    while match is not None:
        yield rules.read(match)
        match = rules.here.match(text, match.end()) or rules.anywhere.search(text, match.end())


def find_by_rules_at(text: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Give the secrets that stand one after the other from a place on."""
    rules = _compiled_for(text) if text.startswith(_HEADS, start) else None
    if rules is None:
        return
    while (match := rules.here.match(text, start)) is not None:
        yield rules.read(match)
        start = match.end()


def _compiled_for(text: str) -> "_Compiled | None":
    """Compile the rules that a text may have a match of: mostly none, else one or two."""
    if len(text) > _SHORT_CHARS:
        return _compiled(RULES)
    rules = tuple(rule for rule in RULES if any(sign in text for sign in _signs_of(rule)))
    return _compiled(rules) if rules else None


def _signs_of(rule: Rule) -> tuple[str, ...]:
    """Give texts one of which is in every secret of a rule, label included."""
    return (rule.sign,) if rule.sign else rule.heads


def may_hold(text: str) -> bool:
    """Tell whether a text has the beginning of any secret, ten times as quickly as find one."""
    return _gate().search(text) is not None


@cache
def _gate() -> re.Pattern[str]:
    """Join the heads of all rules, each to be found by its rarest character.

    Most texts have none. An expression passes quickly over characters by which no match can
    begin, so a head's rarest one comes first, and what stands before it is looked back to.
    """
    by_rarest: dict[str, list[str]] = {}
    for head in dict.fromkeys(head for rule in RULES for head in rule.heads):
        if head.isdigit() or head == "://":
            continue
        at = min(range(len(head)), key=lambda n: (_FREQUENT.rfind(head[n]), n))
        before = f"(?<={re.escape(head[:at])}.)" if at else ""
        by_rarest.setdefault(head[at], []).append(before + re.escape(head[at + 1 :]))
    # A telegram token begins with any digit, and most URLs have no password.
    by_rarest[":"] = ["AA", r"//[^\s/:@]{0,100}+:[^\s/:@]{3,1000}+@"]
    firsts = (f"{re.escape(rarest)}{_one_of(tails)}" for rarest, tails in by_rarest.items())
    return re.compile("|".join(firsts), re.DOTALL)


_FREQUENT = (
    "^~!|&XQVY#K?Jz`q%GB$U*<H>CLM+W{}ADZPj;RTS[]IkxEOvFN'/97)(=y,g385.46b_w-hf1m2:p0udclisnaorte"
)
"""Characters of sessions, from rare to frequent (2 MB of made-up and generated ones)."""


class _Compiled(msgspec.Struct, frozen=True, kw_only=True):
    anywhere: re.Pattern[str]
    here: re.Pattern[str]
    """The rules without their boundaries, for what follows a secret without a gap."""
    kinds: dict[str, tuple[str, bool]]
    """Of each group in them: the kind of its rule, and whether that has a label."""

    def read(self, match: re.Match[str]) -> tuple[int, int, str]:
        group = match.lastgroup or ""
        kind, is_labelled = self.kinds[group]
        return match.start(group) if is_labelled else match.start(), match.end(), kind


@lru_cache(maxsize=64)
def _compiled(rules: tuple[Rule, ...]) -> _Compiled:
    """Compile rules when they are needed first: all of them take 20 ms."""
    kinds: dict[str, tuple[str, bool]] = {}
    heads = [(rule, head) for rule in rules for head in rule.heads]
    for n, (rule, _) in enumerate(heads):
        kinds[f"g{n}"] = rule.kind, rule.label is not None
    return _Compiled(anywhere=_join(heads), here=_join(heads, has_boundaries=False), kinds=kinds)


def _join(heads: Sequence[tuple[Rule, str]], *, has_boundaries: bool = True) -> re.Pattern[str]:
    """Join the rules, those with the same first character under it.

    So the expression knows by which characters a match can begin, and passes over all others.
    """
    by_first: dict[str, list[str]] = {}
    for n, (rule, head) in enumerate(heads):
        before = _before(rule.boundary, len(head)) if has_boundaries else ""
        by_first.setdefault(head[0], []).append(
            f"{re.escape(head[1:])}{before}{rule.label or ''}(?P<g{n}>{rule.rest})"
        )
    firsts = (f"{re.escape(first)}{_one_of(tails)}" for first, tails in by_first.items())
    return re.compile("|".join(firsts), re.DOTALL)


def _before(boundary: Boundary, n_chars: int) -> str:
    """Look back over a head to what stands before it.

    The letter before a token may end an escape: `\\n` in JSON, `%3D` in a URL, a color of a
    terminal; and the `-` of a diff stands at the beginning of a line.
    """
    if boundary == "any":
        return ""
    head = f".{{{n_chars}}}"
    if boundary == "letter":
        return _one_of((f"(?<![A-Za-z0-9]{head})", *(f"(?<={one}{head})" for one in _ESCAPES)))
    starts = (*_ESCAPES, r"\n-", r"\n--")
    return _one_of((f"(?<![A-Za-z0-9_-]{head})", *(f"(?<={one}{head})" for one in starts)))


_ESCAPES = (r"\\[nrtbf]", "%[0-9A-Fa-f]{2}", r"\[\dm", r"\[\d\dm", r"\[\d;\d\dm")


def _one_of(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"
