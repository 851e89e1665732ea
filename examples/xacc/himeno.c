// The Himeno benchmark: Poisson's equation in a box by Jacobi iterations over a 19-point stencil, from a serial program by
// directives. Its pressure is that of `tca himeno`, to the bit.
//
//     tca xacc cc -O3 himeno.c -o himeno && tca run -n 2 -- ./himeno 100
//     cc -O3 himeno.c -o himeno && ./himeno 100                      the same program, serial
//
// -DMI=128 -DMJ=128 -DMK=256 is size M; S is what it has otherwise. -DNJ=2 divides the second dimension as well.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef MI
#define MI 64
#define MJ 64
#define MK 128
#endif
#ifndef NJ
#define NJ 1
#endif
enum { TOGETHER = 20 };  // pairs of iterations that are timed together, as the host does not wait for each

// The sum of the squared changes, and what it was in the last iteration. They stay on the device, so that no iteration waits
// for the one before.
double gosa, residual;
float p[MI][MJ][MK], next[MI][MJ][MK];
float a[4][MI][MJ][MK], b[3][MI][MJ][MK], c[3][MI][MJ][MK], bnd[MI][MJ][MK], wrk1[MI][MJ][MK];
#pragma xmp nodes n[*][NJ]
#pragma xmp template t[MI][MJ][MK]
#pragma xmp distribute t[block][block][*] onto n
#pragma xmp align [i][j][k] with t[i][j][k] :: p, next, bnd, wrk1
#pragma xmp align [*][i][j][k] with t[i][j][k] :: a, b, c
#pragma xmp shadow [1][1][0] :: p, next
#pragma acc declare create(gosa, residual)

static void fill(void) {
#pragma xmp loop (i, j) on t[i][j][*]
  for (int i = 0; i < MI; i++)
    for (int j = 0; j < MJ; j++)
      for (int k = 0; k < MK; k++) {
        p[i][j][k] = next[i][j][k] = (float)(i * i) / (float)((MI - 1) * (MI - 1));
        for (int m = 0; m < 3; m++) a[m][i][j][k] = 1, b[m][i][j][k] = 0, c[m][i][j][k] = 1;
        a[3][i][j][k] = 1.0f / 6;
        bnd[i][j][k] = 1, wrk1[i][j][k] = 0;
      }
}

// One iteration, from one array into the other.
static void sweep(float old[MI][MJ][MK], float new[MI][MJ][MK]) {
#pragma xmp align [i][j][k] with t[i][j][k] :: old, new
#pragma xmp shadow [1][1][0] :: old, new
#pragma xmp reflect (old) acc
#pragma xmp loop (i, j) on t[i][j][*] reduction(+ : gosa) acc
#pragma acc parallel loop gang collapse(2) present(gosa, old, new, a, b, c, bnd, wrk1) reduction(+ : gosa)
  for (int i = 1; i < MI - 1; i++)
    for (int j = 1; j < MJ - 1; j++) {
#pragma acc loop vector reduction(+ : gosa)
      for (int k = 1; k < MK - 1; k++) {
        float s0 = a[0][i][j][k] * old[i + 1][j][k] + a[1][i][j][k] * old[i][j + 1][k] + a[2][i][j][k] * old[i][j][k + 1] +
                   b[0][i][j][k] * (old[i + 1][j + 1][k] - old[i + 1][j - 1][k] - old[i - 1][j + 1][k] + old[i - 1][j - 1][k]) +
                   b[1][i][j][k] * (old[i][j + 1][k + 1] - old[i][j - 1][k + 1] - old[i][j + 1][k - 1] + old[i][j - 1][k - 1]) +
                   b[2][i][j][k] * (old[i + 1][j][k + 1] - old[i - 1][j][k + 1] - old[i + 1][j][k - 1] + old[i - 1][j][k - 1]) +
                   c[0][i][j][k] * old[i - 1][j][k] + c[1][i][j][k] * old[i][j - 1][k] + c[2][i][j][k] * old[i][j][k - 1] +
                   wrk1[i][j][k];
        float ss = (s0 * a[3][i][j][k] - old[i][j][k]) * bnd[i][j][k];
        gosa += (double)ss * ss;
        new[i][j][k] = old[i][j][k] + 0.8f * ss;
      }
    }
#pragma acc serial present(gosa, residual)
  residual = gosa, gosa = 0;
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

int main(int argc, char** argv) {
  const int pairs = (argc > 1 ? atoi(argv[1]) + 1 : 100) / 2, batches = (pairs + TOGETHER - 1) / TOGETHER;
  const double flops = 34.0 * (MI - 2) * (MJ - 2) * (MK - 2);
  double* const took_us = malloc((batches + 1) * sizeof *took_us);
  unsigned long fingerprint = 0;

  fill();
#pragma acc data copy(p) copyin(next, a, b, c, bnd, wrk1)
  {
#pragma acc serial present(gosa)
    gosa = 0;
    for (int batch = 0; batch < batches; batch++) {
      const int left = pairs - batch * TOGETHER, count = left < TOGETHER ? left : TOGETHER;
      took_us[batch] = -now_us();
      for (int pair = 0; pair < count; pair++) {
        sweep(p, next);
        sweep(next, p);
      }
#pragma acc wait
      took_us[batch] = (took_us[batch] + now_us()) / (2 * count);
    }
#pragma acc update host(residual)
  }
  qsort(took_us, batches, sizeof *took_us, compare);
  const double us = took_us[batches / 2];

  // The same for any number of ranks, and for every program that has the same cells.
#pragma xmp loop (i, j) on t[i][j][*] reduction(+ : fingerprint)
  for (int i = 1; i < MI - 1; i++)
    for (int j = 1; j < MJ - 1; j++)
      for (int k = 1; k < MK - 1; k++) {
        const float cell = p[i][j][k];
        unsigned bits;
        memcpy(&bits, &cell, sizeof bits);
        fingerprint += bits * (2ul * (((unsigned long)i * MJ + j) * MK + k) + 1);
      }
#pragma xmp task on n[0][0]
  printf("after %d iterations: residual %.6e, fingerprint %016lx; median %.1f us, %.0f MFLOPS\n", 2 * pairs, residual, fingerprint,
         us, flops / us);
  free(took_us);
  return 0;
}
