#include "control/mpi/call.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <string>

#include "base/fail.hpp"

namespace tca::mpi {

void check(int code, std::string_view doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  base::fail(Errc::rank_lost,
             "MPI failed while {}: {}; another rank may have died, or its host can no longer be reached",
             doing, std::string_view(text, static_cast<std::size_t>(length)));
}

std::string_view header_name() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI";
#elif defined(MPICH_VERSION)
  return "MPICH";
#else
  return "another MPI";
#endif
}

bool yields_when_idle() {
  // This asks for the level that MPI already has, because Open MPI 4 makes the level asked for here that of
  // the whole process.
  int level = 0, index = 0, count = 0;
  MPI_Query_thread(&level);
  if (MPI_T_init_thread(level, &level) != MPI_SUCCESS) return false;
  int set = 0;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &set);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return set != 0;
}

namespace {

std::atomic<pid_t> process = 0;  // 0: not claimed yet

}  // namespace

void claim_process() {
  pid_t nobody = 0;
  process.compare_exchange_strong(nobody, getpid());
}

bool is_own_process() {
  const pid_t owner = process;
  return owner == 0 || owner == getpid();
}

bool is_up() {
  int begun = 0, over = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&over);
  return begun && !over && is_own_process();
}

}  // namespace tca::mpi
