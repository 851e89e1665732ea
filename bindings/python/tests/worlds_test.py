"""How worlds come up and end in one process: threads, the model, keys, forks, leaks, Ctrl-C."""

import gc
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time
import traceback
import types
import unittest
import uuid

import opentca as tca

PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))


def python(script, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-B", "-c", script, *arguments],
        capture_output=True, text=True, timeout=3 * PATIENCE, env={**os.environ, **environment},
    )  # fmt: skip


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Worlds(unittest.TestCase):
    def test_ranks_as_threads_return_by_rank(self):
        self.assertEqual(tca.run_threads(3, lambda world: (world.rank, world.size)), [(0, 3), (1, 3), (2, 3)])

    def test_the_exception_that_came_first_is_raised(self):
        def body(world):
            barrier = tca.Barrier(world, "b")
            barrier.run()
            if world.rank == 1:
                raise KeyError("mine")
            barrier.run()

        begin = time.monotonic()
        try:
            tca.run_threads(3, body)
            self.fail("nothing was raised")
        except KeyError as error:
            self.assertEqual(error.args, ("mine",))
            self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].name, "body")
        self.assertLess(time.monotonic() - begin, PATIENCE)

    def test_modelled_machine(self):
        def body(world):
            u = world.zeros(2)
            chain = world.chain("c").put(u.on(1 - world.rank)[1:], u[:1]).expect(1 - world.rank)
            chain.commit()
            u[0] = world.rank + 5
            begin = world.now()
            for _ in range(3):
                chain.run()
            return float(u[1]), round((world.now() - begin) * 1e6, 1)

        first, second = (tca.run_threads(2, body, fabric="sim", machine="ha-pacs-tca") for _ in range(2))
        self.assertEqual(first, second)  # a modelled time is the same every time
        self.assertEqual([came for came, _ in first], [6.0, 5.0])
        self.assertTrue(all(0.5 < microseconds < 100 for _, microseconds in first), first)

    def test_options_are_checked(self):
        for arguments, kind, message in (
            ({"fabrik": "shm"}, TypeError, "unexpected keyword argument 'fabrik'"),
            ({"fabric": "wool"}, tca.InvalidArgument, "wool"),
            ({"rank": 0, "key": "k"}, tca.InvalidArgument, "all of rank, size and key"),
            ({"time_limit": -1}, tca.InvalidArgument, "-1"),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                tca.World(**arguments)

    def test_by_a_key(self):
        script = """if True:
            import sys, opentca as tca
            with tca.World(rank=int(sys.argv[1]), size=2, key=sys.argv[2]) as world:
                print(tca.AllReduce(world, "s").reduce(world.rank + 1))
        """
        key = f"python-{uuid.uuid4().hex}"
        ranks = [
            subprocess.Popen([sys.executable, "-B", "-c", script, str(rank), key], stdout=subprocess.PIPE, text=True)
            for rank in range(2)
        ]
        self.assertEqual([rank.communicate(timeout=3 * PATIENCE)[0] for rank in ranks], ["3.0\n"] * 2)

    def test_a_communicator_of_whatever_mpi(self):
        """Without an MPI of its own the package asks a communicator for no more than this."""
        def communicator(*hosts):
            return types.SimpleNamespace(
                Get_rank=lambda: 0, Get_size=lambda: len(hosts), bcast=lambda key: key, allgather=lambda host: hosts
            )  # fmt: skip

        try:
            world = tca.World(comm=communicator("here"))
        except (ImportError, TypeError):
            self.skipTest("the package is built with MPI, and takes communicators of mpi4py alone")
        with world:
            self.assertEqual(tca.AllReduce(world, "s").reduce(2.0), 2.0)
        with self.assertRaisesRegex(tca.InvalidArgument, "2 hosts, and this opentca was built without MPI.*OPENTCA_WITH_MPI=ON"):
            tca.World(comm=communicator("here", "there"))

    def test_what_is_closed_says_so(self):
        with tca.World() as world:
            u = world.zeros(4)
            chain = world.chain("c").put(u.on(0)[:1], u[1:2]).expect(0)
            chain.commit()
            chain.close()
            for call in (chain.start, chain.wait, chain.test, chain.explain, chain.commit, lambda: chain.expect(0)):
                with self.assertRaisesRegex(tca.InvalidArgument, "chain: it is closed"):
                    call()
            chain.close()
        for call in (lambda: world.zeros(1), world.barrier, lambda: world.rank, lambda: world.chain("d")):
            with self.assertRaisesRegex(tca.InvalidArgument, "world: it is closed"):
                call()

    def test_the_collector_makes_nobody_wait(self):
        """Rank 0 loses all it has, in cycles, while rank 1 is in none of its calls."""
        collected, may_end = threading.Event(), threading.Event()

        def body(world):
            other = 1 - world.rank
            u = world.zeros(10)
            chain = world.chain("c").put(u.on(other)[0:1], u[1:2]).expect(other)
            chain.commit()
            halo = tca.Halo(world, "h", tca.Grid(2, [2]), [4]).add(world.zeros(6))
            halo.commit()
            cycle = [u, chain, halo, tca.AllReduce(world, "s"), world.group([world.rank]), tca.Notices(world)]
            cycle.append(cycle)
            if world.rank == 1:
                self.assertTrue(collected.wait(PATIENCE))
                may_end.set()
                return
            chain.start()
            del u, chain, halo, cycle
            gc.collect()
            collected.set()
            self.assertTrue(may_end.wait(PATIENCE))

        tca.run_threads(2, body)

    def test_nothing_leaks_over_many_worlds(self):
        def once():
            with tca.World() as world:
                u = world.zeros(1000, name="u")
                chain = world.chain("c").put(u.on(0)[:10], u[10:20]).expect(0)
                chain.commit()
                chain.run()
                tca.AllReduce(world, "a").reduce(1.0)
                tca.Halo(world, "h", tca.Grid(1, [1]), [4]).add(u).commit()
                region = tca.Region(world, 8, "f8")
                tca.Post(world).put(region.token, u[:8]).notify(0).run()
                tca.Notices(world).wait(0)
                return u[5:6]

        def many(worlds):
            for _ in range(worlds):
                once()
            gc.collect()
            return resident(), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

        many(100)
        memory, files, threads = many(100)
        end_memory, end_files, end_threads = many(10_000)
        self.assertEqual((end_files, end_threads), (files, threads))
        self.assertLess(end_memory - memory, 4 << 20, "bytes more after 10,000 worlds more")

    def test_ending_without_closing(self):
        script = """if True:
            import opentca as tca
            world = tca.World()
            u = world.zeros(10)
            chain = world.chain("c").put(u.on(0)[0:1], u[1:2]).expect(0)
            chain.commit()
            chain.start()
            region = tca.Region(world, 10, "f8")
            post, notices = tca.Post(world).put(region.token, u).notify(0), tca.Notices(world)
            post.start()
            cycle = [world, u, chain, memoryview(region), post, notices]
            cycle.append(cycle)
        """
        done = python(script)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_forked_child_is_told_and_harms_nobody(self):
        with tca.World() as world:
            u = world.zeros(10)
            chain = world.chain("c").put(u.on(0)[0:1], u[1:2]).expect(0)
            chain.commit()
            post = tca.Post(world).notify(0)
            child = os.fork()
            if child == 0:
                told = 0
                for call in (chain.run, lambda: world.zeros(1), lambda: world.rank, post.start, lambda: u.on(0)):
                    try:
                        call()
                    except tca.InvalidArgument as error:
                        told += "forked" in str(error)
                del call, chain, post, u, world
                gc.collect()
                os._exit(told)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 5)
            u[1] = 3
            chain.run()
            self.assertEqual(u[0], 3)

    def test_import_needs_no_numpy_and_little_time(self):
        script = """if True:
            import sys, time
            begin = time.perf_counter()
            import opentca as tca
            seconds = time.perf_counter() - begin
            assert "numpy" not in sys.modules
            sys.modules["numpy"] = None
            with tca.World() as world:
                u = memoryview(world.zeros((2, 3), "f4"))
                u[1, 2] = 1.5
                assert u.tolist() == [[0, 0, 0], [0, 0, 1.5]], u.tolist()
                assert tca.AllReduce(world, "s").reduce(2.5) == 2.5
            print(seconds)
        """
        done = python(script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(float(done.stdout), 1.0)  # 0.02 s on an idle machine

    def test_threads_that_are_all_the_first_to_need_numpy(self):
        script = """if True:
            import opentca as tca

            def body(world):
                u = world.zeros(4)
                u[0] = world.rank
                return int(u[0])

            print(tca.run_threads(8, body))
        """
        done = python(script)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "[0, 1, 2, 3, 4, 5, 6, 7]\n", ""))

    def test_ctrl_c_in_a_wait_of_threads(self):
        def body(world):
            chain = world.chain("c").signal(1 - world.rank).expect(1 - world.rank)
            chain.commit()
            if world.rank == 0:
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                chain.run()
            else:
                time.sleep(0.1)
                never = world.chain("never").expect(0).signal(0)
                never.commit()

        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            tca.run_threads(2, body)
        self.assertLess(time.monotonic() - begin, PATIENCE)


if __name__ == "__main__":
    unittest.main()
