#include "fabric/shm/exchange.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace tca::shm {

std::vector<Mapping> allocate_all(Space& space, fabric::Control& control, std::size_t bytes, Backing backing,
                                  std::string_view what) {
  Token token;
  Mapping mine;
  if (bytes > 0) mine = space.allocate(bytes, backing, token);
  std::vector<Token> tokens;
  for (const base::Blob& blob : control.all_gather(base::Writer().put(token).blob(), what)) {
    tokens.push_back(base::Reader(blob).get<Token>());
  }
  const auto seal = [&] {
    if (token.handle >= 0) space.seal(token);
  };
  for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
    if (tokens[rank].error == 0) continue;
    seal();
    base::fail(Errc::out_of_memory, "rank {} could not get its memory for {}: {}", rank, what,
               std::strerror(tokens[rank].error));
  }
  std::vector<Mapping> mappings(tokens.size());
  for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
    const bool own = static_cast<int>(rank) == control.rank();
    if (!own && tokens[rank].handle >= 0) mappings[rank] = space.attach(tokens[rank]);
  }
  mappings[static_cast<std::size_t>(control.rank())] = std::move(mine);
  control.barrier(what);
  seal();
  return mappings;
}

}  // namespace tca::shm
