// What directives have begun, by the number that the program gave it.
#include <algorithm>

#include "runtime/runtime.hpp"
#include "runtime/xmp.hpp"

using namespace tca::xacc;

int xmp_test_async(int id) {
  bool done = true;
  const xacc_place at{"", 0, "xmp_test_async"};
  guarded(&at, [&] {
    const auto [first, last] = Runtime::get().pending.equal_range(id);
    for (auto one = first; one != last; ++one) done = one->second.test() && done;
  });
  return done;
}

void xacc_wait_async(int64_t id, const xacc_place* at) {
  guarded(at, [&] {
    auto& pending = Runtime::get().pending;
    const auto [first, last] = pending.equal_range(id);
    for (auto one = first; one != last; ++one) one->second.wait();
    pending.erase(first, last);
  });
}
