// Compute regions as kernels: what they see of arrays, and the queues that they go through.
#include "runtime/present.hpp"
#include "runtime/runtime.hpp"

using namespace tca::xacc;

namespace {

// How far apart elements are along each dimension but the last; `inner` are the extents of all but the first.
void set_pitches(xacc_rows& rows, const char* name, std::size_t dims, const std::int64_t* inner) {
  std::int64_t pitch = 1;
  for (std::size_t d = dims - 1; d-- > 0;) {
    pitch *= inner[d];
    if (pitch > INT32_MAX)
      refuse(std::string(name) + ": rows of " + std::to_string(pitch) +
             " elements, and a region on GPUs takes up to 2^31 - 1: share the array out along another "
             "dimension");
    rows.pitch[d] = static_cast<std::int32_t>(pitch);
  }
}

xacc_array on_device(const xacc_array& a) {
  if (!a.layout || !a.base) refuse("the array has no memory yet");
  xacc_array there = a;
  there.base = Runtime::get().present().address_of(a.layout->name.c_str(), a.base);
  // Numbers, as the origin may lie outside of the memory.
  const auto number = [](const void* address) { return reinterpret_cast<std::intptr_t>(address); };
  there.origin = reinterpret_cast<void*>(number(there.base) + (number(a.origin) - number(a.base)));
  return there;
}

}  // namespace

void* xacc_device_address(const char* name, const void* host, const xacc_place* at) {
  void* address = nullptr;
  guarded(at, [&] {
    Runtime::get().device().wait(XACC_SYNC);
    address = Runtime::get().present().address_of(name, host);
  });
  return address;
}

xacc_array xacc_array_on_device(const xacc_array* a, const xacc_place* at) {
  xacc_array there{};
  guarded(at, [&] {
    Runtime::get().device().wait(XACC_SYNC);
    there = on_device(*a);
  });
  return there;
}

xacc_rows xacc_rows_of_array(const xacc_array* a, const xacc_place* at) {
  xacc_rows rows{};
  guarded(at, [&] {
    rows.data = on_device(*a).origin;
    set_pitches(rows, a->layout->name.c_str(), a->layout->dims.size(), a->extent + 1);
  });
  return rows;
}

xacc_rows xacc_rows_of(const char* name, const void* memory, int dims, const int64_t* extents,
                       const xacc_place* at) {
  xacc_rows rows{};
  guarded(at, [&] {
    rows.data = Runtime::get().present().address_of(name, memory);
    set_pitches(rows, name, static_cast<std::size_t>(dims), extents);
  });
  return rows;
}

int xacc_run(const xacc_launch* how, void** values) {
  bool goes_on = false;
  guarded(how->at, [&] {
    Device& device = Runtime::get().device();
    const Launched launched = device.launch(*how, values);
    goes_on = launched.goes_on;
    // Coarrays are one memory for the host, kernels and other images.
    if (how->queue == XACC_SYNC && Runtime::get().has_coarrays()) device.wait(XACC_SYNC);
    if (launched.reduced) return;
    for (int r = 0; r < how->reductions; ++r) {
      const xacc_result& result = how->results[r];
      if (!result.over) continue;
      if (how->queue != XACC_SYNC) device.wait(how->queue);
      xacc_reduce(result.variable, 1, result.type, result.operation, *result.over,
                  result.resident ? XACC_DEVICE : 0, result.site);
    }
  });
  return goes_on;
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
