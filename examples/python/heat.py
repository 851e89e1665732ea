"""The heat equation on a plate with a hot edge, on four ranks; compared with one rank's answer.

    tca run -n 4 -- python heat.py           four processes
    python heat.py threads                   four threads of this process, as in a notebook
    python heat.py sim [MACHINE]             four ranks of a modelled machine, such as PEACH2's: how long would it take?
"""

import sys

import numpy as np
import opentca as tca

CELLS, STEPS = 128, 200


def step(u, new, rows, columns):
    """New temperatures of some rows and columns; `u` has a ghost on every side."""
    here = u[rows, columns]
    around = (
        u[rows.start - 1 : rows.stop - 1, columns]
        + u[rows.start + 1 : rows.stop + 1, columns]
        + u[rows, columns.start - 1 : columns.stop - 1]
        + u[rows, columns.start + 1 : columns.stop + 1]
    )
    new[rows, columns] = here + 0.2 * (around - 4 * here)


def whole_plate():
    u = np.zeros((CELLS + 2, CELLS + 2))
    u[0] = 100
    new = u.copy()
    for _ in range(STEPS):
        step(u, new, slice(1, CELLS + 1), slice(1, CELLS + 1))
        u, new = new, u
    return u


def heat(world):
    grid = tca.Grid.choose(world.size, (CELLS, CELLS))
    rows, columns = (grid.part(world.rank, dim, CELLS) for dim in range(2))
    ny, nx = len(rows), len(columns)
    halo = tca.Halo(world, "heat", grid, (ny, nx))
    u = world.zeros(halo.extents, name="plate")
    halo.add(u).commit()
    if rows.start == 0:
        u[0] = 100  # at the rim of the plate the ghosts are its fixed edge
    plate, new = u.array, u.array.copy()
    begin = world.now()
    for _ in range(STEPS):
        halo.start()
        step(plate, new, slice(2, ny), slice(2, nx))  # needs no ghosts, so it overlaps
        world.compute(bytes=16 * ny * nx, flops=6 * ny * nx)
        halo.wait()
        for i in (1, ny):
            step(plate, new, slice(i, i + 1), slice(1, nx + 1))
        for j in (1, nx):
            step(plate, new, slice(2, ny), slice(j, j + 1))
        plate[1:-1, 1:-1] = new[1:-1, 1:-1]
    seconds = world.now() - begin

    expected = whole_plate()[1 + rows.start : 1 + rows.stop, 1 + columns.start : 1 + columns.stop]
    worst = tca.AllReduce(world, "worst", op="max").reduce(abs(plate[1:-1, 1:-1] - expected).max())
    if world.rank == 0:
        verdict = "as by one rank" if worst < 1e-9 else "WRONG"
        print(f"{CELLS} x {CELLS} cells, {STEPS} steps on {world.size} ranks in {1e3 * seconds:.2f} ms: {verdict}")
    return worst < 1e-9


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fabric = {"threads": "shm"}.get(sys.argv[1], sys.argv[1])
        right = all(tca.run_threads(4, heat, fabric=fabric, machine="".join(sys.argv[2:3])))
    else:
        with tca.World() as world:
            right = heat(world)
    sys.exit(not right)
