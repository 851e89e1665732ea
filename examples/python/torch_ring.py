"""Keys and values around a ring of GPUs, as attention over a long context takes them: torchrun --nproc-per-node 4 torch_ring.py"""

import opentca as tca
import torch

STEPS = 8


def attend(block):
    return block.float().sum()


world = tca.World(fabric="cuda")
x = world.zeros((2, 1 << 20), torch.float16)
right = (world.rank + 1) % world.size
ring = world.chain("kv")
ring.put(x.on(right)[1], x[0])
ring.expect((world.rank - 1) % world.size)
ring.commit()
kv = x.tensor()
kv[0] = world.rank
for layer in range(STEPS):
    ring.start(torch.cuda.current_stream())
    y = attend(kv[0])  # overlaps
    ring.wait(torch.cuda.current_stream())
    kv[0].copy_(kv[1])
torch.cuda.synchronize()
world.check()
assert float(kv[0, 0]) == (world.rank - STEPS) % world.size and float(kv[0, -1]) == float(kv[0, 0])
if world.rank == 0:
    print(f"{STEPS} times around")
world.close()
