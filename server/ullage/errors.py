"""Errors that reach a user: each message says what is wrong and what to do.

UllageError
├── InputError              exit 3: what we were pointed at cannot be used
│   ├── SessionNotFound
│   ├── NotATranscript
│   ├── Unreadable
│   └── CorruptCheckpoint
├── Refused                 exit 4: we could, but must not
│   ├── SessionLive
│   ├── WriteNotSupported
│   └── ChangedMeanwhile
└── StorageError            exit 5: the machine did not let us
    └── StateUnwritable
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


class CorruptCheckpoint(InputError):
    pass


class Refused(UllageError):
    exit_code = 4


class SessionLive(Refused):
    pass


class WriteNotSupported(Refused):
    pass


class ChangedMeanwhile(Refused):
    pass


class StorageError(UllageError):
    exit_code = 5


class StateUnwritable(StorageError):
    pass
