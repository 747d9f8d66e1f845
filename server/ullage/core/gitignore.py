"""What a `.gitignore` keeps out of a repository: such a path need not be in a work tree."""

import re
from collections.abc import Sequence

import msgspec

_TOKEN = re.compile(
    r"(?P<folders>\*\*/)|(?P<rest>/\*\*\Z)|(?P<many>\*+)|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?[^\]/]*)\]|\\(?P<plain>.)|(?P<other>.)"
)


class IgnoreRule(msgspec.Struct, frozen=True, kw_only=True):
    pattern: re.Pattern[str]
    """Of a path relative to the file's folder, with slashes; a folder ends with one."""
    is_exception: bool = False


def ignore_rules(gitignore: str) -> tuple[IgnoreRule, ...]:
    """Read the rules of a file; lines that are none are passed over."""
    rules = (_rule(line.rstrip()) for line in gitignore.split("\n"))
    return tuple(rule for rule in rules if rule is not None)


def is_ignored(path: str, rules: Sequence[IgnoreRule]) -> bool:
    """Tell whether a path or a folder above it is ignored: below such a one nothing is excepted."""
    ends = (found.end() for found in re.finditer(r"[^/]+/?", path))
    return any(_is_ignored(path[:end], rules) for end in ends)


def _is_ignored(path: str, rules: Sequence[IgnoreRule]) -> bool:
    last = next((rule for rule in reversed(rules) if rule.pattern.fullmatch(path)), None)
    return last is not None and not last.is_exception


def _rule(line: str) -> IgnoreRule | None:
    if not line or line.startswith("#"):
        return None
    is_exception = line.startswith("!")
    text = line.removeprefix("!")
    bare = text.rstrip("/")
    if not bare:
        return None
    # A slash at the beginning or in the middle binds a pattern to the file's folder.
    start = "" if "/" in bare else "(?:.*/)?"
    middle = "".join(map(_expression, _TOKEN.finditer(bare.removeprefix("/"))))
    end = "/" if text.endswith("/") else "/?"
    try:
        pattern = re.compile(f"{start}{middle}{end}", re.DOTALL)
    except re.error:  # a range such as [z-a]
        return None
    return IgnoreRule(pattern=pattern, is_exception=is_exception)


def _expression(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "folders":
            return "(?:.*/)?"
        case "rest":
            return "/.+"
        case "many":
            return "[^/]*"
        case "one":
            return "[^/]"
        case "set":
            inside = re.sub(r"([\\\[\]&~|])", r"\\\1", token["set"])
            return f"[{'^' if token['not'] else ''}{inside}]"
        case _:
            return re.escape(token["plain"] or token["other"])
