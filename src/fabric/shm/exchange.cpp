#include "fabric/shm/exchange.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/system/limits.hpp"

namespace tca::shm {

namespace {

Mapping attach(Space& space, const Token& token, File passed, int member, control::Control& control,
               std::string_view what) {
  try {
    return space.attach(token, std::move(passed));
  } catch (const Error&) {
    // When the rank is gone, so is its memory.
    if (const std::optional<control::Loss> loss = control.lost(member))
      control.fail_lost(member, *loss, fmt::format("mapping its memory for {}", what));
    throw;
  }
}

}  // namespace

std::vector<Token> gather_tokens(const control::Members& members, std::size_t ranks, const Token& token,
                                 std::string_view what) {
  control::Control& control = members.control();
  const std::vector<base::Blob> blobs = control.make_together(what, [&] {
    if (token.error != 0) {
      base::fail(
          Errc::out_of_memory, {.rank = control.rank()},
          "rank {} could not get its memory for {}: {}. Ask for less, or use fewer ranks a host, where "
          "no limit can be raised",
          control.rank(), what, base::limit_met(token.error, token.bytes));
    }
    return base::Writer().put(token).blob();
  });
  std::vector<Token> tokens(ranks);
  for (std::size_t member = 0; member < blobs.size(); ++member)
    tokens[static_cast<std::size_t>(members[static_cast<int>(member)])] =
        base::Reader(blobs[member]).get<Token>();
  return tokens;
}

Shared share_all(Space& space, const control::Members& members, Mapping mine, const Token& token,
                 const Reach& reach, std::string_view what) {
  const Seal seal{space, token};
  control::Control& control = members.control();
  Shared all{gather_tokens(members, reach.size(), token, what), std::vector<Mapping>(reach.size())};
  // Small windows are in inboxes, which everybody has mapped.
  if (std::ranges::any_of(all.tokens, &Token::is_region)) {
    std::vector<File> passed = space.pass(members, token, reach, what);
    control.do_together(what, [&] {
      for (int member = 0; member < control.size(); ++member) {
        const auto rank = static_cast<std::size_t>(members[member]);
        if (member != control.rank() && reach[rank] && all.tokens[rank].is_region())
          all.mappings[rank] =
              attach(space, all.tokens[rank], std::move(passed[rank]), member, control, what);
      }
    });
  }
  all.mappings[static_cast<std::size_t>(members.rank())] = std::move(mine);
  return all;
}

std::vector<Mapping> allocate_all(Space& space, const control::Members& members, std::size_t bytes,
                                  Backing backing, const Reach& reach, std::string_view what) {
  Token token;
  Mapping mine;
  if (bytes > 0) mine = space.allocate(bytes, backing, token);
  return share_all(space, members, std::move(mine), token, reach, what).mappings;
}

}  // namespace tca::shm
