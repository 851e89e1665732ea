"""The translator alone: what it says of wrong programs, and that it keeps lines.

Standard library only. XMPCC names the front end under test."""

import os
import re
import subprocess
import tempfile
import unittest

XMPCC = os.environ.get("XMPCC", "xmpcc")

DECLARED = """\
#define N 64
double a[N], b[N][N];
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i][*] with t[i]
#pragma xmp shadow b[1:2][0]
"""


class FrontEnd(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_on(self, source, *words):
        with open(os.path.join(self.folder, "x.c"), "w") as file:
            file.write(source)
        return subprocess.run([XMPCC, *words, "x.c"], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def emitted(self, source):
        done = self.run_on(source, "--emit")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refusal(self, source):
        done = self.run_on(source, "check")
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def in_main(self, *lines):
        return DECLARED + "int main(void) {\n" + "\n".join(lines) + "\n}\n"

    def assert_refused(self, source, *parts):
        said = self.refusal(source)
        for part in parts:
            self.assertIn(part, said)


class Refusals(FrontEnd):
    def test_an_unknown_directive_with_caret_and_the_nearest(self):
        said = self.refusal(self.in_main("#pragma xmp reflekt (b)"))
        self.assertEqual(said, "x.c:10:13: error: `reflekt` is no directive of XcalableMP; did you mean `reflect`?\n"
                               "  #pragma xmp reflekt (b)\n"
                               "              ^\n")  # fmt: skip

    def test_an_unknown_clause_of_openacc(self):
        self.assert_refused(self.in_main("#pragma acc data copyinn(a)", "{ }"), "x.c:10:18: error: `copyinn` is no clause of acc data; did you mean `copyin`?")

    def test_an_unknown_clause_of_xcalablemp_shows_the_grammar(self):
        self.assert_refused(self.in_main("#pragma xmp reflect (b) widht(1)"), "x.c:10:25: error: `widht` is no clause", "form: #pragma xmp reflect (ARRAY, ...)")

    def test_the_place_behind_macros(self):
        source = DECLARED + "#define WHAT nodez\nint main(void) {\n#pragma xmp barrier on WHAT\n}\n"
        self.assert_refused(source, "x.c:11:", "there are no nodes `nodez`", "there are p")

    def test_a_directive_over_two_lines(self):
        self.assert_refused(self.in_main("#pragma xmp reflect (b) \\", "   wrong"), "x.c:11:4: error: `wrong` is no clause")

    def test_an_align_that_does_not_fit(self):
        self.assert_refused("double a[8][8];\n" + DECLARED.replace("double a[N], b", "double b").replace("a[i] with", "a[i] with"),
                            "error: `a` has 2 dimensions, and 1 are aligned")
        self.assert_refused(DECLARED + "int c[N];\n#pragma xmp align c[i] with t[j]\n", "`i` does not occur behind `with`")
        self.assert_refused(DECLARED + "int c[N];\n#pragma xmp align c[i] with s[i]\n", "there is no template `s`", "there are t")

    def test_distributions_and_nodes_that_differ(self):
        self.assert_refused("#pragma xmp nodes p[2][2]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\n",
                            "1 dimensions are distributed, and nodes `p` have 2")

    def test_a_reflect_before_a_shadow(self):
        self.assert_refused(self.in_main("#pragma xmp reflect (a)"), "x.c:10:22: error: `a` has no shadow to reflect", "#pragma xmp shadow a[1:1]")

    def test_a_reflect_of_what_is_not_distributed(self):
        self.assert_refused(self.in_main("double c[4];", "#pragma xmp reflect (c)"), "`c` is no distributed array")

    def test_communication_in_a_compute_region(self):
        self.assert_refused(self.in_main("#pragma xmp loop on t[i]", "#pragma acc parallel loop", "for (int i = 0; i < N; i++) {", "#pragma xmp barrier", "}"),
                            "x.c:13:13: error: barrier stands in a compute region")

    def test_loops_that_cannot_be_shared_out(self):
        self.assert_refused(self.in_main("#pragma xmp loop on t[i]", "for (int i = 0; i != N; i++) a[i] = 0;"), "x.c:11:1: error: a loop that is shared out must count")
        self.assert_refused(self.in_main("#pragma xmp loop on t[i]", "for (unsigned i = N - 1; i >= 0; i--) a[i] = 0;"), "x.c:11:1: error: `i` is unsigned and never below 0", "i > 0; i--")
        self.assert_refused(self.in_main("#pragma xmp loop on t[k]", "for (int i = 0; i < N; i++) a[i] = 0;"), "there is no loop over `k`")
        self.assert_refused(self.in_main("#pragma xmp loop on t[2*i]", "for (int i = 0; i < N; i++) a[i] = 0;"), "`2*i` is none of the loop's variables")

    def test_loops_beyond_what_there_is(self):
        self.assert_refused(self.in_main("#pragma xmp loop on t[i] expand(1) margin(1)", "for (int i = 0; i < N; i++) a[i] = 0;"), "x.c:10:43: error: a loop has either expand or margin")
        self.assert_refused("#pragma xmp nodes p[*]\n#pragma xmp template s[8]\n#pragma xmp distribute s[cyclic] onto p\nint main(void) {\n"
                            "#pragma xmp loop on s[i] margin(1)\nfor (int i = 0; i < 8; i++) ;\n}\n", "a cyclic distribution has no neighbours to go on to")
        self.assert_refused(self.in_main("#pragma xmp loop (i, k) on t[i]", "for (int i = 0; i < N; i++) a[i] = 0;"), "x.c:10:22: error: `k` occurs in no subscript behind `on`")

    def test_sections_that_cannot_be_assigned(self):
        self.assert_refused(self.in_main("a[:] = 1;"), "error: sections of the distributed array `a` are assigned here", "#pragma xmp array on TEMPLATE[:]")
        self.assert_refused(self.in_main("int *q;", "q[0:] = 1;"), "`q` is a pointer, whose elements are not counted", "q[0:N]")
        self.assert_refused(self.in_main("int **q;", "#pragma xmp gmove", "q[0:2][0:2] = b[0:2][0:2];"), "`q` is a pointer to pointers, whose elements lie anywhere")
        self.assert_refused(self.in_main("int *q;", "#pragma xmp gmove", "q[:] = a[:];"), "`q` is a pointer, whose elements are not counted")

    def test_members_that_there_are_not(self):
        self.assert_refused(DECLARED + "struct s { int v[N]; };\n#pragma xmp align s.v[i] with t[i]\n", "x.c:10:19: error: no variable is a struct s with the array `v`", "struct s NAME;")

    def test_devices_and_layouts(self):
        self.assert_refused(self.in_main("#pragma acc enter data copyin(a) on_device(d)"), "there are no devices `d`", "declare them: #pragma acc devices d[*]")
        self.assert_refused("#pragma acc devices d[*]\n" + self.in_main("#pragma acc barrier_device on_device(e)"), "there are no devices `e`", "there are d")
        self.assert_refused("#pragma acc devices d[2][2]\n", "devices have one dimension")
        self.assert_refused("double c[4];\n#pragma acc declare create(c) shadow([1])\n", "shadow says something about a layout", "add one: layout([block])")

    def test_a_construct_without_a_statement(self):
        self.assert_refused(self.in_main("#pragma xmp task on p[0]"), "task says something about the statement behind it")

    def test_an_array_that_is_initialised(self):
        self.assert_refused(DECLARED.replace("double a[N],", "double a[N] = {1},"), "a distributed array cannot be initialised")

    def test_memory_of_an_array_that_is_distributed_later(self):
        self.assert_refused("#include <xmp.h>\n#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\nint *a;\n"
                            "int main(void) {\n  a = (int*)xmp_malloc(xmp_desc_of(a), 8);\n#pragma xmp align a[i] with t[i]\n}\n",
                            "x.c:7", "`a` is distributed in line 8, behind this", "move its directives in front of this")

    def test_parameters_without_a_size(self):
        self.assert_refused("void f(int a[]) {\n#pragma xmp reduction(+:a)\n}\n", "the parameter `a` does not say how many elements it has")

    def test_coarrays_that_cannot_be(self):
        self.assert_refused(self.in_main("int c[4]:[*];"), "x.c:10:1: error: the coarray `c` goes with its block", "declare it static")
        self.assert_refused("int c[4]:[2][*];\nint main(void) { c[0]:[1] = 2; }\n", "has 2 codimensions, and 1 are given")
        self.assert_refused("int c[4]:[*], x;\nint main(void) { x = c[0:2]:[1] + 1; }\n", "write it as TO[...] = FROM[...]:[IMAGE];")

    def test_every_error_is_shown_in_the_order_of_lines(self):
        said = self.refusal(self.in_main("#pragma xmp reflect (a)", "#pragma xmp wrong", "#pragma xmp reflect (a)"))
        places = [line.split(":")[1] for line in said.splitlines() if ": error:" in line]
        self.assertEqual(places, ["10", "11", "12"])

    def test_the_command_line(self):
        done = subprocess.run([XMPCC, "--explane", "x.c"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no option --explane", done.stderr)
        self.assertIn("there is no file nowhere.c", subprocess.run([XMPCC, "check", "nowhere.c"], capture_output=True, text=True).stderr)


class Translation(FrontEnd):
    def lines(self, text, file="x.c"):
        """The text of each line of the source, as its markers say."""
        found, number, mine = {}, 0, False
        for line in text.splitlines():
            if line.startswith("# "):
                parts = line.split('"')
                number, mine = int(line.split()[1]), parts[1] == file
            else:
                if mine:
                    found[number] = found.get(number, "") + line
                number += 1
        return found

    def test_lines_stay_where_they_are(self):
        source = self.in_main("#pragma xmp loop on t[i]", "#pragma acc parallel loop", "for (int i = 0; i < N; i++)", "  a[i] = i; // here",
                              "#pragma acc parallel loop", "for (int k = 0; k < 3; k++) ;", "return 7;")
        lines = self.lines(self.emitted(source))
        self.assertIn("xacc_first((0)", lines[12])
        self.assertIn("a[i] = i;", lines[13])
        self.assertIn("for (int k", lines[15])
        self.assertIn("return 7;", lines[16])

    def test_declarations_go_on_without_what_is_distributed(self):
        lines = self.lines(self.emitted(DECLARED.replace("double a[N], b[N][N];", "static double x = 1, a[N],\n  b[N][N], *y;")))
        self.assertRegex(lines[2] + lines[3], r"static double x = 1\s*, \*y;\s*static xacc_array xacc_array_a_; static xacc_array xacc_array_b_;")

    def test_expressions_stay_as_they_are(self):
        lines = self.lines(self.emitted(self.in_main("#pragma xmp loop on t[i]", "for (int i = 1; i < N - 1; i++) a[i] = b[i - 1][3] + b[(i + 1)][i];")))
        self.assertIn("a[i] = b[i - 1][3] + b[(i + 1)][i];", lines[11])
        self.assertIn("double (*const b)[xacc_array_b_.extent[1]]", lines[10])

    def test_a_local_of_the_same_name_is_another(self):
        lines = self.lines(self.emitted(DECLARED + "int f(int a) { return a; }\nint g(void) { return a[1]; }\n"))
        self.assertIn("return a;", lines[9])
        self.assertIn(".origin)[1]", lines[10])

    def test_a_void_main_ends_well(self):
        self.assertIn("int main() {", self.emitted("void main() { }\n"))

    def test_both_bracket_forms_are_one(self):
        def body(declarations, on):
            text = self.emitted("int a[8][4];\n" + declarations + "void f(void) {\n#pragma xmp loop (i, j) on " + on + "\nfor (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) a[i][j] = 0;\n}\n")
            return text[text.index("xacc_set_up") :].replace("1, (8)", "0, (8)").replace("1, (4)", "0, (4)")

        square = "#pragma xmp nodes p[2][2]\n#pragma xmp template t[8][4]\n#pragma xmp distribute t[block][*] onto q\n#pragma xmp align a[i][j] with t[i][j]\n"
        round_ = "#pragma xmp nodes p(2,2)\n#pragma xmp template t(4,8)\n#pragma xmp distribute t(*,block) onto q\n#pragma xmp align a[i][j] with t(j,i)\n"
        nodes = "#pragma xmp nodes q[*]\n"
        self.assertEqual(body(nodes + square, "t[i][j]"), body(nodes + round_, "t(j,i)"))

    def test_openmp_of_openacc(self):
        lines = self.emitted(self.in_main("int k; double s = 0, m;", "#pragma acc parallel loop collapse(2) reduction(+:s)", "for (int i = 0; i < 4; i++)",
                                          "for (int j = 0; j < 4; j++)", "#pragma acc loop", "for (k = 0; k < 4; k++) { m = k; s += m; }"))
        self.assertIn("#pragma omp parallel for collapse(2) reduction(+:s) private(k) firstprivate(m)", lines)
        self.assertIn("#pragma omp simd", lines)

    def test_what_is_no_directive_passes(self):
        source = "#include <stdio.h>\n#include <stdlib.h>\n#pragma GCC diagnostic ignored \"-Wunused\"\nint main(void) { int x = {0}; label: if (x) goto label; else switch (x) { case 1: break; default: ; }\n do x++; while (x < 3); return (int){0}; }\n"
        text = self.emitted(source)
        self.assertIn('#pragma GCC diagnostic ignored "-Wunused"', text)
        self.assertIn("label: if (x) goto label;", text)


class Kernels(FrontEnd):
    """Compute regions for GPUs."""

    def kernels(self, *lines, declared=DECLARED):
        done = self.run_on(declared + "int main(void) {\n" + "\n".join(lines) + "\n}\n", "--acc", "cuda", "--emit")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("/* compiled by nvcc:")

    def test_what_stands_behind_sums_on_the_device_is_joined(self):
        region = ["#pragma acc parallel loop reduction(+:sum)", "for (int i = 0; i < 4; i++) sum += i;", "#pragma acc serial"]
        for serial, data, joined in (
            ("sum = 2 * other;", "sum, other, x", True),
            ("sum = 2 * other;", "sum, x", False),  # a scalar of the host's
            ("x[0] = sum;", "sum, other, x", False),  # an address that the host finds
        ):
            host, kernels = self.kernels("double sum = 0, other = 1, x[4];", f"#pragma acc data copy({data})", "{", *region, serial, "}")
            self.assertEqual(("xacc_meet.goes_on" in kernels, bool(re.search(r"if \((xacc_joined\d+)\) \1 = 0; else \{", host))), (joined, joined), (serial, data))

    def assert_refused_on_gpus(self, source, *parts):
        done = self.run_on(source, "check", "--acc", "cuda")
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_threads_share_out_loops_and_lines_stay(self):
        host, kernels = self.kernels("#pragma xmp loop on t[i]", "#pragma acc parallel loop", "for (int i = 0; i < N; i++) {", "#pragma acc loop",
                                     "for (int j = 1; j <= N - 2; j += 2) b[i][j] = a[i];", "}")
        self.assertRegex(kernels, r'#line 12 "x\.c"\nfor \(int i = xacc_start<1>\(xacc_first\(\(0\), xacc_begin\d+, 1\), 1\); i < xacc_min\(\(64\), xacc_end\d+\); i \+= xacc_stride<1>\(1\)\) \{')
        self.assertIn("for (int j = xacc_start<0>(1, (2)); j <= 64 - 2; j += xacc_stride<0>((2))) b[i][j] = a[i];", kernels)
        self.assertIn("double (*b)[(64) + (0) + (0)]", kernels)
        self.assertRegex(host, r"xacc_run\(&\(const xacc_launch\)\{xacc_kernel_x_\d+_0, \{xacc_trips\(\(1\), \(64 - 2\) \+ 1, \(2\)\), xacc_trips\(xacc_max\(\(0\), xacc_begin")
        self.assertNotIn("xacc_start<", host)

    def test_variables_are_values_and_reductions_have_their_own(self):
        _, kernels = self.kernels("float s = 1; const int n = 3;", "#pragma acc parallel loop reduction(+:s)", "for (int i = 0; i < n; i++) s += i;")
        self.assertRegex(kernels, r"const __grid_constant__ xacc_meeting xacc_meet, const int n, float xacc_from\d+\)")
        self.assertIn("float s = xacc_identity<float, XACC_SUM>();", kernels)

    def test_reductions_among_ranks_are_the_region_s_where_they_are_next(self):
        region = ["#pragma xmp loop on t[i]", "#pragma acc parallel loop reduction(+:s)", "for (int i = 0; i < N; i++) s += a[i];"]
        for lines in (["#pragma xmp loop on t[i] reduction(+:s)", *region[1:]], [*region, "#pragma xmp reduction(max:s)"]):
            host, kernels = self.kernels("double s = 0;", *lines)
            self.assertIn("xacc_over_ranks<double, XACC_", kernels)
            self.assertNotRegex(host, r"\} xacc_reduce\(&s")
        for between in ("s += 1;", "#pragma xmp barrier"):
            _, kernels = self.kernels("double s = 0;", *region, between, "#pragma xmp reduction(+:s)")
            self.assertNotIn("xacc_over_ranks", kernels)
        _, kernels = self.kernels("double s = 0;", "#pragma xmp task on p[0]", *region, "#pragma xmp reduction(+:s)")
        self.assertNotIn("xacc_over_ranks", kernels)

    def test_a_warp_takes_an_iteration_with_loops_for_vectors(self):
        inner = ["#pragma acc loop vector reduction(+:s)", "for (int j = 0; j < N; j++) s += b[i][j];"]
        loop = ["#pragma xmp loop on t[i]", "#pragma acc parallel loop gang", "for (int i = 0; i < N; i++) {", "double s = 1;"]
        _, kernels = self.kernels(*loop, *inner, "a[i] = s;", "}")
        self.assertIn("xacc_over_warp<XACC_SUM>(s, xacc_kept", kernels)
        self.assertIn("__syncwarp(); if (xacc_thread<0>() == 0) { a[i] = s; } __syncwarp();", kernels)
        _, kernels = self.kernels(*loop, *inner, "if (s > 2) a[i] = s;", "}")
        self.assertNotIn("xacc_over_warp", kernels)

    def test_types_functions_and_words_of_cpp_come_along(self):
        declared = "struct unused { int a; };\ntypedef struct pair { int new; } pair;\nstatic int twice(pair p) { return 2 * p.new; }\nstatic int never(void) { return 0; }\n"
        _, kernels = self.kernels("pair q = {1}; int x[4];", "#pragma acc parallel loop copy(x)", "for (int i = 0; i < 4; i++) x[i] = twice(q);", declared=declared)
        self.assertIn("#define new xacc_word_new", kernels)
        self.assertIn("static __device__ int twice ( pair p ) ;", kernels)
        self.assertNotIn("unused", kernels)
        self.assertNotIn("never", kernels)

    def test_a_condition_keeps_the_host_s_loop(self):
        host, _ = self.kernels("int on = 1, x[4];", "#pragma acc parallel loop if(on) copy(x)", "for (int i = 0; i < 4; i++) x[i] = i;")
        self.assertRegex(host, r"if \(on\) \{ extern const void\* const xacc_kernel.* else \{ for \(int i = 0; i < 4; i\+\+\) x\[i\] = i; \}")

    def test_what_no_kernel_can_have(self):
        loop = "for (int i = 0; i < 4; i++) "
        for lines, said in (
            (["double** p = 0;", "#pragma acc parallel loop", loop + "p[i][0] = i;"], "x.c:12:1: error: `p` leads to pointers"),
            (["double s[4];", "#pragma acc parallel loop reduction(+:s)", loop + "s[i] += i;"], "`s` is an array, and reductions of arrays"),
            (["#pragma acc parallel loop collapse(2)", loop + "a[i] = i;"], "x.c:11:1: error: there are fewer loops directly in each other than collapse says"),
            (["#pragma acc parallel loop", "for (int i = 0; i != 4; i++) a[i] = i;"], "a loop that is shared out must count"),
            (["double x[4];", "#pragma acc parallel loop default(none)", loop + "x[i] = i;"], "`x` is in no data clause, as default(none) asks for"),
        ):
            self.assert_refused_on_gpus(self.in_main(*lines), said)
        self.assert_refused_on_gpus("int f(int);\nint g, x[4];\nint main(void) {\n#pragma acc parallel loop\n" + loop + "x[i] = f(i);\n}\n",
                                    "x.c:5:1: error: `f` is called in a compute region, and defined in another file")
        self.assert_refused_on_gpus("int g, x[4];\nstatic int f(int i) { return g + i; }\nint main(void) {\n#pragma acc parallel loop\n" + loop + "x[i] = f(i);\n}\n",
                                    "x.c:2:1: error: the global variable `g` is used by a function that a compute region calls")
        self.assert_refused_on_gpus("int x[4];\nstatic void f(int* p) {\n#pragma acc atomic\n++*p;\n}\nint main(void) {\n#pragma acc parallel loop\n" + loop + "f(&x[i]);\n}\n",
                                    "x.c:3:13: error: acc atomic stands in `f`, which a compute region calls")
        self.assert_refused_on_gpus("#pragma xmp nodes n[*]\n#pragma xmp template u[4]\n#pragma xmp distribute u[cyclic] onto n\nint x[4];\n#pragma xmp align x[i] with u[i]\n"
                                    "int main(void) {\n#pragma xmp loop on u[i]\n#pragma acc parallel loop\n" + loop + "{\n#pragma acc atomic\nx[i] += 1;\n}\n}\n",
                                    "x.c:10:13: error: acc atomic on `x`, which is distributed cyclically, is for --acc cpu")

    def test_without_nvcc(self):
        done = self.run_on("int x[4];\nint main(void) {\n#pragma acc parallel loop\nfor (int i = 0; i < 4; i++) x[i] = i;\n}\n", "--acc", "cuda", "--nvcc", "/nowhere/nvcc")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no /nowhere/nvcc, which --nvcc or NVCC names", done.stderr)


if __name__ == "__main__":
    unittest.main()
