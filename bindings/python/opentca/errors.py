"""What OpenTCA raises. Every error is an Error, and also what Python calls such a thing.

The attributes say what an error concerns: `exit_code`, `rank` (the rank that met it), `chain`, `step`, `missing` (the ranks
that have not come, or the one that is lost), and `file` and `line` of a file at fault.
"""

from __future__ import annotations


class Error(Exception):
    """The base of all errors of OpenTCA."""

    exit_code: int = 1
    rank: int | None = None
    chain: str = ""
    step: int | None = None
    missing: tuple[int, ...] = ()
    file: str = ""
    line: int = 0


class InvalidArgument(Error, ValueError):
    """A call or the environment asks for something impossible, as one rank can tell by itself."""

    exit_code = 2


class Refused(Error, RuntimeError):
    """What the ranks have declared together is impossible. Every rank sees the same message."""

    exit_code = 3


class TimedOut(Error, TimeoutError):
    """A blocking call passed its time limit; the message names who is missing."""

    exit_code = 4


class RankLost(Error, ConnectionError):
    """A partner died, left or failed."""

    exit_code = 5


class OutOfMemory(Error, MemoryError):
    """The machine cannot hold what was asked for."""

    exit_code = 6


class Incompatible(Error, RuntimeError):
    """Another version, another user or a foreign shared segment."""

    exit_code = 7


class DeviceFailed(Error, RuntimeError):
    """A GPU or its driver reports an error, or there is none."""

    exit_code = 8


class PathLost(Error, ConnectionError):
    """A cable or a hub on the way to a partner has failed, while the partner may live."""

    exit_code = 10


_CLASSES = {
    kind.exit_code: kind
    for kind in (InvalidArgument, Refused, TimedOut, RankLost, OutOfMemory, Incompatible, DeviceFailed, PathLost)
}


def _of_code(exit_code: int, message: str) -> Error:
    return _CLASSES[exit_code](message)
