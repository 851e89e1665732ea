// The ways of a call that may be served: to MPI, and twice where it is checked.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <exception>
#include <string>
#include <vector>

#include "mpi/coll/check.hpp"
#include "mpi/hook.hpp"
#include "mpi/session.hpp"

namespace tca::interposer {

// Ends as MPI ends where a collective fails: by the communicator's error handler.
inline int fail(MPI_Comm comm, const std::exception& error) {
  Session::get().say_here(error.what());
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

// The same call by MPI, whose answer the program gets.
template <Call call, class Serve, class Pass>
int compare(const Output& output, const Serve& serve, const Pass& pass) {
  const std::vector<std::byte> input = packed(output);
  serve();
  const std::vector<std::byte> ours = packed(output);
  restore(output, input);
  const int code = pass();
  const std::string difference = interposer::difference(output, ours, packed(output));
  if (difference.empty()) return code;
  Session::get().say_here(
      fmt::format("{} is not what MPI makes of it: {}; leave it to MPI (OPENTCA_MPI_DENY), and "
                  "report this",
                  Hooked<call>::name, difference));
  PMPI_Abort(MPI_COMM_WORLD, 1);
  return MPI_ERR_OTHER;
}

}  // namespace tca::interposer
