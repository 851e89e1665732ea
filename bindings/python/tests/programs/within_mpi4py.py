"""A program of mpi4py, under mpirun: a world of its communicator, and the halo of a distributed array."""

from mpi4py import MPI

import opentca as tca


def inner(u):
    """What needs no ghosts, while they come."""


def outer(u):
    u[1:-1, 1:-1] += 1


world = tca.World(comm=MPI.COMM_WORLD)
grid = tca.Grid.choose(world.size, (256, 256))
mine = tuple(len(grid.part(world.rank, dim, 256)) for dim in range(grid.dims))
halo = tca.Halo(world, "u", grid, mine)
u = world.zeros(halo.extents, "f4")
halo.add(u)
halo.commit()
for step in range(1000):
    halo.start()
    inner(u.array)  # overlaps
    halo.wait()
    outer(u.array)
above = grid.neighbour(world.rank, (-1, 0))
assert above is None or (u[0, 1:-1] == 999).all(), u[0]
assert MPI.COMM_WORLD.allreduce(1) == world.size
if world.rank == 0:
    print("ghosts as expected")
