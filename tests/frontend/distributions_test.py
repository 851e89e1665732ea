"""Arrays of every distribution in translated programs: gmove between all of them, and what xmp.h does with whole arrays.

Standard library only. XMPCC names the front end, TCA the command line."""

import unittest

from translated import Programs

# Name of the array -> how its template is distributed; the empty one is an array that every node has.
KINDS = {"whole": "", "blocks": "block", "given": "block(most)", "cyclic": "cyclic", "wide": "cyclic(3)", "uneven": "gblock(sizes)"}
LENGTH = 29


def lines(*text):
    return "\n".join(text) + "\n"


def declared(name, distribution):
    if not distribution:
        return f"int {name}[{LENGTH}];\n"
    return lines(f"int {name}[{LENGTH}];", f"#pragma xmp template t_{name}[{LENGTH}]", f"#pragma xmp distribute t_{name}[{distribution}] onto p",
                 f"#pragma xmp align {name}[i] with t_{name}[i]")  # fmt: skip


def for_each(name, body):
    return (f"#pragma xmp loop on t_{name}[i]\n" if KINDS[name] else "") + f"for (int i = 0; i < {LENGTH}; i++) {body}\n"


def moved(to, source):
    """Strided sections, one element, one element for all, and the program that looks at them."""
    return lines("{", for_each(to, f"{to}[i] = -1;"), "#pragma xmp gmove", f"{to}[1:9:3] = {source}[2:9:2];",
                 for_each(to, f"EXPECT({to}[i] == (i % 3 == 1 && i < 26 ? 100 + 2 + (i - 1) / 3 * 2 : -1));"),
                 "#pragma xmp gmove", f"{to}[:] = {source}[n];", "#pragma xmp gmove", f"{to}[n] = {source}[28];",
                 for_each(to, f"EXPECT({to}[i] == (i == n ? 128 : 100 + n));"), "}")  # fmt: skip


class Moves(Programs):
    def test_gmove_between_all_distributions(self):
        source = "".join(declared(name, kind) for name, kind in KINDS.items())
        tests = ""
        for right in KINDS:
            tests += for_each(right, f"{right}[i] = 100 + i;")
            tests += "".join(moved(left, right) for left in KINDS if left != right)
            tests += lines("#pragma xmp gmove", f"{right}[0:20] = {right}[3:20];", for_each(right, f"EXPECT({right}[i] == 100 + (i < 20 ? i + 3 : i));"))
        self.assert_right("#pragma xmp nodes p[*]\nint sizes[4], most, n = 13;\nint main(void) {\nint ranks = xmp_num_nodes();\n"
                          "most = 30 / ranks + 1;\nfor (int i = 0; i < ranks; i++) sizes[i] = i ? 5 : 29 - 5 * (ranks - 1);\n" + source + tests + "finish();\n}\n", 1, 3, 4)  # fmt: skip

    def test_gmove_of_two_dimensions_and_of_copies(self):
        self.assert_right("""
#pragma xmp nodes p[2][2]
#pragma xmp nodes row[2] = p[*][0:2]
#pragma xmp nodes other[2] = p[0:2][*]
int sizes[2] = {3, 8};
#pragma xmp template t[10][11]
#pragma xmp distribute t[cyclic(2)][gblock(sizes)] onto p
#pragma xmp template s[11][10]
#pragma xmp distribute s[block][cyclic] onto p
#pragma xmp template r[11]
#pragma xmp distribute r[cyclic(4)] onto other
int a[10][11], b[10][11], copies[10], own[11], *memory;
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i][j] with s[j][i]
#pragma xmp align copies[i] with t[i][*]
#pragma xmp align own[i] with r[i]
int main(void) {
  int n = 4;
  memory = malloc(10 * sizeof(int));
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 10; i++) for (int j = 0; j < 11; j++) a[i][j] = 100 * i + j;
#pragma xmp gmove
  b[:][:] = a[:][:];
#pragma xmp loop (i, j) on s[j][i]
  for (int i = 0; i < 10; i++) for (int j = 0; j < 11; j++) EXPECT(b[i][j] == 100 * i + j);
#pragma xmp gmove
  copies[0:n:2] = b[3][1:n];
#pragma xmp gmove
  own[:] = a[n][:];
#pragma xmp gmove
  memory[1:n] = copies[0:n:2];
#pragma xmp loop on t[i][*]
  for (int i = 0; i < 8; i += 2) EXPECT(copies[i] == 301 + i / 2);
#pragma xmp loop on r[i]
  for (int i = 0; i < 11; i++) EXPECT(own[i] == 400 + i);
  EXPECT(memory[1] == 301 && memory[4] == 304);
  free(memory);
  finish();
}
""", 4)  # fmt: skip

    def test_gmove_in_and_out_of_what_others_have(self):
        self.assert_right("""
#pragma xmp nodes p[4]
#pragma xmp nodes low[2] = p[0:2]
#pragma xmp nodes high[2] = p[2:2]
#pragma xmp template t[12]
#pragma xmp distribute t[block] onto low
#pragma xmp template s[12]
#pragma xmp distribute s[cyclic(2)] onto high
int a[12], b[12], every[12];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with s[i]
int main(void) {
#pragma xmp loop on s[i]
  for (int i = 0; i < 12; i++) b[i] = i;
#pragma xmp barrier
#pragma xmp task on low
  {
#pragma xmp gmove in
    a[0:6:2] = b[1:6];
#pragma xmp gmove in
    every[:] = b[:];
    for (int i = 0; i < 12; i++) EXPECT(every[i] == i);
#pragma xmp gmove in
    a[1:5:2] = b[11];
  }
#pragma xmp barrier
#pragma xmp loop on t[i]
  for (int i = 0; i < 10; i++) EXPECT(a[i] == (i % 2 ? 11 : 1 + i / 2));
#pragma xmp barrier
#pragma xmp task on high
  {
#pragma xmp gmove out
    a[4:8] = b[0:8];
#pragma xmp gmove out
    a[0:3] = b[7];
  }
#pragma xmp barrier
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) EXPECT(a[i] == (i < 3 ? 7 : i < 4 ? 11 : i - 4));
  finish();
}
""", 4)  # fmt: skip

    def test_what_gmove_cannot_reach(self):
        self.assertRegex(self.refused("""
#pragma xmp nodes p[2]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int main(void) {
  int a[8], b[8];
#pragma xmp align a[i] with t[i]
#pragma xmp task on p[0]
  {
#pragma xmp gmove in
    b[:] = a[:];
  }
}
""", 2), r"program\.c:\d+: gmove: gmove: some of a\[8\] lies with ranks that do not execute this, and only arrays that are declared outside")  # fmt: skip


class WholeArrays(Programs):
    def test_functions_that_rearrange(self):
        self.assert_right("""
#include <complex.h>
#pragma xmp nodes p[2][2]
#pragma xmp nodes q[4]
#pragma xmp template t[5][6]
#pragma xmp distribute t[block][cyclic] onto p
#pragma xmp template s[6][5]
#pragma xmp distribute s[cyclic(2)][block] onto p
#pragma xmp template u[5][5]
#pragma xmp distribute u[block][block] onto p
#pragma xmp template v[30]
#pragma xmp distribute v[cyclic(3)] onto q
double a[5][6], b[6][5], x[5][5];
float _Complex c[5][6], d[6][5];
int list[30], other[30], index[30], mask[30], m[5][6], flags[5][6];
#pragma xmp align [i][j] with t[i][j] :: a, c, m, flags
#pragma xmp align [i][j] with s[i][j] :: b, d
#pragma xmp align x[i][j] with u[i][j]
#pragma xmp align [i] with v[i] :: list, other, index, mask
int main(void) {
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) a[i][j] = 10 * i + j, c[i][j] = i + j * I, m[i][j] = -1, flags[i][j] = j % 2;
  xmp_transpose(xmp_desc_of(b), xmp_desc_of(a), 0);
  xmp_transpose(xmp_desc_of(d), xmp_desc_of(c), 1);
#pragma xmp loop (i, j) on s[i][j]
  for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) EXPECT(b[i][j] == 10 * j + i && d[i][j] == j + i * I);
  xmp_matmul(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(b));
#pragma xmp loop (i, j) on u[i][j]
  for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) EXPECT(x[i][j] == 600 * i * j + 150 * (i + j) + 55);
#pragma xmp loop on v[i]
  for (int i = 0; i < 30; i++) list[i] = 7 * i % 30, index[i] = 29 - i, other[i] = mask[i] = 0;
  xmp_sort_down(xmp_desc_of(list), xmp_desc_of(other));
#pragma xmp loop on v[i]
  for (int i = 0; i < 30; i++) EXPECT(other[i] == 29 - i);
  xmp_gather(xmp_desc_of(mask), xmp_desc_of(list), xmp_desc_of(index));
#pragma xmp loop on v[i]
  for (int i = 0; i < 30; i++) EXPECT(mask[i] == 7 * (29 - i) % 30);
  xmp_scatter(xmp_desc_of(other), xmp_desc_of(list), xmp_desc_of(index));
#pragma xmp loop on v[i]
  for (int i = 0; i < 30; i++) EXPECT(other[i] == 7 * (29 - i) % 30);
  xmp_sort_up(xmp_desc_of(list), xmp_desc_of(list));
  xmp_unpack(xmp_desc_of(m), xmp_desc_of(list), xmp_desc_of(flags));
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) EXPECT(m[i][j] == (j % 2 ? 3 * i + j / 2 : -1));
  xmp_pack(xmp_desc_of(other), xmp_desc_of(m), xmp_desc_of(flags));
#pragma xmp loop on v[i]
  for (int i = 0; i < 15; i++) EXPECT(other[i] == i);
  finish();
}
""", 4)  # fmt: skip

    def test_arrays_that_do_not_fit(self):
        program = self.build("""
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[4]
#pragma xmp distribute t[block] onto p
int a[4], index[4], b[4][2];
double wide[4];
#pragma xmp align [i] with t[i] :: a, index, wide
#pragma xmp align b[i][*] with t[i]
int main(int count, char** words) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 4; i++) index[i] = 2 * i;
  if (count == 1) xmp_gather(xmp_desc_of(a), xmp_desc_of(a), xmp_desc_of(index));
  if (count == 2) xmp_matmul(xmp_desc_of(a), xmp_desc_of(b), xmp_desc_of(b));
  if (count == 3) xmp_sort_up(xmp_desc_of(wide), xmp_desc_of(a));
}
""")
        for words, said in (((), "xmp_gather: index 4 in index is outside of a, which has 4 elements along dimension 0"),
                            (("1",), "xmp_matmul: b and b are no matrices whose product has the shape of a"),
                            (("1", "2"), "xmp_sort_up: wide and a have elements of 8 and 4 bytes, which are not converted")):  # fmt: skip
            self.assertIn(said, self.run_ranks(program, 1, *words).stderr)

    def test_what_directives_have_declared_is_told(self):
        self.assert_right("""
int sizes[2] = {2, 4};
#pragma xmp nodes p[2][2]
#pragma xmp nodes part[2] = p[1][0:2]
#pragma xmp template t[6][8]
#pragma xmp distribute t[cyclic(2)][block] onto p
#pragma xmp template g[6]
#pragma xmp distribute g[gblock(sizes)] onto part
#pragma xmp template open[:]
#pragma xmp distribute open[block] onto part
int a[8][5], b[8];
#pragma xmp align a[i][j] with t[j+1][i]
#pragma xmp align b[i] with t[*][i]
#pragma xmp shadow a[1:2][0]
int main(void) {
  int v[3], low, high, step, wrong = 0, me = xmpc_node_num();
  xmp_desc_t of, nodes;
#define IS(call, value) do { v[0] = -7; EXPECT((call) == 0 && v[0] == (value)); } while (0)
  EXPECT(xmp_align_template(xmp_desc_of(a), &of) == 0 && of == xmp_desc_of(t));
  EXPECT(xmp_dist_nodes(of, &nodes) == 0 && nodes == xmp_desc_of(p));
  IS(xmp_nodes_ndims(nodes, v), 2);
  IS(xmp_nodes_size(nodes, 1, v), 2);
  IS(xmp_nodes_index(nodes, 1, v), me % 2 + 1);
  EXPECT(xmp_nodes_equiv(xmp_desc_of(part), &of, v, (int[2]){0}, (int[2]){0}) == 0 && of == nodes && v[0] == 1 && v[1] == 2);
  EXPECT(xmp_nodes_equiv(nodes, &of, &low, &high, &step) == 1);
  IS(xmp_template_fixed(xmp_desc_of(open), v), 0);
#pragma xmp template_fix open[4]
  IS(xmp_template_fixed(xmp_desc_of(open), v), 1);
  IS(xmp_template_ndims(xmp_desc_of(t), v), 2);
  IS(xmp_template_lbound(xmp_desc_of(t), 2, v), 0);
  IS(xmp_template_ubound(xmp_desc_of(t), 2, v), 5);
  IS(xmp_dist_format(xmp_desc_of(t), 2, v), XMP_CYCLIC);
  IS(xmp_dist_format(xmp_desc_of(g), 1, v), XMP_GBLOCK);
  IS(xmp_dist_blocksize(xmp_desc_of(t), 1, v), 4);
  IS(xmp_dist_axis(xmp_desc_of(t), 2, v), 2);
  EXPECT(xmp_dist_gblockmap(xmp_desc_of(g), 1, v) == 0 && v[0] == 2 && v[1] == 4);
  EXPECT(xmp_dist_gblockmap(xmp_desc_of(t), 1, v) == 1 && xmp_dist_format(xmp_desc_of(t), 3, v) == 1);
  IS(xmp_align_axis(xmp_desc_of(a), 2, v), 2);
  IS(xmp_align_offset(xmp_desc_of(a), 2, v), 1);
  IS(xmp_align_replicated(xmp_desc_of(b), 2, v), 1);
  IS(xmp_align_replicated(xmp_desc_of(b), 1, v), 0);
  IS(xmp_array_lshadow(xmp_desc_of(a), 1, v), 1);
  IS(xmp_array_ushadow(xmp_desc_of(a), 1, v), 2);
  IS(xmp_array_lsize(xmp_desc_of(a), 1, v), 7);
  IS(xmp_array_lbound_global(xmp_desc_of(a), 1, v), me % 2 * 4);
  IS(xmp_array_lbound_global(xmp_desc_of(a), 2, v), me / 2 ? 1 : 0);
  IS(xmp_array_gtol(xmp_desc_of(a), 1, 5, v), me % 2 ? 2 : 6);
  IS(xmp_array_gtol(xmp_desc_of(a), 2, 4, v), 3);
  int* memory;
#pragma xmp loop on t[*][i]
  for (int i = 0; i < 8; i++) b[i] = i;
  EXPECT(xmp_array_laddr(xmp_desc_of(b), (void**)&memory) == 0 && memory[1] == me % 2 * 4 + 1);
  EXPECT(xmp_test_async(7) == 1 && !wrong);
  finish();
}
""", 4)  # fmt: skip


if __name__ == "__main__":
    unittest.main()
