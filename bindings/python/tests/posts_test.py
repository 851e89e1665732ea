"""Posts into regions by their tokens, and the notices that they raise."""

import os
import signal
import threading
import time
import unittest

import numpy as np
import opentca as tca

PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))


class Posts(unittest.TestCase):
    def test_slices_from_every_rank_to_every_other(self):
        def body(world):
            region = tca.Region(world, (world.size, 6, 4), "f4")
            tokens = world.all_gather(region.token)
            self.assertEqual({len(token) for token in tokens}, {128})
            source = np.zeros((6, 8), "f4")
            others = [rank for rank in range(world.size) if rank != world.rank]
            post, notices = tca.Post(world, "everyone"), tca.Notices(world)
            for rank in others:
                place = np.s_[world.rank, 1:5, :2]
                post.put(tokens[rank], source[1:5, ::4], at=place, shape=region.shape).notify(rank, 3, 7 + world.rank)
            finish = (post.wait, lambda: post.wait_for(PATIENCE), post.test, post.flush)
            take = (
                lambda rank: notices.wait(rank, 3, 7 + rank),
                lambda rank: notices.wait_for(PATIENCE, rank, 3, 7 + rank),
                lambda rank: until(lambda: notices.test(rank, 3, 7 + rank)),
                lambda rank: until(lambda: notices.test_any(rank, 3) == 7 + rank),
            )
            for step in range(4):
                source[...] = 100 * world.rank + 10 * step + np.arange(48).reshape(6, 8)
                post.start()
                finish[step]()
                post.wait()
                expected = np.zeros(region.shape, "f4")
                for rank in others:
                    take[step](rank)
                    expected[rank, 1:5, :2] = (100 * rank + 10 * step + np.arange(48).reshape(6, 8))[1:5, ::4]
                np.testing.assert_array_equal(region.array, expected)
                world.barrier()
            post.clear().run()
            return True

        def until(come):
            while not come():
                pass

        self.assertEqual(tca.run_threads(3, body), [True] * 3)

    def test_rows_without_a_shape(self):
        with tca.World() as world:
            region = tca.Region(world, 10, "i8")
            post = tca.Post(world).put(region.token, np.arange(4), at=3)
            post.put(region.token, np.array(7), at=9)  # a source that nobody else keeps
            post.run()
            self.assertEqual(region.array.tolist(), [0, 0, 0, 0, 1, 2, 3, 0, 0, 7])
            memory = np.zeros(3)
            back = tca.Region(world, memory=memory)
            tca.Post(world).put(back.token, np.ones(3)).run()
            self.assertEqual(memory.tolist(), [1, 1, 1])

    def test_what_is_refused(self):
        with tca.World(time_limit=0.3) as world:
            region = tca.Region(world, 4, "i4")
            token, post, notices = region.token, tca.Post(world, "p"), tca.Notices(world)
            one = np.zeros(1, "i4")
            for call, kind, message in (
                (lambda: post.put(bytes(128), one), tca.Incompatible, "token"),
                (lambda: post.put(b"short", one), tca.Incompatible, "5 bytes"),
                (lambda: post.put(token, one, at=4), tca.InvalidArgument, "region ends outside"),
                (lambda: post.put(token, np.zeros((4, 4), "i4")[::-1]), tca.InvalidArgument, "runs backwards"),
                (lambda: post.put(token, one, at=np.s_[9], shape=(4,)), IndexError, "out of bounds"),
                (lambda: post.put(token, 3.5), TypeError, "buffer|bytes-like"),
                (lambda: post.notify(5), tca.InvalidArgument, "5"),
                (lambda: notices.test(0, 1000), tca.InvalidArgument, "1000"),
                (lambda: notices.wait(0, 2, 3), tca.TimedOut, "slot 2 with tag 3"),
            ):
                with self.subTest(message), self.assertRaisesRegex(kind, message):
                    call()
            self.assertFalse(notices.wait_for(0.01, 0, 2, 3))
            many = tca.Post(world)
            for tag in range(9):
                many.notify(0, 3, tag)
            with self.assertRaisesRegex(tca.Refused, "slot 3 of rank 0 has notices of 8 other tags"):
                many.start()
            array = region.array
            post.put(token, one)
            region.close()
            with self.assertRaisesRegex(tca.InvalidArgument, "region: it is closed"):
                region.token
            array[...] = 5  # the memory stays as long as it is shown
            del array
            with self.assertRaisesRegex(tca.InvalidArgument, "gone"):
                post.start()
        for call in (post.start, lambda: notices.test(0), lambda: post.put(token, one)):
            with self.assertRaisesRegex(tca.InvalidArgument, "closed"):
                call()

    def test_a_rank_that_is_lost_is_found_in_a_wait(self):
        def body(world):
            notices = tca.Notices(world)
            world.barrier()
            if world.rank == 1:
                raise KeyError("mine")
            with self.assertRaises(tca.RankLost) as caught:
                notices.wait(1, 4, 12)
            return caught.exception

        with self.assertRaises(KeyError):
            tca.run_threads(2, body)

    def test_ctrl_c_in_a_wait_for_a_notice(self):
        with tca.World() as world:
            notices = tca.Notices(world)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                notices.wait(0)
            self.assertLess(time.monotonic() - begin, PATIENCE)


if __name__ == "__main__":
    unittest.main()
