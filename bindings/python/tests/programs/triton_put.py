"""A kernel of Triton that puts into its neighbour's window, under `tca run` on GPUs."""

import opentca as tca
import torch
import triton
import triton.language as tl
from opentca.triton import Signals, put, signal, table, wait

BLOCK = 256


@triton.jit
def push(peers, values, raises, sent, raised, seen, right, left, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    put(peers, right, offsets, tl.load(values + offsets))
    signal(raises, sent, right)
    wait(raised, seen, left)


with tca.World(fabric="cuda") as world:
    x = world.zeros(BLOCK, "f4")
    flags = Signals(tca.Team(world, "flags"))
    peers = table(x.peer_pointers)
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    kv = x.tensor()
    for step in range(10):
        values = torch.full((BLOCK,), 100.0 * world.rank + step, device=kv.device)
        push[(1,)](peers, values, flags.raises, flags.sent, flags.raised, flags.seen, right, left, BLOCK=BLOCK)
        torch.cuda.synchronize()
        assert bool((kv == 100.0 * left + step).all()), kv
        world.barrier()
    if world.rank == 0:
        print("signals came after what they announce")
