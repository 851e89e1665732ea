"""`bench/gpu.sh` with a stub for tca: which peers take part, and what is kept of runs that fail.

Standard library only. BENCH names the folder of the scripts."""

import json
import os
import subprocess
import tempfile
import unittest

# Writes a line for OpenTCA and one for each peer, and fails where mscclpp takes part.
STUB = r"""#!/usr/bin/env bash
run="$1 $2" json="" peers=""
while [ $# -gt 0 ]; do
  case $1 in --json) json=$2 ;; --peer) peers=$2 ;; esac
  shift
done
printf '{"run":"%s","peer":null}\n' "$run" >> "$json"
for peer in ${peers//,/ }; do printf '{"run":"%s","peer":"%s"}\n' "$run" "$peer" >> "$json"; done
[[ $peers != *mscclpp* ]]
"""
# More than a pipe holds, the peers first: whoever stops reading there leaves a writer that fails.
LDD = r"""#!/usr/bin/env bash
printf 'lib%s.so\n' nccl mscclpp
seq -f 'libother%g.so' 20000
"""
# The same for what NCCL has from 2.28 on.
NM = r"""#!/usr/bin/env bash
printf ' U ncclDevCommCreate\n'
seq -f ' U other%g' 20000
"""


class GpuBenchTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("tca", STUB), ("ldd", LDD), ("nm", NM)):
            with open(os.path.join(folder.name, name), "w") as file:
                file.write(text)
            os.chmod(file.name, 0o755)
        environment = dict(os.environ, TCA=os.path.join(folder.name, "tca"))
        environment["PATH"] = folder.name + os.pathsep + environment["PATH"]
        out = os.path.join(folder.name, "out.jsonl")
        self.done = subprocess.run(
            ["bash", os.path.join(os.environ["BENCH"], "gpu.sh"), "2", out],
            capture_output=True, text=True, timeout=100, env=environment,
        )  # fmt: skip
        with open(out) as file:
            self.lines = [json.loads(line) for line in file]

    def peers_of(self, run):
        return [line["peer"] for line in self.lines if line["run"] == run]

    def test_peers_that_are_linked_take_part_and_failed_runs_leave_nothing(self):
        self.assertIn("beside --peer nccl,nccl-windows,mscclpp\n", self.done.stdout)
        # Of what failed: OpenTCA once, the peer that does not fail, and not the one that does.
        in_kernels, in_graphs = [None, "nccl", "nccl-device"], [None, "nccl", "nccl-windows"]
        self.assertEqual(self.peers_of("bench halo"), [*in_kernels, None, "produced", *in_graphs])
        self.assertEqual(self.peers_of("bench barrier"), in_graphs)
        self.assertEqual(self.peers_of("bench put"), [None, "copy", "nccl", "nccl-windows", None, "copy"])
        self.assertEqual(self.done.returncode, 1)
        self.assertIn("that failed; once more without peers", self.done.stderr)


if __name__ == "__main__":
    unittest.main()
