"""Puts and signals from kernels of Triton, into windows of other ranks of the sub-cluster:

    peers = opentca.triton.table(window.peer_pointers)           # addresses by rank
    flags = opentca.triton.Signals(tca.Team(world, "flags"))

    @triton.jit
    def push(peers, values, raises, sent, raised, seen, right, left, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        put(peers, right, offsets, tl.load(values + offsets))
        signal(raises, sent, right)                              # what was put before it is there by then
        wait(raised, seen, left)

One program (of the grid) raises and awaits the signals of a team. A wait has no time limit: a rank that never signals keeps
the kernel running, which the kernels of tca/team.cuh would give up.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ._core import Team


def table(addresses: tuple[int, ...]) -> torch.Tensor:
    """Addresses by rank, for kernels."""
    return torch.tensor(addresses, dtype=torch.int64, device="cuda")


class Signals:
    """What `signal` and `wait` take of a team: `raises`, `sent`, `raised` and `seen`."""

    def __init__(self, team: Team) -> None:
        self.team = team  # which keeps the memory
        self.raises = table(team.raise_pointers)
        self.sent, self.raised, self.seen = (_Words(address, team.size) for address in (team.sent, team.raised, team.seen))


class _Words:
    """Words in the memory of this rank's GPU, as an argument of a kernel."""

    dtype = torch.int32

    def __init__(self, address: int, words: int) -> None:
        self._address, self.shape = address, (words,)

    def data_ptr(self) -> int:
        return self._address


@triton.jit
def put(peers, rank, offsets, values) -> None:
    """Stores values at these elements of the part of a rank."""
    to = tl.load(peers + rank).to(tl.pointer_type(values.dtype))
    tl.store(to + offsets, values)


@triton.jit
def signal(raises, sent, rank) -> None:
    """Raises a signal at a rank, behind everything that this program has stored before it."""
    tl.debug_barrier()
    number = tl.load(sent + rank) + 1
    tl.store(sent + rank, number)
    there = tl.load(raises + rank).to(tl.pointer_type(tl.int32))
    tl.atomic_xchg(there, number, sem="release", scope="sys")


@triton.jit
def wait(raised, seen, rank) -> None:
    """Waits for the next signal of a rank."""
    number = tl.load(seen + rank) + 1
    while tl.atomic_add(raised + rank, 0, sem="acquire", scope="sys") - number < 0:
        pass
    tl.store(seen + rank, number)
    tl.debug_barrier()
