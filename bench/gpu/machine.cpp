#include "gpu/machine.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <array>
#include <cstring>

namespace tca::bench::gpu {

namespace {

// Asks the driver's own management library (NVML). It is loaded at run time because it comes with the driver,
// while its header may be missing.
std::string driver_version() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "unknown";
  const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto ask = reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
  const auto end = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  char text[81] = "unknown";  // one character more than NVML ever writes
  if (init != nullptr && ask != nullptr && end != nullptr && init() == 0) {
    ask(text, sizeof text - 1);
    end();
  }
  dlclose(library);
  return text;
}

std::string cuda_version() {
  int number = 0;
  cudaRuntimeGetVersion(&number);
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::string Machine::describe() const { return gpus + ", driver " + driver + ", CUDA " + cuda; }

Machine machine(World& world) {
  std::array<char, 128> mine{};
  std::strncpy(mine.data(), world.device_name().c_str(), mine.size() - 1);
  std::vector<std::string> names;
  for (const auto& name : world.all_gather(mine)) names.emplace_back(name.data());
  return {count_gpus(names), driver_version(), cuda_version()};
}

}  // namespace tca::bench::gpu
