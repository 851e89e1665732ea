"""Forms of directives in translated programs: margins, full shadows, members of structures, sections, nodes.

Standard library only. XMPCC names the front end, TCA the command line."""

import unittest

from translated import Programs


class Forms(Programs):
    def test_margins_and_loops_that_a_directive_says_nothing_about(self):
        self.assert_right("""
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
int a[8][8], b[8][8];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i][j] with t[i][j]
#pragma xmp shadow b[1][0]
#pragma xmp shadow a[0][*]
int main(void) {
  int i0 = xmp_array_gcllbound(xmp_desc_of(a), 1), j0 = xmp_array_gcllbound(xmp_desc_of(a), 2), inner = 0, outer = 0, around = 0, rows = 0;
#pragma xmp loop (i, j) on t[i][j] expand(-1, -2)
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = 1, inner++;
#pragma xmp loop (i, j) on t[i][j] margin(-1, -2)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) { a[i][j] = 2; outer++; }
  EXPECT(inner == 0 && outer == 16);
#pragma xmp loop (i, j) on t[i][j] margin(-1, 0)
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = 3;
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) EXPECT(a[i][j] == (i % 4 == 0 || i % 4 == 3 ? 3 : 2));
#pragma xmp loop (i, j) on t[i][j] margin(/unbound/1, 0)
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) b[i][j] = i, around++;
  EXPECT(around == 8 && b[i0 - 1][j0] == i0 - 1);
#pragma xmp reflect (a)
#pragma xmp loop (i) on t[i][j]
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { EXPECT(a[i][j] == (i % 4 == 0 || i % 4 == 3 ? 3 : 2)); rows++; }
  EXPECT(rows == 32);
  finish();
}
""", 4)  # fmt: skip

    def test_full_shadows_are_what_all_others_own(self):
        source = """
#pragma xmp nodes p[*]
#pragma xmp template t[9]
#pragma xmp distribute t[cyclic] onto p
#pragma xmp template s[9][9]
#pragma xmp distribute s[block][*] onto p
int a[9], b[9][9];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i][j] with s[i][j]
#pragma xmp shadow a[*]
#pragma xmp shadow b[*][0]
int main(void) {
  int low = 0, high = 0, size = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 9; i++) a[i] = i;
#pragma xmp loop (i, j) on s[i][j]
  for (int i = 0; i < 9; i++) for (int j = 0; j < 9; j++) b[i][j] = 10 * i + j;
#pragma xmp reflect (a, b)
  for (int i = 0; i < 9; i++) EXPECT(a[i] == i && b[i][8 - i] == 10 * i + 8 - i);
  xmp_array_lshadow(xmp_desc_of(b), 1, &low);
  xmp_array_ushadow(xmp_desc_of(b), 1, &high);
  xmp_array_lsize(xmp_desc_of(b), 1, &size);
  EXPECT(size == 9 && low == xmp_array_gcllbound(xmp_desc_of(b), 1) && low + high == 9 - (xmp_array_gclubound(xmp_desc_of(b), 1) - low + 1));
#pragma xmp loop on t[i]
  for (int i = 0; i < 9; i++) a[i] = -i;
#pragma xmp reflect_init (a)
#pragma xmp reflect_do (a)
  EXPECT(a[8] == -8 && a[1] == -1);
  finish();
}
"""
        self.assert_right(source, 1, 3)
        self.assert_right(source, 3, options=["-fcheck"])

    def test_members_of_structures_are_arrays_beside_them(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[12]
#pragma xmp distribute t[block] onto p
#pragma xmp template s[12]
#pragma xmp distribute s[cyclic(2)] onto p
struct cell { int count, v[12]; double w[12]; };
#pragma xmp align cell.v[i] with t[i]
#pragma xmp shadow cell.v[1]
#pragma xmp align cell.w[i] with s[i]
struct cell one = {5}, two;
int main(void) {
  struct cell three;
  int low = xmp_array_gcllbound(xmp_desc_of(one.v), 1), sum = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) one.v[i] = i, three.v[i] = one.v[i] + one.count;
#pragma xmp reflect (one.v)
  EXPECT(low == 0 || one.v[low - 1] == low - 1);
#pragma xmp loop on s[i]
  for (int i = 0; i < 12; i++) two.w[i] = i / 2.0;
#pragma xmp gmove
  two.v[0:6] = one.v[6:6];
#pragma xmp array on t[:]
  three.v[6:6] = three.v[6:6] * 2;
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < 12; i++) sum += three.v[i] + (i < 6 ? two.v[i] : 0);
  EXPECT(sum == (15 + 30) + 2 * (51 + 30) + 51);
#pragma xmp loop on s[i]
  for (int i = 0; i < 12; i++) EXPECT(two.w[i] == i / 2.0);
  finish();
}
""", 1, 2)  # fmt: skip

    def test_sections_are_assigned_with_array_and_without(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[11]
#pragma xmp distribute t[cyclic(2)] onto p
int a[3][11], b[3][11], c[4][6], d[6];
#pragma xmp align [*][i] with t[i] :: a, b
static void fill(int n, int v[n], int* w) {
  v[0:n] = 4;
  w[1:n - 1:1] += v[0:n - 1] * 2;
}
int main(void) {
#pragma xmp array on t[:]
  a[:][:] = 1;
#pragma xmp array on t[:]
  b[:][1:4:2] = a[:][1:4:2] + 6;
#pragma xmp loop on t[i]
  for (int i = 1; i < 8; i += 2) EXPECT(a[2][i] == 1 && b[1][i] == 7);
#pragma xmp loop on t[i]
  for (int i = 0; i < 11; i += 2) EXPECT(b[0][i] == 0);
  c[:][:] = 2;
  c[1:2][0:3:2] = 5;
  d[:] = c[1][:] * 10;
  for (int i = 0; i < 6; i++) EXPECT(c[0][i] == 2 && c[2][i] == (i % 2 ? 2 : 5) && d[i] == 10 * c[1][i]);
  fill(6, d, c[3]);
  EXPECT(d[5] == 4 && c[3][0] == 2 && c[3][5] == 10);
  finish();
}
""", 1, 3)  # fmt: skip

    def test_sizes_of_nodes_are_left_open(self):
        program = self.build("""
#include <stdio.h>
#include <xmp.h>
#pragma xmp nodes p(*, *)
#pragma xmp nodes q[2][*]
#pragma xmp static_desc p
int main(void) {
  int x, y, z;
  xmp_nodes_size(xmp_desc_of(p), 1, &x);
  xmp_nodes_size(xmp_desc_of(p), 2, &y);
  xmp_nodes_size(xmp_desc_of(q), 1, &z);
#pragma xmp task on p(1, 1) profile
  printf("%d %d %d", x, y, z);
}
""")  # fmt: skip
        self.assertRegex(self.run_ranks(program, 2).stderr, r"program\.c:4: nodes: nodes p have more than one size that is left open: set XMP_NODE_SIZE0 in the environment")
        self.environment["XMP_NODE_SIZE0"] = "4"
        self.assertEqual(self.run_ranks(program, 4).stdout, "4 1 2")

    def test_a_full_shadow_is_not_added_up(self):
        self.assertRegex(self.refused("#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\nint a[8];\n"
                                      "#pragma xmp align a[i] with t[i]\n#pragma xmp shadow a[*]\nint main(void) {\n#pragma xmp reduce_shadow (a)\n}\n", 1),
                         r"program\.c:\d+: reduce_shadow: a has a full shadow, which is not added up")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
