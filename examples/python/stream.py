"""Rounds of counted puts: every rank passes more numbers on to its right neighbour than fit into one step.

    tca run -n 4 -- python stream.py         four processes
    python stream.py                         alone, a rank is its own neighbour
"""

import opentca as tca

ROOM = 100

with tca.World() as world:
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    out, into = world.zeros(ROOM, "i8"), world.zeros(ROOM, "i8")
    chain = world.chain("pass on")
    sent = chain.put_counted(into.on(right), out)
    come = chain.expect_counted(left)
    chain.commit()

    def numbers_of(rank):
        return list(range(10000 * rank, 10000 * rank + 50 + 120 * rank))

    rest, got = numbers_of(world.rank), []

    def load():  # before each start
        now, rest[:] = rest[:ROOM], rest[ROOM:]
        out[: len(now)] = now
        sent.set(len(now))  # 0 is a length like any other
        return rest  # whether this rank needs a further round

    def unload():  # after each wait
        got.extend(into[: come.count].tolist())

    took = tca.Rounds(world, chain).run(load, unload)
    assert got == numbers_of(left)
    if world.rank == 0:
        print(f"all numbers have come, in {took} rounds")
