// Misuse: posting from a vector that is gone when the post is started.
#include <vector>

#include "tca/tca.hpp"

void post_of_temporary(tca::Post& post, const tca::RegionToken& token) {
#ifdef TCA_MISUSE
  post.put(token, 0, std::vector<int>(3), tca::block(3));
#else
  static const std::vector<int> source(3);
  post.put(token, 0, source, tca::block(3));
#endif
}
