// Who starts an application's steps on GPUs.
#pragma once

#include <string_view>

namespace tca::apps {

enum class Start {
  automatic,  // what suits the problem
  host,       // kernel by kernel
  graph,      // the same as a CUDA graph
  kernel,     // one kernel for all steps
};

// "auto", "host", "graph" or "kernel". Throws Error{invalid_argument} for any other word.
Start start_named(std::string_view name);
std::string_view name_of(Start start);

}  // namespace tca::apps
