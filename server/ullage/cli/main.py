"""The command line: what it is asked for, and the one place where errors end."""

import os
import sys
from pathlib import Path
from typing import TextIO, cast

from ullage.agent.hook import load_packages
from ullage.cli.output import echo, fail, fail_stopped, safe, working
from ullage.errors import StorageError, UllageError

DEBUG_VARIABLE = "ULLAGE_DEBUG"


def main() -> None:
    """Run a command; every expected failure is one line and an exit code of its own."""
    open_missing_streams()
    use_any_encoding()
    stdout = sys.stdout
    try:
        exit_code = _run(sys.argv[1:])
    except UllageError as error:
        fail(str(error), error.exit_code)
    except SystemExit as leaving:
        # click wraps the output and ends with 1 where the reader has gone.
        sys.exit(leaving.code if sys.stdout is stdout else 0)
    except BrokenPipeError:
        # The reader, such as `head`, has gone; what waits to be written would fail again.
        sys.stdout = _open_nowhere()
        sys.exit(0)
    except KeyboardInterrupt:
        fail_stopped()
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            import traceback

            from ullage.core.secrets.scan import mask

            sys.stderr.write(mask(traceback.format_exc()))
        if isinstance(error, OSError):
            # What waits to be written would fail again.
            sys.stdout = _open_nowhere()
            fail(_describe_refusal(error), StorageError.exit_code)
        fail(
            f"a fault of Ullage ({type(error).__name__}): please report it;"
            f" {DEBUG_VARIABLE}=1 shows where it happened",
            1,
        )
    else:
        sys.exit(exit_code)


def _describe_refusal(error: OSError) -> str:
    """Tell what the machine did not let us do; the standard output alone has no name."""
    path = cast(object, error.filename)
    return f"{'the output cannot be written' if path is None else path}: {error.strerror}"


def _run(arguments: list[str]) -> int:
    """Run a command and give its exit code; what is run all the time without click, where that can.

    To import it takes as long as to read a session.
    """
    match arguments:
        case ["statusline", *options] if _print_line(options):
            return 0
        case ["context", "status"] if _print_status(None):
            return 0
        case ["context", "status", "--session", named] if named[:1] != "-" and _print_status(named):
            return 0
        case _:
            from ullage.cli.commands import run

            return run()


def _print_line(options: list[str]) -> bool:
    """Print the line, where its format is one."""
    from ullage.agent.status_line import encode_line, find_line, read_template

    template = read_template(options)
    if not template:
        return False
    sys.stdout.buffer.write(encode_line(find_line(template)))
    sys.stdout.flush()
    return True


def _print_status(named: str | None) -> bool:
    """Print the status of a session, where nothing has to be told of what is configured."""
    load_packages()
    from ullage.app.config.load import load_config
    from ullage.app.gauge.status_text import status_text
    from ullage.app.sessions.named import load_named
    from ullage.store.files.places import current_places

    places = current_places()
    config = load_config(places, workspace=places.cwd)
    if config.findings:
        return False
    with working():
        text = status_text(load_named(named, config, places))
    echo(safe(text))
    return True


def open_missing_streams() -> None:
    """Let output lead nowhere where it has no stream: pythonw.exe, as in a task of Windows."""
    sys.stdout = sys.stdout or _open_nowhere()
    sys.stderr = sys.stderr or _open_nowhere()


def _open_nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def use_any_encoding() -> None:
    """Print a question mark for what the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
