"""Arrays in the memory of GPUs, and streams, of whichever library the program uses: CuPy or torch."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .errors import InvalidArgument


class _Host:
    """What a step is ordered by that is ordered by no stream."""

    def __repr__(self) -> str:
        return "opentca.HOST"


HOST = _Host()


def library(given: Any) -> ModuleType:
    """The world's array library: the one that was given, or else the one that is imported."""
    if given is not None:
        return given
    found = [sys.modules[name] for name in ("cupy", "torch") if name in sys.modules]
    if len(found) == 1:
        return found[0]
    raise InvalidArgument(
        "World: on GPUs, windows are arrays of CuPy or torch, and this program has imported "
        + ("both; choose by World(arrays=cupy) or World(arrays=torch)" if found else "neither of them")
    )


def array(window: Any, given: Any) -> Any:
    """A window's part as an array of the world's library, without a copy."""
    arrays = library(given)
    return tensor(window) if arrays.__name__ == "torch" else arrays.asarray(window)


def tensor(window: Any) -> Any:
    """A window's part as a tensor of torch, without a copy."""
    import torch

    if hasattr(window, "__cuda_array_interface__"):
        return torch.as_tensor(window, device="cuda")
    import numpy

    return torch.from_numpy(numpy.asarray(window))


def current_stream(given: Any) -> int:
    """The stream that the caller's work is on."""
    arrays = library(given)
    if arrays.__name__ == "torch":
        return int(arrays.cuda.current_stream().cuda_stream)
    return int(arrays.cuda.get_current_stream().ptr)


def stream_number(stream: Any) -> int:
    """The cudaStream_t of a stream of CuPy, torch, cuda.core, or of a number."""
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    if isinstance(stream, int):
        return stream
    raise InvalidArgument(
        f"a stream is one of CuPy, torch or cuda.core, a number or opentca.HOST, and no {type(stream).__name__}"
    )
