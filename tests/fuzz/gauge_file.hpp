// Any file's headers are read as those of a gauge configuration, NERSC's or ILDG's, or refused with the file's name.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "must.hpp"
#include "qcd/files/configuration.hpp"

namespace tca::fuzz {

inline std::string try_gauge(std::string_view bytes) {
  const int file = memfd_create("gauge", MFD_CLOEXEC);
  must(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
       "no memory for", "a file");
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const std::string error = refusal(Errc::invalid_argument, [&] {
    const qcd::Contents contents = qcd::inspect_configuration(path);
    must(!qcd::describe(contents).empty(), "nothing to say of", path);
  });
  close(file);
  must(error.empty() || error.find(path) != std::string::npos, "no file in", error);
  return error;
}

}  // namespace tca::fuzz
