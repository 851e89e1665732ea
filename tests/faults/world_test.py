"""How one program comes up in many ways, and what it says when the environment or the memory is wrong."""

import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from commands import wait_until
from world import ALLOWED, CUDA, DEVICE_FAILED, INCOMPATIBLE, MPIRUN, OTHER, OUT_OF_MEMORY, PROGRAM, PROTOCOLS, RANK_LOST, TCA, TIMED_OUT, USAGE, WorldTest


FLUX = {"FLUX_JOB_ID": f"f{os.getpid()}", "FLUX_JOB_NNODES": "1"}
TORCHRUN = {"TORCHELASTIC_RUN_ID": "none", "MASTER_ADDR": "localhost"}


class Joined(WorldTest):
    """Ranks that the program has started by itself, and that meet by a key."""

    def rank(self, rank, size, *more, key=None, program=PROGRAM, **environment):
        arguments = ["--rank", str(rank), "--ranks", str(size), "--key", self.job if key is None else key]
        return self.start([program, "join", *arguments, *(more or ("--steps", "5"))], **environment)

    def path(self):
        return f"/dev/shm/opentca.{os.geteuid()}.key.{self.job}"

    def assert_waits(self, *processes):
        self.assertTrue(wait_until(lambda: os.path.exists(self.path())))
        self.assertEqual([process.popen.poll() for process in processes], [None] * len(processes))

    def test_one_world_and_then_another(self):
        ranks = [self.rank(rank, 3, "--steps", "5", "--worlds", "2") for rank in (2, 0, 1)]
        for process in ranks:
            self.assert_ends(process, 0, "done")
        self.assert_ends(self.rank(0, 1), 0, "done")
        self.assert_nothing_left()

    def test_two_worlds_of_different_keys(self):
        ranks = [self.rank(rank, 2, key=self.job + key) for key in ("a", "b") for rank in (0, 1)]
        for process in ranks:
            self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_a_launcher_is_not_asked(self):
        for variables in ({"RANK": "5", "WORLD_SIZE": "9", "LOCAL_WORLD_SIZE": "9", **TORCHRUN}, {"SLURM_PROCID": "3"}):
            for process in [self.rank(rank, 2, **variables) for rank in (0, 1)]:
                self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_what_cannot_be(self):
        for rank, size, key, why in (
            (2, 2, "k", "rank 2 of 2 cannot be"),
            (-1, 2, "k", "rank -1 of 2 cannot be"),
            (0, 0, "k", "rank 0 of 0 cannot be"),
            (0, 2, "", "a key of 0 letters; it has 1 to 128"),
            (0, 2, "k" * 129, "a key of 129 letters"),
            (0, 2, "../k", "the key '../k' has a '/'"),
            (0, 2, "a key", "the key 'a key' has a ' '"),
        ):
            self.assert_ends(self.rank(rank, size, key=key), USAGE, f"World::join: .*{re.escape(why)}")
        self.assert_nothing_left()

    def test_two_that_claim_one_rank(self):
        first = self.rank(0, 3, OPENTCA_TIME_LIMIT="20")
        self.assert_waits(first)
        self.assert_ends(self.rank(0, 3), INCOMPATIBLE, f"by a world that process {first.popen.pid} is bringing up")
        second = self.rank(1, 3, OPENTCA_TIME_LIMIT="20")
        both = [second, self.rank(1, 3, OPENTCA_TIME_LIMIT="20")]
        wait_until(lambda: any(process.popen.poll() is not None for process in both))
        loser = next(process for process in both if process.popen.poll() is not None)
        self.assert_ends(loser, INCOMPATIBLE, "rank 1 of this key is already taken by process")
        last = self.rank(2, 3)
        for process in [first, last, *(process for process in both if process is not loser)]:
            self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_ranks_that_never_come(self):
        first, second = (self.rank(rank, 3, OPENTCA_TIME_LIMIT="0.5") for rank in (0, 1))
        for process in (first, second):
            pattern = rf"waited .* in start-up \(World::join\) for rank 2; .* World::join\?.*by the key '{self.job}'"
            self.assert_ends(process, TIMED_OUT, pattern)
        pattern = r"for rank 0 to set up the world in /dev/shm/opentca\..*does it call World::join\?"
        self.assert_ends(self.rank(1, 2, OPENTCA_TIME_LIMIT="0.3"), TIMED_OUT, pattern)
        self.assert_nothing_left()

    def test_different_sizes(self):
        for process in [self.rank(0, 2), self.rank(1, 3)]:
            self.assert_ends(process, INCOMPATIBLE, "rank 1 says that the world has 3 ranks, rank 0 2")
        self.assert_nothing_left()

    @unittest.skipUnless(OTHER, "needs a static library, to build a program with another version of it")
    def test_another_version(self):
        for process in [self.rank(0, 2), self.rank(1, 2, program=OTHER)]:
            self.assert_ends(process, INCOMPATIBLE, "start every rank from the same build")
        self.assert_nothing_left()

    def test_a_stale_name(self):
        killed = self.rank(0, 2, OPENTCA_TIME_LIMIT="20")
        self.assert_waits(killed)
        killed.popen.kill()
        killed.popen.wait()
        self.assertTrue(os.path.exists(self.path()))
        for process in [self.rank(rank, 2) for rank in (1, 0)]:
            self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_a_fabric_that_needs_no_key(self):
        fabrics = ["sim", "shm+mpi"] if MPIRUN else ["sim"]
        for fabric in fabrics:
            for process in [self.rank(0, 2), self.rank(1, 2, OPENTCA_FABRIC=fabric)]:
                self.assert_ends(process, USAGE, rf"rank 1: fabric {re.escape(fabric)}: ")
        self.assert_nothing_left()


class SameBinary(WorldTest):
    ALL_DONE = ["rank 0: done", "rank 1: done", "rank 2: done"]

    def done(self, process):
        self.assertEqual(process.end(), 0, process.text())
        return sorted(line for line in process.lines if line.endswith("done"))

    def test_alone(self):
        self.assertEqual(self.done(self.start([PROGRAM, "ring", "--steps", "30"])), self.ALL_DONE[:1])

    def test_under_the_launcher(self):
        for protocol in PROTOCOLS:
            job = self.tca_run(3, PROGRAM, "ring", "--steps", "30", OPENTCA_CHANNEL=protocol)
            self.assertEqual(self.done(job), self.ALL_DONE)
        self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_under_mpirun(self):
        self.assertEqual(self.done(self.mpirun(3, "ring", "--steps", "30")), self.ALL_DONE)
        self.assert_nothing_left()

    def test_launcher_inside_a_rank_is_independent(self):
        job = self.tca_run(2, TCA, "run", "-n", "3", "--", PROGRAM, "ring", "--steps", "30")
        self.assertEqual(self.done(job), sorted(2 * self.ALL_DONE))
        self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_mpirun_inside_a_rank_is_independent(self):
        mpirun = f"{MPIRUN} -n 3 {PROGRAM} ring --steps 30"
        job = self.tca_run(2, "sh", "-c", mpirun, **ALLOWED)
        self.assertEqual(self.done(job), sorted(2 * self.ALL_DONE))
        self.assert_nothing_left()

    def test_the_innermost_launcher_counts(self):
        inner = f'PMI_RANK=0 PMI_SIZE=1 {PROGRAM} ring --steps 5; exit $?'
        outer = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
        self.assertEqual(self.done(self.start(["sh", "-c", inner], **outer)), self.ALL_DONE[:1])

    def test_a_misspelt_variable_is_named_once(self):
        misspelt = {"OPENTCA_CHANEL": "pull", "OPENTCA_TEST_ANYTHING": "1", "OPENTCA_ROOT": "/opt/opentca"}
        jobs = [
            lambda: self.start([PROGRAM, "ring", "--steps", "1"], **misspelt),
            lambda: self.tca_run(3, PROGRAM, "ring", "--steps", "1", **misspelt),
            lambda: self.start([TCA, "info"], **misspelt),  # brings up several worlds
            lambda: self.start([TCA, "himeno", "--size", "XS", "--iterations", "1", "--ranks", "2"], **misspelt),
            lambda: self.start([TCA, "model", "pingpong", "--machine", "peach3", "--bytes", "8"], **misspelt),
        ]
        if MPIRUN:
            jobs.append(lambda: self.mpirun(3, "ring", "--steps", "1", **misspelt))
        for start in jobs:
            process = start()
            self.assertEqual(process.end(), 0, process.text())
            said = [line for line in process.lines if "is not a variable" in line]
            self.assertEqual(said, ["opentca: OPENTCA_CHANEL is not a variable of OpenTCA; did you mean OPENTCA_CHANNEL?"])

    def test_alone_beside_a_batch_system(self):
        slurm = {"SLURM_PROCID": "0", "SLURM_JOB_ID": "7"}
        for what, variables in (
            ("a batch script of two tasks", {**slurm, "SLURM_NTASKS": "2"}),
            ("a shell that srun has started", {**slurm, "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}),
            ("a shell in an allocation for four tasks",
             {**slurm, "SLURM_NTASKS": "4", "SLURM_STEP_ID": "4294967290", "SLURM_STEP_NUM_TASKS": "1"}),
            ("a shell that srun has given a PMI",
             {**slurm, "SLURM_NTASKS": "4", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "PMI_RANK": "0", "PMI_SIZE": "1"}),
            ("a shell of Flux", {**FLUX, "FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "1", "PMI_RANK": "0", "PMI_SIZE": "1"}),
            ("a script that numbers its processes", {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4"}),
        ):  # fmt: skip
            environment = {"OPENTCA_TIME_LIMIT": "2", **variables}
            with self.subTest(what):
                process = self.start([PROGRAM, "ring", "--steps", "5"], **environment)
                self.assertEqual(self.done(process), self.ALL_DONE[:1])
                # It starts ranks of its own.
                explained = self.start([TCA, "explain", "--ranks", "2"], **environment)
                self.assert_ends(explained, 0, "from rank 0 to rank 1")

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


class Environment(WorldTest):
    """What a process is told about its rank and cannot be."""

    def refused(self, pattern, code=USAGE, **environment):
        process = self.start([PROGRAM, "ring", "--steps", "1"], **environment)
        self.assert_ends(process, code, pattern)
        self.assertEqual(len(process.lines), 1, process.text())

    def test_ranks_and_sizes(self):
        control = {"OPENTCA_CONTROL": "/proc/self/fd/0"}
        for rank, size, pattern in (
            ("2", "2", "this is rank 2 of 2; a rank is 0 or more"),
            ("0", "0", "this is rank 0 of 0; a rank is 0 or more"),
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
        # The command line asks the library.
        process = self.start([TCA, "explain"], OPENTCA_RANK="one", OPENTCA_SIZE="2")
        self.assert_ends(process, USAGE, "^tca explain: OPENTCA_RANK=one is not a")

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
            for rank in ("0", "1"):
                self.refused(
                    "is not an OpenTCA segment",
                    INCOMPATIBLE, OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_CONTROL=file.name,
                )  # fmt: skip
            file.seek(0)
            self.assertEqual(file.read(), b"dear diary, " * 100)

    def test_fabrics(self):
        self.refused("OPENTCA_FABRIC is 'fax', and there is no such fabric; there are shm, cuda, mpi, shm\\+mpi, cuda\\+mpi and sim", OPENTCA_FABRIC="fax")
        if not CUDA:
            self.refused("fabric cuda .OPENTCA_FABRIC.: this OpenTCA was built without CUDA", OPENTCA_FABRIC="cuda")

    @unittest.skipUnless(CUDA and shutil.which("cc"), "this OpenTCA was built without CUDA, or there is no C compiler")
    def test_a_driver_that_is_too_old(self):
        """CUDA itself says of it what it says where there is none."""
        with tempfile.TemporaryDirectory() as folder:
            source = "int cuInit(unsigned flags) { return flags != 0; }\nint cuDriverGetVersion(int* v) { *v = 10020; return 0; }\n"
            driver = os.path.join(folder, "libcuda.so.1")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", driver], input=source, text=True, check=True)
            self.refused(
                "this machine's NVIDIA driver is for CUDA 10.2, and this OpenTCA was built with CUDA 1[2-9].[0-9]; update the driver",
                DEVICE_FAILED, OPENTCA_FABRIC="cuda", LD_LIBRARY_PATH=folder,
            )  # fmt: skip

    @unittest.skipUnless(CUDA, "this OpenTCA was built without CUDA")
    def test_ranks_that_choose_different_fabrics(self):
        script = f'[ $OPENTCA_RANK = 1 ] && export OPENTCA_FABRIC=cuda; exec {PROGRAM} ring'
        job = self.tca_run(3, "sh", "-c", script)
        self.assert_ends(job, INCOMPATIBLE, "rank 1 asks for the fabric cuda, rank 0 for shm; give every rank the same")

    def test_several_hosts(self):
        self.refused(
            "Open MPI started 2 of 4 ranks on this host; the shm fabric serves one host",
            OPENTCA_FABRIC="shm", OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_LOCAL_SIZE="2",
        )  # fmt: skip
        # Launchers that do not say how many ranks are here leave it to Slurm to say on how many hosts they are.
        job = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}
        for launcher, variables in (
            ("Slurm", {"SLURM_STEP_NUM_NODES": "2"}),
            ("Slurm", {"SLURM_NNODES": "2"}),
            ("PMIx", {"SLURM_STEP_NUM_NODES": "2", "SLURM_NNODES": "3", "PMIX_RANK": "0", "PMIX_SIZE": "4"}),
            ("Flux", {**FLUX, "FLUX_JOB_NNODES": "3", "FLUX_TASK_RANK": "0", "FLUX_JOB_SIZE": "4"}),
        ):
            with self.subTest(launcher=launcher, variables=variables):
                self.refused(
                    f"{launcher} started the 4 ranks on [23] hosts; the shm fabric serves one host",
                    OPENTCA_FABRIC="shm", **job, **variables,
                )  # fmt: skip

    def test_torchrun_on_several_hosts(self):
        here = {**TORCHRUN, "RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}
        self.refused("torchrun started 2 of 4 ranks on this host; the shm fabric serves one host", OPENTCA_FABRIC="shm", **here)
        if os.environ.get("TCA_HAS_MPI"):
            self.refused(r"fabric shm\+mpi: MPI knows nothing of the 4 ranks that torchrun has started, 2 of them on this host; start them by mpirun", **here)

    def test_ranks_of_launchers_that_are_not_here(self):
        slurm = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0"}
        for launcher, rank, job in (
            # a step on one host of several, and one of two tasks in an allocation for five
            ("Slurm", "SLURM_PROCID", {**slurm, "SLURM_NTASKS": "2", "SLURM_NNODES": "2", "SLURM_STEP_NUM_NODES": "1"}),
            ("Slurm", "SLURM_PROCID", {**slurm, "SLURM_NTASKS": "5", "SLURM_STEP_NUM_TASKS": "2"}),
            ("Flux", "FLUX_TASK_RANK", {**FLUX, "FLUX_JOB_SIZE": "2"}),
            ("torchrun", "RANK", {**TORCHRUN, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}),
        ):
            with self.subTest(launcher):
                for process in [self.start([PROGRAM, "ring", "--steps", "5"], **job, **{rank: number}) for number in "01"]:
                    self.assert_ends(process, 0, "done")
                # Only one of them comes.
                for number, other in (("0", "for rank 1; was it started"), ("1", "for rank 0 to set up the world")):
                    alone = self.start([PROGRAM, "ring"], OPENTCA_TIME_LIMIT="0.3", **job, **{rank: number})
                    self.assert_ends(
                        alone, TIMED_OUT,
                        rf"{other}.* {launcher} says that this is rank {number} of 2, by {rank}={number} and \w+=2; what is no rank is started by `env -u {rank}`",
                    )  # fmt: skip
        self.assert_nothing_left()

    def test_launched_twice_at_once(self):
        # A second program of the same launch finds the seats taken, whichever rank it claims.
        job = self.tca_run(2, "sh", "-c", f"{PROGRAM} hold & sleep 1; {PROGRAM} ring --steps 3; kill $!; exit 7")
        self.assert_ends(job, INCOMPATIBLE, "rank [01] of this launch is already taken by process .*one program at a time")
        self.assert_nothing_left()

    def test_two_claim_one_rank(self):
        _, control = self.launcher_memory()
        both = [
            self.start([PROGRAM, "hold"], OPENTCA_RANK=rank, OPENTCA_SIZE="3", OPENTCA_TIME_LIMIT="2",
                       OPENTCA_CONTROL=control)
            for rank in ("0", "1", "1")
        ]  # fmt: skip
        codes = sorted(process.end() for process in both)
        self.assertEqual(codes, [TIMED_OUT, TIMED_OUT, INCOMPATIBLE])
        text = "\n".join(process.text() for process in both)
        self.assertRegex(text, "rank 1 of this launch is already taken by process")
        self.assertRegex(text, "for rank 2; was it started")


class OneAfterTheOther(WorldTest):
    """Worlds of one launch, in one program and in several."""

    def test_in_one_program(self):
        for late in ("-1", "0", "1", "2"):
            job = self.tca_run(3, PROGRAM, "worlds", "--steps", "50", "--who", late)
            self.assert_ends(job, 0, "descriptors")
        self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_in_one_program_of_mpirun(self):
        self.assert_ends(self.mpirun(3, "worlds", "--steps", "50"), 0, "descriptors")
        self.assert_nothing_left()

    def test_in_one_script(self):
        ring = f"{PROGRAM} ring --steps"
        for worlds, script in (
            (3, f"{ring} 30 && {ring} 300 && {ring} 3"),
            (2, f"{ring} 3; sleep 0.$OPENTCA_RANK; {ring} 30"),
            (2, f"{ring} 3; sleep 0.$((3 - OPENTCA_RANK)); {ring} 30"),
        ):
            with self.subTest(script):
                job = self.tca_run(3, "sh", "-c", script, OPENTCA_TIME_LIMIT="5")
                self.assertEqual(job.end(), 0, job.text())
                self.assertEqual(sum(line.endswith("done") for line in job.lines), 3 * worlds, job.text())
        self.assert_nothing_left()

    def test_after_a_world_whose_ranks_failed(self):
        lost = f"{PROGRAM} ring --who 1 --how abort --step 5"
        job = self.tca_run(3, "sh", "-c", f"{lost} || {PROGRAM} ring --steps 30")
        self.assert_ends(job, 0, "rank 0: done")
        self.assert_nothing_left()

    def test_after_a_world_to_which_a_rank_did_not_come(self):
        with tempfile.TemporaryDirectory() as folder:
            over = f"{folder}/over"
            for pauses in ((0.3, 0), (0, 0.3)):  # which of the two comes to the second program first
                first = f"OPENTCA_TIME_LIMIT=0.5 {PROGRAM} ring; touch {over}; sleep {pauses[0]}"
                other = f"until [ -e {over} ]; do sleep 0.02; done; sleep {pauses[1]}"
                script = f"if [ $OPENTCA_RANK = 0 ]; then {first}; else {other}; fi; exec {PROGRAM} ring --steps 30"
                with self.subTest(pauses):
                    job = self.tca_run(2, "sh", "-c", script, OPENTCA_TIME_LIMIT="10")
                    self.assert_ends(job, 0, "rank 0 waited 0.* for rank 1; was it started", "rank 0: done", "rank 1: done")
                    os.unlink(over)
        self.assert_nothing_left()

    def test_after_a_world_that_was_refused(self):
        refused = f'[ $OPENTCA_RANK = 1 ] && size=3; OPENTCA_SIZE=${{size:-2}} {PROGRAM} ring'
        job = self.tca_run(2, "sh", "-c", f"{refused}; exec {PROGRAM} ring --steps 30", OPENTCA_TIME_LIMIT="10")
        self.assert_ends(job, 0, "rank 0: done", "rank 1: done", "rank 1 says that the world has 3 ranks, rank 0 2")
        self.assert_nothing_left()

    def test_that_was_refused_and_that_rank_0_has_not_left_yet(self):
        memory, control = self.launcher_memory()

        def start(rank, size):
            return self.start([PROGRAM, "ring", "--steps", "30"], OPENTCA_RANK=str(rank), OPENTCA_SIZE=str(size),
                              OPENTCA_CONTROL=control, OPENTCA_TIME_LIMIT="10")  # fmt: skip

        first = start(0, 2)
        self.await_rank_0(memory, first)
        first.popen.send_signal(signal.SIGSTOP)
        self.assert_ends(start(1, 3), INCOMPATIBLE, "rank 1 says that the world has 3 ranks, rank 0 2")
        last = start(1, 2)
        time.sleep(0.3)
        first.popen.send_signal(signal.SIGCONT)
        self.assert_ends(first, INCOMPATIBLE, "rank 1 says that the world has 3 ranks, rank 0 2")
        self.assert_ends(start(0, 2), 0, "rank 0: done")
        self.assert_ends(last, 0, "rank 1: done")

    # Which leaves no mark in a seat of its own.
    @unittest.skipUnless(OTHER, "needs a static library, to build a program with another version of it")
    def test_that_was_refused_by_another_build_and_that_rank_0_has_not_left_yet(self):
        memory, control = self.launcher_memory()
        refusal, written = 48, 2  # in the header

        def start(rank, *command):
            return self.start(command, OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_TIME_LIMIT="10",
                              OPENTCA_CONTROL=control)  # fmt: skip

        ring = [PROGRAM, "ring", "--steps", "30"]
        first = start("0", *ring)
        self.await_rank_0(memory, first)
        first.popen.send_signal(signal.SIGSTOP)
        last = start("1", "sh", "-c", f"{OTHER} ring; exec {' '.join(ring)}")
        self.assertTrue(wait_until(lambda: os.pread(memory, 4, refusal) == struct.pack("i", written)))
        time.sleep(0.3)
        first.popen.send_signal(signal.SIGCONT)
        self.assert_ends(first, INCOMPATIBLE, "start every rank from the same build")
        self.assert_ends(start("0", *ring), 0, "rank 0: done")
        self.assert_ends(last, 0, "start every rank from the same build", "rank 1: done")

    def test_that_never_began_since_rank_0_was_killed(self):
        memory, control = self.launcher_memory()
        os.ftruncate(memory, 50000)
        ranks = [
            self.start([PROGRAM, "ring", "--steps", "30"], OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_TIME_LIMIT="5",
                       OPENTCA_CONTROL=control)
            for rank in ("0", "1")
        ]  # fmt: skip
        for process in ranks:
            self.assert_ends(process, 0, "done")

    def test_a_rank_too_late_for_a_world_that_ended_says_why_it_did(self):
        _, control = self.launcher_memory()
        for rank, limit in (("0", "0.3"), ("1", "0.5")):
            process = self.start([PROGRAM, "ring"], OPENTCA_RANK=rank, OPENTCA_SIZE="2", OPENTCA_TIME_LIMIT=limit,
                                 OPENTCA_CONTROL=control)  # fmt: skip
            process.end()
        self.assert_ends(process, RANK_LOST, "rank 0 failed .it waited too long for rank 1")

    def test_while_a_world_is_there(self):
        for what in ("world", "window"):
            job = self.tca_run(2, PROGRAM, "second", "--how", what)
            self.assert_ends(job, USAGE, "rank [01] of this launch is already taken by this very process; .*gone")
        self.assert_nothing_left()

    def test_while_others_are_in_the_one_before(self):
        ranks = self.ranks(3, "second", "--who", "1", "--how", "stays", OPENTCA_TIME_LIMIT="0.5")
        self.assert_ends(ranks[0], TIMED_OUT, r"rank 0 waited 0\.\d s in start-up .* for rank 1 to leave the world before")
        self.assert_ends(ranks[2], TIMED_OUT, "rank 2 waited .* for rank 0 to set up the world")


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

    @unittest.skipIf("UBSAN_OPTIONS" in os.environ, "a sanitizer needs terabytes of addresses")
    def test_a_limit_of_one_rank(self):
        job = self.tca_run(2, "sh", "-c", '[ $OPENTCA_RANK = 1 ] && ulimit -v 100000; exec "$0" "$@"', PROGRAM, "ring")
        self.assert_ends(job, OUT_OF_MEMORY, r"rank 1 could not get its memory for start-up \(inboxes\): Cannot .*: this process has \d+ MiB of address space, and `ulimit -v` allows 97 MiB; raise it")
        self.assertEqual(job.text().count("could not get"), 2, job.text())
        self.assert_nothing_left()

    # It has memory for its own part, and none to map the other's.
    @unittest.skipIf("UBSAN_OPTIONS" in os.environ, "a sanitizer needs terabytes of addresses")
    def test_a_limit_that_only_keeps_one_rank_from_mapping(self):
        job = self.tca_run(2, "sh", "-c", 'if [ $OPENTCA_RANK = 1 ]; then ulimit -v 2000000; mib=1; else mib=2000; fi; exec "$0" window --mib $mib', PROGRAM)
        self.assert_ends(job, OUT_OF_MEMORY, r"rank 1: cannot map the \d+ bytes of process \d+: .*`ulimit -v`")
        self.assertEqual(job.text().count("cannot map"), 2, job.text())
        self.assert_nothing_left()

    def test_a_limit_on_the_size_of_files(self):
        # In a shell's blocks of 512 or 1024 bytes: a file of 50 or 100 MB, and one too small for the ranks to meet in.
        for blocks, words in (("100000", r"rank 0 could not get its memory for start-up \(inboxes\): File too large: files may have \d+ KiB here .*ulimit -f"),
                              ("1", r"shared memory cannot hold the \d+ bytes that 2 ranks meet in .*ulimit -f")):  # fmt: skip
            with self.subTest(blocks):
                job = self.tca_run(2, "sh", "-c", f'ulimit -f {blocks}; exec "$0" "$@"', PROGRAM, "ring")
                self.assert_ends(job, OUT_OF_MEMORY, words)
        self.assert_nothing_left()

    def test_size_that_overflows(self):
        self.assert_ends(self.start([PROGRAM, "window", "--mib", "-5"]), USAGE, "elements cannot be; a window has none or more")

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
