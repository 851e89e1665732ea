// How an application's steps on GPUs may be started.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tca::apps {

enum class Start {
  automatic,  // chosen by the size of the problem
  host,       // the host launches kernel by kernel
  graph,      // the same kernels as a CUDA graph
  kernel,     // one kernel runs all steps
  resident,   // such a kernel is there before, and is told what to do next
};

// Those of applications that have no resident kernel.
inline constexpr std::array usual_starts{Start::automatic, Start::host, Start::graph, Start::kernel};

// Takes the name of one of `choices`: "auto", "host", "graph", "kernel" or "resident". Throws Error{invalid_argument} for
// any other word.
Start start_named(std::string_view name, std::span<const Start> choices = usual_starts);
std::string_view name_of(Start start);

}  // namespace tca::apps
