"""`tca scorecard` and `tca fit` as a user types them.

Standard library only. TCA names the command line under test, MACHINES the folder of the machine files."""

import difflib
import json
import os
import re
import resource
import shutil
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MACHINES = os.environ.get("MACHINES", "machines")
KEYS = ["source", "figure", "config", "unit", "published", "model", "error", "use"]


class ScorecardTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.machines = self.environment["OPENTCA_MACHINES"] = self.path("machines")
        shutil.copytree(MACHINES, self.machines)
        self.empty = self.path("empty")
        os.mkdir(self.empty)

    def tca(self, *arguments, **further):
        return subprocess.run(
            [TCA, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment, **further
        )

    def read(self, name):
        with open(os.path.join(self.machines, name)) as file:
            return file.read()

    def write(self, name, text):
        with open(os.path.join(self.machines, name), "w") as file:
            file.write(text)

    def test_json_has_every_key_in_every_line(self):
        done = self.tca("scorecard", "--source", "PP", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertEqual(list(line)[: len(KEYS)], KEYS)
            self.assertIn("reason" if line["use"] == "unusable" else "model", line)

    def test_table_ends_with_what_it_comes_to(self):
        done = self.tca("scorecard", "--source", "PP")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"fitted +1 .*\npredicted +1 .*\nunusable +1\n$")

    def test_refusals_are_one_line(self):
        self.write("published/pp.toml", self.read("published/pp.toml").replace('use = "fitted"', 'use = "fited"'))
        for arguments, words in (
            (("scorecard",), r"pp\.toml:\d+:\d+: `use` is fitted, predicted or unusable"),
            (("scorecard", "--source", "XX", "--figures", MACHINES + "/published"), "no figures of a source `XX`"),
            (("fit", "nowhere"), "there is no machine `nowhere`"),
            (("scorecard", "--figures", "/nope"), "^tca scorecard: /nope: cannot be read as a folder of figures: No such file"),
            (("fit", "--figures", "/nope"), "^tca fit: /nope: cannot be read as a folder of figures: No such file"),
            (("scorecard", "--figures", self.empty), "^tca scorecard: .*: there are no figures in it"),
        ):
            done = self.tca(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertRegex(done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_fit_writes_numbers_in_place_and_again_the_same(self):
        before = self.read("quong.toml")
        moved = re.sub(r"^start = \{ value = [\d.]+", "start = { value = 2.2", before, flags=re.M)
        results = []
        for _ in range(2):
            self.write("quong.toml", moved)
            done = self.tca("fit", "quong", "--only", "ape/start", "--write")
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append(self.read("quong.toml"))
        self.assertEqual(results[0], results[1])
        changed = [line for line in difflib.ndiff(moved.splitlines(), results[0].splitlines()) if line[0] in "+-"]
        self.assertEqual(len(changed), 2, changed)
        self.assertRegex(changed[1], r'^\+ start = \{ value = [\d.]+, unit = "us", fitted = "fit: S4')
        self.assertNotIn("2.2,", changed[1])

    def test_fit_takes_the_file_that_it_is_given(self):
        moved = re.sub(r"^start = \{ value = [\d.]+", "start = { value = 1.0", self.read("quong.toml"), flags=re.M)
        elsewhere = os.path.join(self.empty, "quong.toml")
        with open(elsewhere, "w") as file:
            file.write(moved)
        by_path = self.tca("fit", elsewhere, "--only", "ape/start", "--rounds", "3")
        self.write("quong.toml", moved)
        by_name = self.tca("fit", "quong", "--only", "ape/start", "--rounds", "3")
        self.assertEqual((by_path.returncode, by_name.returncode), (0, 0), by_path.stderr)
        self.assertEqual(by_path.stdout, by_name.stdout)
        self.assertNotRegex(by_path.stdout, r"ape/start +1 +1 ")

    # As on a disk that is full.
    def test_fit_says_what_it_could_not_write(self):
        before = self.read("quong.toml")
        done = self.tca(
            *("fit", "quong", "--only", "ape/start", "--rounds", "1", "--write"),
            restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
        )
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr, r"tca fit: .*/quong\.toml: cannot be written: File too large\n$")
        self.assertNotIn("written to", done.stdout)
        self.assertEqual(self.read("quong.toml"), before)
        self.assertEqual([name for name in os.listdir(self.machines) if name.startswith("quong.toml")], ["quong.toml"])

    @unittest.skipIf(os.geteuid() == 0, "root may write to any file")
    def test_fit_does_not_replace_what_may_not_be_written(self):
        os.chmod(os.path.join(self.machines, "quong.toml"), 0o444)
        done = self.tca("fit", "quong", "--only", "ape/start", "--write")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^tca fit: .*/quong\.toml: cannot be written: Permission denied\n$")

    def test_own_figures_are_those_of_the_results(self):
        medians = set()
        for gpus in (2, 4):
            name = f"2026-11-21-gpu-{gpus}xh200.jsonl"
            with open(os.path.join(MACHINES, "..", "bench", "results", name)) as file:
                medians |= {float(f"{json.loads(line)['median_us']:.4g}") for line in file}
        done = self.tca("scorecard", "--source", "own", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        usable = [line for line in lines if line["use"] != "unusable"]
        self.assertGreater(len(usable), 40)
        for line in usable:
            self.assertIn(line["published"], medians, line)


if __name__ == "__main__":
    unittest.main()
