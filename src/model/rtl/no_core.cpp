// Where there was no Verilator.
#include "base/fail.hpp"
#include "model/rtl/core.hpp"

namespace tca::rtl {

std::unique_ptr<Core> make_core(std::uint32_t, std::uint32_t) {
  base::fail(Errc::invalid_argument,
             "fidelity rtl: there was no Verilator when OpenTCA was built: install verilator and build again, or "
             "choose tlp");
}

}  // namespace tca::rtl
