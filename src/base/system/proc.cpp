#include "base/system/proc.hpp"

#include <cstdlib>
#include <fstream>

namespace tca::base {

std::uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : no_limit;
}

std::uint64_t read_sum(const std::string& path, std::string_view first, std::string_view second) {
  std::ifstream file(path);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find_first_of(" \t");
    if (end == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, end);
    if (key == first || key == second) sum += std::strtoull(line.c_str() + end, nullptr, 10);
  }
  return sum;
}

}  // namespace tca::base
