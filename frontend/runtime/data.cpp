// OpenACC's data directives.
#include "runtime/check/checks.hpp"
#include "runtime/present.hpp"
#include "runtime/site.hpp"

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

// That all addresses were there at a version of what is.
struct KnownPresent {
  std::uint64_t version = 0;
  std::vector<const void*> addresses = {};

  bool are(const xacc_item* items, int count, std::uint64_t now) const {
    bool same = version == now && addresses.size() == static_cast<std::size_t>(count);
    for (std::size_t i = 0; same && i < addresses.size(); ++i) same = items[i].address == addresses[i];
    return same;
  }
};

}  // namespace

void xacc_present(const xacc_item* items, int count, xacc_site* site) {
  guarded(&site->place, [&] {
    auto& known = kept_at<KnownPresent>(*site);
    Present& present = Runtime::get().present();
    if (known.are(items, count, present.version())) return;
    known = {present.version()};
    for (int i = 0; i < count; ++i) {
      present.require(items[i].name, items[i].address);
      known.addresses.push_back(items[i].address);
    }
  });
}

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
