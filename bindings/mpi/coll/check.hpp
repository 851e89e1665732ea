// OPENTCA_MPI_CHECK: what a served collective gave, beside what MPI gives for the same call.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi/coll/elements.hpp"
#include "mpi/coll/moved.hpp"

namespace tca::interposer {

// What a call writes on this rank, and of what sort it is.
struct Output {
  std::vector<Moved> buffers;        // none where this rank gets nothing
  const Element* element = nullptr;  // of a reduction
};

std::vector<std::byte> packed(const Output& output);
void restore(const Output& output, const std::vector<std::byte>& kept);

// Returns where the two differ by more than the order of additions explains; empty where they do not.
std::string difference(const Output& output, const std::vector<std::byte>& ours,
                       const std::vector<std::byte>& theirs);

}  // namespace tca::interposer
