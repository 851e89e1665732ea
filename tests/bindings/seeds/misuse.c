// What the board or the library would not do: each call is refused with the right result and a sentence that says why.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tca-api.h"

static int failures = 0;

static void refused(tcaresult result, tcaresult expected, const char* says) {
  const char* sentence = tcaGetErrorString(result);
  if (result == expected && strstr(sentence, says) != NULL) return;
  fprintf(stderr, "expected %d and '%s', got %d: %s\n", (int)expected, says, (int)result, sentence);
  ++failures;
}

static void done(tcaresult result) {
  if (result != TCA_SUCCESS) ++failures;
}

int main(int argc, char** argv) {
  int rank;
  char* memory;
  tcaHandle mine, of[2];
  MPI_Init(&argc, &argv);
  refused(tcaMalloc((void**)&memory, 8, tcaMemoryGPU), TCA_ERROR_INVALID_VALUE, "no tcaInit");
  done(tcaInit());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  done(tcaMalloc((void**)&memory, 4096, tcaMemoryGPU));
  done(tcaCreateHandle(&mine, memory, 4096, tcaMemoryGPU));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, of, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  tcaDesc* chain = tcaDescNew();
  const int notify = tcaDMANotify;

  // TCA_STRICT=1
  refused(tcaDescSetMemcpy(chain, &of[other], 0, &mine, 0, 6, notify, 0, 1), TCA_ERROR_NOT_SUPPORTED,
          "words of 4");
  refused(tcaDescSetMemcpy2D(chain, &of[other], 0, 18, &mine, 0, 16, 8, 4, notify, 0, 1),
          TCA_ERROR_NOT_SUPPORTED, "pitches of 18");
  refused(tcaDescSetMemcpy(chain, &of[other], 4, &mine, 8, 8, notify, 0, 1), TCA_ERROR_NOT_SUPPORTED,
          "low 4 bits");

  refused(tcaDescSetMemcpy(chain, &of[other], 4090, &mine, 10, 8, notify, 0, 1), TCA_ERROR_INVALID_VALUE,
          "it has 4096");
  refused(tcaDescSetMemcpy(chain, &mine, 0, &of[other], 0, 8, notify, 0, 1), TCA_ERROR_NOT_SUPPORTED,
          "puts its own");
  refused(tcaDescSetMemcpy(chain, &of[other], 0, &mine, 0, 8, notify, 256, 1), TCA_ERROR_INVALID_VALUE,
          "no slot 256");
  for (int tag = 0; tag < 8; ++tag) done(tcaDescSetMemcpy(chain, &of[other], 0, &mine, 0, 8, notify, 3, tag));
  refused(tcaDescSetMemcpy(chain, &of[other], 0, &mine, 0, 8, notify, 3, 8), TCA_ERROR_NOT_SUPPORTED,
          "tag 8 would be the 9th in slot 3");
  refused(tcaDescSet(chain, 4), TCA_ERROR_INVALID_VALUE, "no controller 4");
  refused(tcaStartDMADesc(2), TCA_ERROR_INVALID_VALUE, "no chain");
  refused(tcaSetDMAChainInt(0, 5), TCA_ERROR_INVALID_VALUE, "no descriptor 5");
  done(tcaDescFree(chain));
  refused(tcaDescFree(chain), TCA_ERROR_INVALID_VALUE, "was freed");

  // The other's memory goes: a chain that was made before is refused when it starts, and a handle where it is used.
  tcaDesc* late = tcaDescNew();
  done(tcaDescSetMemcpy(late, &of[other], 0, &mine, 0, 8, notify, 0, 1));
  done(tcaDescSet(late, 0));
  char* source;
  tcaHandle here;
  done(tcaMalloc((void**)&source, 64, tcaMemoryGPU));
  done(tcaCreateHandle(&here, source, 64, tcaMemoryGPU));
  MPI_Barrier(MPI_COMM_WORLD);
  done(tcaDestroyHandle(&mine));
  done(tcaFree(memory, tcaMemoryGPU));
  MPI_Barrier(MPI_COMM_WORLD);
  refused(tcaStartDMADesc(0), TCA_ERROR_INVALID_VALUE, "gone");
  tcaDesc* stale = tcaDescNew();
  refused(tcaDescSetMemcpy(stale, &of[other], 0, &here, 0, 8, notify, 0, 1), TCA_ERROR_INVALID_VALUE, "gone");
  refused(tcaDescSetMemcpy(stale, &mine, 0, &here, 0, 8, notify, 0, 1), TCA_ERROR_INVALID_VALUE,
          "is no handle");
  refused(tcaFree(memory, tcaMemoryGPU), TCA_ERROR_INVALID_VALUE, "freed already");
  MPI_Barrier(MPI_COMM_WORLD);

  // A partner that has gone is no partner to wait for.
  if (rank == 0) refused(tcaWaitDMARecvDesc(&of[1], 0, 1), TCA_ERROR_COMMUNICATION, "rank 1");
  return failures > 0;
}
