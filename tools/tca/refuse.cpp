#include "refuse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "fd.hpp"

namespace tca::tool {

void check_replaceable(const std::string& path, const std::string& suffix) {
  if (path.empty()) return;
  const auto fail = [&](int error) { refuse("{}: cannot be written: {}", path, std::strerror(error)); };
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) fail(EISDIR);
  // Tried, since what permissions say does not hold everywhere; what was there before stays.
  const std::string draft = path + suffix;
  const Fd made(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.is_open()) {
    unlink(draft.c_str());
  } else if (errno != EEXIST || access(draft.c_str(), W_OK) != 0) {
    fail(errno);
  }
}

}  // namespace tca::tool
