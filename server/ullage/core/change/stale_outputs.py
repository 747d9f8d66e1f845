"""Stale outputs: files read again or changed since, and the same output twice."""

from collections.abc import Mapping, Sequence

from ullage.core.change.tool_outputs import Output, is_placeholder
from ullage.core.facts.tool_calls import file_read, read_call
from ullage.core.transcript.message import Image, ToolCall, ToolResult, result_text


def duplicates(outputs: Sequence[Output]) -> set[int]:
    """Find outputs that a later run of the same call repeated to the letter, by position.

    The last of them is never among these.
    """
    last: dict[tuple[str, str, tuple[str, ...]], int] = {}
    found: set[int] = set()
    for n in range(len(outputs) - 1, -1, -1):
        output = outputs[n]
        if output.call is None or not output.n_tokens:
            continue
        key = (output.call.name, output.call.arguments, _content_key(output.result))
        if key in last:
            found.add(n)
        else:
            last[key] = n
    return found


def superseded_reads(outputs: Sequence[Output]) -> set[int]:
    """Find reads of files that do not tell the file's content any more, by position.

    Such a file was read again, the same part of it or all of it with the old text in it, or the
    agent changed it after the read. A read of several files is stale when it is for each. What
    failed supersedes nothing, nor does a second answer of less than half the length: agents
    answer "unchanged since the last read" in place of the content.
    """
    later_texts: dict[tuple[str, str], str] = {}
    changed: set[str] = set()
    found: set[int] = set()
    for n in range(len(outputs) - 1, -1, -1):
        output = outputs[n]
        if output.call is None or output.result.is_error or is_placeholder(output.result):
            continue
        read = file_read(output.call)
        text = result_text(output.result)
        if read is None:
            changed |= _changed_paths(output.call)
            continue
        if all(
            path in changed or _is_repeated(path, read.part, text, later_texts)
            for path in read.paths
        ):
            found.add(n)
        for path in read.paths:
            longest = max(text, later_texts.get((path, read.part), ""), key=len)
            later_texts[path, read.part] = longest
    return found


def _changed_paths(call: ToolCall) -> set[str]:
    return {touch.path for touch in read_call(call).touches if touch.is_modified}


def _is_repeated(
    path: str, part: str, text: str, later_texts: Mapping[tuple[str, str], str]
) -> bool:
    same_part, whole = later_texts.get((path, part)), later_texts.get((path, ""))
    is_same_told = same_part is not None and 2 * len(same_part) >= len(text)
    return is_same_told or (whole is not None and text in whole)


def _content_key(result: ToolResult) -> tuple[str, ...]:
    return tuple(
        f"image {part.media_type} {part.size_bytes}" if isinstance(part, Image) else part.text
        for part in result.content
    )
