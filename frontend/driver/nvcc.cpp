#include "driver/nvcc.hpp"

#include <unistd.h>

#include <cctype>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "lex/place.hpp"

namespace tca::xacc {
namespace {

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(folder + "/" + name)) return true;
  return false;
}

std::string find_nvcc(const Options& options) {
  const char* named = std::getenv("NVCC");
  const std::string asked = !options.nvcc.empty() ? options.nvcc : named ? named : "";
  if (!asked.empty()) {
    if (asked.find('/') == asked.npos ? in_path(asked) : is_program(asked)) return asked;
    throw Fault{{}, "there is no " + asked + ", which --nvcc or NVCC names"};
  }
  if (in_path("nvcc")) return "nvcc";
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  if (is_program(usual)) return usual;
  throw Fault{{},
              "--acc cuda needs nvcc, of NVIDIA's CUDA toolkit, and it is neither in PATH nor " + usual,
              "install it, name it with --nvcc, or use --acc cpu"};
}

bool has_gpu() { return access("/dev/nvidiactl", F_OK) == 0; }

}  // namespace

std::vector<std::string> nvcc_command(const Options& options, const Home& home, const std::string& source,
                                      const std::string& object) {
  std::vector<std::string> command{find_nvcc(options), "-std=c++20", "--expt-relaxed-constexpr",
                                   "-I" + home.include};
  if (home.gpus.empty())
    throw Fault{{},
                "--acc cuda: this tca was built without CUDA, so its programs have no GPUs",
                "build it with CUDA=ON, or use --acc cpu"};
  for (const std::string& word : options.compile) {
    if (word == "-ffp-contract=off") command.emplace_back("-fmad=false");
    if (word == "-g" || (word.size() == 3 && word.starts_with("-O") && word[2] >= '0' && word[2] <= '3'))
      command.push_back(word);
  }
  const std::vector<std::string> gpus = has_gpu() ? std::vector<std::string>{} : std::vector{home.gpus};
  const std::vector<std::string>& for_nvcc = options.for_nvcc.empty() ? gpus : options.for_nvcc;
  command.insert(command.end(), for_nvcc.begin(), for_nvcc.end());
  if (options.for_nvcc.empty() && has_gpu()) command.emplace_back("-arch=native");
  command.insert(command.end(), {"-c", source, "-o", object});
  return command;
}

std::string unit_of(const std::string& source) {
  std::uint32_t hash = 2166136261;
  char path[PATH_MAX];
  const std::string whole = realpath(source.c_str(), path) ? path : source;
  for (const char c : whole) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  std::string unit = source.substr(source.rfind('/') + 1);
  unit = unit.substr(0, unit.rfind('.'));
  for (char& c : unit)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return unit + "_" + std::to_string(hash);
}

}  // namespace tca::xacc
