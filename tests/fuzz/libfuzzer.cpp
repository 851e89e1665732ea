// The libFuzzer target for machine files. Usage: machine_fuzz [options] machines/
#include <cstddef>
#include <cstdint>

#include "machine_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tca::net::try_machine({reinterpret_cast<const char*>(data), size});
  return 0;
}
