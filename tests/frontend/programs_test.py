"""Translated programs as users run them: compiled by the front end, started by `tca run`.

Standard library only. XMPCC names the front end, TCA the command line, EXAMPLES the folder of examples/xacc."""

import json
import os
import re
import subprocess
import unittest

from commands import TCA
from translated import CHECK, EXAMPLES, Programs


class Examples(Programs):
    def test_heat_is_the_serial_program_s(self):
        with open(os.path.join(EXAMPLES, "heat.c")) as file:
            program = self.build(file.read())
        serial = self.path("serial")
        subprocess.run(["cc", "-O1", os.path.join(EXAMPLES, "heat.c"), "-o", serial, "-lm"], check=True)
        expected = subprocess.run([serial, "50"], capture_output=True, text=True).stdout
        self.assertIn("after 50 steps", expected)
        for ranks in (1, 2, 3, 4):
            self.assertEqual(self.run_ranks(program, ranks, "50").stdout, expected)


    def example(self, name, *options):
        with open(os.path.join(EXAMPLES, name)) as file:
            return self.build(file.read(), *options)

    def test_himeno_has_the_cells_of_the_application(self):
        program = self.example("himeno.c", "-DMI=32", "-DMJ=32", "-DMK=64")
        record = self.path("himeno.json")
        subprocess.run([TCA, "himeno", "--ranks", "2", "--size", "XS", "--iterations", "10", "--json", record], check=True, capture_output=True, timeout=60)
        with open(record) as file:
            expected = json.loads(file.readline())
        for ranks in (1, 2, 3):
            said = self.run_ranks(program, ranks, "10").stdout
            self.assertIn(f"fingerprint {expected['fingerprint']};", said, f"{ranks} ranks")
            self.assertAlmostEqual(float(re.search("residual ([^,]*)", said)[1]) / expected["residual"], 1, delta=1e-6)

    def test_cg_verifies(self):
        program = self.example("cg.c")
        for ranks in (1, 2, 3):
            done = self.run_ranks(program, ranks)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{ranks} ranks")
            self.assertRegex(done.stdout, r"zeta 8\.59717750786\d+, .*: right")

    def test_a_ring_of_coarrays(self):
        program = self.example("ring.c")
        for ranks in (1, 4):
            self.assertEqual(self.run_ranks(program, ranks).stdout, f"{ranks} images: right\n")


class Directives(Programs):
    def test_ghosts_after_every_kind_of_reflect(self):
        for kind in ("reflect (a)", "reflect_init (a)\n#pragma xmp reflect_do (a)", "reflect (a) async(3)\n#pragma xmp wait_async(3)"):
            self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[17]
#pragma xmp distribute t[block] onto p
int a[17];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[2:1]
int main(void) {
  int low = xmp_array_gcllbound(xmp_desc_of(a), 1), high = xmp_array_gclubound(xmp_desc_of(a), 1);
#pragma xmp loop on t[i]
  for (int i = 0; i < 17; i++) a[i] = 100 + i;
#pragma xmp """ + kind + """
  for (int i = low - 2 < 0 ? 0 : low - 2; i <= (high + 1 > 16 ? 16 : high + 1); i++) EXPECT(a[i] == 100 + i);
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_corners_unless_orthogonal_periodic_and_narrow(self):
        self.assert_right("""
#pragma xmp nodes p[2][2]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][block] onto p
int a[8][8];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp shadow a[2][2]
static void fill(int ghosts) {
  int i0 = xmp_array_gcllbound(xmp_desc_of(a), 1), j0 = xmp_array_gcllbound(xmp_desc_of(a), 2);
  for (int i = i0 - 2; i < i0 + 6; i++) for (int j = j0 - 2; j < j0 + 6; j++) a[i][j] = ghosts;
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = 10 * i + j;
#pragma xmp barrier
}
int main(void) {
  int i0 = xmp_array_gcllbound(xmp_desc_of(a), 1), j0 = xmp_array_gcllbound(xmp_desc_of(a), 2);
  int di = i0 ? -1 : 4, dj = j0 ? -1 : 4;
  fill(-1);
#pragma xmp reflect (a) width(1, 1)
  EXPECT(a[i0 + di][j0 + dj] == 10 * (i0 + di) + j0 + dj);
  EXPECT(a[i0 + (i0 ? -2 : 5)][j0] == -1);
  fill(-1);
#pragma xmp reflect (a) orthogonal
  EXPECT(a[i0 + di][j0] == 10 * (i0 + di) + j0);
  EXPECT(a[i0 + di][j0 + dj] == -1);
  fill(-1);
#pragma xmp reflect (a) width(/periodic/1:1, 0)
  EXPECT(a[i0 - 1][j0] == 10 * ((i0 + 7) % 8) + j0);
  EXPECT(a[i0 + 4][j0] == 10 * ((i0 + 4) % 8) + j0);
#pragma xmp reflect (a) width(0, /periodic/1:1)
  EXPECT(a[i0 - 1][j0 + 4] == 10 * ((i0 + 7) % 8) + (j0 + 4) % 8);
#pragma xmp loop on t[i][*]
  for (int i = 0; i < 8; i++) {
#pragma xmp loop on t[*][j]
    for (int j = 0; j < 8; j++) EXPECT(a[i][j] == 10 * i + j);
  }
  finish();
}
""", 4)  # fmt: skip

    def test_reductions_tasks_and_broadcasts(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
static void add(int a[3]) {
#pragma xmp reduction(+:a)
}
int main(void) {
  int n = xmp_num_nodes(), me = xmp_node_num(), s = me, m = me, b = 1 << me % 8, any = me == n;
  double v[3] = {me, 1, -me};
  long sum = 0;
#pragma xmp reduction(+:s, v)
#pragma xmp reduction(max:m)
#pragma xmp reduction(|:b)
#pragma xmp reduction(||:any)
  EXPECT(s == n * (n + 1) / 2 && v[0] == s && v[1] == n && v[2] == -s && m == n && any == 1);
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 0; i < 100; i++) sum += i;
  EXPECT(sum == 4950);
  int inside = 0, value = me;
#pragma xmp task on p[0]
  {
    inside = 1;
    EXPECT(xmp_num_nodes() == 1);
#pragma xmp reduction(+:inside)
  }
  EXPECT(inside == (me == 1));
#pragma xmp bcast (value) from p[n - 1]
  EXPECT(value == n);
  int a[3] = {1, me, 0}, rows[3][4], most = me / 2, node = me, first = me, at = -1, last = -1;
  add(a);
  EXPECT(a[0] == n && a[1] == n * (n + 1) / 2 && a[2] == 0);
  for (int i = 0; i < 12; i++) rows[i / 4][i % 4] = 100 * me + i;
#pragma xmp bcast (rows[1:2][0:2:2]) from p[n - 1]
  for (int i = 0; i < 12; i++) EXPECT(rows[i / 4][i % 4] == 100 * (i >= 4 && i % 2 == 0 ? n : me) + i);
#pragma xmp reduction(max:most/node, rows[0][:]/)
  EXPECT(most == n / 2 && node == (n > 1 ? n / 2 * 2 : 1) && rows[0][3] == 100 * node + 3);
  most = -1;
#pragma xmp loop on t[i] reduction(firstmax:most/at/)
  for (int i = 0; i < 100; i++) if (i % 10 > most) most = i % 10, at = i;
#pragma xmp loop on t[i] reduction(lastmin:first/last/)
  for (int i = 0; i < 100; i++) if (-(i % 10) <= first) first = -(i % 10), last = i;
  EXPECT(most == 9 && at == 9 && first == -9 && last == 99);
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_steps_bounds_and_offsets_of_loops(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t(0:40)
#pragma xmp distribute t(block) onto p
typedef unsigned index;
int a[40], b[16];
#pragma xmp align a[i] with t(i+1)
#pragma xmp align b[k] with t(k+24)
int main(void) {
  int up = 0, down = 0, le = 0, all = 0, i;
  unsigned long seen = 0;
  unsigned k;
#pragma xmp loop on t(i+1) reduction(+:up)
  for (i = 3; i < 37; i += 5) up += i, a[i] = i;
#pragma xmp loop on t(i+1) reduction(+:down)
  for (i = 38; i > 2; i -= 7) down += i;
#pragma xmp loop on t(i+1) reduction(+:le)
  for (i = 3; i <= 33; i = i + 5) le += a[i];
#pragma xmp loop on t(i+1) reduction(+:all)
  for (int i = 39; i >= 0; --i) all += i;
  EXPECT(up == 3 + 8 + 13 + 18 + 23 + 28 + 33 && le == up);
  EXPECT(down == 38 + 31 + 24 + 17 + 10 + 3);
  EXPECT(all == 780);
  // Nodes whose part lies in front of the array's have none of it, and no index below 0.
#pragma xmp loop on t(k+24)
  for (k = 15; k > 0; k--) b[k] = seen++;
#pragma xmp loop on t(k+24)
  for (index k = 0; k <= 15; k += 3) b[k] = seen++;
#pragma xmp loop on t(k+24)
  for (size_t k = 12; k >= 2; k -= 2) b[k] = seen++;
#pragma xmp reduction (+:seen)
  EXPECT(seen == 15 + 6 + 6);
  finish();
}
""", 1, 2, 3, 4)  # fmt: skip

    def test_directives_that_are_executed_again_with_something_else(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[12]
#pragma xmp distribute t[block] onto p
int a[12], b[12], whole[12], *m;
#pragma xmp align [i] with t[i] :: a, b, m
#pragma xmp shadow [1] :: a, b, m
static int sum(int n) {
  int values[3] = {1, 1, 1};
  (void)n;
#pragma xmp reduction (+:values)
  return values[n];
}
static void get(int to[12], int from[12], int first, int count) {
#pragma xmp align from[i] with t[i]
#pragma xmp shadow from[1]
#pragma xmp gmove
  to[0:count] = from[first:count];
}
static void set(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) m[i] = i;
#pragma xmp reflect (m)
#pragma xmp loop on t[i]
  for (int i = 1; i < 11; i++) EXPECT(m[i - 1] == i - 1 && m[i + 1] == i + 1);
}
int main(void) {
  const int n = xmp_num_nodes();
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) a[i] = i, b[i] = -i;
  for (int round = 0; round < 3; round++) {
    int other[12], value = xmp_node_num(), from = round % n;
    get(whole, a, round, 9);  // from elsewhere
    for (int i = 0; i < 9; i++) EXPECT(whole[i] == i + round);
    get(other, b, round, 9);  // of another array, to another
    for (int i = 0; i < 9; i++) EXPECT(other[i] == -i - round);
    get(other, b, round, 10);  // more
    EXPECT(other[9] == -9 - round);
#pragma xmp gmove
    whole[0:3] = a[2 * round:3];
    for (int i = 0; i < 3; i++) EXPECT(whole[i] == 2 * round + i);
    EXPECT(sum(round) == n);
#pragma xmp task on p[0]
    EXPECT(sum(round) == 1);
#pragma xmp bcast (value) from p[from]
    EXPECT(value == from + 1);
    m = xmp_malloc(xmp_desc_of(m), 12);
    set();
    int* old = m;
    m = xmp_malloc(xmp_desc_of(m), 12);
    set();
    free(old);
    free(m);
  }
  finish();
}
""", 1, 3)  # fmt: skip

    def test_gmove_between_distributions_and_into_what_every_rank_has(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[12][12]
#pragma xmp distribute t[block][*] onto p
#pragma xmp template s[12][12]
#pragma xmp distribute s[*][block] onto p
int a[12][12], b[12][12], whole[12][12], one;
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i][j] with s[i][j]
int main(void) {
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) a[i][j] = 100 * i + j;
#pragma xmp loop (i, j) on s[i][j]
  for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) b[i][j] = 0;
#pragma xmp gmove
  b[:][:] = a[:][:];
#pragma xmp gmove
  whole[:][0:4:3] = a[:][0:4:3];
#pragma xmp gmove
  one = a[7][5];
#pragma xmp gmove
  a[0:11][:] = a[1:11][:];
#pragma xmp loop (i, j) on s[i][j]
  for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) EXPECT(b[i][j] == 100 * i + j);
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 11; i++) for (int j = 0; j < 12; j++) EXPECT(a[i][j] == 100 * (i + 1) + j);
  for (int i = 0; i < 12; i++) for (int j = 0; j < 12; j++) EXPECT(whole[i][j] == (j % 3 ? 0 : 100 * i + j));
  EXPECT(one == 705);
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_a_row_of_nodes_becomes_a_grid(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp nodes q[*][2] = p[0:4]
int main(void) {
  int i = 0, j = 0;
  xmp_nodes_index(xmp_desc_of(q), 1, &i);
  xmp_nodes_index(xmp_desc_of(q), 2, &j);
  EXPECT(2 * (j - 1) + i == xmp_node_num());
  finish();
}
""", 4)  # fmt: skip

    def test_ghosts_are_added_to_their_elements(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[8][8]
#pragma xmp distribute t[block][*] onto p
double a[8][8];
int b[8], all[8], part[4];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i] with t[i][*]
#pragma xmp shadow a[1][0]
int main(void) {
  int n = xmp_num_nodes(), low = xmp_array_gcllbound(xmp_desc_of(a), 1), high = xmp_array_gclubound(xmp_desc_of(a), 1);
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) a[i][j] = i;
#pragma xmp reflect (a) width(/periodic/1, 0)
#pragma xmp reduce_shadow (a) width(/periodic/1, 0) async(1)
#pragma xmp wait_async (1)
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) EXPECT(a[i][j] == i * (1 + (i == low) + (i == high)));
#pragma xmp loop on t[i][*]
  for (int i = 0; i < 8; i++) b[i] = i;
#pragma xmp gmove in async(2)
  all[:] = b[:];
#pragma xmp wait_async (2)
  for (int i = 0; i < 4; i++) part[i] = 10 + i;
#pragma xmp gmove out
  b[0:4:2] = part[:];
  for (int i = 0; i < 8; i++) EXPECT(all[i] == i);
#pragma xmp loop on t[i][*]
  for (int i = 0; i < 8; i++) EXPECT(b[i] == (i % 2 ? i : 10 + i / 2) && n > 0);
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_ghosts_among_fewer_nodes_than_ranks(self):
        self.assert_right("""
#pragma xmp nodes p[2]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int a[8];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++) a[i] = i;
#pragma xmp reflect (a)
  if (xmp_node_num() <= 2) EXPECT(a[xmp_node_num() == 1 ? 4 : 3] == (xmp_node_num() == 1 ? 4 : 3));
  finish();
}
""", 3)  # fmt: skip

    def test_cyclic_distributions(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[23]
#pragma xmp distribute t[cyclic] onto p
#pragma xmp template s(0:40)
#pragma xmp distribute s(cyclic(3)) onto p
int a[23], b[40];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with s(i+1)
int main(void) {
  int sum = 0, even = 0, n = 0, some = 0, i;
#pragma xmp loop on t[i]
  for (i = 0; i < 23; i++) a[i] = i;
#pragma xmp loop on t[i] reduction(+:sum, n)
  for (i = 0; i < 23; i++) sum += a[i], n++;
#pragma xmp loop on t[i] reduction(+:even)
  for (i = 2; i < 23; i += 4) even += a[i];
#pragma xmp loop on s(i+1)
  for (i = 0; i < 40; ++i) b[i] = i;
#pragma xmp loop on s(i+1) reduction(+:some)
  for (i = 3; i < 40; i = i + 5) some += b[i];
  EXPECT(sum == 253 && n == 23 && even == 2 + 6 + 10 + 14 + 18 + 22);
  EXPECT(some == 3 + 8 + 13 + 18 + 23 + 28 + 33 + 38);
  finish();
}
""", 1, 2, 3, 4)  # fmt: skip

    def test_blocks_of_given_sizes_and_a_template_that_is_fixed_later(self):
        self.assert_right("""
int sizes[2] = {3, 9};
#pragma xmp nodes p[2]
#pragma xmp template t[12]
#pragma xmp distribute t[gblock(sizes)] onto p
#pragma xmp template s[:]
#pragma xmp distribute s[block(10)] onto p
int a[12], *b;
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i] with s[i]
#pragma xmp shadow a[1]
int main(void) {
  int n = 13, mine = 0;
#pragma xmp template_fix s[n]
  b = (int*)xmp_malloc(xmp_desc_of(b), n);
#pragma xmp loop on t[i]
  for (int i = 0; i < 12; i++) a[i] = i, mine++;
  EXPECT(mine == (xmp_node_num() == 1 ? 3 : 9));
#pragma xmp reflect (a)
  EXPECT(a[xmp_node_num() == 1 ? 3 : 2] == (xmp_node_num() == 1 ? 3 : 2));
  mine = 0;
#pragma xmp loop on s[i]
  for (int i = 0; i < n; i++) b[i] = i, mine++;
  EXPECT(mine == (xmp_node_num() == 1 ? 10 : 3));
  free(b);
  finish();
}
""", 2)  # fmt: skip

    def test_assignments_of_sections(self):
        self.assert_right("""
#pragma xmp nodes p[*]
#pragma xmp template t[10][8]
#pragma xmp distribute t[block][*] onto p
int a[10][8], b[10][8];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp align b[i][j] with t[i][j]
int main(void) {
#pragma xmp array on t[:][:]
  a[:][:] = 1;
#pragma xmp array on t[:][:]
  b[:][:] = a[:][:] + 2 * a[:][:];
#pragma xmp array on t[2:3][:]
  b[2:3][0:4:2] += a[2:3][1:4:2] * 10;
#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < 10; i++) for (int j = 0; j < 8; j++) EXPECT(b[i][j] == (i >= 2 && i < 5 && j % 2 == 0 ? 13 : 3));
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_coarrays_are_put_got_and_synchronised(self):
        self.assert_right("""
#pragma xmp nodes p[*]
int a[6][5]:[*], one:[*] = 3, b[4];
#pragma xmp coarray b : [*]
#pragma acc declare create(a)
static double grid:[2][*];
xmp_lock_t lock:[*];
int main(void) {
  int n = xmp_num_nodes(), me = xmpc_this_image(), right = (me + 1) % n, left = (me + n - 1) % n, got[3];
  EXPECT(one == 3 && sizeof(a) == 30 * sizeof(int));
  for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++) a[i][j] = 100 * me + 10 * i + j;
  xmp_sync_all(NULL);
  got[:] = a[1:3][2]:[right];
  EXPECT(got[0] == 100 * right + 12 && got[2] == 100 * right + 32);
  EXPECT(a[5][4]:[right] + a[0][0]:[left] == 100 * (right + left) + 54);
  b[0:2]:[right] = a[4][1:2];
  b[2:2]:[right] = -1 - me;
  if (n % 2 == 0) grid:[right % 2][right / 2] = me + 0.5;
  xmp_sync_images(2, (int[]){left, right}, NULL);
  EXPECT(b[0] == 100 * left + 41 && b[1] == 100 * left + 42 && b[2] == -1 - left && b[3] == -1 - left);
  EXPECT(n % 2 || grid == left + 0.5);
  xmp_sync_all(NULL);
  if (me == 0) one = 0;
  a[0][0:4]:[me] = a[0][1:4];
  EXPECT(a[0][0] == 100 * me + 1 && a[0][3] == 100 * me + 4);
  xmp_sync_all(NULL);
  for (int i = 0; i < 5; i++) {
#pragma xmp lock(lock:[0])
    one:[0] = one:[0] + 1;
#pragma xmp unlock(lock:[0])
  }
#pragma xmp reduction(max:me)
  EXPECT(one:[0] >= 5 && me == n - 1);
  xmp_sync_all(NULL);
  EXPECT(one:[0] == 5 * n);
  xmp_sync_all(NULL);
  xmp_atomic_define(a[1][1]:[right], xmpc_this_image());
  xmp_sync_all(NULL);
  xmp_atomic_ref(&got[0], a[1][1]:[right]);
  EXPECT(a[1][1] == left && got[0] == xmpc_this_image());
  finish();
}
""", 1, 2, 4)  # fmt: skip

    def test_posts_are_waited_for_by_node_and_tag(self):
        self.assert_right("""
#pragma xmp nodes p[*]
int main(void) {
  int n = xmp_num_nodes(), me = xmpc_node_num();
  for (int tag = 0; tag < 3; tag++) {
#pragma xmp post (p[(me + 1) % n], tag)
  }
  for (int tag = 2; tag > 0; tag--) {
#pragma xmp wait (p[(me + n - 1) % n], tag)
  }
#pragma xmp wait (p[(me + n - 1) % n])
#pragma xmp task on p[0]
  {
#pragma xmp post (p[n - 1], 1000)
  }
#pragma xmp task on p[n - 1]
  {
#pragma xmp wait (p[0], 1000)
  }
  finish();
}
""", 1, 4)  # fmt: skip


class Failures(Programs):
    def test_an_image_and_a_section_that_there_is_not(self):
        source = "int a[4]:[*], i = 1;\nint main(void) {\n  a[0:i]:[WHICH] = a[0:i];\n  xmp_sync_all(NULL);\n}\n"
        self.assertRegex(self.run_ranks(self.build(CHECK + source, "-DWHICH=2"), 2).stderr, r"program\.c:\d+: coarray a: there is no image 2: there are 0 to 1")
        self.assertRegex(self.refused("int a[4]:[*], i = 5;\nint main(void) {\n  a[0:i]:[0] = a[0:i];\n}\n", 2),
                         r"program\.c:\d+: coarray a: a section from 0 to 4 lies outside of dimension 0, which has 4 elements")

    def test_a_number_of_ranks_that_the_program_does_not_allow(self):
        said = self.refused("#pragma xmp nodes p[2][2]\nint main(void) { return 0; }\n", 2)
        self.assertRegex(said, r"program\.c:\d+: nodes: nodes p\[2\]\[2\] are 4, and the program runs as 2 ranks: start it with tca run -n 4")

    def test_reflect_do_before_reflect_init(self):
        said = self.refused("#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\nint a[8];\n"
                            "#pragma xmp align a[i] with t[i]\n#pragma xmp shadow a[1]\nint main(void) {\n#pragma xmp reflect_do (a)\n}\n", 2)
        self.assertRegex(said, r"program\.c:\d+: reflect_do: reflect_init has not been executed")

    def test_a_post_that_never_comes(self):
        self.environment["OPENTCA_TIME_LIMIT"] = "0.2"
        said = self.refused("#pragma xmp nodes p[*]\nint main(void) {\n#pragma xmp wait\n}\n", 1)
        self.assertRegex(said, r"program\.c:\d+: wait: nobody has posted within 0\.2 s \(time limit: OPENTCA_TIME_LIMIT\)")

    def test_a_wrong_index_with_check(self):
        source = """
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int a[8];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++) a[i] = i;
#pragma xmp task on p[1]
  a[WHICH] = 1;
}
"""
        program = self.build(CHECK + source, "-fcheck", "-DWHICH=2")
        said = self.run_ranks(program, 2).stderr
        self.assertRegex(said, r"program\.c:\d+: a: index 2 of dimension 0 is not on rank 1, which has 4 to 7 and 1 ghosts below and 1 above; node 0 along")
        self.assertRegex(self.run_ranks(self.build(CHECK + source, "-fcheck", "-DWHICH=9"), 2).stderr, "index 9 of dimension 0 is outside of a, which has 8 there")
        self.assertEqual(self.run_ranks(self.build(CHECK + source, "-fcheck", "-DWHICH=3"), 2).returncode, 0)

    def test_a_stale_ghost_with_check(self):
        source = """
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double u[8], v[8];
#pragma xmp align [i] with t[i] :: u, v
#pragma xmp shadow u[1]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++) u[i] = i;
#pragma xmp reflect (u)
  for (int step = 0; step < 2; step++) {
#pragma xmp loop on t[i]
    for (int i = 1; i < 7; i++) v[i] = u[i - 1] + u[i + 1];
#pragma xmp loop on t[i]
    for (int i = 1; i < 7; i++) u[i] = v[i];
#ifdef RIGHT
#pragma xmp reflect (u)
#endif
  }
  return 0;
}
"""
        lines = (CHECK + source).splitlines()
        read, wrote = (1 + next(n for n, line in enumerate(lines) if what in line) for what in ("v[i] = u", "u[i] = v"))
        said = self.run_ranks(self.build(CHECK + source, "-fcheck"), 2).stderr
        self.assertRegex(said, rf"program\.c:{read}: u: u\[(4|3)\], a ghost on rank \d, is stale here: its owner, rank \d, wrote it in line {wrote}, and no reflect has")
        done = self.run_ranks(self.build(CHECK + source, "-fcheck", "-DRIGHT"), 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_missing_update_with_check(self):
        source = """
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double u[8], w[3], s;
#pragma xmp align [i] with t[i] :: u
int main(int argc, char** argv) {
  const int which = argc > 1 ? atoi(argv[1]) : 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++) u[i] = i;
  w[1] = 2;
#pragma acc data copy(u, w, s)
  {
    if (which == 1) w[1] = 3;
#pragma xmp loop on t[i]
#pragma acc parallel loop
    for (int i = 0; i < 8; i++) u[i] += w[1];
    if (which != 2) {
#pragma acc update host(u)
    }
#pragma xmp loop on t[i]
    for (int i = 0; i < 8; i++) EXPECT(u[i] == i + 2);
#pragma acc parallel loop
    for (int i = 0; i < 3; i++) s += w[i];
    if (which != 3) {
#pragma acc update host(s)
    }
    EXPECT(s == 2);
  }
  finish();
}
"""
        program = self.build(CHECK + source, "-fcheck")
        done = self.run_ranks(program, 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for which, said in (("1", r"w: element 1 of w is read on the device of rank \d, and the host wrote it later \(.*program\.c:\d+\): put #pragma acc update device\(w\)"),
                            ("2", r"u: u\[0\], which this rank owns, is read on the host of rank 0, and the device wrote it later .* update host\(u\)"),
                            ("3", r"s: s is read on the host of rank \d, and the device wrote it later")):  # fmt: skip
            self.assertRegex(self.run_ranks(program, 2, which).stderr, r"program\.c:\d+: " + said)

    def test_devices_that_a_rank_does_not_have(self):
        source = """
#pragma acc devices d[*]
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
double u[8], b = 1;
#pragma xmp align u[i] with t[i]
#pragma xmp shadow u[1]
#pragma acc declare create(u) layout([block]) shadow([1:1]) on_device(d)
int main(int argc, char** argv) {
  const int count = atoi(argv[1]), which = atoi(argv[2]);
#pragma acc devices e[count] = nvidia[0:count]
#pragma acc enter data copyin(b) on_device(d[which])
#pragma xmp loop on t[i]
#pragma acc parallel loop layout(u[i]) on_device(e)
  for (int i = 0; i < 8; i++) u[i] = i + b;
#pragma acc barrier_device on_device(d)
#pragma acc update host(u) on_device(d)
#pragma acc wait on_device(d)
#pragma xmp bcast (b) from_device d[0] from p[0]
#pragma acc exit data delete(b) on_device(d)
#pragma acc barrier_device
#pragma xmp loop on t[i]
  for (int i = 0; i < 8; i++) EXPECT(u[i] == i + 1);
  finish();
}
"""
        program = self.build(CHECK + source)
        done = self.run_ranks(program, 2, "1", "0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(self.run_ranks(program, 1, "2", "0").stderr, r"program\.c:\d+: acc devices: devices e are 2, and a rank drives one device, number 0: start a rank for each")
        self.assertRegex(self.run_ranks(program, 1, "1", "3").stderr, r"program\.c:\d+: acc enter data: there is no d\[3\], and a rank drives one device")

    def test_explain_prints_the_puts_of_an_exchange(self):
        with open(os.path.join(EXAMPLES, "heat.c")) as file:
            program = self.build(file.read(), "--explain")
        self.assertRegex(self.run_ranks(program, 2, "5").stderr, r"program\.c:\d+: reflect_init \(u\), 2048 bytes from rank 0:\n(.*\n)*.*shm/")

    def test_a_gmove_whose_shapes_differ(self):
        said = self.refused("#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\nint a[8], b[8], n = 4;\n"
                            "#pragma xmp align a[i] with t[i]\n#pragma xmp align b[i] with t[i]\nint main(void) {\n#pragma xmp gmove\n  a[0:n] = b[:];\n}\n", 2)
        self.assertRegex(said, r"gmove: gmove: the sides differ: a\[4\] = b\[8\]")

    def test_a_gmove_of_what_others_have_that_do_not_execute_it(self):
        said = self.refused("#pragma xmp nodes p[*]\n#pragma xmp template t[8]\n#pragma xmp distribute t[block] onto p\nint a[8], b[8];\n"
                            "#pragma xmp align a[i] with t[i]\nint main(void) {\n#pragma xmp task on p[0]\n{\n#pragma xmp gmove\n  b[:] = a[:];\n}\n}\n", 2)
        self.assertRegex(said, r"program\.c:\d+: gmove: gmove: some of a\[8\] lies with ranks that do not execute this: move the directive out of the task, or make it a gmove in or out")

    def test_what_is_not_present(self):
        said = self.refused("double x[4], y[4];\nint main(void) {\n#pragma acc data copyin(x)\n{\n#pragma acc data present(y)\n{ }\n}\n}\n", 1)
        self.assertRegex(said, r"y is not present on the device; there are x \(.*program\.c:\d+\)")

    def test_what_is_no_longer_present(self):
        region = "double y[4];\nstatic void f(void) {\n#pragma acc parallel loop present(y)\nfor (int i = 0; i < 4; i++) y[i] = i;\n}\n"
        said = self.refused(region + 'int main(void) {\n#pragma acc enter data create(y)\nf(), f();\nputs("twice");\nfflush(stdout);\n#pragma acc exit data delete(y)\nf();\n}\n', 1)
        self.assertRegex(said, r"program\.c:\d+: acc parallel loop: y is not present on the device; nothing is")

    def test_a_rank_that_dies_names_file_line_and_directive(self):
        source = """
#include <signal.h>
#pragma xmp nodes p[*]
#pragma xmp template t[8]
#pragma xmp distribute t[block] onto p
int a[8], b[8], sum;
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(int argc, char** argv) {
  const int which = atoi(argv[1]);
#pragma xmp reflect_init (a)
  if (xmp_node_num() == 2) raise(SIGKILL);
  if (which == 0) {
#pragma xmp barrier
  } else if (which == 1) {
#pragma xmp reflect_do (a)
  } else if (which == 2) {
#pragma xmp reduction(+:sum)
  } else {
#pragma xmp gmove
    b[:] = a[:];
  }
}
"""
        program = self.build(CHECK + source)
        for which, directive in enumerate(("barrier", "reflect_do", "reduction", "gmove")):
            done = self.run_ranks(program, 2, str(which))
            line = 1 + (CHECK + source).splitlines().index(f"#pragma xmp {directive}" + {"reflect_do": " (a)", "reduction": "(+:sum)"}.get(directive, ""))
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"program\.c:{line}: {directive}: .*rank 1")
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
