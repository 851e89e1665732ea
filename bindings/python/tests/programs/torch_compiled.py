"""A step within a function that torch.compile has compiled, under `tca run`; on GPUs where GPU is set."""

import os

import opentca as tca
import torch
from opentca.torch import Step

with tca.World(fabric="cuda" if "GPU" in os.environ else "shm") as world:
    x = world.zeros((2, 64), "f4")
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    ring = world.chain("ring").put(x.on(right)[1], x[0]).expect(left)
    ring.commit()
    kv = x.tensor()
    exchange = Step(ring, kv)

    @torch.compile(backend=os.environ.get("BACKEND", "aot_eager"), fullgraph=True)
    def layer():
        kv[0].add_(1)
        exchange()
        return kv[1] * 2

    for step in range(1, 6):
        came = layer()
        assert bool((came == 2 * step).all()), (step, came)
        world.barrier()
    if world.rank == 0:
        print("in order")
