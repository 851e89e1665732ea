#include "cli/gpus.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

std::string first_line_of(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// Whether PCI has a display or 3-D controller of NVIDIA's, be there a driver or not.
bool is_on_pci() {
  std::error_code unreadable;
  for (const fs::directory_entry& device : fs::directory_iterator("/sys/bus/pci/devices", unreadable))
    if (first_line_of(device.path() / "vendor") == "0x10de" &&
        first_line_of(device.path() / "class").starts_with("0x03"))
      return true;
  return false;
}

std::string why_the_driver_has_none(int error) {
  constexpr int no_device = 100;
  const char* hidden = std::getenv("CUDA_VISIBLE_DEVICES");
  if (error != no_device) return fmt::format("the NVIDIA driver cannot be used (error {} of cuInit)", error);
  if (hidden != nullptr) return fmt::format("CUDA_VISIBLE_DEVICES='{}' leaves none", hidden);
  return "the NVIDIA driver is here (libcuda.so.1), but it finds no GPU";
}

}  // namespace

// The library stays loaded, since the fabric uses it too.
Gpus find_gpus() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr)
    return {{},
            is_on_pci() ? "there is one on PCI, but no NVIDIA driver (libcuda.so.1)"
                        : "no NVIDIA driver (libcuda.so.1), and no such device on PCI"};
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  if (init == nullptr || count == nullptr || name == nullptr)
    return {{}, "libcuda.so.1 is not NVIDIA's driver"};
  if (const int error = init(0); error != 0) return {{}, why_the_driver_has_none(error)};
  Gpus gpus;
  int there = 0;
  count(&there);
  for (int i = 0; i < there; ++i) {
    std::array<char, 128> text{};
    name(text.data(), static_cast<int>(text.size()), i);
    gpus.names.emplace_back(text.data());
  }
  if (gpus.names.empty()) gpus.why_none = why_the_driver_has_none(100);
  return gpus;
}

}  // namespace tca::tool
