// Makes C for a compiler of the host of a program with directives.
#pragma once

#include <string>
#include <vector>

#include "ir/objects.hpp"

namespace tca::xacc {

struct Choices {
  // What a subscript means, within a loop that is shared out, that has none of the loop's variables: the
  // element of this rank's part, as other compilers have it, or of the array.
  bool local_indices = true;
  bool check = false;     // whether every subscript is looked at when it runs
  bool explain = false;   // whether the program says how it exchanges ghosts
  bool gpu = false;       // whether compute regions become kernels
  std::string unit = {};  // with `gpu`: what tells names of this file from those of others
};

struct Translated {
  std::string text;     // with the line markers of the source
  std::string kernels;  // CUDA, where there are compute regions for GPUs
  std::vector<Fault> warnings;
};

// `text` is what the program's tokens were split from. What is wrong is added to `faults`.
Translated translate(const std::string& text, const Program& program, const Objects& objects,
                     const Choices& choices, std::vector<Fault>& faults);

}  // namespace tca::xacc
