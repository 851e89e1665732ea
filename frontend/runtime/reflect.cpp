// The directives about ghosts.
#include "runtime/reflect.hpp"

#include <algorithm>

#include "runtime/check/checks.hpp"
#include "runtime/move/gmove.hpp"
#include "runtime/on_device.hpp"
#include "runtime/site.hpp"

namespace tca::xacc {

namespace {

const xacc_layout& layout_of(const xacc_array& a) {
  if (!a.layout) refuse("the array has no memory yet");
  return *a.layout;
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
    exchange(fold_of(layout_of(*a), widths, type, *at), 0, async);
  });
}
