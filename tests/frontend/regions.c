// Compute regions and data of OpenACC in a distributed program: the same results wherever regions run. Prints what is
// wrong, and ends with 1.
#include <math.h>
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmp.h>

#define N 40
static int wrong;
#define EXPECT(c)                                                              \
  do {                                                                         \
    if (!(c)) {                                                                \
      wrong = 1;                                                               \
      fprintf(stderr, "node %d, line %d: %s\n", xmp_node_num(), __LINE__, #c); \
    }                                                                          \
  } while (0)

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template c[N]
#pragma xmp distribute c[cyclic] onto p
double u[N][N], v[N][N], cube[6][N][5];
int ring[N], dealt[N];
#pragma xmp align u[i][*] with t[i]
#pragma xmp align v[i][*] with t[i]
#pragma xmp align cube[*][j][*] with t[j]
#pragma xmp align ring[i] with t[i]
#pragma xmp align dealt[i] with c[i]
#pragma xmp shadow u[1 : 1][0]
#pragma xmp shadow cube[1][1][0]
#pragma xmp shadow ring[1]

enum kind { SMALL = 3, LARGE = 7 };
typedef struct {
  double x, y;
} point;
struct box {
  point low;
  int class;
};
static const double half = 0.5;

#pragma acc routine seq
static double middle(double const a[restrict 2], struct box b) {
  return half * (a[0] + a[1]) + b.low.x + b.class;
}

static void ghosts_and_loops(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) u[i][j] = 100 * i + j, v[i][j] = -1;
#pragma acc data copyin(u) copy(v)
  {
#pragma xmp reflect(u) width(/ periodic / 1 : 1, 0) acc
#pragma xmp loop on t[i]
#pragma acc parallel loop
    for (int i = 0; i < N; i++) {
#pragma acc loop vector
      for (int j = 1; j < N - 1; j++) v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
    }
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const int around = 100 * ((i + N - 1) % N + (i + 1) % N + 2 * i) + 4 * j;
      EXPECT(v[i][j] == (j > 0 && j < N - 1 ? around : -1));
    }
}

static void ghosts_in_queues(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) ring[i] = i;
#pragma acc enter data copyin(ring)
#pragma xmp reflect_init(ring) width(/ periodic / 1 : 1) acc
  for (int step = 0; step < 3; step++) {
#pragma xmp loop on t[i]
#pragma acc parallel loop async(1)
    for (int i = 0; i < N; i++) ring[i] += 1;
#pragma acc wait(1)
#pragma xmp reflect_do(ring) acc async(1)
#pragma xmp wait_async(1)
  }
  int sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += ring[i - 1] + ring[i + 1];
#pragma acc exit data copyout(ring)
  EXPECT(sum == 2 * (N * (N - 1) / 2 + 3 * N));
}

static void three_dimensions(void) {
  double least = 1e9;
#pragma acc data create(cube)
  {
#pragma xmp loop on t[j]
#pragma acc kernels loop collapse(3)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < N; j++)
        for (int k = 4; k >= 0; k -= 2) cube[i][j][k] = 10000 * i + 10 * j + k;
#pragma xmp reflect(cube) acc
#pragma xmp loop on t[j] reduction(min : least)
#pragma acc parallel loop gang collapse(2) reduction(min : least)
    for (int i = 0; i < 6; i++)
      for (int j = 1; j < N; j++) {
#pragma acc loop vector reduction(min : least)
        for (int k = 0; k < 5; k += 2) least = fmin(least, cube[i][j][k] - cube[i][j - 1][k] + i);
      }
#pragma acc update host(cube)
  }
#pragma xmp loop on t[j]
  for (int j = 0; j < N; j++) EXPECT(cube[5][j][2] == 50002 + 10 * j && cube[0][j][4] == 10 * j + 4);
  EXPECT(least == 10);
}

static void reductions(void) {
  int sum = 5, all = 1, any = 0, bits = 0, most = -100;
  double product = 1, x[N];
  for (int i = 0; i < N; i++) x[i] = 1 + (i == 7);
#pragma acc parallel loop reduction(+:sum) reduction(max:most) reduction(&&:all) reduction(||:any) reduction(|:bits) reduction(*:product)
  for (int i = 0; i < N; i++) {
    sum += i;
    most = most > i ? most : i;
    all = all && i < N;
    any = any || i == 3;
    bits |= 1 << i % 10;
    product *= x[i];
  }
  EXPECT(sum == 5 + N * (N - 1) / 2 && most == N - 1 && all == 1 && any == 1 && bits == 1023 && product == 2);
  double total = 1;
#pragma acc data copy(total)
  {
#pragma acc parallel loop reduction(+ : total)
    for (int i = 0; i < N; i++) total += x[i];
#pragma xmp reduction(+ : total) acc
  }
  EXPECT(total == (N + 2) * xmp_num_nodes());
  double rounded = 0, again = 0;
#pragma acc parallel loop reduction(+ : rounded)
  for (int i = 0; i < 100000; i++) rounded += 1.0 / (i + 1);
#pragma acc parallel loop reduction(+ : again)
  for (int i = 0; i < 100000; i++) again += 1.0 / (i + 1);
  EXPECT(fabs(rounded - 12.090146129863) < 1e-9 && rounded == again);
}

static void variables_and_types(int n) {
  double a[N], pair[2] = {0, 0}, factor = 2, kept = 7;
  struct box b = {{1, 2}, LARGE};
  int i, class = 2;
#pragma acc parallel loop firstprivate(factor) private(pair) copyout(a)
  for (i = 0; i < n; i++) {
    pair[0] = i;
    pair[1] = factor * i;
    kept = middle(pair, b);
    a[i] = kept + SMALL + class;
  }
  for (i = 0; i < n; i++) EXPECT(a[i] == 1.5 * i + 1 + LARGE + SMALL + 2);
  EXPECT(kept == 7);
}

static void memory(int n) {
  double* q = malloc(n * sizeof *q);
  double(*rows)[3] = malloc(n * sizeof *rows), some[N];
  for (int i = 0; i < n; i++) q[i] = i, rows[i][0] = rows[i][1] = rows[i][2] = -i, some[i] = 0;
#pragma acc enter data copyin(q [0:n]) create(rows [0:n])
#pragma acc parallel loop present(q, rows) collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++) rows[i][j] = q[i] * (j + 1);
#pragma acc update host(rows [0:n])
  for (int i = 0; i < n; i++) {
    EXPECT(rows[i][2] == 3 * i);
    q[i] = 1;
  }
#pragma acc update device(q [0:n])
  double* there = NULL;
#pragma acc host_data use_device(q)
  { there = q; }
#pragma acc parallel loop deviceptr(there) copy(some [10:20])
  for (int i = 10; i < 30; i++) some[i] = there[i] + i;
#pragma acc exit data delete (rows [0:n])copyout(q [0:n])
  for (int i = 0; i < n; i++) EXPECT(q[i] == 1 && some[i] == (i >= 10 && i < 30 ? 1 + i : 0));
  free(q);
  free(rows);
}

static void atomics(void) {
  int count[4] = {0}, order[N], next = 0;
  double weight = 0;
#pragma acc parallel loop copy(count, next, weight) copyout(order)
  for (int i = 0; i < N; i++) {
#pragma acc atomic
    count[i % 4]++;
#pragma acc atomic update
    weight += 0.5;
    int place;
#pragma acc atomic capture
    place = next++;
    order[place] = i;
  }
  int sum = 0;
  for (int i = 0; i < N; i++) sum += order[i];
  EXPECT(count[0] == N / 4 && count[3] == N / 4 && weight == N / 2 && next == N && sum == N * (N - 1) / 2);
}

static void blocks_of_statements_and_conditions(void) {
  int a[N], b[N], steps = 0;
#pragma acc kernels copyout(a, b)
  {
#pragma acc loop
    for (int i = 0; i < N; i++) a[i] = i;
#pragma acc loop independent
    for (int i = 0; i < N; i++) b[i] = a[N - 1 - i];
  }
  for (int i = 0; i < N; i++) EXPECT(a[i] == i && b[i] == N - 1 - i);
  for (int on = 0; on < 2; on++) {
#pragma acc parallel loop if (on) copy(a)
    for (int i = 0; i < N; i++) a[i] += 1;
  }
#pragma acc serial copy(steps)
  for (int i = 0; i < N; i++) steps = steps + i;
  EXPECT(a[3] == 5 && steps == N * (N - 1) / 2);
}

static void cyclic_loops_and_moves(void) {
#pragma acc data copyout(dealt, ring)
  {
#pragma xmp loop on c[i]
#pragma acc parallel loop
    for (int i = 1; i < N; i += 2) dealt[i] = 3 * i;
#pragma xmp loop on c[i]
#pragma acc parallel loop
    for (int i = 0; i < N; i += 2) dealt[i] = -i;
#pragma xmp gmove acc
    ring[:] = dealt[:];
  }
#pragma xmp loop on c[i]
  for (int i = 0; i < N; i++) EXPECT(dealt[i] == (i % 2 ? 3 * i : -i));
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT(ring[i] == (i % 2 ? 3 * i : -i));
}

// What is queued comes in the order in which it stands, and the host sees it where it looks.
static void order_of_what_is_queued(void) {
  long sum = 0;
  double whole[N], most = -1;
  int few[2] = {xmp_node_num(), 0};
#pragma acc data create(ring, whole) copy(few)
  {
    for (int step = 0; step < 5; step++) {
#pragma xmp loop on t[i]
#pragma acc parallel loop
      for (int i = 0; i < N; i++) ring[i] = i + step;
#pragma xmp loop on t[i]
#pragma acc parallel loop async(1)
      for (int i = 0; i < N; i++) ring[i] *= 2;
#pragma acc wait(1) async(2)
#pragma xmp loop on t[i]
#pragma acc parallel loop async(2)
      for (int i = 0; i < N; i++) ring[i] += 1;
#pragma acc wait(2)
      sum = 0;
#pragma xmp loop on t[i] reduction(+ : sum)
#pragma acc parallel loop reduction(+ : sum)
      for (int i = 0; i < N; i++) sum += ring[i];
      EXPECT(sum == N * (N - 1) + 2 * N * step + N);
    }
#pragma xmp loop on t[i]
#pragma acc parallel loop
    for (int i = 0; i < N; i++) ring[i] = 3 * i;
#pragma acc update host(ring)
#pragma xmp bcast(few) from p[xmp_num_nodes() - 1] acc
#pragma acc parallel loop
    for (int i = 0; i < 2; i++) few[i] += 1;
#pragma xmp reduction(+ : few) acc
#pragma acc parallel loop reduction(max : most)
    for (int i = 0; i < N; i++) most = fmax(most, few[0] * i);
#pragma xmp reduction(max : most)
  }
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) EXPECT(ring[i] == 3 * i);
  const int nodes = xmp_num_nodes();
  EXPECT(few[0] == (nodes + 1) * nodes && few[1] == nodes && most == (N - 1) * few[0]);
}

// Ranks that have no iterations take part, and types and operations of every kind.
static void reductions_among_ranks(void) {
  char least = 100;
  unsigned last = 0;
  float product = 1, sum = 0;
  int all = 1, nan = 0;
#pragma xmp loop on t[i] reduction(min : least) reduction(max : last) reduction(* : product) reduction(&& : all)
#pragma acc parallel loop reduction(min : least) reduction(max : last) reduction(* : product) reduction(&& : all)
  for (int i = 1; i < 4; i++) {
    least = i < least ? i : least;
    last = i > last ? i : last;
    product *= i;
    all = all && i > 1;
  }
  EXPECT(least == 1 && last == 3 && product == 6 && all == 0);
#pragma xmp loop on t[i] reduction(max : last) reduction(+ : nan, sum)
#pragma acc parallel loop reduction(max : last) reduction(+ : nan) reduction(+ : sum)
  for (int i = N - 1; i < N; i++) {
    last = i;
    nan += 1;
    sum += 0.5f;
  }
  EXPECT(last == N - 1 && nan == 1 && sum == 0.5f);
}

// Sums that stay on the device, and what is reduced to them there again and again.
static void reductions_that_stay(void) {
  double kept = 1, half = 0;
  int most = 0;
#pragma acc data copy(kept, half, most)
  for (int step = 1; step <= 3; step++) {
#pragma acc serial present(kept)
    kept = 1;
#pragma xmp loop on t[i] reduction(+ : kept) acc
#pragma acc parallel loop reduction(+ : kept)
    for (int i = 0; i < N; i++) kept += step * i;
#pragma acc serial present(kept, half)
    half += kept / 2;
#pragma acc parallel loop reduction(max : most)
    for (int i = 0; i < 4 * step; i++) most = i > most ? i : most;
#pragma xmp reduction(max : most) acc
  }
  const double sum = N * (N - 1) / 2;
  EXPECT(kept == xmp_num_nodes() + 3 * sum && half == (3 * xmp_num_nodes() + 6 * sum) / 2 && most == 11);
}

static void moves_again_and_again(void) {
  int whole[N], rows[N][3];
#pragma acc data create(ring, whole, u, rows)
  {
    for (int step = 0; step < 3; step++) {
#pragma xmp loop on t[i]
#pragma acc parallel loop
      for (int i = 0; i < N; i++) ring[i] = i * (step + 1);
#pragma xmp gmove acc
      whole[:] = ring[:];
      int wrong_here = 0;
#pragma acc parallel loop reduction(+ : wrong_here)
      for (int i = 0; i < N; i++) wrong_here += whole[i] != i * (step + 1);
      EXPECT(wrong_here == 0);
#pragma xmp gmove acc
      ring [1:N - 1] = ring [0:N - 1];
#pragma xmp gmove acc
      ring[0] = whole[N - 1];
#pragma acc update host(ring)
#pragma xmp loop on t[i]
      for (int i = 0; i < N; i++) EXPECT(ring[i] == (i + N - 1) % N * (step + 1));
    }
  }
}

// A warp for each row: what threads have for themselves, and what all of them see.
static void vectors_in_rows(void) {
  double total = 0, scale = 2, mine;
  int count[N];
  for (int i = 0; i < N; i++) count[i] = 1;
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) u[i][j] = i + j;
#pragma acc data copyin(u) copy(v, count)
  {
#pragma xmp loop on t[i] reduction(+ : total)
#pragma acc parallel loop gang reduction(+ : total) vector_length(64) private(mine)
    for (int i = 0; i < N; i++) {
      double sum = 1, most = 0;
#pragma acc loop vector reduction(+ : sum) reduction(max : most)
      for (int j = 0; j < N; j++) {
        sum += u[i][j];
        most = fmax(most, u[i][j]);
      }
      mine = sum * scale;
      count[i] += (int)most;
#pragma acc loop vector reduction(+ : total)
      for (int j = 1; j < N; j += 3) {
        v[i][j] = mine;
        total += 1;
      }
      total += count[i];
    }
#pragma acc update host(v)
  }
  double expected = 0;
  for (int i = 0; i < N; i++) expected += 13 + i + N;
  EXPECT(total == expected);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) {
    EXPECT(count[i] == i + N);
    for (int j = 1; j < N; j += 3) EXPECT(v[i][j] == 2 * (1 + N * i + N * (N - 1) / 2));
  }
}

static void loops_that_count_down(void) {
  int a[N], b[N];
#pragma acc data copyout(a, b)
  {
#pragma acc parallel loop
    for (unsigned i = N; i > 0; i--) a[i - 1] = i;
#pragma acc parallel loop
    for (unsigned long i = N - 1; i >= 1; i--) b[i] = i;
  }
  for (int i = 0; i < N; i++) EXPECT(a[i] == i + 1 && (i == 0 || b[i] == i));
}

int main(void) {
  ghosts_and_loops();
  ghosts_in_queues();
  three_dimensions();
  reductions();
  variables_and_types(N);
  memory(N);
  atomics();
  blocks_of_statements_and_conditions();
  cyclic_loops_and_moves();
  order_of_what_is_queued();
  reductions_among_ranks();
  reductions_that_stay();
  moves_again_and_again();
  vectors_in_rows();
  loops_that_count_down();
#pragma xmp reduction(max : wrong)
  return wrong;
}
