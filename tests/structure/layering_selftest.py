#!/usr/bin/env python3
"""Shows that layering.py finds each kind of violation, in small trees made for it."""
import tempfile
import unittest
from pathlib import Path

import layering


class Layering(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return layering.check(root)[0]

    def assert_only(self, files, place, words):
        violations = self.check(files)
        self.assertEqual(len(violations), 1, violations)
        self.assertTrue(violations[0].startswith(place + ": "), violations[0])
        self.assertIn(words, violations[0])

    def test_a_tree_that_keeps_the_rules_passes(self):
        files = {
            "src/CMakeLists.txt": "add(base/shape.cpp)",
            "apps/himeno/CMakeLists.txt": "add(solver.cpp mpi_exchange.cpp)",
            "include/tca/error.hpp": "#include <string>\n",
            "include/tca/tca.hpp": '#include "tca/error.hpp"\n',
            "src/base/shape.hpp": '#include "tca/error.hpp"\n',
            "src/base/shape.cpp": '#include "base/shape.hpp"\n',
            "src/fabric/fabric.hpp": '#include "base/shape.hpp"\n',
            "src/fabric/shm/ring.hpp": '#include "fabric/fabric.hpp"\n#include <fmt/format.h>\n',
            "apps/himeno/solver.hpp": "#include <tca/tca.hpp>\n",
            "apps/himeno/solver.cpp": '#include "himeno/solver.hpp"\n',
            "apps/himeno/mpi_exchange.cpp": "#include <mpi.h>\n",
        }
        self.assertEqual(self.check(files), [])

    def test_upward_include(self):
        files = {"src/core/world_state.hpp": "", "src/base/shape.hpp": '\n#include "core/world_state.hpp"\n'}
        self.assert_only(files, "src/base/shape.hpp:2", "an upward include, src/base")

    def test_upward_include_of_a_public_header(self):
        files = {"include/tca/chain.hpp": "", "src/base/shape.hpp": "#include <tca/chain.hpp>\n"}
        self.assert_only(files, "src/base/shape.hpp:1", "an upward include")

    def test_public_header_that_includes_a_private_one(self):
        files = {"src/core/state.hpp": "", "include/tca/layout.hpp": '#include "core/state.hpp"\n'}
        self.assert_only(files, "include/tca/layout.hpp:1", "an upward include")

    def test_include_of_a_neighbour(self):
        files = {"src/coll/x.hpp": "", "src/halo/y.hpp": '#include "coll/x.hpp"\n'}
        self.assert_only(files, "src/halo/y.hpp:1", "beside src/coll")

    def test_cycle_inside_a_folder(self):
        files = {"src/base/a.hpp": '#include "base/b.hpp"\n', "src/base/b.hpp": '#include "a.hpp"\n'}
        self.assert_only(files, "src/base/b.hpp:1", "src/base/a.hpp -> src/base/b.hpp -> src/base/a.hpp")

    def test_app_that_looks_inside(self):
        files = {"src/core/state.hpp": "", "apps/himeno/solver.hpp": '#include "core/state.hpp"\n'}
        self.assert_only(files, "apps/himeno/solver.hpp:1", "only public headers")

    def test_binding_that_looks_inside(self):
        files = {"src/core/state.hpp": "", "bindings/c/calls.hpp": '#include "core/state.hpp"\n'}
        self.assert_only(files, "bindings/c/calls.hpp:1", "only public headers")

    def test_app_that_looks_into_another(self):
        files = {"apps/cg/matrix.hpp": "", "apps/himeno/solver.hpp": '#include "cg/matrix.hpp"\n'}
        self.assert_only(files, "apps/himeno/solver.hpp:1", "only public headers")

    def test_example_that_looks_inside(self):
        files = {
            "src/base/shape.hpp": "",
            "examples/heat.cpp": "#include <base/shape.hpp>\n",
            "examples/CMakeLists.txt": "heat.cpp",
        }
        self.assert_only(files, "examples/heat.cpp:1", "only public headers")

    def test_vendor_header_outside_its_folder(self):
        for header in ("mpi.h", "cuda_runtime.h", "cuda.h", "cuda_fp16.hpp", "nccl.h", "cuda/atomic", "infiniband/verbs.h"):
            files = {"src/core/world.hpp": f"#include <{header}>\n"}
            self.assert_only(files, "src/core/world.hpp:1", "vendor's header")

    def test_public_header_that_needs_a_library(self):
        for header in ("fmt/format.h", "unistd.h"):
            files = {"include/tca/error.hpp": f"#include <{header}>\n#include <string>\n"}
            self.assert_only(files, "include/tca/error.hpp:1", "nothing but the standard library")

    def test_unknown_folder(self):
        self.assert_only({"src/misc/x.hpp": ""}, "src/misc/x.hpp:1", "belongs to no layer")

    def test_source_that_nobody_lists(self):
        files = {"src/base/a.cpp": "", "src/base/CMakeLists.txt": "add_library(x data.cpp b/a.cpp) # not a.cpp"}
        self.assert_only(files, "src/base/a.cpp:1", "lists this source")

    def test_source_in_fortran_that_nobody_lists(self):
        files = {"bindings/fortran/a.F90": '#include "a.inc"\n', "bindings/fortran/a.inc": "", "bindings/fortran/CMakeLists.txt": "(a.F90)"}
        self.assert_only(files, "bindings/fortran/a.inc:1", "lists this source")

    def test_test_that_nobody_lists(self):
        files = {
            "src/base/a.hpp": "",
            "tests/unit/a_test.cpp": "",
            "tests/unit/b_test.cpp": "",
            "tests/unit/c_test.py": "",
            "tests/unit/CMakeLists.txt": "add_tests(a_test) add_script(c_test.py) # not ab_test",
        }
        self.assert_only(files, "tests/unit/b_test.cpp:1", "lists this source")

    def test_hardware_that_nobody_lists(self):
        files = {"rtl/CMakeLists.txt": "set(sources tca_hub.sv)", "rtl/tca_hub.sv": "", "rtl/tlp_mux.sv": ""}
        self.assert_only(files, "rtl/tlp_mux.sv:1", "rtl/CMakeLists.txt does not list")

    def test_a_proof_that_nobody_lists(self):
        files = {"rtl/formal/proofs.py": "", "rtl/formal/tlp_mux_fv.sv": ""}
        self.assert_only(files, "rtl/formal/tlp_mux_fv.sv:1", "proofs.py does not list")


if __name__ == "__main__":
    unittest.main()
