#include "mpi/coll/limits.hpp"

namespace tca::interposer {

std::int64_t largest_served(CollectiveKind kind, int) {
  switch (kind) {
    case CollectiveKind::barrier: return 0;
    default: return 65536;
  }
}

}  // namespace tca::interposer
