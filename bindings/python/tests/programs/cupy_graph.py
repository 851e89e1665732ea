"""A halo in a graph of CuPy, on a stream, under `tca run`."""

import cupy
import opentca as tca

add = cupy.ElementwiseKernel("float32 by", "float32 u", "u += by", "add")

with tca.World(fabric="cuda") as world:
    grid = tca.Grid.choose(world.size, (256, 256), periodic=[True, True])
    mine = tuple(len(grid.part(world.rank, dim, 256)) for dim in range(grid.dims))
    halo = tca.Halo(world, "u", grid, mine)
    u = world.zeros(halo.extents, "f4")
    halo.add(u)
    halo.commit()
    inner = u.array[1:-1, 1:-1]
    s = cupy.cuda.Stream(non_blocking=True)
    with s:
        add(1.0, inner)  # compiled before it is captured
        s.synchronize()
        s.begin_capture()
        halo.run(s)
        add(1.0, inner)
        graph = s.end_capture()
    for step in range(1000):
        graph.launch(s)
    s.synchronize()
    world.check()
    assert bool((inner == 1001).all()) and bool((u.array[0, 1:-1] == 1000).all()), u.array
    total = tca.AllReduce(world, "total").reduce(float(inner[0, 0]))
    if world.rank == 0:
        print(f"total {total:.0f} of {world.size} ranks")
