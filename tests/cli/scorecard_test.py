"""`tca scorecard` and tools/fit/fit.py as a user types them; the latter needs SciPy.

Otherwise the standard library only. TCA names the command line under test, MACHINES the folder of the machine files."""

import difflib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import unittest

from commands import PATIENCE, TCA, CommandTest

MACHINES = os.environ.get("MACHINES", "machines")
KEYS = ["source", "figure", "config", "unit", "published", "model", "error", "use"]


class MachinesTest(CommandTest):
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


class ScorecardTest(MachinesTest):
    def test_json_has_every_key_in_every_line(self):
        done = self.tca("scorecard", "--source", "nakao-pingpong", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 25)
        for line in lines:
            self.assertEqual(list(line)[: len(KEYS)], KEYS)
            self.assertIn("reason" if line["use"] == "unusable" else "model", line)

    # P2B and the like are what sources were called at first.
    def test_a_source_by_its_former_name(self):
        former, now = (self.tca("scorecard", "--source", name).stdout for name in ("PP", "nakao-pingpong"))
        self.assertIn("nakao-pingpong: ", now)
        self.assertEqual(former, now)

    def test_table_ends_with_what_it_comes_to(self):
        done = self.tca("scorecard", "--source", "nakao-pingpong")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"fitted +5 .*\npredicted +19 .*\nunusable +1\n$")

    def test_refusals_are_one_line(self):
        self.write("published/nakao-pingpong.toml", self.read("published/nakao-pingpong.toml").replace('use = "fitted"', 'use = "fited"'))
        for arguments, words in (
            (("scorecard",), r"nakao-pingpong\.toml:\d+:\d+: `use` is fitted, predicted or unusable"),
            (("scorecard", "--source", "XX", "--figures", MACHINES + "/published"), "no figures of a source `XX`; there are fujita14, "),
            (("scorecard", "--of", "XX", "--figures", MACHINES + "/published"), "no figures of a machine `XX`; there are .*quong"),
            (("scorecard", "--figures", "/nope"), "^tca scorecard: /nope: cannot be read as a folder of figures: No such file"),
            (("fit", "quong", "--write"), "^tca fit: numbers are fitted by tools/fit/fit.py in OpenTCA's sources"),
            (("scorecard", "--figures", self.empty), "^tca scorecard: .*: there are no figures in it"),
        ):
            done = self.tca(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertRegex(done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    # What the machine files hold is what docs/model.md says of them.
    def test_every_key_of_a_machine_is_in_the_manual(self):
        with open(os.path.join(MACHINES, "..", "docs", "model.md")) as file:
            text = file.read()
        table = text[text.index("## Machine files") : text.index("## Packets, trains and flows")]
        mpi = table + text[text.index("## MPI") : text.index("## Kernels that put")]
        untold = []

        def check(keys, told, path):
            for key, value in keys.items():
                is_table = isinstance(value, dict) and "value" not in value
                # The names of these tables' tables are the file's own, and so are those of its sources.
                named = is_table and path in ("links/", "units/", "interconnects/", "kernels/", "mpi/") or path == "sources/"
                if not named and not re.search(rf"`(\[|units\.X\.)?{key}\b", told):
                    untold.append(path + key)
                if is_table:
                    check(value, mpi if key == "mpi" else told, path + key + "/")

        for name in os.listdir(self.machines):
            if name.endswith(".toml"):
                check(tomllib.loads(self.read(name)), table, "")
        self.assertEqual(untold, [])

    def test_own_figures_are_those_of_the_results(self):
        for source, least, records in (
            ("own", 20, ("2026-11-21-gpu-2xh200", "2026-11-21-gpu-4xh200")),
            ("own-h100", 30, ("2026-11-26-gpu-2xh100", "2026-11-27-gpu-4xh100")),
        ):
            medians = set()
            for name in records:
                with open(os.path.join(MACHINES, "..", "bench", "results", f"{name}.jsonl")) as file:
                    medians |= {float(f"{json.loads(line)['median_us']:.4g}") for line in file}
            done = self.tca("scorecard", "--source", source, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            usable = [line for line in lines if line["use"] != "unusable"]
            self.assertGreaterEqual(len(usable), least)
            for line in usable:
                self.assertIn(line["published"], medians, line)


@unittest.skipUnless(importlib.util.find_spec("scipy"), "fitting needs SciPy (apt-get install python3-scipy)")
class FitTest(MachinesTest):
    def fit(self, *arguments, **further):
        tool = os.path.join(MACHINES, "..", "tools", "fit", "fit.py")
        where = ("--machines", self.machines, "--figures", os.path.join(MACHINES, "published"), "--tca", TCA)
        return subprocess.run(
            [sys.executable, tool, *where, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, **further
        )

    def test_refusals_are_one_line(self):
        for arguments, words in (
            (("nowhere",), "there is no machine `nowhere`"),
            (("quong", "--only", "colour"), "no numbers to fit: none with `colour` in its key"),
            (("quong", "--figures", "/nope"), "/nope: cannot be read as a folder of figures: No such file"),
        ):
            done = self.fit(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertRegex(done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_fit_writes_numbers_in_place_and_again_the_same(self):
        before = self.read("quong.toml")
        moved = re.sub(r"^start = \{ value = [\d.]+", "start = { value = 2.2", before, flags=re.M)
        results = []
        for _ in range(2):
            self.write("quong.toml", moved)
            done = self.fit("quong", "--only", "ape/start", "--write")
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append(self.read("quong.toml"))
        self.assertEqual(results[0], results[1])
        changed = [line for line in difflib.ndiff(moved.splitlines(), results[0].splitlines()) if line[0] in "+-"]
        self.assertEqual(len(changed), 2, changed)
        self.assertRegex(changed[1], r'^\+ start = \{ value = [\d.]+, unit = "us", fitted = "fit: vicini13')
        self.assertNotIn("2.2,", changed[1])

    def test_fit_takes_the_file_that_it_is_given(self):
        moved = re.sub(r"^start = \{ value = [\d.]+", "start = { value = 1.0", self.read("quong.toml"), flags=re.M)
        elsewhere = os.path.join(self.empty, "quong.toml")
        with open(elsewhere, "w") as file:
            file.write(moved)
        by_path = self.fit(elsewhere, "--only", "ape/start", "--rounds", "3")
        self.write("quong.toml", moved)
        by_name = self.fit("quong", "--only", "ape/start", "--rounds", "3")
        self.assertEqual((by_path.returncode, by_name.returncode), (0, 0), by_path.stderr + by_name.stderr)
        self.assertEqual(by_path.stdout, by_name.stdout)
        self.assertNotRegex(by_path.stdout, r"ape/start +1 +1 ")

    # Letters of more than one byte stand before the number, in its own line.
    def test_fit_writes_beside_any_letters(self):
        line = 'start = { fitted = "fit: vicini13, 8.5 µs — größer", unit = "us", value = 2.2 }'
        moved = re.sub(r"^start = \{ value = .*", line, self.read("quong.toml"), flags=re.M)
        self.write("quong.toml", moved)
        done = self.fit("quong", "--only", "ape/start", "--rounds", "3", "--write")
        self.assertEqual(done.returncode, 0, done.stderr)
        changed = [line for line in difflib.ndiff(moved.splitlines(), self.read("quong.toml").splitlines()) if line[0] in "+-"]
        self.assertEqual(len(changed), 2, changed)
        self.assertRegex(changed[1], r'^\+ start = \{ fitted = "fit: vicini13, 8.5 µs — größer", unit = "us", value = \d\.[\d]+ \}$')

    # A number of the parent follows one of the file that is fitted; the parent is not written.
    def test_what_fit_wrote_scores_as_fit_said(self):
        os.rename(os.path.join(self.machines, "ha-pacs-tca.toml"), os.path.join(self.machines, "base.toml"))
        before = self.read("base.toml")
        launch = 'launch = { value = 7.9, unit = "us", fitted = "fit: nakao-peach2 block-stride by MPI" }'
        self.write("ha-pacs-tca.toml", f'extends = "base"\n[gpu]\n{launch}\n')
        figures = ("--figures", self.empty)
        with open(os.path.join(self.empty, "x.toml"), "w") as file:
            file.write(
                'source = "X"\ntitle = "a paper"\nmachine = "ha-pacs-tca"\n[[figure]]\nname = "rows"\nrun = "face"\n'
                'with = { scheme = "mpi", library = "mvapich2-gdr-2.2", gpu = 2, plane = "ik" }\nx = "n"\nunit = "us"\n'
                'use = "fitted"\npoints = [[2, 33.99], [4, 33.25]]\n'
            )

        def scored():
            lines = self.tca("scorecard", *figures, "--json").stdout.splitlines()
            return [f"{json.loads(line)['error'] * 100:+.1f}" for line in lines]

        was = scored()
        fitted = self.fit("ha-pacs-tca", "--only", "gpu/launch", *figures, "--write")
        self.assertEqual(fitted.returncode, 0, fitted.stderr)
        self.assertNotIn("7.9", self.read("ha-pacs-tca.toml"))
        self.assertEqual(self.read("base.toml"), before)
        told = [line.split()[-2:] for line in fitted.stdout.splitlines() if line.startswith("X rows")]
        self.assertEqual(told, [list(row) for row in zip(was, scored())])

    def test_fit_says_what_it_could_not_write(self):
        before = self.read("quong.toml")
        os.mkdir(os.path.join(self.machines, "quong.toml.unfinished"))
        done = self.fit("quong", "--only", "ape/start", "--rounds", "1", "--write")
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"^fit.py: .*/quong\.toml: cannot be written: Is a directory\n$")
        self.assertEqual(self.read("quong.toml"), before)

    def test_fit_says_which_command_line_it_lacks(self):
        done = self.fit("quong", "--tca", self.path("nowhere"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^fit.py: .*/nowhere: No such file or directory\n$")


if __name__ == "__main__":
    unittest.main()
