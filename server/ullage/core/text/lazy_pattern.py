"""Regular expressions that are compiled when they are first used.

A long one takes up to 3 ms, and a hook or a command imports many that it does not use: all of them
together took an eighth of what a hook took before a compaction (measured).
"""

import re
from functools import cached_property
from typing import cast


def lazy_pattern(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return cast(re.Pattern[str], cast(object, _LazyPattern(pattern, flags)))


class _LazyPattern:
    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self._source = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def __getattr__(self, name: str) -> object:
        """Find a method for the first time; from then on it is the object's own."""
        method = cast(object, getattr(self._compiled, name))
        self.__dict__[name] = method
        return method
