"""The same on several ranks, each with some rows: tca run -n 4 -- python rows.py"""

import sys

import opentca as tca
from plate import CELLS, STEPS, plate, warm


def heat(world):
    me, p = world.rank, world.size
    mine = tca.Grid(p, [p]).part(me, 0, CELLS)  # a range of rows
    now, new = (world.zeros((len(mine) + 2, CELLS + 2)) for _ in range(2))
    exchange = {u: world.chain("edges") for u in (now, new)}
    for u, chain in exchange.items():
        if me == 0:
            u[0] = 100
        if me > 0:
            chain.put(u.on(me - 1)[-1, 1:-1], u[1, 1:-1]).expect(me - 1)  # my first row is the last one above
        if me < p - 1:
            chain.put(u.on(me + 1)[0, 1:-1], u[-2, 1:-1]).expect(me + 1)
        chain.commit()
    for _ in range(STEPS):
        exchange[now].run()
        warm(now.array, new.array)
        now, new = new, now
    expected = plate()[1 + mine.start : 1 + mine.stop, 1:-1]
    wrong = tca.AllReduce(world, "wrong").reduce(int((now[1:-1, 1:-1] != expected).sum()))
    if me == 0:
        print(f"{CELLS} x {CELLS} cells, {STEPS} steps on {p} ranks: {'as by one' if wrong == 0 else f'{wrong} cells WRONG'}")
    return wrong


if __name__ == "__main__":
    with tca.World() as world:
        sys.exit(heat(world) != 0)
