"""What steps and declarations cost from Python:

    tca run -n 2 -- python steps.py           two ranks; alone, a rank puts to itself
    mpirun -n 2 python steps.py mpi4py        beside mpi4py, batch by batch in turn

Rank 0 prints medians, in microseconds; with `json` all batches, for languages.py."""

import json
import sys
import time

import numpy as np
import opentca as tca

BATCHES = 31
CELLS = 256  # along a side of what the halo is of


def in_turn(contenders):
    """Microseconds a call, by contender, of `BATCHES` batches; all contenders take turns."""
    taken = {name: [] for name, _, _ in contenders}
    for _ in range(BATCHES):
        for name, times, call in contenders:
            begin = time.perf_counter()
            for _ in range(times):
                call()
            taken[name].append(1e6 * (time.perf_counter() - begin) / times)
    return taken


def edges(u):
    """Ghosts, and what goes into them at the other rank: rows, then columns."""
    inner = slice(1, -1)
    return [((-1, inner), u[1, inner]), ((0, inner), u[-2, inner]), ((inner, -1), u[inner, 1]), ((inner, 0), u[inner, -2])]


def chains(world):
    other = (world.rank + 1) % world.size
    u = world.zeros((CELLS + 2, CELLS + 2))
    small = world.chain("8 bytes").put(u.on(other)[0, :1], u[1, :1]).expect(other)
    halo = world.chain("halo").expect(other)
    for ghost, edge in edges(u.array):
        halo.put(u.on(other)[ghost], edge)
    small.commit()
    halo.commit()
    declared = world.chain("declared only")
    return [
        ("step", 3000, small.run),
        ("halo", 300, halo.run),
        ("declare", 300, lambda: declared.put(u.on(other)[1:-1, 0], u[1:-1, -2])),
        ("loop", 3000, lambda: None),
    ]


def messages(comm):
    """The same by mpi4py, in the ways that its users know; the faster of each counts."""
    from mpi4py import MPI

    other = 1 - comm.rank
    out, into = np.zeros(1), np.zeros(1)
    once = [comm.Send_init(out, other), comm.Recv_init(into, other)]
    u = np.zeros((CELLS + 2, CELLS + 2))
    packed = [(ghost, edge, np.zeros(CELLS), np.zeros(CELLS)) for ghost, edge in edges(u)]

    def halo():
        for ghost, edge, sent, received in packed:
            sent[:] = edge
            comm.Sendrecv(sent, other, 0, received, other, 0)
            u[ghost] = received

    row = MPI.DOUBLE.Create_contiguous(CELLS).Commit()
    column = MPI.DOUBLE.Create_vector(CELLS, 1, CELLS + 2).Commit()
    typed = []
    for tag, (i, j, ghost_i, ghost_j, kind) in enumerate(
        ((1, 1, -1, 1, row), (-2, 1, 0, 1, row), (1, 1, 1, -1, column), (1, -2, 1, 0, column))
    ):
        flat = u.reshape(-1)
        at = lambda a, b: flat[(a % (CELLS + 2)) * (CELLS + 2) + b % (CELLS + 2) :]  # noqa: E731
        typed.append(comm.Send_init([at(i, j), 1, kind], other, tag))
        typed.append(comm.Recv_init([at(ghost_i, ghost_j), 1, kind], other, tag))

    def persistent(requests):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)

    return [
        ("step, mpi4py Sendrecv", 1000, lambda: comm.Sendrecv(out, other, 0, into, other, 0)),
        ("step, mpi4py persistent", 1000, lambda: persistent(once)),
        ("halo, mpi4py Sendrecv", 100, halo),
        ("halo, mpi4py persistent", 100, lambda: persistent(typed)),
    ]


def main():
    comm = None
    if "mpi4py" in sys.argv:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    with tca.World(comm=comm) as world:
        taken = in_turn(chains(world) + (messages(comm) if comm is not None else []))
        if world.rank != 0:
            return
        if "json" in sys.argv:
            print(json.dumps({"ranks": world.size, "us": taken}))
            return
        for name, times in taken.items():
            print(f"{name:25} {sorted(times)[BATCHES // 2]:10.3f} us, least {min(times):10.3f}")


if __name__ == "__main__":
    main()
