// The command line of `tca xacc cc`: that of a C compiler, with a few options of its own.
#pragma once

#include <string>
#include <vector>

namespace tca::xacc {

struct Options {
  enum class Stage { link, object, assembly, preprocess, emit, check } stage = Stage::link;
  std::string compiler = "cc";
  std::vector<std::string> sources;       // *.c
  std::vector<std::string> preprocessor;  // -D, -I, -U, -include and the like
  std::vector<std::string> compile;       // -O2, -g, -W..., with those of the preprocessor
  std::vector<std::string> link;          // objects, -l, -L
  std::string output;
  bool openmp = true;
  bool gpu = false;                   // --acc cuda
  std::string nvcc;                   // empty: found
  std::vector<std::string> for_nvcc;  // -arch=..., -gencode...
  bool local_indices = true;
  bool check = false;
  bool explain = false;
};

// Throws Fault for what it does not know of its own options; the compiler's are passed on.
Options parse_options(const std::vector<std::string>& words, Options::Stage stage);

}  // namespace tca::xacc
