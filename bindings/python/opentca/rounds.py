"""Rounds of a chain or a halo with counted puts, for what may be more than fits into one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import AllReduce, Chain, Halo, World


class Rounds:
    """Runs steps until no rank needs a further one. Every rank takes part in all rounds, those with nothing left by
    lengths of 0.

        rounds = tca.Rounds(world, chain)
        rounds.run(load, unload)
    """

    def __init__(self, world: World, steps: Chain | Halo, name: str = "rounds") -> None:
        """Collective. Makes the sum by which the ranks know that all have finished."""
        self._steps = steps
        self._unfinished = AllReduce(world, name)

    def run(self, load: Callable[[], Any], unload: Callable[[], Any]) -> int:
        """Collective. Returns how many rounds it took, at least one. `load` is called before each start: it sets the
        lengths, and returns whether this rank will still have something to send. `unload` is called after each wait."""
        rounds = 0
        unfinished = 1.0
        while unfinished:
            has_more = bool(load())
            self._steps.start()
            unfinished = self._unfinished.reduce(1.0 if has_more else 0.0)
            self._steps.wait()
            unload()
            rounds += 1
        return rounds
