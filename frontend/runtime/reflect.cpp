// reflect: a halo, set up where an array of this shape first exchanges these widths from this memory.
#include "runtime/reflect.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "runtime/check/checks.hpp"
#include "runtime/move/gmove.hpp"
#include "runtime/on_device.hpp"
#include "runtime/site.hpp"

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

// Null where there is nothing to exchange.
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

const xacc_layout& layout_of(const xacc_array& a) {
  if (!a.layout) refuse("the array has no memory yet");
  return *a.layout;
}

// What goes back along the halo. Corners stay out: an element's ghosts are those beside it.
Fold* fold_of(xacc_array& a, const std::int64_t* widths, int type, const xacc_place& at) {
  const xacc_layout& layout = layout_of(a);
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

void require_there(const xacc_layout& layout, int flags) {
  if (elsewhere(flags) && layout.storage)
    Runtime::get().present().require(layout.name.c_str(), layout.storage->window.data());
}

// On GPUs between what their queues have: that of the number, or the one of regions without a number.
template <class Exchange>
bool exchange_in_queue(Exchange* step, std::int64_t async) {
  Device& device = Runtime::get().device();
  const std::int64_t queue = async < 0 ? std::int64_t{XACC_SYNC} : async;
  if (!device.stream(queue)) return false;
  step->run(device.stream(queue));
  const auto over = [&device, queue] { return device.test(queue); };
  if (async >= 0)
    Runtime::get().pending.emplace(async, Pending{over, [&device, queue] { device.wait(queue); }});
  return true;
}

template <class Exchange>
void exchange(Exchange* step, int flags, std::int64_t async) {
  if (!step || (flags & XACC_DEVICE && exchange_in_queue(step, async))) return;
  if (async < 0) return step->run();
  step->start();
  Runtime::get().pending.emplace(async, Pending{[step] { return step->test(); }, [step] { step->wait(); }});
}

Halo* reflect(xacc_array& a, const std::int64_t* given, int flags, std::int64_t async, const xacc_place& at) {
  const xacc_layout& layout = layout_of(a);
  const Widths widths = widths_of(layout, given);
  Checks* const checks = Runtime::get().checks();
  if (checks) checks->compare(layout, at);
  fill_full_shadows(a);
  require_there(layout, flags);
  Halo* const halo = halo_of(layout, widths, flags, at);
  exchange(halo, flags, async);
  if (checks) checks->brought(a, widths, flags & XACC_ORTHOGONAL, flags & XACC_DEVICE, at);
  return halo;
}

// Whether an exchange of an array is the same next time, and nothing else has to be done.
bool is_halo_alone(const xacc_layout& layout) { return !has_full_shadow(layout) && is_plain(); }

// An exchange as a directive has it.
struct KnownReflect {
  std::uint64_t version = 0;  // of the array's layout
  int flags = 0;
  std::optional<std::vector<std::int64_t>> widths = {};
  Halo* halo = nullptr;

  bool is(const xacc_layout& layout, const std::int64_t* given, int now) const {
    return version == layout.version && flags == now && widths.has_value() == (given != nullptr) &&
           (!given || std::equal(widths->begin(), widths->end(), given)) && is_plain();
  }
};

void reflect_at(xacc_site& site, xacc_array& a, const std::int64_t* widths, int flags, std::int64_t async) {
  const xacc_layout& layout = layout_of(a);
  auto& known = kept_at<KnownReflect>(site);
  if (known.is(layout, widths, flags)) {
    require_there(layout, flags);
    return exchange(known.halo, flags, async);
  }
  known = {};
  Halo* const halo = reflect(a, widths, flags, async, site.place);
  if (!is_halo_alone(layout)) return;
  known = {layout.version, flags, std::nullopt, halo};
  if (widths) known.widths.emplace(widths, widths + 3 * layout.dims.size());
}

}  // namespace

void exchange_ghosts(const xacc_layout& layout, const Widths& widths, const xacc_place& at) {
  if (Halo* halo = halo_of(layout, widths, 0, at)) halo->run();
}

}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_reflect(xacc_array* a, const int64_t* widths, int flags, int64_t async, xacc_site* site) {
  guarded(&site->place, [&] { reflect_at(*site, *a, widths, flags, async); });
}

void xacc_reflect_init(xacc_array* a, const int64_t* widths, int flags, const xacc_place* at) {
  guarded(at, [&] {
    halo_of(layout_of(*a), widths_of(layout_of(*a), widths), flags, *at);
    a->layout->reflect_widths.reset();
    if (widths) a->layout->reflect_widths.emplace(widths, widths + 3 * a->layout->dims.size());
    a->layout->orthogonal = flags & XACC_ORTHOGONAL;
    a->layout->initialised = true;
    a->layout->reflected.clear();
  });
}

void xacc_reflect_do(xacc_array* a, int flags, int64_t async, const xacc_place* at) {
  guarded(at, [&] {
    if (!a->layout || !a->layout->initialised)
      refuse("reflect_init has not been executed for this array: put it in front of the first reflect_do");
    const auto known = a->layout->reflected.find(flags);
    if (known != a->layout->reflected.end()) {
      require_there(*a->layout, flags);
      return exchange(known->second, flags, async);
    }
    const auto& widths = a->layout->reflect_widths;
    tca::Halo* const halo =
        reflect(*a, widths ? widths->data() : nullptr,
                (flags & XACC_DEVICE) | (a->layout->orthogonal ? XACC_ORTHOGONAL : 0), async, *at);
    if (is_halo_alone(*a->layout)) a->layout->reflected[flags] = halo;
  });
}

void xacc_reduce_shadow(xacc_array* a, const int64_t* widths, int type, int64_t async, const xacc_place* at) {
  guarded(at, [&] {
    if (a->layout && has_full_shadow(*a->layout))
      refuse(a->layout->name +
             " has a full shadow, which is not added up: use a reduction of an array that is not "
             "distributed");
    exchange(fold_of(*a, widths, type, *at), 0, async);
  });
}
