"""`tca mpi` in front of programs for each MPI: their answers, which way their calls went, and what is said where they go none.

Standard library only. TCA names the command line under test, PROGRAMS is where the programs are, and mpis.py says which MPIs there are."""

import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(HERE, "..", "..", folder) for folder in ("cli", "hosts"))]
from commands import PATIENCE, TCA, CommandTest  # noqa: E402
from hosts import PREFIX, HostsTest  # noqa: E402
from mpis import MPIS, SETTINGS, WITH_FORTRAN, tool  # noqa: E402


def program(mpi, name):
    return os.path.join(os.environ["PROGRAMS"], f"{name}-{mpi}")


class MpiTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment.update(SETTINGS)

    def mpirun(self, mpi, *command, ranks=2):
        run = subprocess.run(
            [tool(mpi, "mpirun"), "-n", str(ranks), *command],
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            env=self.environment,
            stdin=subprocess.DEVNULL,
        )
        return run

    def for_each_mpi(self, mpis=MPIS):
        for mpi in mpis:
            with self.subTest(mpi):
                yield mpi

    def row(self, report, call):
        lines = [line.split() for line in report.splitlines() if line.startswith(call + " ")]
        self.assertEqual(len(lines), 1, report)
        return dict(zip(("served", "early", "size", "type", "many", "comm", "denied"), map(int, lines[0][1:])))


class Serving(MpiTest):
    CALLS = ("Barrier", "Bcast", "Reduce", "Allreduce", "Allgather", "Alltoall", "Reduce_scatter_block")

    def test_collectives_are_served_and_what_mpi_makes_of_them(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, TCA, "mpi", "--report", "--check", program(mpi, "collectives"))
            self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
            for call in self.CALLS:
                self.assertGreater(self.row(run.stderr, "MPI_" + call)["served"], 0, run.stderr)

    def test_neighbours_are_served_as_mpi_does_it(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, TCA, "mpi", "--report", "--check", program(mpi, "neighbours"), ranks=3)
            self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
            for call in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"):
                row = self.row(run.stderr, "MPI_Neighbor_" + call)
                self.assertEqual((row["served"], row["early"]), (72, 24), run.stderr)

    def test_neighbours_of_several_hosts_are_left_to_mpi(self):
        for mpi in self.for_each_mpi():
            self.environment["OPENTCA_SUBCLUSTER"] = "1"
            run = self.mpirun(mpi, TCA, "mpi", "--report", "--deny", "neighbor_allgather", program(mpi, "neighbours"))
            self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
            self.assertEqual(self.row(run.stderr, "MPI_Neighbor_alltoall")["comm"], 48, run.stderr)
            self.assertEqual(self.row(run.stderr, "MPI_Neighbor_allgather")["denied"], 64, run.stderr)

    def test_a_check_finds_what_differs_and_other_tools_are_called(self):
        for mpi in self.for_each_mpi():
            wrong = program(mpi, "wrong")
            self.environment["LD_PRELOAD"] = wrong
            run = self.mpirun(mpi, TCA, "mpi", "--check", program(mpi, "collectives"))
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("MPI_Allreduce is not what MPI makes of it: number 0 is", run.stderr)

    def test_fortran_goes_the_same_way(self):
        for mpi in self.for_each_mpi(WITH_FORTRAN):
            run = self.mpirun(mpi, TCA, "mpi", "--report", program(mpi, "fortran"))
            self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
            self.assertEqual(self.row(run.stderr, "MPI_Allreduce"), {**self.row(run.stderr, "MPI_Allreduce"), "served": 20, "early": 4})
            self.assertEqual(self.row(run.stderr, "MPI_Barrier")["served"], 8)
            for call in ("allgather", "alltoallv", "alltoallw"):
                self.assertEqual(self.row(run.stderr, "MPI_Neighbor_" + call)["served"], 8, run.stderr)

    def test_what_is_denied_is_left_to_mpi(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, TCA, "mpi", "--report", "--deny", "barrier,MPI_Bcast", program(mpi, "odd"))
            self.assertEqual(self.row(run.stderr, "MPI_Barrier")["denied"], 20, run.stderr)
            self.assertEqual(self.row(run.stderr, "MPI_Allreduce")["served"], 16, run.stderr)


class Counting(MpiTest):
    def test_a_census_counts_and_serves_nothing(self):
        for mpi in self.for_each_mpi(WITH_FORTRAN):
            file = self.path(f"census-{mpi}.json")
            run = self.mpirun(mpi, TCA, "mpi", "--json", file, program(mpi, "fortran"))
            self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
            self.assertRegex(run.stderr, r"census of 2 ranks[\s\S]*MPI_Allreduce +24 +192 [\s\S]*OpenTCA serves")
            with open(file) as lines:
                rows = [json.loads(line) for line in lines]
            sums = [row for row in rows if row["call"] == "MPI_Allreduce" and row["rank"] == 1]
            self.assertEqual([(row["calls"], row["bytes"], row["communicator"], row["ranks"]) for row in sums], [(12, 96, "MPI_COMM_WORLD", 2)])
            self.assertIn("MPI_Isend", {row["call"] for row in rows})


class GoingWrong(MpiTest):
    def test_odd_programs_end_as_without(self):
        for mpi in self.for_each_mpi():
            odd = program(mpi, "odd")
            for what in ("between", "operation", "threads") + (("spawn",) if mpi != "mpich" else ()):
                run = self.mpirun(mpi, TCA, "mpi", odd, what)
                self.assertEqual(run.returncode, 0, what + run.stderr)
                self.assertIn("ended well", run.stdout)
                self.assertNotIn("tca mpi:", run.stderr)

    def test_an_abort_and_a_death_end_the_job(self):
        for mpi in self.for_each_mpi():
            odd = program(mpi, "odd")
            for what in ("abort", "die"):
                self.assertEqual(self.mpirun(mpi, TCA, "mpi", odd, what).returncode, self.mpirun(mpi, odd, what).returncode, what)

    def test_a_rank_without_the_library_has_all_left_to_mpi(self):
        for mpi in self.for_each_mpi():
            odd = program(mpi, "odd")
            run = self.mpirun(mpi, TCA, "mpi", odd, ":", "-n", "1", odd)
            self.assertEqual((run.returncode, run.stdout), (0, "ended well\n"))
            self.assertIn("everything is left to MPI: rank 2 of this host runs without the library", run.stderr)

    def test_programs_whose_mpi_is_not_to_be_seen_run_as_they_are(self):
        script = self.path("script")
        with open(script, "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
            file.write("#!/bin/sh\n")
        for command, why in ((["true"], "neither Open MPI 4 nor MPICH"), ([script], "is a script")):
            run = subprocess.run([TCA, "mpi", *command], capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
            self.assertIn(why, run.stderr)
        source = self.path("static.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 3; }\n")
        subprocess.run(["cc", "-static", source, "-o", self.path("static")], check=True)
        run = subprocess.run([TCA, "mpi", self.path("static")], capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual(run.returncode, 3)
        self.assertIn("is linked statically", run.stderr)

    def test_a_named_mpi_that_cannot_be_found_is_said(self):
        libraries = glob.glob(os.path.join(os.path.dirname(TCA), "..", "*", "opentca"))[0].split(os.sep)[-2:]
        for folder in (["bin"], libraries):
            os.makedirs(self.path(os.path.join(*folder)))
        tca, missing, before = self.path("bin/tca"), self.path("libmissing.so"), self.path(os.path.join(*libraries, "libtca-mpi-abi.so"))
        shutil.copy(TCA, tca)
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", missing], check=True)
        subprocess.run(["cc", "-shared", "-Wl,--no-as-needed", missing, "-o", before], check=True)
        os.remove(missing)
        run = subprocess.run([tca, "mpi", "--mpi", "abi", "echo", "ran"], capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual((run.returncode, run.stdout), (0, "ran\n"), run.stderr)
        self.assertIn("the loader does not find", run.stderr)

    def test_only_served_calls_can_be_denied(self):
        mpi = MPIS[0]
        for names, why in (
            ("Bcast,MPI_Foo", "`MPI_Foo` is no call that OpenTCA serves; it serves Barrier, .*Neighbor_alltoallw.* Send, "),
            ("barier", "did you mean `Barrier`\\?"),
        ):
            run = subprocess.run([TCA, "mpi", "--deny", names, "true"], capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertRegex(run.stderr, "^tca mpi: --deny: .*" + why)
        self.environment["OPENTCA_MPI_DENY"] = "Bcast, Foo,bar"
        run = self.mpirun(mpi, TCA, "mpi", program(mpi, "odd"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("rank 0: OPENTCA_MPI_DENY names no call that OpenTCA serves by Foo, bar"), 1, run.stderr)

    def test_a_program_that_cannot_run_ends_as_in_a_shell(self):
        plain = self.path("plain")
        open(plain, "w").close()
        for name, code in (("no-such-program", 127), (plain, 126), (self.folder, 126)):
            run = subprocess.run([TCA, "mpi", name], capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (code, 1), run.stderr)

    def test_a_setting_that_cannot_be_is_said_once(self):
        mpi = MPIS[0]
        self.environment["OPENTCA_MPI"] = "colls"
        run = self.mpirun(mpi, TCA, "mpi", program(mpi, "odd"))
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr.count("OPENTCA_MPI=colls: choose off, census, coll or all"), 1, run.stderr)


@unittest.skipUnless("HOST_SWITCH" in os.environ, "there is no switch between hosts in this build")
class SeveralHosts(HostsTest):
    def run_on_two(self, mpi, command):
        job = self.hosts(2).mpirun(tool(mpi, "mpirun"), 1, command, OPENTCA_TIME_LIMIT="2")
        self.addCleanup(self.end, job)
        return self.finish(job, 60)

    def test_they_are_served_together(self):
        for mpi in MPIS:
            text, code = self.run_on_two(mpi, [TCA, "mpi", "--report", program(mpi, "odd")])
            self.assertEqual(code, 0, text)
            self.assertRegex(text, r"MPI_Allreduce +16 +4 ")

    def test_a_host_without_the_library_is_no_riddle(self):
        for mpi in MPIS:
            odd = program(mpi, "odd")
            text, code = self.run_on_two(mpi, ["sh", "-c", f"case $(hostname) in host0) exec {TCA} mpi {odd};; *) exec {odd};; esac"])
            self.assertNotEqual(code, 0, text)
            self.assertEqual(text.count("rank 0: after 2 s not all ranks of other hosts have come"), 1, text)

    def test_programs_of_several_hosts_are_left_to_open_mpi(self):
        if "openmpi" not in MPIS:
            self.skipTest("Open MPI is not here")
        odd = program("openmpi", "odd")
        text, code = self.run_on_two("openmpi", [TCA, "mpi", odd, ":", "--host", f"{PREFIX}2:2", "-n", "1", odd])
        self.assertEqual(code, 0, text)
        self.assertIn("ended well", text)
        self.assertEqual(text.count("everything is left to MPI: the job has several programs on several hosts"), 1, text)


if __name__ == "__main__":
    unittest.main()
