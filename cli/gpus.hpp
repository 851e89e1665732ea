// The NVIDIA GPUs of this host, as the driver reports them, also in a build without CUDA.
#pragma once

#include <string>
#include <vector>

namespace tca::tool {

struct Gpus {
  std::vector<std::string> names;
  std::string why_none;  // empty when there are some
};

Gpus find_gpus();

}  // namespace tca::tool
