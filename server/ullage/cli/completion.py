"""What a shell shows at Tab: descriptions as they are, where click cuts them."""

from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MAX_TOLD_CHARS = 200
"""Of a command; the shell cuts it by its own width (chosen)."""


class Group(click.Group):
    """A group whose commands are told by their whole first sentence, not by 45 characters."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        items = super().shell_complete(ctx, incomplete)
        for item in items:
            command = self.get_command(ctx, cast(str, item.value))
            if command is not None:
                item.help = command.get_short_help_str(MAX_TOLD_CHARS)
        return items


def keep_commas() -> None:
    """Let fish part the kind of an item at the first comma: more of them stand in descriptions."""
    from click.shell_completion import FishComplete, add_completion_class

    class WholeFishComplete(FishComplete):
        source_template = FishComplete.source_template.replace("string split", "string split -m 1")

    add_completion_class(WholeFishComplete)
