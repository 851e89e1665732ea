#include "fabric/shm/exchange.hpp"

#include <cstring>

#include "base/fail.hpp"

namespace tca::shm {

namespace {

// Seals the region when it goes, whether all ranks have attached or something went wrong.
struct Seal {
  Space& space;
  const Token& token;
  ~Seal() {
    if (token.handle >= 0) space.seal(token);
  }
};

Mapping attach(Space& space, const Token& token, std::size_t rank, fabric::Control& control,
               std::string_view what) {
  try {
    return space.attach(token);
  } catch (const Error&) {
    // When the rank is gone, so is its memory.
    if (const std::optional<std::string> reason = control.lost(static_cast<int>(rank)))
      control.fail_lost(static_cast<int>(rank), *reason, fmt::format("mapping its memory for {}", what));
    throw;
  }
}

// `mine` is the memory of this rank that `token` stands for.
std::vector<Mapping> attach_all(Space& space, fabric::Control& control, Mapping mine, const Token& token,
                                const Reach& reach, std::string_view what) {
  const Seal seal{space, token};
  const std::vector<base::Blob> tokens = control.make_together(what, [&] {
    if (token.error != 0) {
      base::fail(Errc::out_of_memory,
                 "rank {} could not get its memory for {}: {}; ask for less, use fewer ranks a host, or "
                 "raise its limits (ulimit -v, ulimit -f, ulimit -n, the container's memory)",
                 control.rank(), what, std::strerror(token.error));
    }
    return base::Writer().put(token).blob();
  });
  std::vector<Mapping> mappings(tokens.size());
  control.do_together(what, [&] {
    for (std::size_t rank = 0; rank < tokens.size(); ++rank) {
      const bool own = static_cast<int>(rank) == control.rank();
      const auto theirs = base::Reader(tokens[rank]).get<Token>();
      if (!own && reach[rank] && theirs.handle >= 0)
        mappings[rank] = attach(space, theirs, rank, control, what);
    }
  });
  mappings[static_cast<std::size_t>(control.rank())] = std::move(mine);
  return mappings;
}

}  // namespace

std::vector<Mapping> allocate_all(Space& space, fabric::Control& control, std::size_t bytes, Backing backing,
                                  const Reach& reach, std::string_view what) {
  Token token;
  Mapping mine;
  if (bytes > 0) mine = space.allocate(bytes, backing, token);
  return attach_all(space, control, std::move(mine), token, reach, what);
}

std::vector<Mapping> adopt_all(Space& space, fabric::Control& control, std::span<std::byte> existing,
                               const Reach& reach, std::string_view what) {
  Token token;
  Mapping mine = space.adopt(existing.data(), existing.size(), token);
  return attach_all(space, control, std::move(mine), token, reach, what);
}

}  // namespace tca::shm
