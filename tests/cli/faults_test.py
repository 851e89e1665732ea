"""Parts of modelled machines that fail, as people see them: `tca faults`, and --fault of other commands.

Standard library only. TCA names the command line under test."""

import json
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

REFUSED, PATH_LOST, RANK_LOST = 2, 10, 5


class FaultsTest(CommandTest):
    def run_tca(self, *arguments, **environment):
        return subprocess.run(
            [TCA, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env={**self.environment, **environment}
        )

    def test_who_is_told_and_when(self):
        said = self.run_tca("faults", "--machine", "quong", "--fault", "cable:0-1@20us", "--json", self.path("out.jsonl"))
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertRegex(
            said.stdout,
            r"\nfault +cable 0-1 failed at 20\.000 us; node [01] noticed first, [0-9.]+ us later; all 16 ranks told within [0-9.]+ us\n",
        )
        with open(self.path("out.jsonl")) as file:
            line = json.load(file)
        self.assertEqual((line["machine"], line["ranks"], len(line["faults"]), line["sides"]), ("quong", 16, 1, []))
        fault = line["faults"][0]
        self.assertEqual((fault["fault"], fault["failed_us"], fault["told"]), ("cable 0-1", 20, 16))
        self.assertTrue(170 <= fault["notice_us"] < fault["told_us"] < 230, fault)

    def test_both_halves_of_a_partition_say_so(self):
        said = self.run_tca("faults", "--machine", "peach3", "--ranks", "2", OPENTCA_FAULTS="cable:0-1@20us")
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        for rank in "01":
            self.assertIn(f"\npartition rank {rank} knows that it reaches nobody else", said.stdout)

    def test_an_application_ends_with_the_name_of_what_failed(self):
        himeno = ("himeno", "--fabric", "sim", "--ranks", "4", "--size", "XS", "--iterations", "30")
        for fault, code, reason in (
            ("cable:0-1@300us", PATH_LOST, "cable 0-1, which failed at 300.000 us"),
            ("host:2@300us", RANK_LOST, "host 2, which failed at 300.000 us"),
        ):
            with self.subTest(fault=fault):
                said = self.run_tca(*himeno, "--fault", fault)
                self.assertEqual(said.returncode, code, said.stdout + said.stderr)
                self.assertIn(reason, said.stderr)
                self.assertIn(f"fault     {fault.split('@')[0].replace(':', ' ')} failed at 300.000 us; node ", said.stdout)

    def test_an_application_goes_round_where_that_is_asked_for(self):
        himeno = ("himeno", "--fabric", "sim", "--ranks", "4", "--size", "XS", "--iterations", "30")
        for fault in ("cable:0-1@300us", "hub:2@300us"):
            with self.subTest(fault=fault):
                said = self.run_tca(*himeno, "--fault", fault, OPENTCA_REROUTE="1")
                self.assertEqual((said.returncode, said.stderr), (0, ""), said.stdout)
                self.assertIn(f"fault     {fault.split('@')[0].replace(':', ' ')} failed at 300.000 us; node ", said.stdout)

    def test_refusals(self):
        for arguments, reason in (
            (("faults",), "say what fails: --fault cable:0-1@20us"),
            (("faults", "--fault", "cable:0-1"), "'cable:0-1' is no fault"),
            (("faults", "--fault", "cable:0-9@1us"), "tca faults: --fault: no cable joins nodes 0 and 9"),
            (("himeno", "--ranks", "2", "--size", "XS", "--fault", "path:0-7:shm/pull@1ms"), "there is no rank 7 in a world of 2"),
            (("bench", "pingpong", "--fault", "path:0-7:shm/pull@1ms"), "there is no rank 7 in a world of 2"),
            (("himeno", "--fabric", "shm", "--fault", "hub:0@1us"), "--fault hub:0@1us is for --fabric sim"),
            (("bench", "pingpong", "--fabric", "sim", "--fidelity", "flow", "--fault", "hub:0@1us"), "leave the fidelity at tlp"),
        ):
            with self.subTest(arguments=arguments):
                said = self.run_tca(*arguments)
                self.assertEqual(said.returncode, REFUSED, said.stdout + said.stderr)
                self.assertIn(reason, said.stderr)

    def test_a_refusal_names_the_variable_by_which_the_fault_came(self):
        for fault, reason in (("cable:0-1", "'cable:0-1' is no fault"), ("cable:0-9@1us", "no cable joins nodes 0 and 9")):
            for command in (("faults",), ("himeno", "--fabric", "sim", "--ranks", "4", "--size", "XS")):
                said = self.run_tca(*command, OPENTCA_FAULTS=fault)
                self.assertEqual(said.returncode, REFUSED, said.stdout + said.stderr)
                self.assertIn(f"tca {command[0]}: OPENTCA_FAULTS: {reason}", said.stderr)


if __name__ == "__main__":
    unittest.main()
