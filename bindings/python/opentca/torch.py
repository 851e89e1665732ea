"""Steps as operations of torch, which torch.compile keeps in their order:

    exchange = opentca.torch.Step(halo, u)        # u: a window, or a tensor of one
    ...
    exchange()                                    # in a function that is compiled as well
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from ._arrays import tensor
from ._core import Window

_steps: weakref.WeakValueDictionary[int, Step] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Step:
    """A chain, halo, fold or collective that runs as an operation of torch: on the current stream on GPUs, and on the host
    elsewhere. The tensors are all that it reads or writes; the compiler moves no other use of them past it."""

    def __init__(self, step: Any, *windows: Window | torch.Tensor) -> None:
        self._step = step
        self._tensors = [tensor(one) if isinstance(one, Window) else one for one in windows]
        self._number = next(_numbers)
        _steps[self._number] = self

    def __call__(self) -> None:
        run(self._tensors, self._number)


@torch.library.custom_op("opentca::run", mutates_args=("tensors",))
def run(tensors: Sequence[torch.Tensor], number: int) -> None:
    """Runs the step of a number, which reads and writes the tensors."""
    _steps[number]._step.run()


@run.register_fake
def _(tensors: Sequence[torch.Tensor], number: int) -> None:
    return None
