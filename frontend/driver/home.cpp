#include "driver/home.hpp"

#include <unistd.h>

#include <climits>
#include <sstream>

// What CMake knows: the headers of the sources, and how the build links a program.
#ifndef OPENTCA_XACC_INCLUDE
#define OPENTCA_XACC_INCLUDE ""
#endif
#ifndef OPENTCA_XACC_MPI
#define OPENTCA_XACC_MPI ""
#endif
#ifndef OPENTCA_XACC_BUILT
#define OPENTCA_XACC_BUILT ""
#endif
#ifndef OPENTCA_XACC_NEEDED
#define OPENTCA_XACC_NEEDED ""
#endif
#ifndef OPENTCA_XACC_GPUS
#define OPENTCA_XACC_GPUS ""
#endif
#ifndef OPENTCA_XACC_LIBDIR
#define OPENTCA_XACC_LIBDIR "lib"
#endif

namespace tca::xacc {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string program_folder() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return program.substr(0, program.rfind('/'));
}

}  // namespace

Home find_home() {
  const std::string prefix = program_folder() + "/..";
  const bool installed = access((prefix + "/include/tca/xacc/runtime.h").c_str(), R_OK) == 0;
  const std::string libraries = prefix + "/" + OPENTCA_XACC_LIBDIR;
  // A Python package has no libraries to link with.
  if (installed && access((libraries + "/libopentca_xacc.a").c_str(), R_OK) != 0)
    return {prefix + "/include", words_of(OPENTCA_XACC_MPI), {}, OPENTCA_XACC_GPUS};
  Home home{installed ? prefix + "/include" : OPENTCA_XACC_INCLUDE, words_of(OPENTCA_XACC_MPI),
            words_of(OPENTCA_XACC_BUILT), OPENTCA_XACC_GPUS};
  if (installed) home.link = {"-L" + libraries, "-Wl,-rpath," + libraries, "-lopentca_xacc", "-lopentca"};
  for (std::string& word : words_of(OPENTCA_XACC_NEEDED)) home.link.push_back(std::move(word));
  return home;
}

}  // namespace tca::xacc
