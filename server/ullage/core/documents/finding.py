"""What is wrong in a text that is open in an editor, and how to fix it."""

import msgspec

from ullage.core.text.positions import Extent


class Related(msgspec.Struct, frozen=True, kw_only=True):
    """Another place that a finding speaks of."""

    path: str
    extent: Extent
    message: str


class NewFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str


class TextFix(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the same text that settles a finding."""

    title: str
    extent: Extent
    new_text: str
    is_sure: bool = True
    """Whether an editor may make it as one of many, unseen."""
    new_file: NewFile | None = None
    """What it makes besides, where something moves there."""


class DocumentFinding(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    """One of `core.diagnostic_codes`."""
    extent: Extent
    message: str
    is_notice: bool = False
    """Whether it is only information here, regardless of its code's level."""
    is_unseen: bool = False
    """Whether the place is text that no agent sees, which editors gray out."""
    related: tuple[Related, ...] = ()
    fixes: tuple[TextFix, ...] = ()
    """The best first."""
    sha256: str | None = None
    """Of the content that a person may accept, which settles it."""
