#include "route/hardware.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <map>

#include "tca/version.hpp"

namespace tca::route {

namespace {

// Returns what the kernel says about the first processor. It would say the same about the others, at
// length.
std::map<std::string, std::string> first_processor() {
  std::map<std::string, std::string> said;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    said[key] = colon + 2 < line.size() ? line.substr(colon + 2) : "";
  }
  return said;
}

std::string machine_type() {
  utsname system{};
  uname(&system);
  return system.machine;
}

// Returns the size of the cache furthest from the core, as "32768K"; empty if the kernel does not say.
std::string last_cache() {
  std::string size;
  for (int index = 0;; ++index) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::string next;
    if (!(file >> next)) return size;
    size = next;
  }
}

std::string describe_hardware() {
  const auto said = first_processor();
  std::string text = said.contains("model name") ? said.at("model name") : machine_type();
  constexpr std::array<std::pair<const char*, const char*>, 6> details{{{"cpu family", ", family "},
                                                                        {"model", " model "},
                                                                        {"stepping", " stepping "},
                                                                        {"CPU implementer", ", implementer "},
                                                                        {"CPU part", " part "},
                                                                        {"CPU variant", " variant "}}};
  for (const auto& [key, before] : details)
    if (said.contains(key)) text += before + said.at(key);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  text += fmt::format(", {} CPU{}", cpus, cpus == 1 ? "" : "s");
  if (const std::string cache = last_cache(); !cache.empty()) text += ", " + cache + " last-level cache";
  // The text is quoted in the table.
  for (char& c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

}  // namespace

// Found once, because reading /proc/cpuinfo takes many milliseconds on some machines.
std::string hardware() {
  static const std::string text = describe_hardware();
  return text;
}

std::string hardware_of(std::span<const std::unique_ptr<fabric::Fabric>> fabrics) {
  // The device's name reads "NVIDIA H200 (0000:01:00.0), GPU 0"; which of several GPUs it is does not count.
  const std::optional<fabric::Device> device = fabrics.front()->device();
  if (!device) return hardware();
  return fmt::format("{}, {}", hardware(), device->name.substr(0, device->name.find(" (")));
}

std::string fabric_set(std::span<const std::unique_ptr<fabric::Fabric>> fabrics) {
  std::string set;
  for (const auto& fabric : fabrics) set += (set.empty() ? "" : "+") + std::string(fabric->name());
  return set;
}

std::string software(std::string_view mpi) {
  return mpi.empty() ? library_version() : fmt::format("{} and {}", library_version(), mpi);
}

}  // namespace tca::route
