"""`tca pic` as its users see it: what it prints and checks, lines of JSON, drawings, decks of files, refusals.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there."""

import json
import os
import re
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
REFUSED = 2
SMALL = ("--extent", "8x32", "--steps", "110")


class PicTest(CommandTest):
    def pic(self, *arguments):
        return subprocess.run([TCA, "pic", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.pic(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: the divergence of E is the charge density up to [0-9.e-]+ of the plasma's")
        return done.stdout

    def deck(self, text):
        with open(self.path("deck.toml"), "w") as file:
            file.write(text)
        return self.path("deck.toml")

    def test_every_way_to_start_it_has_the_same_particles(self):
        digests = set()
        for start in (
            ("--ranks", "1"),
            ("--ranks", "2", "--grid", "2x1", "--explain"),
            ("--ranks", "2", "--fabric", "sim", "--check-every", "50"),
        ):
            with self.subTest(start=start):
                said = self.assert_right(*start, *SMALL)
                self.assertRegex(said, r"\nwave +plasma frequency [0-9.]+; [0-9.]+ is known")
                self.assertRegex(said, r"\nOpenTCA +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+\n")
                digests.add(re.search(r"\ndigest +([0-9a-f]{16}), on any number of ranks\n", said)[1])
        self.assertEqual(len(digests), 1, digests)

    def test_a_deck_of_a_file(self):
        deck = self.deck('like = "langmuir"\nthermal = 0.1\nextents = [4, 4, 16]\nsteps = 5\n')
        said = self.assert_right("--ranks", "2", "--deck", deck, "--fast", "--threads", "--json", self.path("out.jsonl"))
        self.assertIn(" 2048 electrons, 5 steps of ", said)
        with open(self.path("out.jsonl")) as file:
            (line,) = (json.loads(line) for line in file)
        self.assertEqual((line["bench"], line["deck"], line["extents"], line["particles"]), ("pic", deck, [4, 4, 16], 2048))
        self.assertEqual((line["right"], line["sums"]), (True, "floating"))
        self.assertEqual([message["name"] for message in line["messages"]], ["CURRENT", "FIELD", "PARTICLES"])

    def test_draws_history_frames_and_spectrum(self):
        done = self.pic("--ranks", "2", "--threads", "--extent", "8x16", "--steps", "9", "--plot", self.path("pictures"))
        if "matplotlib is not there" in done.stderr:
            self.skipTest("matplotlib is not on this machine")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(sorted(os.listdir(self.path("pictures"))), ["frames.svg", "history.svg", "spectrum.svg"])
        for name in os.listdir(self.path("pictures")):
            with open(os.path.join(self.path("pictures"), name)) as file:
                self.assertIn("A plasma: langmuir", file.read())

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi(self):
        said = self.assert_right("--ranks", "2", *SMALL, "--compare", "--json", self.path("out.jsonl"))
        self.assertRegex(said, r"\nstepping +[0-9.]+ us, MPI [0-9.]+: ")
        with open(self.path("out.jsonl")) as file:
            own, peer = (json.loads(line) for line in file)
        self.assertEqual((own["peer"], peer["peer"]), (None, "mpi"))
        self.assertIn("ratio_low", peer)

    def test_ctrl_c_leaves_no_file(self):
        self.assert_interrupted_while("simulating", "pic", "--ranks", "2", "--steps", "1000000", "--json", self.path("out.jsonl"))
        self.assertFalse(os.path.exists(self.path("out.jsonl")))

    def test_refusals(self):
        for arguments, reason in (
            (("--deck", "tokamak"), "there is no deck `tokamak`; there are langmuir, two-stream, wakefield, vacuum"),
            (("--deck", self.path("none.toml")), "none.toml"),
            (("--deck", self.deck("steps = 3\nthermel = 1\n")), "deck.toml:2:1: `thermel` means nothing in a deck; there are "),
            (("--extent", "8"), "--extent 8: give two numbers (y, x), or three"),
            (("--ranks", "3", "--threads"), "cannot be dealt out evenly to 3 ranks"),
            (("--extent", "65536x65536", "--ranks", "8", "--threads"), "GiB"),
            (("--extent", "65536x65536", "--ranks", "1"), "a rank holds fewer than 2^31 cells"),
            (("--plot", "/dev/null/pictures"), "--plot /dev/null/pictures: this folder cannot be made"),
            (("--compare", "--steps", "1"), "--compare needs at least 2 steps"),
            (("--start", "graph"), "--start graph is for GPUs: --fabric cuda"),
            (("--channel", "CHARGE=shm/pull"), "CHARGE"),
        ):
            with self.subTest(arguments=arguments):
                done = self.pic(*arguments)
                self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_values_of_decks(self):
        for text, reason in (
            ("cfl = 1.5", "cfl = 1.5: a time step is above 0 and below 1 times the longest"),
            ("steps = -1", "deck.toml:1:9: this is not a whole number"),
            ("drift = 1", "a velocity is below that of light"),
            ("laser = 3", "deck.toml:1:9: a laser is a table: [laser]"),
            ('like = "x"', "deck.toml:1:8: like: this is none of langmuir"),
            ("cell = ", "deck.toml:1:"),
        ):
            with self.subTest(text=text):
                done = self.pic("--ranks", "1", "--deck", self.deck(text + "\n"))
                self.assertEqual((done.returncode, done.stdout), (REFUSED, ""))
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
