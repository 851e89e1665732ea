// Compute regions as kernels: what they see of arrays, and the queues that they go through.
#include "runtime/present.hpp"
#include "runtime/runtime.hpp"

using namespace tca::xacc;

namespace {

// How far apart elements are along each dimension but the last; `inner` are the extents of all but the first.
void set_pitches(xacc_rows& rows, std::size_t dims, const std::int64_t* inner) {
  std::int64_t pitch = 1;
  for (std::size_t d = dims - 1; d-- > 0;) rows.pitch[d] = pitch *= inner[d];
}

}  // namespace

void* xacc_device_address(const char* name, const void* host, const xacc_place* at) {
  void* address = nullptr;
  guarded(at, [&] { address = Runtime::get().present().address_of(name, host); });
  return address;
}

xacc_array xacc_array_on_device(const xacc_array* a, const xacc_place* at) {
  xacc_array there = *a;
  guarded(at, [&] {
    if (!a->layout || !a->base) refuse("the array has no memory yet");
    there.base = Runtime::get().present().address_of(a->layout->name.c_str(), a->base);
    // Numbers, as the origin may lie outside of the memory.
    const auto number = [](const void* address) { return reinterpret_cast<std::intptr_t>(address); };
    there.origin = reinterpret_cast<void*>(number(there.base) + (number(a->origin) - number(a->base)));
  });
  return there;
}

xacc_rows xacc_rows_of_array(const xacc_array* a, const xacc_place* at) {
  xacc_rows rows{xacc_array_on_device(a, at).origin, {}};
  set_pitches(rows, a->layout->dims.size(), a->extent + 1);
  return rows;
}

xacc_rows xacc_rows_of(const char* name, const void* memory, int dims, const int64_t* extents,
                       const xacc_place* at) {
  xacc_rows rows{};
  guarded(at, [&] {
    rows.data = Runtime::get().present().address_of(name, memory);
    set_pitches(rows, static_cast<std::size_t>(dims), extents);
  });
  return rows;
}

void xacc_run(const xacc_launch* how, void** values) {
  guarded(how->at, [&] {
    Device& device = Runtime::get().device();
    device.launch(*how, values);
    if (how->queue == XACC_SYNC) device.wait(how->queue);
  });
}

void xacc_order_queues(int64_t queue, int64_t other, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().device().order(queue, other); });
}

void xacc_wait_queue(int64_t queue, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().device().wait(queue); });
}

void xacc_wait_queues(const xacc_place* at) {
  guarded(at, [&] { Runtime::get().device().wait_all(); });
}
