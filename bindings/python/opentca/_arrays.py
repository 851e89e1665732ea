"""Arrays in the memory of GPUs, and streams, of whichever library the program uses: CuPy or torch."""

from __future__ import annotations

import ctypes
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


def _device_of(address: int) -> int:
    """The number of the GPU in whose memory an address lies, as the driver says."""
    number, ordinal_of_device = ctypes.c_int(), 9
    status = ctypes.CDLL("libcuda.so.1").cuPointerGetAttribute(
        ctypes.byref(number), ordinal_of_device, ctypes.c_uint64(address)
    )
    if status != 0:
        raise InvalidArgument(f"the driver knows no GPU of the address {address:#x}: error {status}")
    return number.value


def use(address: int) -> None:
    """Makes the GPU that a window lies on the current one of the libraries that are imported. Otherwise kernels of every
    rank would run on the first."""
    device = _device_of(address)
    if "cupy" in sys.modules:
        sys.modules["cupy"].cuda.Device(device).use()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.set_device(device)


def array(window: Any, given: Any) -> Any:
    """A window's part as an array of the world's library, without a copy."""
    arrays = library(given)
    return tensor(window) if arrays.__name__ == "torch" else arrays.asarray(window)


def tensor(window: Any) -> Any:
    """A window's part as a tensor of torch, without a copy."""
    import torch

    shown = getattr(window, "__cuda_array_interface__", None)
    if shown is not None:
        return torch.as_tensor(window, device=f"cuda:{_device_of(shown['data'][0])}")
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
