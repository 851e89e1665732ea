// CG of the NAS Parallel Benchmarks by directives: the smallest eigenvalue of a large sparse matrix. The rows are shared
// out; a product needs the whole vector.
//
//     tca xacc cc -O3 cg.c -o cg -lm && tca run -n 2 -- ./cg
//     cc -O3 -DSERIAL cg.c -o cg -lm && ./cg                     the same program, serial
//
// -DCLASS=W and -DCLASS=A are larger; S is what it has otherwise.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { S, W, A };
#ifndef CLASS
#define CLASS S
#endif
#define PICK(s, w, a) (CLASS == S ? (s) : CLASS == W ? (w) : (a))
#define N PICK(1400, 7000, 14000)  // rows
#define NONZERO PICK(7, 8, 11)     // elements that are drawn for each random vector
#define SHIFT PICK(10.0, 12.0, 20.0)
#define ZETA PICK(8.5971775078648, 10.362595087124, 17.130235054029)
#define STEPS 15
#define WIDTH (NONZERO + 1)

double x[N], z[N], p[N], q[N], r[N];
long first[N], last[N];  // where a row's elements begin and end
#pragma xmp nodes node[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto node
#pragma xmp align [j] with t[j] :: x, z, p, q, r, first, last

double whole[N];  // what a product multiplies
// These stay on the device too, so that the host never waits for a sum within an iteration.
double rho, pq, squares, alpha, beta;
#pragma acc declare create(rho, pq, squares, alpha, beta)
double* value;  // the elements of this rank's rows, and their columns
int* column;
long elements;

// The benchmark's random numbers: x' = 5^13 x mod 2^46.
static unsigned long random46(void) {
  static unsigned long state = 314159265;
  return state = state * 1220703125 & ((1ul << 46) - 1);
}

// Sparse random vectors, each with an element on the diagonal. The matrix is the sum of their outer products.
static double drawn[N][WIDTH], weight[N], sum[N];
static int row[N][WIDTH], count[N], listed[N], link[N][WIDTH], head[N];

static int place_of(int i, int wanted) {
  int at = 0;
  while (at < count[i] && row[i][at] != wanted) at++;
  return at;
}

static void draw(void) {
  int bits = 1;
  random46();
  while (1 << bits < N) bits++;
  for (int i = 0; i < N; i++) {
    weight[i] = i == 0 ? 1 : weight[i - 1] * pow(0.1, 1.0 / N);
    while (count[i] < NONZERO) {
      const double fraction = random46() * 0x1p-46;
      const int at = random46() >> (46 - bits);
      if (at >= N || place_of(i, at) < count[i]) continue;
      drawn[i][count[i]] = fraction;
      row[i][count[i]++] = at;
    }
    const int diagonal = place_of(i, i);
    if (diagonal == count[i]) count[i]++;
    row[i][diagonal] = i;
    drawn[i][diagonal] = 0.5;
  }
  // Which vectors have an element in a row, in their order.
  memset(head, -1, sizeof head);
  for (int i = N - 1; i >= 0; i--)
    for (int e = count[i] - 1; e >= 0; e--) {
      link[i][e] = head[row[i][e]];
      head[row[i][e]] = i * WIDTH + e;
    }
}

static void add(int to, double what, int* columns) {
  if (sum[to] == 0) listed[(*columns)++] = to;
  sum[to] += what;
}

static void make_matrix(void) {
  long room = 0;
  draw();
#pragma xmp loop on t[j]
  for (int j = 0; j < N; j++) {
    int columns = 0;
    for (int at = head[j]; at >= 0; at = link[at / WIDTH][at % WIDTH]) {
      const int i = at / WIDTH;
      for (int e = 0; e < count[i]; e++)
        add(row[i][e], drawn[i][at % WIDTH] * (weight[i] * drawn[i][e]), &columns);
    }
    add(j, 0.1 - SHIFT, &columns);
    if (elements + columns > room) {
      room = 2 * room + N;
      value = realloc(value, room * sizeof *value);
      column = realloc(column, room * sizeof *column);
    }
    first[j] = elements;
    for (int e = 0; e < columns; e++) {
      value[elements] = sum[listed[e]];
      column[elements++] = listed[e];
      sum[listed[e]] = 0;
    }
    last[j] = elements;
  }
}

// q = A p
static void multiply(void) {
#ifdef SERIAL
  memcpy(whole, p, sizeof whole);
#else
#pragma xmp gmove acc
  whole[:] = p[:];
#endif
#pragma xmp loop on t[j]
#pragma acc parallel loop gang present(p, q, first, last, whole, value[0:elements], column[0:elements])
  for (int j = 0; j < N; j++) {
    double product = 0;
#pragma acc loop vector reduction(+ : product)
    for (long k = first[j]; k < last[j]; k++) product += value[k] * whole[column[k]];
    q[j] = product;
  }
}

// Solves A z = x by 25 iterations. Returns the length of x - A z.
static double solve(void) {
  double left = 0;
#pragma acc serial present(rho, pq)
  rho = pq = 0;
#pragma xmp loop on t[j] reduction(+ : rho) acc
#pragma acc parallel loop present(x, z, p, r) reduction(+ : rho)
  for (int j = 0; j < N; j++) {
    z[j] = 0;
    p[j] = r[j] = x[j];
    rho += x[j] * x[j];
  }
  for (int iteration = 0; iteration < 25; iteration++) {
    multiply();
#pragma xmp loop on t[j] reduction(+ : pq) acc
#pragma acc parallel loop present(p, q) reduction(+ : pq)
    for (int j = 0; j < N; j++) pq += p[j] * q[j];
#pragma acc serial present(rho, pq, squares, alpha)
    alpha = rho / pq, pq = squares = 0;
#pragma xmp loop on t[j] reduction(+ : squares) acc
#pragma acc parallel loop present(z, p, q, r) reduction(+ : squares)
    for (int j = 0; j < N; j++) {
      z[j] += alpha * p[j];
      r[j] -= alpha * q[j];
      squares += r[j] * r[j];
    }
#pragma acc serial present(rho, squares, beta)
    beta = squares / rho, rho = squares;
#pragma xmp loop on t[j]
#pragma acc parallel loop present(p, r)
    for (int j = 0; j < N; j++) p[j] = r[j] + beta * p[j];
  }
#pragma xmp loop on t[j]
#pragma acc parallel loop present(p, z)
  for (int j = 0; j < N; j++) p[j] = z[j];
  multiply();
#pragma xmp loop on t[j] reduction(+ : left)
#pragma acc parallel loop present(x, q) reduction(+ : left)
  for (int j = 0; j < N; j++) left += (x[j] - q[j]) * (x[j] - q[j]);
  return sqrt(left);
}

static double now_us(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int compare(const void* left, const void* right) {
  const double l = *(const double*)left, r = *(const double*)right;
  return (l > r) - (l < r);
}

int main(void) {
  double zeta = 0, left = 0, took_us[STEPS];
  make_matrix();
#pragma xmp loop on t[j]
  for (int j = 0; j < N; j++) x[j] = 1;
#pragma acc data copyin(x, first, last, value[0:elements], column[0:elements]) create(z, p, q, r, whole)
  {
    for (int step = 0; step < STEPS; step++) {
      double xz = 0, zz = 0;
      took_us[step] = -now_us();
      left = solve();
#pragma xmp loop on t[j] reduction(+ : xz, zz)
#pragma acc parallel loop present(x, z) reduction(+ : xz, zz)
      for (int j = 0; j < N; j++) {
        xz += x[j] * z[j];
        zz += z[j] * z[j];
      }
      zeta = SHIFT + 1 / xz;
      const double scale = 1 / sqrt(zz);
#pragma xmp loop on t[j]
#pragma acc parallel loop present(x, z)
      for (int j = 0; j < N; j++) x[j] = scale * z[j];
      took_us[step] += now_us();
    }
  }
  qsort(took_us, STEPS, sizeof *took_us, compare);
  const int right = fabs(zeta - ZETA) <= 1e-10 * ZETA;
#pragma xmp task on node[0]
  printf("zeta %.13f, residual %.2e, median %.2f us an iteration: %s\n", zeta, left, took_us[STEPS / 2] / 25,
         right ? "right" : "WRONG");
  return right ? 0 : 1;
}
