#include <set>

#include "gpu/machine.hpp"

namespace tca::bench::gpu {

std::string count_gpus(const std::vector<std::string>& device_names) {
  std::set<std::string> gpus;  // names with their bus, which list each GPU once
  for (const std::string& name : device_names) gpus.insert(name.substr(0, name.rfind("), GPU ")));
  std::vector<std::pair<std::string, int>> models;
  for (const std::string& gpu : gpus) {
    const std::string model = gpu.substr(0, gpu.rfind(" ("));
    if (models.empty() || models.back().first != model) models.emplace_back(model, 0);
    ++models.back().second;
  }
  std::string text;
  for (const auto& [model, count] : models)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + model;
  return text;
}

}  // namespace tca::bench::gpu
