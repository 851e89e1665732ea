"""Ranks write straight into each other's memory: `import opentca as tca`.

    with tca.World() as world:                        # one rank of `tca run -n 4 -- python prog.py`
        u = world.zeros((n + 2, n + 2), "f8")         # an array that the other ranks can put into
        chain = world.chain("edge")
        chain.put(u.on(right)[1:-1, 0], u[1:-1, -2])  # declared once
        chain.expect(left)
        chain.commit()
        for step in range(steps):
            chain.start()
            ...                                       # overlaps
            chain.wait()

docs/guide.md, "In Python", explains more.
"""

import atexit as _atexit
import os as _os
import sys as _sys
import time as _time
from pathlib import Path as _Path
from types import TracebackType as _TracebackType

from . import errors
from ._arrays import HOST
from ._core import (
    AllGather,
    AllReduce,
    AllToAll,
    Barrier,
    Broadcast,
    Chain,
    Collective,
    CountedArrival,
    CountedPut,
    Fold,
    Grid,
    Halo,
    Notices,
    Post,
    ReduceScatter,
    Region,
    Remote,
    Team,
    Window,
    World,
    _close_all,
    _rank_of_process,
    _version,
    run_threads,
)
from .errors import DeviceFailed, Error, Incompatible, InvalidArgument, OutOfMemory, PathLost, RankLost, Refused, TimedOut
from .nvrtc import get_include, nvrtc_options
from .rounds import Rounds

__all__ = [
    "AllGather", "AllReduce", "AllToAll", "Barrier", "Broadcast", "Chain", "Collective", "CountedArrival", "CountedPut",
    "DeviceFailed", "Error", "Fold", "Grid", "HOST", "Halo", "Incompatible", "InvalidArgument", "Notices", "OutOfMemory", "PathLost", "Post",
    "RankLost", "ReduceScatter", "Refused", "Region", "Remote", "Rounds", "Team", "TimedOut", "Window", "World", "errors", "get_include", "nvrtc_options", "run_threads", "__version__",
]  # fmt: skip

__version__: str = _version

# Modelled machines that came with the package; those of the environment are looked for first.
_machines = _Path(__file__).resolve().parent / "share" / "opentca" / "machines"
if _machines.is_dir():
    _os.environ["OPENTCA_MACHINES"] = ":".join(filter(None, (_os.environ.get("OPENTCA_MACHINES"), str(_machines))))

_show = _sys.excepthook


def _show_once(kind: type[BaseException], error: BaseException, traceback: _TracebackType | None) -> None:
    """Shows what ended a job once: by the rank on which it happened, or the launcher, and not by all that hear of it."""
    rank, size = _rank_of_process()
    heard = isinstance(error, RankLost) and any(str(error).startswith(f"rank {lost} failed") for lost in error.missing)
    interrupted = isinstance(error, KeyboardInterrupt) and size > 1 and rank > 0
    if heard:
        _time.sleep(0.5)  # a launcher names the rank that ends first, and ends the others
    elif not interrupted:
        _show(kind, error, traceback)


_sys.excepthook = _show_once


@_atexit.register
def _leave() -> None:
    """Closes what is open, before modules are taken apart. Partners hear of an exception that nobody caught."""
    _close_all(getattr(_sys, "last_type", None) is not None)
