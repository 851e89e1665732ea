#include "fabric/posting.hpp"

#include <random>

#include "base/fail.hpp"
#include "tca/types.hpp"

namespace tca::fabric {

void fail_gone(int rank) {
  base::fail(Errc::invalid_argument,
             "the region of rank {} is gone, and nothing was written; ask rank {} for a new token", rank,
             rank);
}

void fail_full(int slot, int rank) {
  base::fail(
      Errc::refused,
      "slot {} of rank {} has notices of {} other tags from this rank, for which rank {} has not waited "
      "yet; let it wait first, or use fewer tags or more slots",
      slot, rank, notice_tags, rank);
}

void fail_foreign() {
  base::fail(
      Errc::incompatible,
      "the token is of another world, perhaps of another job or another user's; ask a rank of this world for "
      "one");
}

void fail_without_streams() {
  base::fail(Errc::invalid_argument,
             "streams order posts and notices on the fabric cuda; without a stream the host does so on every "
             "fabric");
}

std::uint64_t random_job() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace tca::fabric
