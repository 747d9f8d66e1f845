"""The assignments of a `.env` file."""

import re

from ullage.core.text.lazy_pattern import lazy_pattern

_ASSIGNMENT = lazy_pattern(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*"
    r"""(?:"(?P<double>(?:[^"\\]|\\.)*+)"|'(?P<single>[^']*+)'|(?P<bare>[^\r\n]*))""",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = lazy_pattern(r"[ \t]#.*")
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


def read_assignments(text: str) -> dict[str, str]:
    """Read names and values as dotenv does: quotes, escapes, values of several lines, comments.

    What stands between the assignments is passed over; variables in a value stay as they are.
    """
    variables: dict[str, str] = {}
    for match in _ASSIGNMENT.finditer(text):
        double, single = match["double"], match["single"]
        if double is not None:
            value = _ESCAPE.sub(lambda escape: _CONTROLS.get(escape[1], escape[1]), double)
        elif single is not None:
            value = single
        else:
            value = _COMMENT.sub("", match["bare"]).strip()
        variables[match["name"]] = value
    return variables
