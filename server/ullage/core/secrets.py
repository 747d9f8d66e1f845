"""Secrets in text that leaves a transcript: known values, and tokens by their prefixes.

Best effort, and on purpose by fixed prefixes only: guessing by entropy destroys hashes,
signatures and base64 (research/reliability.md §0.8, C16). Every pattern begins at the beginning
of a word and has bounded parts, so that a text is read once (C17).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

MIN_KNOWN_CHARS = 8
"""A shorter value, such as `true`, would be masked all over a text (chosen)."""
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z")

_WORD = r"(?<![A-Za-z0-9_-])"
_REST = r"[A-Za-z0-9_-]"
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("anthropic", rf"{_WORD}sk-ant-{_REST}{{16,300}}"),
    ("openrouter", rf"{_WORD}sk-or-v1-{_REST}{{16,300}}"),
    ("openai", rf"{_WORD}sk-(?:proj-)?{_REST}{{20,300}}"),
    ("github", rf"{_WORD}(?:gh[opsur]_[A-Za-z0-9]{{30,255}}|github_pat_\w{{30,255}})"),
    ("gitlab", rf"{_WORD}glpat-{_REST}{{16,300}}"),
    ("aws", rf"{_WORD}(?:AKIA|ASIA)[A-Z0-9]{{16}}(?![A-Za-z0-9])"),
    ("google", rf"{_WORD}AIza{_REST}{{35}}"),
    ("slack", rf"{_WORD}(?:xox[abeprs]-|xapp-)[A-Za-z0-9-]{{10,300}}"),
    ("stripe", rf"{_WORD}(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{{16,300}}"),
    ("huggingface", rf"{_WORD}hf_[A-Za-z0-9]{{30,100}}"),
    ("npm", rf"{_WORD}npm_[A-Za-z0-9]{{36}}"),
    ("pypi", rf"{_WORD}pypi-{_REST}{{50,300}}"),
    ("supabase", rf"{_WORD}sbp_[a-f0-9]{{40}}"),
    ("sendgrid", rf"{_WORD}SG\.{_REST}{{16,64}}\.{_REST}{{16,64}}"),
    ("age", rf"{_WORD}AGE-SECRET-KEY-1[A-Z0-9]{{50,70}}"),
    ("jwt", rf"{_WORD}eyJ{_REST}{{8,2000}}\.eyJ{_REST}{{8,4000}}\.{_REST}{{8,1000}}"),
    ("telegram", rf"{_WORD}[0-9]{{8,10}}:AA{_REST}{{33}}"),
    ("azure", r"AccountKey=[A-Za-z0-9+/]{40,100}={0,2}"),
    (
        "private-key",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,]{0,8000}"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?",
    ),
    ("bearer", rf"{_WORD}[Bb]earer\s{{1,4}}[A-Za-z0-9._~+/=-]{{16,4000}}"),
    ("url-password", r"(?<=://)[^\s/:@]{1,100}:[^\s/:@]{3,200}(?=@)"),
)
_ANY = re.compile("|".join(f"(?P<k{n}>{pattern})" for n, (_, pattern) in enumerate(_PATTERNS)))


def known_secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """List the values that are secret by the names of their variables, longest first."""
    values = {
        value
        for name, value in env.items()
        if _SECRET_NAME.search(name.upper()) and len(value) >= MIN_KNOWN_CHARS
    }
    return tuple(sorted(values, key=len, reverse=True))


def mask(text: str, known: Iterable[str] = ()) -> str:
    """Replace each secret by a marker that is the same wherever the secret is the same."""
    for value in known:
        if value in text:
            text = text.replace(value, _marker("known", value))
    return _ANY.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    kind = _PATTERNS[int((match.lastgroup or "k0")[1:])][0]
    return _marker(kind, match[0])


def _marker(kind: str, secret: str) -> str:
    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:6]}]"
