"""What a step costs from Python: `tca run -n 2 -- python step.py`, and beside mpi4py: `mpirun -n 2 python step.py mpi4py`.

Times are medians over batches, per step, in microseconds."""

import sys
import time

import numpy as np

begin = time.perf_counter()
import opentca as tca  # noqa: E402

IMPORT = time.perf_counter() - begin


def median(step, times, batches=21):
    """Of `batches` batches of `times` steps."""
    taken = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(times):
            step()
        taken.append((time.perf_counter() - start) / times)
    return 1e6 * sorted(taken)[batches // 2]


def chains(world):
    other = 1 - world.rank
    u = world.zeros((258, 258))

    small = world.chain("8 bytes").put(u.on(other)[0, :1], u[1, :1]).expect(other)
    small.commit()
    rows = world.chain("halo of 256 x 256 doubles")
    for target, source in (((0, slice(1, -1)), u[-2, 1:-1]), ((slice(1, -1), 0), u[1:-1, -2])):
        rows.put(u.on(other)[target], source)
    rows.expect(other).commit()
    edge = u[1:-1, -2]

    def declare():
        world_chain.put(u.on(other)[1:-1, 0], u[1:-1, -2])

    def declare_alone():
        world_chain.put(ghost, edge)

    ghost = u.on(other)[1:-1, 0]
    world_chain = world.chain("declared only")
    yield "chain.run() of 8 bytes", median(small.run, 5000)
    yield "chain.run() of a row and a column of 256 doubles", median(rows.run, 2000)
    yield "chain.put(u.on(right)[1:-1, 0], u[1:-1, -2])", median(declare, 300)
    yield "  of which put", median(declare_alone, 300)
    yield "AllReduce.reduce of a number", median(lambda total=tca.AllReduce(world, "sum"): total.reduce(1.0), 2000)
    yield "an empty loop", median(lambda: None, 5000)


def messages(comm):
    other = 1 - comm.rank
    u = np.zeros((258, 258))
    out, into = np.zeros(1), np.zeros(1)
    column, ghost = np.zeros(256), np.zeros(256)

    def halo():
        comm.Sendrecv(u[-2, 1:-1], other, 0, u[0, 1:-1], other, 0)
        column[:] = u[1:-1, -2]
        comm.Sendrecv(column, other, 0, ghost, other, 0)
        u[1:-1, 0] = ghost

    requests = [comm.Send_init(out, other), comm.Recv_init(into, other)]

    def persistent():
        mpi.Prequest.Startall(requests)
        mpi.Request.Waitall(requests)

    from mpi4py import MPI as mpi

    yield "mpi4py: Sendrecv of 8 bytes", median(lambda: comm.Sendrecv(out, other, 0, into, other, 0), 5000)
    yield "mpi4py: persistent requests of 8 bytes", median(persistent, 5000)
    yield "mpi4py: Sendrecv of a row and a column of 256 doubles", median(halo, 2000)
    yield "mpi4py: allreduce of a number", median(lambda: comm.allreduce(1.0), 2000)


def main():
    comm = None
    if "mpi4py" in sys.argv:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    with tca.World(comm=comm) as world:
        lines = [("import opentca", 1e6 * IMPORT), *chains(world)]
        if comm is not None:
            lines += messages(comm)
        if world.rank == 0:
            for what, microseconds in lines:
                print(f"{what:55} {microseconds:10.3f} us")


if __name__ == "__main__":
    main()
