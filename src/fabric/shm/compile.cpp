#include "fabric/shm/compile.hpp"

#include <algorithm>

#include "fabric/shm/memory.hpp"

namespace tca::shm {

namespace {

using Puts = std::vector<const fabric::Put*>;

Puts carried_by(const Puts& puts, Protocol protocol) {
  Puts selected;
  std::copy_if(puts.begin(), puts.end(), std::back_inserter(selected),
               [&](const fabric::Put* put) { return put->shape != nullptr && put->protocol == protocol; });
  return selected;
}

// How far `ready` may lag behind a step that is sent by these puts: 0 steps, 1 step, or -1 for no matter. Both ends
// compute it from the same puts.
int ready_lag(const Puts& puts, bool guarded, bool mutual) {
  if (guarded && !carried_by(puts, direct).empty()) return 0;
  return !carried_by(puts, staged).empty() && !mutual ? 1 : -1;
}

std::size_t staged_bytes(const Puts& puts) {
  std::size_t bytes = 0;
  for (const fabric::Put* put : carried_by(puts, staged)) bytes += put->shape->bytes();
  return bytes;
}

std::uint32_t add_copies(std::vector<Copy>& copies, const Puts& puts, Protocol protocol) {
  const std::size_t before = copies.size();
  for (const fabric::Put* put : carried_by(puts, protocol)) {
    copies.push_back({address(put->to_memory, put->to, put->to_offset),
                      address(put->from_memory, put->from, put->from_offset), put->shape});
  }
  return static_cast<std::uint32_t>(copies.size() - before);
}

}  // namespace

Link compile_link(int partner, const Traffic& traffic, bool guarded, std::vector<Copy>& copies) {
  const bool mutual = !traffic.out.empty() && !traffic.in.empty();
  const int out_lag = ready_lag(traffic.out, guarded, mutual);
  Link link;
  link.partner = partner;
  link.first_copy = static_cast<std::uint32_t>(copies.size());
  link.direct_count = add_copies(copies, traffic.out, direct);
  link.gather_count = add_copies(copies, traffic.out, staged);
  link.scatter_count = add_copies(copies, traffic.in, staged);
  link.pull_count = add_copies(copies, traffic.in, pull);
  link.out_ring = make_ring(staged_bytes(traffic.out));
  link.in_ring = make_ring(staged_bytes(traffic.in));
  link.puts = !traffic.out.empty();
  link.expects = !traffic.in.empty();
  link.needs_ready = out_lag >= 0;
  link.ready_lag = out_lag == 1;
  link.posts_ready = ready_lag(traffic.in, guarded, mutual) >= 0;
  link.is_pulled = !carried_by(traffic.out, pull).empty();
  return link;
}

}  // namespace tca::shm
