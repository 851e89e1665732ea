#include "cli/output/temporary_file.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/launch/fd.hpp"
#include "cli/options/refuse.hpp"

namespace tca::tool {

TemporaryFile::TemporaryFile() {
  std::error_code unknown;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(unknown);
  if (unknown) refuse("there is no folder for a temporary file: {}; set TMPDIR", unknown.message());
  path_ = (folder / "tca-XXXXXX").string();
  const Fd made(mkstemp(path_.data()));
  if (!made.is_open())
    refuse("{}: cannot be written: {}; set TMPDIR to another folder", path_, std::strerror(errno));
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

}  // namespace tca::tool
