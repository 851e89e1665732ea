// How an application's steps on GPUs may be started.
#pragma once

#include <string_view>

namespace tca::apps {

enum class Start {
  automatic,  // chosen by the size of the problem
  host,       // the host launches kernel by kernel
  graph,      // the same kernels as a CUDA graph
  kernel,     // one kernel runs all steps
};

// Takes "auto", "host", "graph" or "kernel". Throws Error{invalid_argument} for any other word.
Start start_named(std::string_view name);
std::string_view name_of(Start start);

}  // namespace tca::apps
