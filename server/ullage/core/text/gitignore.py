"""What a `.gitignore` keeps out of a repository: such a path need not be in a work tree."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


def ignore_spec(gitignore: str) -> "GitIgnoreSpec":
    """Read the rules of a file; lines that are none are passed over, as git does."""
    # Its import takes 7 ms, and many folders have no such file.
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec(rule for line in gitignore.split("\n") for rule in _rules(line))


def is_ignored(path: str, spec: "GitIgnoreSpec") -> bool:
    """Tell whether a path or a folder above it is ignored: below such a one nothing is excepted."""
    ends = (match.end() for match in re.finditer(r"[^/]+/?", path))
    return any(spec.match_file(path[:end]) for end in ends)


def _rules(line: str) -> Iterator["GitIgnoreSpecPattern"]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        yield GitIgnoreSpecPattern(line.removesuffix("\r"))
    except (ValueError, re.error):  # the second for a range such as [z-a]
        return
