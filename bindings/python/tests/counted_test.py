"""Counted puts of chains and halos, and rounds of them: what comes is what was sent, and as much of it."""

import random
import unittest

import numpy as np
import opentca as tca

ROOM = 40


class Counted(unittest.TestCase):
    def test_lengths_of_steps(self):
        seed = random.randrange(1 << 32)

        def length_of(rank, step):
            return 2 * random.Random(f"{seed}.{rank}.{step}").randrange(ROOM // 2 + 1)

        def body(world):
            right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
            out, into = world.zeros((ROOM // 2, 3), "i4"), world.zeros((ROOM // 2, 2), "i4")
            chain = world.chain("ring")
            sent = chain.put_counted(into.on(right), out[:, :2])
            come = chain.expect_counted(left)
            self.assertEqual((sent.capacity, sent.rank, sent.length, come.capacity), (ROOM, right, 0, 0))
            chain.commit()
            self.assertEqual((come.capacity, come.rank), (ROOM, left))
            expected = np.zeros(ROOM, "i4")
            for step in range(8):
                out[...] = 1000 * world.rank + 100 * step + np.arange(out.size).reshape(out.shape)
                sent.set(length_of(world.rank, step))
                chain.run()
                self.assertEqual(come.count, length_of(left, step), f"seed {seed}")
                rows = 1000 * left + 100 * step + np.arange(out.size).reshape(out.shape)[:, :2]
                expected[: come.count] = rows.reshape(-1)[: come.count]
                np.testing.assert_array_equal(into.array.reshape(-1), expected, f"seed {seed}")
                world.barrier()
            for length in (-2, ROOM + 2, 3):
                with self.assertRaisesRegex(tca.InvalidArgument, "ring"):
                    sent.set(length)
            chain.close()
            return sent.length == length_of(world.rank, 7)  # also after the chain

        self.assertEqual(tca.run_threads(3, body), [True] * 3)

    def test_rounds(self):
        def body(world):
            right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
            mine, got = list(range(100 * world.rank, 100 * world.rank + 50 + 30 * world.rank)), []
            out, into = world.zeros(ROOM, "i4"), world.zeros(ROOM, "i4")
            chain = world.chain("stream")
            sent, come = chain.put_counted(into.on(right), out), chain.expect_counted(left)
            chain.commit()

            def load():
                now, mine[:] = mine[:ROOM], mine[ROOM:]
                out[: len(now)] = now
                sent.set(len(now))
                return mine

            rounds = tca.Rounds(world, chain).run(load, lambda: got.extend(into[: come.count].tolist()))
            return rounds, got

        for rank, (rounds, got) in enumerate(tca.run_threads(3, body)):
            left = (rank - 1) % 3
            self.assertEqual((rounds, got), (3, list(range(100 * left, 100 * left + 50 + 30 * left))))

    def test_queues_of_a_halo(self):
        def body(world):
            halo = tca.Halo(world, "queues", tca.Grid(world.size, (world.size,)), (8,), width=4)
            u = world.zeros(halo.extents, "f4")
            halo.add_counted(u)
            with self.assertRaisesRegex(tca.InvalidArgument, "queues"):
                halo.to(0, (1,))
            halo.commit()
            up, below = halo.to(0, (1,)), halo.from_(0, (-1,))
            self.assertEqual((up is None, below is None), (world.rank == world.size - 1, world.rank == 0))
            u[...] = 10 * world.rank + np.arange(16)
            if up:
                up.set(1 + world.rank)
            halo.run()
            with self.assertRaises(tca.InvalidArgument):
                halo.to(0, (1, 0))
            return below and u[: below.count].tolist()

        self.assertEqual(tca.run_threads(3, body), [None, [8.0], [18.0, 19.0]])


if __name__ == "__main__":
    unittest.main()
