"""Halos, grids, collectives and groups."""

import unittest

import numpy as np
import opentca as tca

RANKS = 4


class Patterns(unittest.TestCase):
    def test_halo(self):
        def body(world):
            grid = tca.Grid.choose(world.size, (8, 12), periodic=[True, True])
            mine = tuple(len(grid.part(world.rank, dim, extent)) for dim, extent in enumerate((8, 12)))
            halo = tca.Halo(world, "u", grid, mine, width=[(1, 2), 1], corners=True)
            u = world.zeros(halo.extents, "i4")
            rows, columns = (grid.part(world.rank, dim, extent) for dim, extent in enumerate((8, 12)))
            field = np.arange(96).reshape(8, 12)
            u[1:-2, 1:-1] = field[rows.start : rows.stop, columns.start : columns.stop]
            halo.add(u).commit()
            halo.run()
            around = np.pad(field, 4, mode="wrap")
            expected = around[rows.start + 3 : rows.stop + 6, columns.start + 3 : columns.stop + 5]
            np.testing.assert_array_equal(u.array, expected)
            self.assertEqual(u.array.flat[halo.index((0, 0))], field[rows.start, columns.start])
            return halo.bytes > 0

        self.assertEqual(tca.run_threads(RANKS, body), [True] * RANKS)

    def test_fold(self):
        def body(world):
            grid = tca.Grid(world.size, (world.size,), periodic=[True])
            halo = tca.Halo(world, "ring", grid, (2,), width=[(0, 1)])
            u = world.zeros(halo.extents, "i8")
            peak = world.zeros(halo.extents, "f4")
            fold = tca.Fold(world, "back", halo)
            fold.add(u).add(peak, op="max").commit()
            for step in range(3):
                u[...] = [1, 2, 10 * world.rank + step]
                peak[...] = [0.5, 0, world.rank]
                fold.run()
                before = (world.rank - 1) % world.size
                self.assertEqual(u.array.tolist(), [1 + 10 * before + step, 2, 10 * world.rank + step])
                self.assertEqual(peak.array.tolist(), [max(0.5, before), 0, world.rank])
                world.barrier()
            with self.assertRaises(ValueError):
                tca.Fold(world, "other", halo).add(u, op="mean")
            return fold.bytes

        self.assertEqual(tca.run_threads(RANKS, body), [12] * RANKS)

    def test_grid(self):
        grid = tca.Grid(6, (0, 2), periodic=[True, False])
        self.assertEqual((grid.shape, grid.dims, grid.ranks), ((3, 2), 2, 6))
        self.assertEqual([grid.rank_at(grid.coordinates(rank)) for rank in range(6)], list(range(6)))
        self.assertEqual(grid.neighbour(0, (-1, 0)), 4)
        self.assertIsNone(grid.neighbour(0, (0, -1)))
        self.assertEqual(grid.part(4, 0, 7), range(5, 7))
        with self.assertRaises(ValueError):
            grid.part(0, 2, 7)

    def test_collectives(self):
        def body(world):
            me, p = world.rank, world.size
            tca.Barrier(world, "b").run()
            weights = tca.Broadcast(world, "weights", (2, 3), dtype="f4", root=1)
            if me == 1:
                weights.source[...] = [[1, 2, 3], [4, 5, 6]]
            weights.run()
            self.assertEqual(weights.result.array.tolist(), [[1, 2, 3], [4, 5, 6]])

            gather = tca.AllGather(world, "gather", 2, dtype="i4")
            gather.source[me] = [me, -me]
            gather.run()
            self.assertEqual(gather.result.array.tolist(), [[rank, -rank] for rank in range(p)])

            total = tca.AllReduce(world, "total")
            self.assertEqual([total.reduce(me + 1), total.reduce(0.5)], [p * (p + 1) / 2, p / 2])
            peak = tca.AllReduce(world, "peak", 3, dtype="i8", op="max")
            self.assertEqual(peak.reduce([me, -me, 7]).tolist(), [p - 1, 0, 7])

            scatter = tca.ReduceScatter(world, "scatter", 1, dtype="u2")
            scatter.source[...] = np.arange(p)[:, None]
            scatter.run()
            self.assertEqual(scatter.result.array.tolist(), [me * p])

            exchange = tca.AllToAll(world, "exchange", (), dtype="i2")
            exchange.source[:] = 10 * me + np.arange(p)
            exchange.run()
            self.assertEqual(exchange.result.array.tolist(), [10 * rank + me for rank in range(p)])
            return True

        self.assertEqual(tca.run_threads(RANKS, body), [True] * RANKS)

    def test_collective_in_windows_and_by_a_function(self):
        def body(world):
            u = world.zeros(3, "c16")
            u[:] = world.rank + 1j
            longest = lambda left, right: np.where(abs(left) >= abs(right), left, right)  # noqa: E731
            tca.AllReduce(world, "longest", source=u, op=longest).run()
            return u[0]

        self.assertEqual(tca.run_threads(RANKS, body), [RANKS - 1 + 1j] * RANKS)

    def test_refusals_reach_every_rank(self):
        def body(world):
            with self.assertRaises(tca.Refused) as caught:
                tca.Broadcast(world, "b", world.rank + 1)
            self.assertIsInstance(caught.exception, RuntimeError)
            with self.assertRaisesRegex(tca.InvalidArgument, "mean"):
                tca.AllReduce(world, "a", op="mean")
            return str(caught.exception)

        messages = tca.run_threads(2, body)
        self.assertEqual(messages[0], messages[1])

    def test_groups(self):
        def body(world):
            u = world.zeros(4, "i4")
            half = world.split(world.rank % 2, key=-world.rank)
            seen = half.view(u)
            other = 1 - half.rank
            chain = half.chain("swap").put(seen.on(other)[1], seen[:1]).expect(other)
            u[0] = world.rank
            chain.commit()
            chain.run()
            ends = world.group([0, world.size - 1]) if world.rank in (0, world.size - 1) else None
            gathered = ends.all_gather({"rank": world.rank}) if ends else None
            half.close()
            with self.assertRaises(tca.InvalidArgument):
                chain.start()
            return int(u[1]), half.closed, gathered

        results = tca.run_threads(RANKS, body)
        self.assertEqual([came for came, _, _ in results], [2, 3, 0, 1])
        self.assertTrue(all(closed for _, closed, _ in results))
        self.assertEqual(results[0][2], [{"rank": 0}, {"rank": 3}])


if __name__ == "__main__":
    unittest.main()
