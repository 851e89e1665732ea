// A halo is set up where an array of its shape first exchanges these widths from its memory.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "runtime/numbers.hpp"
#include "runtime/reflect.hpp"

namespace tca::xacc {

Widths widths_of(const xacc_layout& layout, const std::int64_t* widths) {
  Widths result;
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    const xacc_dimension& dim = layout.dims[d];
    GhostWidth width{dim.align.shadow_low, dim.align.shadow_high};
    const bool periodic = widths && widths[3 * d + 2] && !layout.full(d);
    if (widths && !layout.full(d)) {
      width = {widths[3 * d], widths[3 * d + 1]};
      if (width.low > dim.align.shadow_low || width.high > dim.align.shadow_high)
        refuse(layout.name + ": a width of " + std::to_string(width.low) + ":" + std::to_string(width.high) +
               " along dimension " + std::to_string(d) + " is more than the shadow, " +
               std::to_string(dim.align.shadow_low) + ":" + std::to_string(dim.align.shadow_high));
    }
    if ((dim.node_dim < 0 && !periodic) || layout.full(d)) width = {0, 0};
    result.exchange.push_back(width);
    result.periodic.push_back(periodic);
  }
  return result;
}

namespace {

// Ranks in the order of the array's dimensions, and behind them the node dimensions on which it is
// replicated.
struct Arrangement {
  std::vector<int> shape;
  std::vector<int> node_dims;  // of each dimension of the shape; -1
  std::vector<int> ranks;
};

Arrangement arrange(const xacc_layout& layout) {
  const xacc_nodes& nodes = *layout.on->nodes;
  Arrangement a;
  for (const xacc_dimension& dim : layout.dims) {
    a.shape.push_back(dim.parts);
    a.node_dims.push_back(dim.node_dim);
  }
  for (int n = 0; n < nodes.dims; ++n) {
    if (std::find(a.node_dims.begin(), a.node_dims.end(), n) != a.node_dims.end() || nodes.size[n] == 1)
      continue;
    a.shape.push_back(nodes.size[n]);
    a.node_dims.push_back(n);
  }
  a.ranks.push_back(nodes.first);
  for (std::size_t d = 0; d < a.shape.size(); ++d) {
    std::vector<int> more;
    for (const int rank : a.ranks)
      for (int c = 0; c < a.shape[d]; ++c)
        more.push_back(rank + (a.node_dims[d] < 0 ? 0 : c * nodes.ranks[a.node_dims[d]]));
    a.ranks = std::move(more);
  }
  return a;
}

// An array's memory as its nodes have it, on the host or on the device; to be kept until the exchange is
// committed.
raw::Window window_in(const Group& group, const Storage& storage, bool device = false) {
  const raw::Window& window = device ? storage.on_device() : storage.window;
  return group.world == storage.group->world ? window : group.world->view(window);
}

std::unique_ptr<Halo> make_halo(const xacc_layout& layout, const Widths& widths, int flags,
                                const xacc_place& at) {
  const bool orthogonal = flags & XACC_ORTHOGONAL;
  const Arrangement arrangement = arrange(layout);
  if (arrangement.shape.size() > Grid::max_dims)
    refuse(layout.name + " has more than seven dimensions with those on which it is replicated");
  Group& group = Runtime::get().group(arrangement.ranks);
  std::vector<bool> periodic = widths.periodic;
  std::vector<std::int64_t> interior;
  HaloOptions options;
  options.corners = !orthogonal;
  options.exchange = widths.exchange;
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    // Ghosts of dimensions that are not exchanged go along, so that one dimension after the other makes the
    // corners as well.
    const auto& [low, high] = widths.exchange[d];
    const bool along = layout.full(d) || (!orthogonal && low == 0 && high == 0);
    const int* at_node = layout.on->nodes->at;
    interior.push_back(along ? layout.extent(d, at_node) : layout.owned(d, at_node).size());
    options.width.push_back(
        along ? GhostWidth{0, 0}
              : GhostWidth{layout.dims[d].align.shadow_low, layout.dims[d].align.shadow_high});
  }
  for (std::size_t d = layout.dims.size(); d < arrangement.shape.size(); ++d) {
    interior.push_back(1);
    options.width.push_back({0, 0});
    options.exchange.push_back({0, 0});
    periodic.push_back(false);
  }
  const Grid grid(static_cast<int>(arrangement.ranks.size()), arrangement.shape, periodic);
  auto halo = std::make_unique<Halo>(*group.world, layout.name, grid, interior, options);
  const raw::Window window = window_in(group, *layout.storage, flags & XACC_DEVICE);
  halo->add(window);
  halo->commit();
  Runtime& runtime = Runtime::get();
  if (runtime.explain && runtime.world().rank() == 0)
    std::fprintf(stderr, "%s:%d: %s (%s), %lld bytes from rank 0:\n%s\n", at.file, at.line, at.directive,
                 layout.name.c_str(), static_cast<long long>(halo->bytes()), halo->explain().c_str());
  return halo;
}

bool exchanges_nothing(const Widths& widths) {
  return std::all_of(widths.exchange.begin(), widths.exchange.end(),
                     [](const GhostWidth& w) { return w.low == 0 && w.high == 0; });
}

}  // namespace

Halo* halo_of(const xacc_layout& layout, const Widths& widths, int flags, const xacc_place& at) {
  if (!layout.on->nodes->inside) return nullptr;
  if (exchanges_nothing(widths)) return nullptr;
  Runtime::get().meet(ranks_of(xacc_on_nodes(layout.on->nodes, nullptr, &at)));
  if (!layout.storage)
    refuse(layout.name +
           " is memory that no directive has made, which other ranks cannot reach: align the array where it "
           "is declared");
  std::string key = layout.describe() + "/" + std::to_string(flags);
  for (std::size_t d = 0; d < widths.exchange.size(); ++d)
    key += "/" + std::to_string(widths.exchange[d].low) + ":" + std::to_string(widths.exchange[d].high) +
           (widths.periodic[d] ? "p" : "");
  auto& slot = layout.storage->halos[key];
  if (!slot) slot = make_halo(layout, widths, flags, at);
  return slot.get();
}

// Corners stay out: an element's ghosts are those beside it.
Fold* fold_of(const xacc_layout& layout, const std::int64_t* widths, int type, const xacc_place& at) {
  const Halo* halo = halo_of(layout, widths_of(layout, widths), XACC_ORTHOGONAL, at);
  if (!halo) return nullptr;
  std::ostringstream key;
  key << halo << "," << type;
  auto& slot = layout.storage->folds[key.str()];
  if (slot) return slot.get();
  const Group& group = Runtime::get().group(arrange(layout).ranks);
  slot = std::make_unique<Fold>(*group.world, layout.name + " back", *halo);
  const raw::Window window = window_in(group, *layout.storage);
  slot->add(window, data_type(type));
  slot->commit();
  return slot.get();
}

void exchange_ghosts(const xacc_layout& layout, const Widths& widths, const xacc_place& at) {
  if (Halo* halo = halo_of(layout, widths, 0, at)) halo->run();
}

}  // namespace tca::xacc
