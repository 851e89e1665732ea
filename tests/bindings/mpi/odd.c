/* What a program may do beside plain collectives: odd WHAT. Each must end as it does without the library. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void often(MPI_Comm comm) {
  for (int i = 0; i < 5; ++i) {
    int mine = 1, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
  }
}

static void between(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
  often(inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* The child is this program again, without the library. */
static void spawned(char* program) {
  MPI_Comm parent, children, everybody;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(program, (char*[]){"spawn", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  else
    children = parent;
  MPI_Intercomm_merge(children, parent != MPI_COMM_NULL, &everybody);
  often(everybody);
  MPI_Comm_free(&everybody);
  MPI_Comm_disconnect(&children);
}

static void user_operation(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void own_operation(void) {
  MPI_Op op;
  MPI_Op_create(user_operation, 1, &op);
  for (int i = 0; i < 5; ++i) {
    int mine = rank, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    if (all != ranks * (ranks - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  int level;
  if (strcmp(what, "threads") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "spawn") == 0) spawned(argv[0]);
  if (strcmp(what, "between") == 0) between();
  if (strcmp(what, "operation") == 0) own_operation();
  if (strcmp(what, "spawn") != 0) often(MPI_COMM_WORLD);
  if (rank == 1 && strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 1 && strcmp(what, "die") == 0) raise(SIGKILL);
  if (strcmp(what, "spawn") != 0) often(MPI_COMM_WORLD);
  if (rank == 0) printf("ended well\n");
  MPI_Finalize();
  return 0;
}
