// Nodes, and which of them a directive means.
#include <algorithm>
#include <cstdlib>

#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

std::string describe(const xacc_nodes& nodes) {
  std::string text = nodes.name;
  for (int d = 0; d < nodes.dims; ++d) text += "[" + std::to_string(nodes.size[d]) + "]";
  return text;
}

// Sets strides, and where this rank lies.
void finish(xacc_nodes& nodes, int first) {
  nodes.first = first;
  nodes.total = 1;
  for (int d = nodes.dims - 1; d >= 0; --d) {
    nodes.ranks[d] = nodes.total;
    nodes.total *= nodes.size[d];
  }
}

void find_self(xacc_nodes& nodes) {
  const auto at = coordinates_in(nodes, Runtime::get().world().rank());
  nodes.inside = at.has_value();
  for (int d = 0; d < nodes.dims; ++d) nodes.at[d] = at ? (*at)[static_cast<std::size_t>(d)] : 0;
}

// The size that the environment gives to a dimension, counted from the last one of C.
std::int64_t size_in_environment(const char* name, int dim) {
  const std::string variable = "XMP_NODE_SIZE" + std::to_string(dim);
  const char* value = std::getenv(variable.c_str());
  if (!value)
    refuse("nodes " + std::string(name) + " have more than one size that is left open: set " + variable +
           " in the environment");
  return std::strtoll(value, nullptr, 10);
}

// Of sizes that are left open the first takes all ranks that the others leave.
void make(xacc_nodes& nodes, const char* name, int dims, const std::int64_t* sizes) {
  const int ranks = Runtime::get().world().size();
  nodes = {};
  nodes.name = name;
  nodes.dims = dims;
  std::int64_t known = 1;
  int open = -1;
  for (int d = 0; d < dims; ++d) {
    std::int64_t size = sizes[d];
    if (size == xacc_rest && open < 0) {
      open = d;
      size = 1;
    } else if (size == xacc_rest) {
      size = size_in_environment(name, dims - 1 - d);
    }
    if (size < 1) refuse("nodes " + std::string(name) + ": a size of " + std::to_string(size) + " is none");
    known *= size;
    nodes.size[d] = static_cast<int>(size);
  }
  if (open >= 0) nodes.size[open] = static_cast<int>(std::max<std::int64_t>(ranks / known, 1));
  finish(nodes, 0);
  if (nodes.total > ranks)
    refuse("nodes " + describe(nodes) + " are " + std::to_string(nodes.total) + ", and the program runs as " +
           std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ": start it with tca run -n " +
           std::to_string(nodes.total));
  if (open >= 0 && nodes.total != ranks)
    refuse("nodes " + describe(nodes) + " leave " + std::to_string(ranks - nodes.total) +
           " of the program's " + std::to_string(ranks) + " ranks over: start it with a multiple of " +
           std::to_string(known));
  find_self(nodes);
}

}  // namespace

namespace {

// Nodes that are a part by `*` are each rank's own row of others: a rank lies in its own where one that is as far along
// lies in this rank's.
std::optional<int> in_own_row(const xacc_nodes& nodes, int rank) {
  if (!nodes.of) return rank;
  const auto at = coordinates_in(*nodes.of, rank);
  if (!at) return {};
  for (int d = 0; d < nodes.of->dims; ++d)
    if (nodes.of_star[d])
      rank -= ((*at)[static_cast<std::size_t>(d)] - nodes.of_base[d]) * nodes.of->ranks[d];
  return rank;
}

}  // namespace

std::optional<std::vector<int>> coordinates_in(const xacc_nodes& nodes, int rank) {
  const auto row = in_own_row(nodes, rank);
  if (!row) return {};
  std::vector<int> at(static_cast<std::size_t>(nodes.dims));
  int rest = *row - nodes.first;
  // Nodes that are a part of others have strides of their own, in any order.
  std::vector<int> order(at.size());
  for (int d = 0; d < nodes.dims; ++d) order[static_cast<std::size_t>(d)] = d;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return nodes.ranks[a] > nodes.ranks[b]; });
  if (rest < 0) return {};
  for (const int d : order) {
    const int c = nodes.size[d] > 1 ? std::min(rest / nodes.ranks[d], nodes.size[d] - 1) : 0;
    at[static_cast<std::size_t>(d)] = c;
    rest -= c * nodes.ranks[d];
  }
  if (rest != 0) return {};
  return at;
}

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

// The one dimension along which a part has more than one node.
std::optional<int> row_of(const xacc_nodes& of, const std::int64_t* subscripts) {
  std::optional<int> row;
  for (int d = 0; d < of.dims; ++d) {
    if (subscripts && subscripts[3 * d + 1] == 1) continue;
    if (row) return std::nullopt;
    row = d;
  }
  return row;
}

// A row of nodes becomes a grid of them.
void lay_out(xacc_nodes& nodes, int row, const std::int64_t* sizes, const xacc_on& on) {
  const xacc_nodes& of = *on.nodes;
  for (int d = 0; d < of.dims; ++d) nodes.first += static_cast<int>(on.base[d]) * of.ranks[d];
  std::int64_t known = 1;
  for (int d = 0; d < nodes.dims; ++d) known *= sizes[d] == xacc_rest ? 1 : sizes[d];
  for (int d = nodes.dims - 1; d >= 0; --d) {
    nodes.size[d] = static_cast<int>(sizes[d] == xacc_rest ? on.count[row] / known : sizes[d]);
    nodes.ranks[d] = nodes.total * static_cast<int>(on.step[row]) * of.ranks[row];
    nodes.total *= nodes.size[d];
  }
  if (nodes.total != on.count[row])
    refuse("nodes " + describe(nodes) + " are " + std::to_string(nodes.total) + ", and the part has " +
           std::to_string(on.count[row]));
  find_self(nodes);
  nodes.inside = nodes.inside && of.inside;
}

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_nodes_make(xacc_nodes* nodes, const char* name, int dims, const int64_t* sizes,
                     const xacc_place* at) {
  guarded(at, [&] { make(*nodes, name, dims, sizes); });
}

void xacc_nodes_part(xacc_nodes* nodes, const char* name, int dims, const int64_t* sizes,
                     const xacc_nodes* of, const int64_t* subscripts, const xacc_place* at) {
  guarded(at, [&] {
    const xacc_on on = on_nodes(*of, subscripts);
    *nodes = {};
    nodes->name = name;
    nodes->dims = dims;
    nodes->of = of;
    for (int d = 0; d < of->dims; ++d) {
      nodes->of_base[d] = static_cast<int>(on.base[d]);
      nodes->of_count[d] = static_cast<int>(on.count[d]);
      nodes->of_step[d] = static_cast<int>(on.step[d]);
      nodes->of_star[d] = subscripts && subscripts[3 * d] == xacc_star;
    }
    nodes->first = of->first;
    nodes->total = 1;
    if (const auto row = row_of(*of, subscripts); row && dims > 1) return lay_out(*nodes, *row, sizes, on);
    int next = 0;  // dimensions of one node alone, by an index or `*`, are none of the part's
    for (int d = 0; d < of->dims; ++d) {
      nodes->first += static_cast<int>(on.base[d]) * of->ranks[d];
      const bool single = subscripts && subscripts[3 * d + 1] == 1;
      if (single) continue;
      if (next == dims)
        refuse("nodes " + std::string(name) + " have " + std::to_string(dims) +
               " dimensions, and those that they are a part of more");
      nodes->size[next] = static_cast<int>(on.count[d]);
      nodes->ranks[next] = static_cast<int>(on.step[d]) * of->ranks[d];
      if (sizes[next] != xacc_rest && sizes[next] != on.count[d])
        refuse("nodes " + std::string(name) + " have " + std::to_string(sizes[next]) + " along dimension " +
               std::to_string(next) + ", and the part has " + std::to_string(on.count[d]));
      nodes->total *= nodes->size[next++];
    }
    for (; next < dims; ++next) nodes->size[next] = nodes->ranks[next] = 1;
    find_self(*nodes);
    nodes->inside = nodes->inside && of->inside;
  });
}

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
