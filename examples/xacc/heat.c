// Heat spreads over a plate, shared out in blocks among any number of ranks by directives.
//
//     tca xacc cc -O2 heat.c -o heat -lm && tca run -n 4 -- ./heat
//     cc -O2 heat.c -o heat -lm && ./heat                             the same program, serial
//
// It prints the heat that is left, which is the same for any number of ranks up to the order of the sum.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 256

double u[N][N], next[N][N];
#pragma xmp nodes p[*]
#pragma xmp template t[N][N]
#pragma xmp distribute t[block][*] onto p
#pragma xmp align u[i][j] with t[i][j]
#pragma xmp align next[i][j] with t[i][j]
#pragma xmp shadow u[1:1][0]

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 500;
  double left = 0, change = 0;

#pragma xmp loop (i, j) on t[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) u[i][j] = next[i][j] = i > N / 4 && i < N / 2 && j > N / 4 && j < N / 2 ? 100.0 : 0.0;

#pragma acc data copy(u) copyin(next)
  {
#pragma xmp reflect_init (u) acc
    for (int step = 0; step < steps; step++) {
#pragma xmp reflect_do (u) acc
#pragma xmp loop (i, j) on t[i][j]
#pragma acc parallel loop
      for (int i = 1; i < N - 1; i++) {
#pragma acc loop vector
        for (int j = 1; j < N - 1; j++)
          next[i][j] = u[i][j] + 0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
      }
      change = 0;
#pragma xmp loop (i, j) on t[i][j]
#pragma acc parallel loop reduction(max : change)
      for (int i = 1; i < N - 1; i++) {
#pragma acc loop vector reduction(max : change)
        for (int j = 1; j < N - 1; j++) {
          change = fmax(change, fabs(next[i][j] - u[i][j]));
          u[i][j] = next[i][j];
        }
      }
#pragma xmp reduction(max : change)
    }
  }

#pragma xmp loop (i, j) on t[i][j] reduction(+ : left)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) left += u[i][j];

#pragma xmp task on p[0]
  printf("after %d steps: heat %.6f, last change %.3e\n", steps, left, change);
  return 0;
}
