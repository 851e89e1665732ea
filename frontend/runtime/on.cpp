// Which nodes a directive means.
#include <algorithm>

#include "runtime/runtime.hpp"

namespace tca::xacc {

std::vector<int> ranks_of(const xacc_on& on) {
  if (!on.nodes) return Runtime::get().executing_ranks();
  const xacc_nodes& nodes = *on.nodes;
  std::vector<int> ranks{nodes.first};
  for (int d = 0; d < nodes.dims; ++d) {
    std::vector<int> more;
    for (const int rank : ranks)
      for (std::int64_t i = 0; i < on.count[d]; ++i)
        more.push_back(rank + static_cast<int>(on.base[d] + i * on.step[d]) * nodes.ranks[d]);
    ranks = std::move(more);
  }
  return ranks;
}

namespace {

void set_whole(xacc_on& on, int d) {
  on.base[d] = 0;
  on.count[d] = on.nodes->size[d];
  on.step[d] = 1;
}

void set_own(xacc_on& on, int d) {
  on.base[d] = on.nodes->at[d];
  on.count[d] = on.nodes->inside ? 1 : 0;
  on.step[d] = 1;
}

xacc_on on_nodes(const xacc_nodes& nodes, const std::int64_t* subscripts) {
  xacc_on on{};
  on.nodes = &nodes;
  for (int d = 0; d < nodes.dims; ++d) {
    if (!subscripts) {
      set_whole(on, d);
      continue;
    }
    const std::int64_t* s = subscripts + 3 * d;
    if (s[0] == xacc_star) {
      set_own(on, d);
      continue;
    }
    on.base[d] = s[0] == xacc_rest ? 0 : s[0];
    on.step[d] = s[2];
    on.count[d] = s[1] == xacc_rest ? (nodes.size[d] - on.base[d] + s[2] - 1) / s[2] : s[1];
    const std::int64_t last = on.base[d] + (on.count[d] - 1) * on.step[d];
    if (on.base[d] < 0 || last >= nodes.size[d])
      refuse("subscript " + std::to_string(on.base[d] < 0 ? on.base[d] : last) + " is none of nodes " +
             describe(nodes) + " along dimension " + std::to_string(d) +
             ", counted from 0 in the order of C");
  }
  return on;
}

xacc_on on_template(const xacc_template& t, const std::int64_t* subscripts) {
  if (!t.nodes) refuse("template " + std::string(t.name) + " is not distributed");
  xacc_on on{};
  on.nodes = t.nodes;
  for (int d = 0; d < t.dims; ++d) {
    const xacc_split& split = t.dim[d];
    if (split.node_dim < 0) continue;
    const std::int64_t* s = subscripts ? subscripts + 3 * d : nullptr;
    if (!s || (s[0] == xacc_rest && s[1] == xacc_rest)) {
      set_whole(on, split.node_dim);
      continue;
    }
    if (s[0] == xacc_star) {
      set_own(on, split.node_dim);
      continue;
    }
    const int parts = t.nodes->size[split.node_dim];
    const std::int64_t first = s[0] == xacc_rest ? split.low : s[0];
    const std::int64_t last = s[1] == xacc_rest ? split.low + split.size - 1 : first + (s[1] - 1) * s[2];
    if (first < split.low || last >= split.low + split.size)
      refuse("index " + std::to_string(first < split.low ? first : last) + " is none of template " +
             std::string(t.name) + " along dimension " + std::to_string(d) + ", which goes from " +
             std::to_string(split.low) + " to " + std::to_string(split.low + split.size - 1));
    on.base[split.node_dim] = owner_of(split, first, parts);
    on.count[split.node_dim] = owner_of(split, last, parts) - on.base[split.node_dim] + 1;
    on.step[split.node_dim] = 1;
  }
  return on;
}

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

xacc_on xacc_on_nodes(const xacc_nodes* nodes, const int64_t* subscripts, const xacc_place* at) {
  xacc_on on{};
  guarded(at, [&] { on = on_nodes(*nodes, subscripts); });
  return on;
}

xacc_on xacc_on_template(const xacc_template* t, const int64_t* subscripts, const xacc_place* at) {
  xacc_on on{};
  guarded(at, [&] { on = on_template(*t, subscripts); });
  return on;
}

xacc_on xacc_on_all(void) { return xacc_on{}; }
