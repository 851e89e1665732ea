"""Windows as arrays: without a copy, and each outliving the other."""

import gc
import unittest
import weakref

import numpy as np
import opentca as tca


class Windows(unittest.TestCase):
    def test_show_one_memory_in_every_way(self):
        with tca.World() as world:
            u = world.zeros((3, 4), "f8", name="u")
            u[1, 2] = 7
            self.assertEqual((u.shape, u.dtype, len(u), u.itemsize, u.name), ((3, 4), np.dtype("f8"), 3, 8, "u"))
            self.assertEqual(u.sum(), 7)
            ways = {
                "array": u.array,
                "buffer": np.asarray(memoryview(u)),
                "DLPack": np.from_dlpack(u),
                "interface": np.asarray(type("Shown", (), {"__array_interface__": u.__array_interface__})()),
            }
            for way, array in ways.items():
                with self.subTest(way):
                    self.assertEqual(array.shape, (3, 4))
                    self.assertTrue(np.shares_memory(array, u.array))
            self.assertEqual(u.__dlpack_device__(), (1, 0))

    def test_keep_the_types_of_elements(self):
        with tca.World() as world:
            record = np.dtype([("x", "<f4"), ("n", ">i8")])
            for dtype in ("f4", "float16", bool, np.complex128, "u2", ">i4", record, "S5"):
                with self.subTest(str(dtype)):
                    self.assertEqual(world.zeros(5, dtype).array.dtype, np.dtype(dtype))
            self.assertEqual(world.zeros((), "i4").array.shape, ())
            self.assertEqual(world.zeros(0, "i4").array.size, 0)

    def test_refuse_elements_that_mean_nothing_elsewhere(self):
        with tca.World() as world:
            with self.assertRaisesRegex(tca.InvalidArgument, "mean nothing to another rank"):
                world.zeros(3, object)
            with self.assertRaisesRegex(tca.InvalidArgument, r"array.view"):
                world.zeros(3, "M8[s]")
            with self.assertRaisesRegex(tca.InvalidArgument, r"\(-1, 3\)"):
                world.zeros((-1, 3))

    def test_arrays_outlive_their_window_and_their_world(self):
        with tca.World() as world:
            u = world.zeros(1000, "i8")
            u[:] = np.arange(1000)
            part = u[10:20]
        with self.assertRaisesRegex(tca.InvalidArgument, "closed"):
            u.on(0)
        with self.assertRaisesRegex(BufferError, "closed"):
            memoryview(u)
        del u, world
        gc.collect()
        self.assertEqual(part.tolist(), list(range(10, 20)))
        # The world goes with the last array, and the process may be in another.
        del part
        with tca.World() as world:
            self.assertEqual(world.size, 1)

    def test_another_world_may_come_while_closed_windows_are_around(self):
        with tca.World() as world:
            u, chain = world.zeros(10), world.chain("c")
        with tca.World() as world:
            self.assertNotEqual(world.zeros(10).array.ctypes.data, 0)
        self.assertEqual(u.shape, (10,))
        with self.assertRaisesRegex(tca.InvalidArgument, "chain: it is closed"):
            chain.commit()

    def test_windows_outlive_their_arrays_and_name(self):
        with tca.World() as world:
            u = world.zeros(4)
            array = u.array
            seen = weakref.ref(array)
            del array
            self.assertIsNone(seen())
            u[0] = 5
            self.assertEqual(u[0], 5)

    def test_of_existing_memory(self):
        def body(world):
            mine = np.full((2, 3), float(world.rank))
            u = world.window(mine, "mine")
            chain = world.chain("row").put(u.on(1 - world.rank)[0], mine[1]).expect(1 - world.rank)
            chain.commit()
            chain.run()
            return mine[0, 0], np.shares_memory(u.array, mine)

        self.assertEqual(tca.run_threads(2, body), [(1.0, True), (0.0, True)])


if __name__ == "__main__":
    unittest.main()
