#include "cli/options/refuse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "cli/launch/fd.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;
using base::behind_links;

// Two options may name the same file when it is not a regular one, such as a terminal.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code unknown;
  if (fs::exists(one, unknown) && !fs::is_regular_file(one, unknown)) return false;
  if (fs::equivalent(one, other, unknown)) return true;
  // Compares the paths of files that do not exist yet. A path that cannot be looked up is refused when it is
  // read or written.
  const auto place = [&](const fs::path& path) {
    const fs::path found = fs::absolute(fs::weakly_canonical(behind_links(path), unknown), unknown);
    return found.empty() ? path : found;
  };
  return place(one) == place(other);
}

[[noreturn]] void refuse_to_write(const std::string& path, int error) {
  refuse("{}: cannot be written: {}", path, std::strerror(error));
}

// Tries to create the file, since permissions do not tell everywhere whether that is possible. Returns false,
// with the reason in errno, also when the file exists.
bool can_be_made(const std::string& file) {
  const Fd made(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.is_open()) unlink(file.c_str());
  return made.is_open();
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) return;
  const std::string file = behind_links(path);
  if (can_be_made(file)) return;
  if (errno != EEXIST || !Fd(open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)).is_open())
    refuse_to_write(path, errno);
}

void check_distinct(std::initializer_list<NamedFile> files) {
  for (auto one = files.begin(); one != files.end(); ++one)
    for (auto other = std::next(one); other != files.end(); ++other)
      if (!one->path.empty() && !other->path.empty() && is_same_file(one->path, other->path))
        refuse("{} and {} name the same file, {}", one->option, other->option, other->path);
}

std::string replaced_file(const std::string& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) refuse_to_write(path, EISDIR);
  if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown))
    refuse("{}: not a regular file", path);
  return behind_links(path);
}

void check_replaceable(const std::string& path, const std::string& suffix) {
  if (path.empty()) return;
  // A draft that exists already is not touched.
  const std::string draft = replaced_file(path) + suffix;
  if (!can_be_made(draft) && errno != EEXIST) refuse_to_write(path, errno);
}

}  // namespace tca::tool
