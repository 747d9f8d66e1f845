"""Errors that reach a user: each message says what is wrong and what to do.

UllageError
├── InputError              exit 3: what we were pointed at cannot be used
│   ├── SessionNotFound
│   ├── NotATranscript
│   ├── Unreadable
│   │   └── OtherDatabase
│   ├── EntryNotFound
│   ├── CheckpointNotFound
│   ├── CorruptCheckpoint
│   ├── NewerCheckpoint
│   ├── UnknownItem
│   ├── BadBundle
│   ├── BadRequest
│   ├── PreviewNotFound
│   └── AgentNotFound
├── Refused                 exit 4: we could, but must not
│   ├── SessionLive
│   ├── WriteNotSupported
│   ├── NotAsPlanned
│   ├── AlreadyChanged
│   ├── PinRefused
│   ├── ChangedMeanwhile
│   ├── PreviewRefused
│   ├── EndpointRefused
│   ├── FileExists
│   ├── LogRefused
│   └── NotRepairable
├── StorageError            exit 5: the machine did not let us
│   ├── IndexDamaged
│   ├── StateBusy           exit 4: another process is at work there
│   └── StateUnwritable
└── ModelError              exit 6: no summary came from the model; the extractive one still can
    ├── ModelUnreachable
    ├── ModelBusy
    ├── ModelDenied
    ├── ContextOverflow
    └── BadAnswer
"""


class UllageError(Exception):
    """Base of every error that is meant for the user."""

    exit_code = 1


class InputError(UllageError):
    exit_code = 3


class SessionNotFound(InputError):
    pass


class NotATranscript(InputError):
    pass


class Unreadable(InputError):
    pass


class OtherDatabase(Unreadable):
    """It is whole, and its tables are not the agent's that was asked for."""


class EntryNotFound(InputError):
    pass


class CheckpointNotFound(InputError):
    pass


class CorruptCheckpoint(InputError):
    pass


class NewerCheckpoint(InputError):
    pass


class UnknownItem(InputError):
    pass


class PreviewNotFound(InputError):
    pass


class BadRequest(InputError):
    """What a runtime asks for is not what it can ask for."""


class BadBundle(InputError):
    pass


class AgentNotFound(InputError):
    pass


class Refused(UllageError):
    exit_code = 4


class SessionLive(Refused):
    pass


class WriteNotSupported(Refused):
    pass


class NotAsPlanned(Refused):
    pass


class AlreadyChanged(Refused):
    pass


class PinRefused(Refused):
    pass


class ChangedMeanwhile(Refused):
    pass


class PreviewRefused(Refused):
    pass


class EndpointRefused(Refused):
    pass


class FileExists(Refused):
    pass


class LogRefused(Refused):
    """A memory file is not one that may be read and written."""


class NotRepairable(Refused):
    pass


class StorageError(UllageError):
    exit_code = 5


class IndexDamaged(StorageError):
    pass


class StateBusy(StorageError):
    """Nothing is wrong with the disk."""

    exit_code = 4


class StateUnwritable(StorageError):
    pass


class ModelError(UllageError):
    """Its messages hold no text of the model, the server or the session: all may hold secrets."""

    exit_code = 6


class ModelUnreachable(ModelError):
    """No answer, or only a part of one, within the time that we give it."""


class ModelBusy(ModelError):
    """The provider asks us to come back later than we wait."""


class ModelDenied(ModelError):
    """The provider answers, and not to this key, this model or this request."""


class ContextOverflow(ModelError):
    """The prompt is larger than the model's context."""

    kind = "context_overflow"


class BadAnswer(ModelError):
    """An answer came that must not stand for anything."""


def describe_fault(error: Exception) -> str:
    """Tell where a fault of ours happened and what it was, without its message's content."""
    import traceback  # a hook has no time for it

    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{frames}{type(error).__name__}"
