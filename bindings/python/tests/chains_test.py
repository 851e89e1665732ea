"""Chains from slices, held to what NumPy's assignment does."""

import random
import unittest

import numpy as np
import opentca as tca


def put_to_itself(world, to_shape, to, from_shape, source):
    """Puts a slice to this very rank; returns what came, and what NumPy makes of it."""
    u = world.zeros(to_shape, "i4")
    v = world.zeros(from_shape, "i4")
    v[...] = np.arange(1, v.array.size + 1).reshape(from_shape)
    chain = world.chain("slice").put(u.on(0)[to], source(v.array)).expect(0)
    chain.commit()
    chain.run()
    expected = np.zeros(to_shape, "i4")
    expected[to] = source(v.array)
    chain.close()
    return u.array, expected


class Slices(unittest.TestCase):
    def check(self, *arguments):
        with tca.World() as world:
            came, expected = put_to_itself(world, *arguments)
            np.testing.assert_array_equal(came, expected)

    def test_faces_and_boxes(self):
        s = slice
        whole = lambda v: v  # noqa: E731
        self.check((6, 8), (s(1, -1), 0), (6, 8), lambda v: v[1:-1, -2])
        self.check((6, 8), (0, s(1, -1)), (6, 8), lambda v: v[-2, 1:-1])
        self.check((4, 5, 6), (s(1, 3), ..., s(2, 5)), (2, 5, 3), whole)
        self.check((30,), s(2, 26), (4, 6), lambda v: v.reshape(24))
        self.check((4, 6), (s(None), s(None)), (4, 6), whole)
        self.check((3, 4, 5, 6), (s(1, 3), s(1, 3), s(1, 4), s(1, 4)), (2, 2, 3, 3), whole)
        self.check((2, 3, 8), (..., s(0, 4)), (2, 5, 4), lambda v: v[:, :3])  # other axes lie together on each side
        self.check((12, 5), (s(0, 12, 3), s(0, 5, 2)), (4, 9), lambda v: v[:, ::4])

    def test_arrays_that_are_transposed_alike(self):
        with tca.World() as world:
            u, v = world.zeros((4, 6), "i4"), world.zeros((6, 4), "i4")
            v[...] = np.arange(24).reshape(6, 4)
            with self.assertRaisesRegex(tca.InvalidArgument, r"target: axis 1 .* runs within axis 0"):
                world.chain("t").put(u.on(0), v.array.T)
            came, expected = put_to_itself(world, (5, 6), (slice(0, 4), 2), (6, 4), lambda w: w.T[:, 1])
            np.testing.assert_array_equal(came, expected)

    def test_at_random(self):
        seed = random.randrange(1 << 32)
        draw = random.Random(seed)

        def part(extent, count):
            step = draw.randint(1, max(1, extent // max(count, 1)))
            start = draw.randint(0, extent - ((count - 1) * step + 1))
            return slice(start, start + (count - 1) * step + 1, step)

        with self.subTest(seed=seed), tca.World() as world:
            for _ in range(60):
                counts = [draw.randint(1, 4) for _ in range(draw.randint(1, 3))]
                to_shape = tuple(count + draw.randint(0, 6) for count in counts)
                from_shape = tuple(count + draw.randint(0, 6) for count in counts)
                to = tuple(map(part, to_shape, counts))
                source = tuple(map(part, from_shape, counts))
                came, expected = put_to_itself(world, to_shape, to, from_shape, lambda v: v[source])
                np.testing.assert_array_equal(came, expected, f"{to_shape}{to} from {from_shape}{source}")

    def test_name_the_axis_that_is_no_layout(self):
        with tca.World() as world:
            u = world.zeros((4, 5, 6, 7, 8), name="u")
            for target, source, message in (
                (u.on(0)[0, 0, 0, 0], u[1, 0, 0, 0, ::-1], "source: axis 0 runs backwards"),
                (u.on(0)[0, 0, 0, ::-1, 0], u[1, 0, 0, :, 0], "target: axis 0 runs backwards"),
                (u.on(0)[0, 0, 0, 0], np.broadcast_to(u[1, 0, 0, 0, :1], 8), "source: axis 0 repeats"),
                (u.on(0)[:2, ::2, ::2, ::2, ::2], u[2:, ::2, ::2, ::2, ::2], "axis 0 would be a fourth loop"),
                (u.on(0)[0], u[0, 1:], r"target has the shape \(5, 6, 7, 8\) and the source \(4, 6, 7, 8\)"),
                (u.on(0)[0, 0, 0, 0], u[0, 0, 0, 0].copy(), "lies in no window"),
                (u.on(0)[0, 0, 0, 0], [1.0] * 8, "is a list, and neither a window nor a slice"),
                (u.on(0)[0, 0, 0, 0], u[0, 0, 0, 0].view("f4")[:8], "elements of 4 bytes"),
            ):
                with self.subTest(message), self.assertRaisesRegex(tca.InvalidArgument, message):
                    world.chain("c").put(target, source)
            with self.assertRaisesRegex(IndexError, "index 4 is out of bounds for axis 0 with size 4"):
                u.on(0)[4]
            with self.assertRaisesRegex(IndexError, "6 indices for an array of 5"):
                u.on(0)[0, 0, 0, 0, 0, 0]
            with self.assertRaisesRegex(tca.InvalidArgument, r"on\(1\)"):
                u.on(1)

    def test_parts_of_other_shapes_on_other_ranks(self):
        def body(world):
            u = world.zeros((2 + world.rank, 3), "i8")
            u[...] = 10 * world.rank
            other = 1 - world.rank
            self.assertEqual(u.shape_on(other), (2 + other, 3))
            chain = world.chain("last").put(u.on(other)[-1], u[0]).expect(other)
            chain.commit()
            chain.run()
            return u.array.tolist()

        first, second = tca.run_threads(2, body)
        self.assertEqual(first, [[0] * 3, [10] * 3])
        self.assertEqual(second, [[10] * 3, [10] * 3, [0] * 3])

    def test_ranks_that_a_chain_does_not_join_need_not_make_it(self):
        def body(world):
            u = world.zeros(2, "i4")
            if world.rank < 2:
                chain = world.chain("two", partners_only=True).put(u.on(1 - world.rank)[:1], u[1:]).expect(1 - world.rank)
                chain.commit()
                u[1] = 7 + world.rank
                chain.run()
            world.barrier()
            return u.array.tolist()

        self.assertEqual(tca.run_threads(3, body), [[8, 7], [7, 8], [0, 0]])

    def test_objects_of_another_world(self):
        with tca.World() as world, world.group([0]) as group:
            u, v = world.zeros(4), group.zeros(4)
            for chain, target, source in (
                (world.chain("c"), v.on(0), u), (world.chain("c"), u.on(0), v), (group.chain("c"), v.on(0), u[:])):  # fmt: skip
                with self.assertRaisesRegex(tca.InvalidArgument, "another world.*World.view"):
                    chain.put(target, source)
            halo = tca.Halo(group, "h", tca.Grid(1, [1]), [2])
            with self.assertRaisesRegex(tca.InvalidArgument, "another world"):
                halo.add(u)
            with self.assertRaisesRegex(tca.InvalidArgument, "windows of its world"):
                tca.Broadcast(group, "b", source=u)

    def test_puts_at_once(self):
        with tca.World() as world:
            u = world.zeros(4, "f4")
            u.on(0)[2].put(1.5)
            self.assertEqual(u.array.tolist(), [0, 0, 1.5, 0])
            with self.assertRaisesRegex(tca.InvalidArgument, "one element at a time"):
                u.on(0).put(1.5)

    def test_errors_carry_their_fields(self):
        def body(world):
            chain = world.chain("lonely", time_limit=0.05).expect(1 - world.rank).signal(1 - world.rank)
            chain.commit()
            if world.rank == 0:
                chain.start()
                self.assertFalse(chain.wait_for(0.01))
                with self.assertRaises(TimeoutError) as caught:
                    chain.wait()
                world.barrier()
                return caught.exception
            world.barrier()

        error = tca.run_threads(2, body)[0]
        self.assertIsInstance(error, tca.TimedOut)
        self.assertEqual((error.exit_code, error.chain, error.step, error.missing), (4, "lonely", 1, (1,)))
        self.assertIn("lonely", str(error))


if __name__ == "__main__":
    unittest.main()
