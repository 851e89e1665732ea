// Used when there was no Verilator.
#include "base/fail.hpp"
#include "model/rtl/core.hpp"

namespace tca::rtl {

void check_core() {
  base::fail(Errc::invalid_argument,
             "fidelity rtl: no Verilator when OpenTCA was built: install verilator 5.006 or later and build "
             "again, or choose tlp");
}

std::unique_ptr<Core> make_core(std::uint32_t, std::uint32_t) { return nullptr; }

}  // namespace tca::rtl
