"""`tca spin` as its users see it: what it prints and checks, lines of JSON, refusals.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there."""

import json
import os
import re
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
REFUSED = 2
SMALL = ("--extent", "8", "--rounds", "4")


class SpinTest(CommandTest):
    def spin(self, *arguments):
        return subprocess.run([TCA, "spin", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.spin(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: over-relaxation keeps the energy of a site up to [0-9.e-]+, ")
        return done.stdout

    def energy(self, said):
        return re.search(r"\nenergy +(-[0-9.]+) ", said)[1]

    def test_every_way_to_start_it_has_the_same_spins(self):
        energies = set()
        for start in (
            ("--ranks", "1"),
            ("--ranks", "2", "--no-overlap"),
            ("--ranks", "4", "--threads", "--grid", "1x2x2"),
            ("--ranks", "2", "--fabric", "sim"),
        ):
            with self.subTest(start=start):
                said = self.assert_right(*start, *SMALL)
                self.assertRegex(said, r"\nOpenTCA +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+\n")
                energies.add(self.energy(said))
        self.assertEqual(len(energies), 1, energies)

    def test_rings_are_held_against_their_exact_energy(self):
        said = self.assert_right("--ranks", "2", "--couplings", "rings", "--double", "--extent", "8", "--rounds", "200")
        self.assertRegex(said, r"\nenergy +-[0-9.]+ \+- [0-9.]+ a site; -0\.31304 is exact\n")

    def test_replicas_tell_how_near_equilibrium_is(self):
        self.assertIn("; by the replicas' overlaps -", self.assert_right("--ranks", "2", "--replicas", "2", *SMALL))

    def test_replicas_exchange_temperatures(self):
        arguments = ("--couplings", "rings", "--temperatures", "0.5,0.6,0.7", "--extent", "4x4x16", "--rounds", "64")
        said = self.assert_right("--ranks", "2", "--threads", *arguments, "--json", self.path("out.jsonl"))
        self.assertIn(", temperatures 0.5 to 0.7, ", said)
        self.assertRegex(said, r"\n +0\.5 +-[0-9.]+ +[0-9.]+ +-0\.53731 +changes? place with the next in [0-9]+ % of tries\n")
        with open(self.path("out.jsonl")) as file:
            temperatures = json.load(file)["temperatures"]
        self.assertEqual([one["temperature"] for one in temperatures], [0.5, 0.6, 0.7])
        self.assertEqual({len(one["energies"]) for one in temperatures}, {64})
        self.assertTrue(0 < temperatures[0]["acceptance"] < 1, temperatures)

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi(self):
        said = self.assert_right("--ranks", "2", *SMALL, "--compare", "--json", self.path("out.jsonl"))
        self.assertRegex(said, r"\nsweeping +[0-9.]+ us, MPI [0-9.]+: ")
        with open(self.path("out.jsonl")) as file:
            own, peer = (json.loads(line) for line in file)
        self.assertEqual((own["bench"], own["peer"], peer["peer"]), ("heisenberg_spin_glass", None, "mpi"))
        self.assertEqual((own["right"], own["extents"], own["ranks"]), (True, [8, 8, 8], 2))
        self.assertGreater(own["ps_an_update"], 0)
        self.assertEqual([message["name"] for message in own["messages"]], ["HALO", "SUM"])
        self.assertIn("ratio_low", peer)

    def test_refusals(self):
        for arguments, reason in (
            (("--extent", "7"), "extent 7x7x7: sites are updated in two colours"),
            (("--extent", "8x8"), "--extent 8x8: give one number, or three"),
            (("--extent", "8", "--grid", "1x1x2", "--ranks", "3"), "--grid 1x1x2"),
            (("--extent", "2", "--grid", "1x1x2", "--ranks", "2"), "dimension 2 has 1 cell for 2 ranks"),
            (("--beta", "0"), "the inverse temperature is above 0"),
            (("--heat-bath", "0", "--over-relaxation", "0"), "leave nothing to do"),
            (("--temperatures", "0.5,0.4"), "temperatures 0.5,0.4: each is above 0 and above the one before"),
            (("--temperatures", "0.5", "--beta", "2"), "--beta excludes --temperatures"),
            (("--start", "kernel"), "--start kernel needs --fabric cuda"),
            (("--plot", "out.txt"), "must end in .svg, .png or .pdf"),
            (("--compare", "--rounds", "1"), "--compare needs at least 2 rounds"),
            (("--channel", "FACE=shm/pull"), "FACE"),
        ):
            with self.subTest(arguments=arguments):
                done = self.spin(*arguments)
                self.assertEqual(done.returncode, REFUSED, done.stdout + done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
