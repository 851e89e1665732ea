// OpenACC's data directives.
#include "runtime/check/checks.hpp"
#include "runtime/present.hpp"

using namespace tca::xacc;

namespace {

// Does something with all items in one queue.
template <class Each>
void each(int count, std::int64_t queue, const xacc_place* at, const Each& body) {
  guarded(at, [&] {
    for (int i = 0; i < count; ++i) body(i);
    if (queue == XACC_SYNC) Runtime::get().device().wait_for_copies();
  });
}

}  // namespace

void xacc_enter_data(const xacc_item* items, int count, int64_t queue, const xacc_place* at) {
  each(count, queue, at, [&](int i) {
    Runtime::get().present().enter(items[i], queue, *at);
    if (Checks* checks = Runtime::get().checks()) checks->entered(items[i]);
  });
}

xacc_data xacc_data_enter(const xacc_item* items, int count, int64_t queue, const xacc_place* at) {
  xacc_enter_data(items, count, queue, at);
  return {items, count, queue, at};
}

void xacc_data_leave(xacc_data* data) { xacc_exit_data(data->items, data->count, data->queue, data->at); }

void xacc_exit_data(const xacc_item* items, int count, int64_t queue, const xacc_place* at) {
  each(count, queue, at, [&](int i) {
    Runtime::get().present().leave(items[count - 1 - i], queue);
    if (Checks* checks = Runtime::get().checks()) checks->left(items[count - 1 - i]);
  });
}

void xacc_update(const xacc_item* items, int count, int64_t queue, const xacc_place* at) {
  each(count, queue, at, [&](int i) {
    Runtime::get().present().update(items[i], queue);
    if (Checks* checks = Runtime::get().checks()) checks->updated(items[i], *at);
  });
}
