"""How long a step would take on HA-PACS/TCA, over PEACH2 and over MPI: python peach2.py [CELLS]

The machine is a model, whose clock `world.now()` reads. Its ranks are threads of this process, so nothing has to be
started for them."""

import sys

import opentca as tca

STEPS = 20
RANKS = (2, 4, 8, 16)
WAYS = [(channel, overlaps) for overlaps in (False, True) for channel in ("tca", "mpi")]


def step(world, cells, channel, overlaps):
    """Microseconds. The exchange, and what a GPU would compute: what the model shows is time, not temperatures."""
    grid = tca.Grid.choose(world.size, (cells, cells))
    mine = [len(grid.part(world.rank, dim, cells)) for dim in range(2)]
    halo = tca.Halo(world, "heat", grid, mine, channel=channel)
    halo.add(world.zeros(halo.extents)).commit()
    begin = world.now()
    for _ in range(STEPS):
        halo.start()
        if not overlaps:
            halo.wait()
        world.compute(bytes=16 * mine[0] * mine[1], flops=6 * mine[0] * mine[1])
        if overlaps:
            halo.wait()
    return 1e6 * (world.now() - begin) / STEPS


def times(cells, channel, overlaps):
    """Of each number of ranks."""
    for ranks in RANKS:
        yield tca.run_threads(
            ranks, lambda world: step(world, cells, channel, overlaps), fabric="sim", machine="ha-pacs-tca"
        )[0]  # fmt: skip


if __name__ == "__main__":
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    print(f"{cells} x {cells} cells, us a step: waiting for PEACH2 and for MPI, overlapping with PEACH2 and with MPI")
    for ranks, *row in zip(RANKS, *(times(cells, *way) for way in WAYS)):
        print(f"{ranks:2} ranks " + " ".join(f"{microseconds:8.1f}" for microseconds in row))
