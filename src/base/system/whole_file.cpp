#include "base/system/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace tca::base {

namespace {

namespace fs = std::filesystem;

class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 ? 0 : ::close(fd);
  }

 private:
  int fd_;
};

// Returns how much of the text was written; errno says why where that is not all.
std::size_t write_to(int fd, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = write(fd, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) break;
    done += static_cast<std::size_t>(put);
  }
  return done;
}

int write_draft(File& draft, const struct stat* replaced, std::string_view text) {
  if (write_to(draft.fd(), text) < text.size()) return errno;
  if (replaced != nullptr && fchmod(draft.fd(), replaced->st_mode & 07777) != 0) return errno;
  if (fsync(draft.fd()) != 0) return errno;  // some file systems find only now that there is no room
  return draft.close() == 0 ? 0 : errno;
}

}  // namespace

fs::path behind_links(fs::path path) {
  constexpr int most = 40;  // the kernel's own limit
  std::error_code unknown;
  for (int links = 0; links < most && fs::is_symlink(path, unknown); ++links)
    path = path.parent_path() / fs::read_symlink(path, unknown);
  return path;
}

int write_whole(const fs::path& path, std::string_view text) {
  const std::string file = behind_links(path);
  struct stat status {};
  const bool exists = stat(file.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const File special(file, 0);
    return special.is_open() && write_to(special.fd(), text) == text.size() ? 0 : errno;
  }
  constexpr int most = 1000;  // drafts of others, or left by those that were killed
  for (int number = 0; number < most; ++number) {
    const std::string name =
        fmt::format("{}{}{}", file, draft_suffix, number > 0 ? fmt::format("-{}", number) : std::string());
    File draft(name, O_CREAT | O_EXCL);
    if (!draft.is_open() && errno == EEXIST) continue;
    if (!draft.is_open()) return errno;
    int error = write_draft(draft, exists ? &status : nullptr, text);
    if (error == 0 && std::rename(name.c_str(), file.c_str()) != 0) error = errno;
    if (error != 0) unlink(name.c_str());
    return error;
  }
  return EEXIST;
}

int append_whole(const fs::path& path, std::string_view text) {
  const File file(path, O_CREAT | O_APPEND);
  if (!file.is_open()) return errno;
  const std::size_t done = write_to(file.fd(), text);
  if (done == text.size()) return 0;
  const int error = errno;
  // Unless somebody else has appended since.
  const off_t end = lseek(file.fd(), 0, SEEK_CUR);
  if (done > 0 && end >= 0 && lseek(file.fd(), 0, SEEK_END) == end)
    static_cast<void>(ftruncate(file.fd(), end - static_cast<off_t>(done)) == 0);
  return error;
}

}  // namespace tca::base
