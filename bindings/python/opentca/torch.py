"""Steps as operations of torch, which torch.compile keeps in their place:

    kv = u.tensor()
    exchange = opentca.torch.Step(chain, kv)      # the tensors that the program uses, one of each window

    @torch.compile
    def layer():
        kv[0].add_(1)
        exchange()                                # sends what was added
        return attend(kv[1])                      # and sees what has come
"""

import itertools
import weakref
from typing import Any, Sequence  # of which torch reads the types of an operation

import torch

_steps: "weakref.WeakValueDictionary[int, Step]" = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Step:
    """A chain, halo, fold or collective that runs as an operation of torch: on the current stream on GPUs, and by the host
    elsewhere. The tensors are all that it reads and writes. Give those that the function uses, since a compiler cannot know
    that another tensor shows the same memory."""

    def __init__(self, step: Any, *tensors: torch.Tensor) -> None:
        self._step = step
        self._tensors = list(tensors)
        self._number = next(_numbers)
        _steps[self._number] = self

    def __call__(self) -> None:
        run(self._tensors, self._number)

    def _run(self, tensors: Sequence[torch.Tensor]) -> None:
        # A compiler may hand over copies, and write what came of them back itself.
        copies = [(own, one) for own, one in zip(self._tensors, tensors) if own.data_ptr() != one.data_ptr()]
        for own, one in copies:
            own.copy_(one)
        self._step.run()
        for own, one in copies:
            one.copy_(own)


@torch.library.custom_op("opentca::run", mutates_args=("tensors",))
def run(tensors: Sequence[torch.Tensor], number: int) -> None:
    """Runs the step of a number, which reads and writes the tensors."""
    _steps[number]._run(tensors)


@run.register_fake
def _(tensors: Sequence[torch.Tensor], number: int) -> None:
    return None
