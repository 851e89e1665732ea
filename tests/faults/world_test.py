"""Ranks that die, hang, disagree or meet what is not theirs: what the others say, when they end, what is left.

Standard library only. TCA names the command line, RANK_PROGRAM the program that plays the ranks, RANK_PROGRAM_OTHER
the same of a build that shares memory in another way, MPIRUN mpirun; the last two may be empty."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import uuid

from launcher_test import GONE_WITHIN, PATIENCE, TCA, processes_with, wait_until

PROGRAM = os.environ.get("RANK_PROGRAM", "rank_program")
OTHER = os.environ.get("RANK_PROGRAM_OTHER", "")
MPIRUN = os.environ.get("MPIRUN", "")
PROTOCOLS = ("direct", "pull", "staged")

USAGE, TIMED_OUT, RANK_LOST, OUT_OF_MEMORY, INCOMPATIBLE = 2, 4, 5, 6, 7


class Process:
    """A started program whose output is read as it comes."""

    def __init__(self, command, environment, **options):
        self.lines = []
        self.popen = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, **options,
        )  # fmt: skip
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.popen.stdout:
            self.lines.append(line.rstrip("\n"))

    def says(self, pattern):
        """Waits for a line that matches; the match."""
        found = wait_until(lambda: next(filter(None, (re.search(pattern, line) for line in self.lines)), None))
        if not found:
            raise AssertionError(f"no line matches {pattern!r} in {self.lines}")
        return found

    def end(self, limit=PATIENCE):
        code = self.popen.wait(timeout=limit)
        self.reader.join(timeout=limit)
        return code

    def text(self):
        return "\n".join(self.lines)

    def close(self):
        self.popen.kill()
        self.popen.wait()
        self.reader.join(timeout=PATIENCE)
        self.popen.stdout.close()


class WorldTest(unittest.TestCase):
    def setUp(self):
        name, value = "TCA_TEST_MARKER", str(uuid.uuid4())
        self.marker = f"{name}={value}"
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("OPENTCA_", "OMPI_", "PMI", "SLURM_"))}
        self.environment = {**keep, name: value}
        self.job = f"tcatest-{value}"
        self.segments = set(self.named_segments())
        self.addCleanup(self.kill_leftovers)

    def kill_leftovers(self):
        for pid in processes_with(self.marker):
            os.kill(pid, signal.SIGKILL)

    def named_segments(self):
        return [name for name in os.listdir("/dev/shm") if name.startswith("opentca.")]

    def start(self, command, **environment):
        process = Process(command, {**self.environment, **environment})
        self.addCleanup(process.close)
        return process

    def tca_run(self, ranks, *command, options=(), **environment):
        return self.start([TCA, "run", "-n", str(ranks), *options, "--", *command], **environment)

    def ranks(self, size, *arguments, programs=None, **environment):
        """Every rank on its own, with the test as the launcher, so that each exit code can be seen."""
        control = os.memfd_create("control")
        self.addCleanup(os.close, control)
        path = f"/proc/{os.getpid()}/fd/{control}"
        return [
            self.start(
                [programs[rank] if programs else PROGRAM, *arguments],
                **{"OPENTCA_RANK": str(rank), "OPENTCA_SIZE": str(size), "OPENTCA_CONTROL": path, **environment},
            )
            for rank in range(size)
        ]

    def assert_ends(self, process, code, *patterns):
        self.assertEqual(process.end(), code, process.text())
        for pattern in patterns:
            self.assertRegex(process.text(), pattern)

    def assert_nothing_left(self, within=GONE_WITHIN):
        self.assertTrue(
            wait_until(lambda: not processes_with(self.marker), within),
            f"still running: {processes_with(self.marker)}",
        )
        self.assertTrue(
            wait_until(lambda: set(self.named_segments()) <= self.segments),
            f"left in /dev/shm: {set(self.named_segments()) - self.segments}",
        )


class Killed(WorldTest):
    """SIGKILL in the middle of a step at full speed."""

    def kill_one(self, ranks, victim):
        for process in ranks:
            process.says("runs in process")
        time.sleep(0.05)
        ranks[victim].popen.kill()
        killed = time.monotonic()
        for rank, process in enumerate(ranks):
            if rank == victim:
                continue
            self.assertEqual(process.end(), RANK_LOST, process.text())
            self.assertRegex(process.text(), rf"rank {victim} died \(process {ranks[victim].popen.pid} has ended\)")
            self.assertRegex(process.text(), rf"while rank {rank} was waiting for it in step \d+ of chain 'ring'")
        self.assertLess(time.monotonic() - killed, GONE_WITHIN)
        self.assert_nothing_left()

    def kill_one_of(self, size, victim):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.kill_one(self.ranks(size, "ring", OPENTCA_ROUTE=protocol), victim)

    def test_one_of_two(self):
        self.kill_one_of(2, 1)

    def test_one_of_four(self):
        self.kill_one_of(4, 0)

    def test_one_of_six_which_the_far_ones_name_too(self):
        self.kill_one_of(6, 2)

    def test_large_puts(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.kill_one(self.ranks(2, "ring", "--doubles", "1000000", OPENTCA_ROUTE=protocol), 0)

    def test_under_the_launcher(self):
        for size in (2, 4, 6):
            with self.subTest(size):
                job = self.tca_run(size, PROGRAM, "ring")
                victim = size // 2
                pid = int(job.says(rf"rank {victim}: runs in process (\d+)")[1])
                os.kill(pid, signal.SIGKILL)
                killed = time.monotonic()
                self.assert_ends(job, 137, rf"tca run: rank {victim} was killed by signal 9 \(Killed\); the other")
                self.assertLess(time.monotonic() - killed, GONE_WITHIN)
                self.assertIn("ended by itself" if size == 2 else "ended by themselves", job.text())
                self.assertEqual(job.text().count(f"rank {victim} died (process {pid} has ended)"), size - 1)
                self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_under_mpirun(self):
        job = self.mpirun(4, "ring")
        pid = int(job.says(r"rank 2: runs in process (\d+)")[1])
        self.assertEqual(set(self.named_segments()) - self.segments, set())
        os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(job.end(), 0)
        self.assertIn("rank 2", job.text())
        self.assert_nothing_left()

    def mpirun(self, size, *arguments):
        # Open MPI refuses root and more ranks than cores unless told otherwise.
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
        return self.start([MPIRUN, "-n", str(size), PROGRAM, *arguments], **allowed)

    def test_all_at_once(self):
        job = self.tca_run(3, PROGRAM, "ring")
        pids = [int(job.says(rf"rank {rank}: runs in process (\d+)")[1]) for rank in range(3)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.assert_ends(job, 137)
        self.assert_nothing_left()


class LauncherKilled(WorldTest):
    def check(self, *command):
        job = self.tca_run(3, *command)
        for rank in range(3):
            job.says(f"rank {rank}: runs in process")
        job.popen.kill()
        self.assert_nothing_left()

    def test_ranks(self):
        self.check(PROGRAM, "ring")

    def test_wrapper_script(self):
        self.check("sh", "-c", f"{PROGRAM} ring; true")

    def test_wrapper_in_the_background(self):
        self.check("sh", "-c", f"{PROGRAM} ring & wait")

    @unittest.skipUnless(shutil.which("setsid"), "setsid is not on this machine")
    def test_wrapper_that_leaves_the_group(self):
        self.check("setsid", "sh", "-c", f"{PROGRAM} ring; true")


class NeverStarts(WorldTest):
    def test_the_others_name_chain_step_and_rank(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                ranks = self.ranks(
                    3, "ring", "--who", "1", "--how", "sleep", "--step", "7",
                    OPENTCA_TIME_LIMIT="0.5", OPENTCA_ROUTE=protocol,
                )  # fmt: skip
                started = time.monotonic()
                for rank in (0, 2):
                    process = ranks[rank]
                    process.end()
                    self.assertIn("in step 7 of chain 'ring'", process.text())
                    self.assertIn("OPENTCA_TIME_LIMIT", process.text())
                    self.assertRegex(process.text(), rf"rank {rank} waited 0\.[5-9] s .* for rank (0, |2, )?1")
                    self.assertEqual(process.popen.returncode, TIMED_OUT, process.text())
                self.assertLess(time.monotonic() - started, PATIENCE)
                ranks[1].close()
                self.assert_nothing_left()

    def test_under_the_launcher(self):
        job = self.tca_run(
            2, PROGRAM, "ring", "--who", "0", "--how", "sleep", "--step", "3", OPENTCA_TIME_LIMIT="0.5"
        )
        self.assert_ends(job, TIMED_OUT, r"rank 1 waited 0\.\d s in step 3 of chain 'ring' for rank 0",
                         "rank 1 exited with code 4; the other rank was ended")  # fmt: skip
        self.assert_nothing_left()

    def test_far_rank_learns_who_was_waited_for(self):
        ranks = self.ranks(5, "ring", "--who", "2", "--how", "sleep", "--step", "4", OPENTCA_TIME_LIMIT="0.5")
        for rank in (0, 1, 3, 4):
            self.assertIn(ranks[rank].end(), (TIMED_OUT, RANK_LOST), ranks[rank].text())
        for rank in (1, 3):
            self.assertRegex(ranks[rank].text(), "for rank .*2")
        ranks[2].close()

    def test_barrier_and_commit_are_limited_too(self):
        # The rank is up but makes no window.
        ranks = self.ranks(3, "ring", "--who", "1", "--how", "sleep_after_init", OPENTCA_TIME_LIMIT="0.5")
        for rank in (0, 2):
            self.assert_ends(ranks[rank], TIMED_OUT, rf"rank {rank} waited .* in window 0 for rank 1; did it make the")
        ranks[1].close()


class StartUp(WorldTest):
    def test_exits_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "1", "--how", "exit")
        started = time.monotonic()
        self.assert_ends(job, 3, "rank 1 exited with code 3; the other 2 ranks were ended")
        self.assertLess(time.monotonic() - started, PATIENCE)
        self.assert_nothing_left()

    def test_rank_0_exits_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "0", "--how", "exit")
        self.assert_ends(job, 3, "rank 0 exited with code 3; the other 2 ranks were ended")
        self.assert_nothing_left()

    def test_killed_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "2", "--how", "kill")
        self.assert_ends(job, 137, "rank 2 was killed by signal 9")
        self.assert_nothing_left()

    def test_throws_before_init(self):
        job = self.tca_run(2, PROGRAM, "before_init", "--who", "1", "--how", "throw")
        self.assert_ends(job, 1, "its own reasons", "rank 1 exited with code 1")
        self.assert_nothing_left()

    def test_ends_well_without_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "1", "--how", "quick_exit", OPENTCA_TIME_LIMIT="0.5")
        self.assert_ends(job, TIMED_OUT, r"in start-up \(World::init\) for rank 1; was it started, and does it call")
        self.assert_nothing_left()

    def test_never_calls_init(self):
        for who, pattern in (
            (1, r"waited 0\.\d s in start-up \(World::init\) for rank 1; was it started, and does it call World::init"),
            (0, r"waited 0\.\d s in start-up \(World::init\) for rank 0 to set up the world"),
        ):
            with self.subTest(who):
                ranks = self.ranks(
                    3, "before_init", "--who", str(who), "--how", "sleep", OPENTCA_TIME_LIMIT="0.5"
                )
                for rank in range(3):
                    if rank != who:
                        self.assert_ends(ranks[rank], TIMED_OUT, pattern)
                ranks[who].close()
                self.assert_nothing_left()

    def test_dies_during_start_up(self):
        # Rank 2 does not come, so rank 1 is killed while start-up is under way.
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how):
                ranks = self.ranks(3, "before_init", "--who", "2", "--how", "sleep")
                time.sleep(0.3)
                ranks[1].popen.send_signal(how)
                killed = time.monotonic()
                self.assert_ends(ranks[0], RANK_LOST, r"rank 1 died .* while rank 0 was waiting for it in start-up")
                self.assertLess(time.monotonic() - killed, GONE_WITHIN)
                ranks[2].close()
                self.assert_nothing_left()

    def test_time_limits_that_are_none(self):
        for limit in ("0", "-1", "nan", "soon", "", "1e300", "0.0001"):
            process = self.start([PROGRAM, "ring", "--steps", "1"], OPENTCA_TIME_LIMIT=limit)
            self.assert_ends(process, USAGE, "OPENTCA_TIME_LIMIT|time limit")


class Ending(WorldTest):
    """A rank that goes while the others count on it, each in its own way."""

    def check(self, how, code, pattern):
        ranks = self.ranks(3, "ring", "--who", "1", "--how", how, "--step", "5")
        for rank in (0, 2):
            self.assert_ends(ranks[rank], RANK_LOST, pattern, "in step 5 of chain 'ring'")
        self.assertEqual(ranks[1].end(), code)
        self.assert_nothing_left()

    def test_leaves_normally(self):
        self.check("leave", 0, "rank 1 left the world")

    def test_exits(self):
        self.check("exit", 3, "rank 1 died")

    def test_aborts(self):
        self.check("abort", -signal.SIGABRT, "rank 1 died")

    def test_throws(self):
        self.check("throw", 1, r"rank 1 failed \(it ended with an error\)")

    def test_throws_something_else(self):
        self.check("throw_number", 1, r"rank 1 failed \(it ended with an error\)")


class Threads(WorldTest):
    def check(self, how, code, last, told):
        process = self.start([PROGRAM, "threads", "--ranks", "4", "--who", "1", "--how", how, "--step", "5"])
        self.assert_ends(process, code, last)
        self.assertEqual(len(re.findall(told, process.text())), 3, process.text())

    def test_throws(self):
        self.check("throw", 1, "rank 0: this rank has its own reasons", r"failed \(this rank has its own reasons\)")

    def test_throws_something_else(self):
        self.check("throw_number", 1, "rank 0: something that is no", r"failed \(it threw something that is no")

    def test_leaves_normally(self):
        self.check("leave", RANK_LOST, "rank 1 left the world", r"rank \d: rank \d .*rank 1 left|rank \d: rank 1 left")


class SameBinary(WorldTest):
    ALL_DONE = ["rank 0: done", "rank 1: done", "rank 2: done"]

    def done(self, process):
        self.assertEqual(process.end(), 0, process.text())
        return sorted(line for line in process.lines if line.endswith("done"))

    def test_alone(self):
        self.assertEqual(self.done(self.start([PROGRAM, "ring", "--steps", "30"])), self.ALL_DONE[:1])

    def test_under_the_launcher(self):
        for protocol in PROTOCOLS:
            job = self.tca_run(3, PROGRAM, "ring", "--steps", "30", OPENTCA_ROUTE=protocol)
            self.assertEqual(self.done(job), self.ALL_DONE)
        self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_under_mpirun(self):
        self.assertEqual(self.done(Killed.mpirun(self, 3, "ring", "--steps", "30")), self.ALL_DONE)
        self.assert_nothing_left()

    def test_launcher_inside_a_rank_is_independent(self):
        job = self.tca_run(2, TCA, "run", "-n", "3", "--", PROGRAM, "ring", "--steps", "30")
        self.assertEqual(self.done(job), sorted(2 * self.ALL_DONE))
        self.assert_nothing_left()

    def test_alone_beside_a_batch_system(self):
        process = self.start([PROGRAM, "ring", "--steps", "5"], SLURM_PROCID="0", SLURM_NTASKS="1", SLURM_JOB_ID="7")
        self.assertEqual(self.done(process), self.ALL_DONE[:1])

    def test_what_a_rank_starts_is_no_rank(self):
        job = self.tca_run(2, PROGRAM, "children", "--steps", "30")
        self.assertEqual(self.done(job), self.ALL_DONE[:2])
        for rank in (0, 1):
            self.assertIn(f"rank {rank}: child returns {INCOMPATIBLE}", job.text())
            self.assertRegex(job.text(), f"rank {rank} of this launch is already taken by process")

    def test_many_worlds_leave_nothing(self):
        process = self.start([PROGRAM, "worlds", "--steps", "200"])
        self.assert_ends(process, 0, "descriptors")
        self.assert_nothing_left()

    def test_failed_worlds_leave_nothing_in_dev_shm(self):
        for _ in range(5):
            job = self.tca_run(2, PROGRAM, "ring", "--who", "1", "--how", "abort", "--step", "2")
            self.assertEqual(job.end(), 128 + signal.SIGABRT, job.text())
        self.assert_nothing_left()


class CtrlC(WorldTest):
    def test_ends_every_rank_once(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe(TCA, [TCA, "run", "-n", "3", "--", PROGRAM, "ring"], self.environment)
        self.addCleanup(os.close, terminal)
        text = self.read_until(terminal, lambda text: text.count("runs in process") == 3)
        os.write(terminal, b"\x03")
        interrupted = time.monotonic()
        text += self.read_until(terminal, lambda text: False)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertLess(time.monotonic() - interrupted, GONE_WITHIN)
        self.assertEqual(text.count("interrupted; 3 ranks ended"), 1, text)
        self.assertNotIn("was waiting for", text)
        self.assert_nothing_left()

    def read_until(self, terminal, enough):
        text = ""
        while not enough(text) and select.select([terminal], [], [], PATIENCE)[0]:
            try:
                got = os.read(terminal, 4096)
            except OSError:  # the other side has closed
                break
            if not got:
                break
            text += got.decode()
        return text


class Environment(WorldTest):
    """What a process is told about its rank and cannot be."""

    def refused(self, pattern, code=USAGE, **environment):
        process = self.start([PROGRAM, "ring", "--steps", "1"], **environment)
        self.assert_ends(process, code, pattern)
        self.assertEqual(len(process.lines), 1, process.text())

    def test_ranks_and_sizes(self):
        control = {"OPENTCA_CONTROL": "/proc/self/fd/0"}
        for rank, size, pattern in (
            ("2", "2", "rank 2 of 2 makes no world"),
            ("0", "0", "rank 0 of 0 makes no world"),
            ("-1", "2", "OPENTCA_RANK=-1 is not a"),
            ("one", "2", "OPENTCA_RANK=one is not a"),
            ("", "2", "OPENTCA_RANK= is not a"),
            ("0", "2x", "OPENTCA_SIZE=2x is not a"),
            ("0", "99999999999", "OPENTCA_SIZE=99999999999 is not a"),
            ("0", "5000", r"a world of 5000 ranks is larger than the shm fabric can hold \(4096\)"),
        ):
            with self.subTest((rank, size)):
                self.refused(pattern, OPENTCA_RANK=rank, OPENTCA_SIZE=size, **control)
        self.refused("OPENTCA_SIZE=.unset.", OPENTCA_RANK="0", **control)
        self.refused("OPENTCA_RANK is set without OPENTCA_CONTROL", OPENTCA_RANK="0", OPENTCA_SIZE="2")

    def test_control_that_is_not_there(self):
        for rank in ("0", "1"):
            self.refused(
                "cannot open /no/such/file, the memory in which the ranks meet .OPENTCA_CONTROL.: No such file",
                INCOMPATIBLE, OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_CONTROL="/no/such/file",
            )  # fmt: skip

    def test_control_that_is_somebody_elses_file_stays_as_it_is(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"dear diary, " * 100)
            file.flush()
            before = open(file.name, "rb").read()
            for rank in ("0", "1"):
                self.refused(
                    "is not an OpenTCA segment",
                    INCOMPATIBLE, OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_CONTROL=file.name,
                )  # fmt: skip
            self.assertEqual(open(file.name, "rb").read(), before)

    def test_several_hosts(self):
        self.refused(
            "Open MPI started 2 of 4 ranks on this host; the shm fabric serves one host",
            OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_SIZE="2",
        )  # fmt: skip

    def test_launched_twice(self):
        # A second program of the same launch finds the seats taken, whichever rank it claims.
        job = self.tca_run(2, "sh", "-c", f"{PROGRAM} ring --steps 3 && {PROGRAM} ring --steps 3")
        self.assert_ends(job, INCOMPATIBLE, "rank [01] of this launch is already taken by process .*one program")
        self.assert_nothing_left()

    def test_two_claim_one_rank(self):
        control = os.memfd_create("control")
        self.addCleanup(os.close, control)
        both = [
            self.start([PROGRAM, "hold"], OPENTCA_RANK=rank, OPENTCA_SIZE="3", OPENTCA_TIME_LIMIT="2",
                       OPENTCA_CONTROL=f"/proc/{os.getpid()}/fd/{control}")
            for rank in ("0", "1", "1")
        ]  # fmt: skip
        codes = sorted(process.end() for process in both)
        self.assertEqual(codes, [TIMED_OUT, TIMED_OUT, INCOMPATIBLE])
        text = "\n".join(process.text() for process in both)
        self.assertRegex(text, "rank 1 of this launch is already taken by process")
        self.assertRegex(text, "for rank 2; was it started")


class Named(WorldTest):
    """The segment in /dev/shm by which ranks of mpirun meet; here the test plays mpirun."""

    MAGIC = 0x31415443416E6550

    def setUp(self):
        super().setUp()
        self.path = f"/dev/shm/opentca.{os.geteuid()}.{self.job}"
        self.addCleanup(self.remove)

    def remove(self):
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            os.rmdir(self.path)
        elif os.path.lexists(self.path):
            os.unlink(self.path)

    def rank(self, rank, size, *arguments, program=PROGRAM, **environment):
        return self.start(
            [program, *arguments],
            **{"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "PMIX_NAMESPACE": self.job,
               "OMPI_COMM_WORLD_LOCAL_SIZE": str(size), "OPENTCA_TIME_LIMIT": "5", **environment},
        )  # fmt: skip

    def all_ranks(self, size=3):
        return [self.rank(rank, size, "ring", "--steps", "30") for rank in range(size)]

    def header(self, ranks=3, abi=None, creator=1, magic=MAGIC):
        if abi is None:
            abi = int(subprocess.run([PROGRAM, "abi"], capture_output=True, check=True).stdout)
        return struct.pack("<QIii20siI208s", magic, abi, ranks, creator, b"9.8.7", 0, 0, b"")

    def refused_by_all(self, pattern):
        for process in self.all_ranks():
            self.assert_ends(process, INCOMPATIBLE, pattern)

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        os.chmod(self.path, 0o600)

    def test_comes_up_and_goes(self):
        for process in self.all_ranks():
            self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_is_private_while_it_exists_and_gone_once_all_are_there(self):
        mask = os.umask(0)
        self.addCleanup(os.umask, mask)
        first = self.rank(0, 2, "hold", OPENTCA_TIME_LIMIT=str(PATIENCE))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        status = os.lstat(self.path)
        self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
        self.assertEqual(status.st_uid, os.geteuid())
        second = self.rank(1, 2, "hold")
        first.says("is up")
        second.says("is up")
        self.assertFalse(os.path.lexists(self.path))
        second.popen.kill()
        first.popen.kill()
        self.assert_nothing_left()

    def test_garbage(self):
        self.write(os.urandom(100000))
        self.refused_by_all("exists and is not an OpenTCA segment; remove it")
        self.assertEqual(os.path.getsize(self.path), 100000)

    def test_too_short(self):
        for content in (b"", b"x", self.header()[:100]):
            self.write(content)
            self.refused_by_all(rf"is too short \({len(content)} bytes\) to be an OpenTCA segment; remove it")

    def test_zeroes(self):
        self.write(bytes(100000))
        self.refused_by_all("exists and is not an OpenTCA segment; remove it")

    def test_damaged(self):
        for ranks in (3, 4096, -1, 2**31 - 1):
            with self.live(self.header(ranks=ranks)):
                self.assert_ends(self.rank(1, 3, "ring"), INCOMPATIBLE, f"cannot hold the {ranks} ranks it names")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make another user's file")
    def test_another_users(self):
        self.write(self.header() + bytes(100000))
        os.chown(self.path, 65534, 65534)
        self.refused_by_all(r"belongs to user 65534, not to you \(user 0\); have it removed")
        self.assertTrue(os.path.exists(self.path))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_users_that_cannot_even_be_opened(self):
        mine, self.path = self.path, f"/dev/shm/opentca.65534.{self.job}"
        self.addCleanup(lambda: os.path.exists(self.path) and os.unlink(self.path))
        self.write(self.header() + bytes(100000))
        # The program may lie where only root can look.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PROGRAM, folder)
            os.chmod(program, 0o755)
            for rank in range(2):
                process = Process(
                    [program, "ring"],
                    {**self.environment, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                     "PMIX_NAMESPACE": self.job}, user=65534, group=65534, extra_groups=[], cwd="/",
                )  # fmt: skip
                self.addCleanup(process.close)
                self.assert_ends(process, INCOMPATIBLE, "no OpenTCA segment of yours .Permission denied")
        os.unlink(self.path)
        self.path = mine

    def test_folder(self):
        os.mkdir(self.path)
        self.refused_by_all("exists and is no OpenTCA segment of yours .Is a directory")

    def test_symbolic_link(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.symlink(file.name, self.path)
            self.refused_by_all("exists and is no OpenTCA segment of yours .it is a symbolic link")
            self.assertEqual(os.path.getsize(file.name), 0)

    def test_fifo(self):
        os.mkfifo(self.path, 0o600)
        self.refused_by_all("is not a shared-memory segment; remove it")

    def test_left_over_is_replaced(self):
        # A creator that is alive makes no difference: process numbers come back.
        for creator in (1, os.getpid(), 2**22 - 1):
            self.write(self.header(creator=creator) + bytes(200000))
            for process in self.all_ranks():
                self.assert_ends(process, 0, "done")
            self.assert_nothing_left()

    def test_left_over_of_other_jobs_is_cleared_away(self):
        other = self.path + ".earlier"
        with open(other, "wb") as file:
            file.write(self.header() + bytes(1000))
        self.addCleanup(lambda: os.path.exists(other) and os.unlink(other))
        for process in self.all_ranks(2):
            self.assert_ends(process, 0, "done")
        self.assertFalse(os.path.exists(other))

    def live(self, header):
        """A segment whose rank 0 is alive: locked as OwnSegment locks it."""
        self.write(header + bytes(1000))
        file = open(self.path, "r+b")
        self.addCleanup(file.close)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        return file

    def test_of_a_running_world(self):
        with self.live(self.header(creator=os.getpid())):
            pattern = f"is in use by a world that process {os.getpid()} is bringing up; two worlds cannot share"
            self.assert_ends(self.rank(0, 3, "ring"), INCOMPATIBLE, pattern)
            self.assertTrue(os.path.exists(self.path))

    def test_two_rank_0(self):
        first = self.rank(0, 2, "hold", OPENTCA_TIME_LIMIT=str(PATIENCE))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        pattern = f"is in use by a world that process {first.popen.pid} is bringing up"
        self.assert_ends(self.rank(0, 2, "hold"), INCOMPATIBLE, pattern)
        second = self.rank(1, 2, "hold")
        first.says("is up")
        second.says("is up")

    def test_another_version_by_hand(self):
        abi = int(subprocess.run([PROGRAM, "abi"], capture_output=True, check=True).stdout)
        with self.live(self.header(abi=12345)) as file:
            both = rf"rank [12] runs OpenTCA .*interface {abi:#x}.* rank 0 set it up with OpenTCA 9.8.7 .interface 0x3039"
            for process in [self.rank(rank, 3, "ring") for rank in (1, 2)]:
                self.assert_ends(process, INCOMPATIBLE, both)
            arrived, refusal = struct.unpack("iI", os.pread(file.fileno(), 8, 40))
            self.assertEqual((arrived, refusal), (2, 2))

    @unittest.skipUnless(OTHER, "needs a static library, to build a program with another version of it")
    def test_another_version(self):
        for odd in range(3):
            with self.subTest(odd):
                programs = [OTHER if rank == odd else PROGRAM for rank in range(3)]
                named = [self.rank(rank, 3, "ring", program=programs[rank]) for rank in range(3)]
                for process in named + self.ranks(3, "ring", programs=programs):
                    self.assert_ends(process, INCOMPATIBLE, "interface 0x1.* rank 0 set it up .*interface 0x9" if odd == 0
                                     else "interface 0x9.* rank 0 set it up .*interface 0x1")  # fmt: skip
                    self.assertIn("start every rank from the same build", process.text())
                self.assert_nothing_left()

    def test_worlds_of_different_sizes(self):
        ranks = [self.rank(0, 3, "ring"), self.rank(1, 3, "ring"), self.rank(2, 4, "ring")]
        for process in ranks:
            self.assert_ends(process, INCOMPATIBLE, "rank 2 .* in a world of 4, but rank 0 set it up .* for 3")
        self.assert_nothing_left()

    def test_rank_that_does_not_come(self):
        ranks = [self.rank(rank, 3, "ring", OPENTCA_TIME_LIMIT="0.5") for rank in (0, 2)]
        for process in ranks:
            process.end()
        self.assert_ends(ranks[0], TIMED_OUT, "for rank 1; was it started")
        self.assert_nothing_left()

    def test_rank_0_that_does_not_come(self):
        process = self.rank(1, 2, "ring", OPENTCA_TIME_LIMIT="0.5")
        self.assert_ends(process, TIMED_OUT, "for rank 0 to set up the world in /dev/shm/opentca.*was rank 0 started")

    def test_rank_0_killed_during_start_up(self):
        first, second = (self.rank(rank, 3, "ring", OPENTCA_TIME_LIMIT=str(PATIENCE)) for rank in (0, 1))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        time.sleep(0.3)
        first.popen.kill()
        killed = time.monotonic()
        self.assert_ends(second, RANK_LOST, "rank 0 died .* while rank 1 was waiting for it in start-up")
        self.assertLess(time.monotonic() - killed, GONE_WITHIN)
        self.assert_nothing_left()


class Memory(WorldTest):
    def test_window_larger_than_memory(self):
        for process in self.ranks(2, "window", "--mib", "100000000"):
            self.assert_ends(
                process, OUT_OF_MEMORY,
                r"window 0 needs 200000000 MiB on all 2 ranks together, but this host has \d+ MiB of memory left.*raise",
            )  # fmt: skip
        self.assert_nothing_left()

    def test_alone_and_under_the_launcher(self):
        self.assert_ends(self.start([PROGRAM, "window", "--mib", "100000000"]), OUT_OF_MEMORY, "MiB of memory left")
        job = self.tca_run(2, PROGRAM, "window", "--mib", "100000000")
        self.assert_ends(job, OUT_OF_MEMORY, r"exited with code 6; the other rank ended by itself")

    def test_size_that_overflows(self):
        self.assert_ends(self.start([PROGRAM, "window", "--mib", "-5"]), USAGE, "cannot be registered")

    def make_cgroup(self, mebibytes):
        for parent, limit in (
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ):
            folder = os.path.join(parent, f"tca-test-{os.getpid()}")
            try:
                os.mkdir(folder)
            except OSError:
                continue
            self.addCleanup(os.rmdir, folder)
            try:
                with open(os.path.join(folder, limit), "w") as file:
                    file.write(str(mebibytes << 20))
            except OSError:
                continue
            return folder
        self.skipTest("no memory cgroup can be made here")

    def test_container_limit(self):
        folder = self.make_cgroup(256)
        script = f'echo $$ > {folder}/cgroup.procs && exec "$0" "$@"'
        job = self.start(["sh", "-c", script, TCA, "run", "-n", "2", "--", PROGRAM, "window", "--mib", "200"])
        self.assertEqual(job.end(), OUT_OF_MEMORY, job.text())
        left = re.findall(r"window 0 needs 400 MiB on all 2 ranks together, but this host has (\d+) MiB", job.text())
        self.assertEqual(len(left), 2, job.text())
        self.assertLessEqual(int(left[0]), 256)
        self.assertGreater(int(left[0]), 100)
        job = self.start(["sh", "-c", script, TCA, "run", "-n", "2", "--", PROGRAM, "window", "--mib", "50"])
        self.assertEqual(job.end(), 0, job.text())
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
