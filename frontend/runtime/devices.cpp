// Devices of XcalableACC: a rank has one.
#include "runtime/runtime.hpp"

using namespace tca::xacc;

namespace {

[[noreturn]] void refuse_device(const std::string& what) {
  refuse(what +
         ", and a rank drives one device, number 0: start a rank for each (tca run -n RANKS), and share "
         "arrays out among nodes instead of among devices");
}

}  // namespace

void xacc_devices(const char* name, int64_t base, int64_t count, const xacc_place* at) {
  guarded(at, [&] {
    const std::string devices = "devices " + std::string(name);
    if (count == 0 || count < -1) refuse(devices + ": a number of " + std::to_string(count) + " is none");
    if (base != 0) refuse_device(devices + " begin with number " + std::to_string(base));
    if (count > 1) refuse_device(devices + " are " + std::to_string(count));
  });
}

void xacc_on_device(const char* name, int64_t number, const xacc_place* at) {
  guarded(at, [&] {
    if (number != 0) refuse_device("there is no " + std::string(name) + "[" + std::to_string(number) + "]");
  });
}

void xacc_barrier_device(const xacc_place* at) {
  guarded(at, [] { Runtime::get().device().wait_all(); });
}
