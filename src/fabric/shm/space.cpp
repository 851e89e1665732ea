#include "fabric/shm/space.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "base/fail.hpp"

namespace tca::shm {

namespace {

constexpr int read_write = PROT_READ | PROT_WRITE;

// While this object lives, a file that would grow past the limit of this process causes an EFBIG, but not the
// SIGXFSZ that would end the process without a message.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    pending_before_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  ~NoSizeSignal() {
    constexpr timespec at_once{};
    while (!pending_before_ && sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
  bool pending_before_;
};

Mapping map_file(int fd, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, read_write, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), bytes, true};
}

class ThreadSpace final : public Space {
 public:
  Mapping allocate(std::size_t bytes, Backing backing, Token& token) override {
    token = {};
    const int reserve = backing == Backing::committed ? 0 : MAP_NORESERVE;
    void* data = mmap(nullptr, bytes, read_write, MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
    if (data == MAP_FAILED) {
      token.error = errno;
      return {};
    }
    token.handle = reinterpret_cast<std::int64_t>(data);
    token.bytes = bytes;
    return {static_cast<std::byte*>(data), bytes, true};
  }

  Mapping attach(const Token& token) override {
    return {reinterpret_cast<std::byte*>(token.handle), token.bytes, false};
  }

  bool reaches_existing() const override { return true; }
  Mapping adopt(std::byte* data, std::size_t bytes, Token& token) const override {
    token = {.handle = reinterpret_cast<std::int64_t>(data), .bytes = bytes};
    return {data, bytes, false};
  }

  void seal(const Token&) override {}
};

class ProcessSpace final : public Space {
 public:
  Mapping allocate(std::size_t bytes, Backing backing, Token& token) override {
    token = {};
    token.pid = getpid();
    const int fd = memfd_create("opentca", MFD_CLOEXEC);
    if (fd < 0) {
      token.error = errno;
      return {};
    }
    // Without the pages a store could cause a SIGBUS much later, where no message can say why.
    int error = set_length(fd, bytes);
    if (error == 0 && backing == Backing::committed) error = reserve_pages(fd, bytes);
    Mapping mapping = error == 0 ? map_file(fd, bytes) : Mapping{};
    if (mapping.data() == nullptr) {
      token.error = error != 0 ? error : errno;
      close(fd);
      return {};
    }
    token.handle = fd;
    token.bytes = bytes;
    return mapping;
  }

  Mapping attach(const Token& token) override {
    const std::string path = fmt::format("/proc/{}/fd/{}", token.pid, token.handle);
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) {
      base::fail(
          Errc::incompatible,
          "cannot map the memory of process {} through {}: {}. Ranks of one host must run as one user, in one "
          "PID and one user namespace (one container)",
          token.pid, path, std::strerror(errno));
    }
    struct stat info {};
    fstat(fd, &info);
    const bool is_theirs =
        info.st_uid == geteuid() && static_cast<std::uint64_t>(info.st_size) >= token.bytes;
    Mapping mapping;
    if (is_theirs) mapping = map_file(fd, token.bytes);
    const int error = errno;
    close(fd);
    if (!is_theirs) {
      base::fail(Errc::incompatible, "{} is not the {} bytes of this user's memory that process {} announced",
                 path, token.bytes, token.pid);
    }
    if (mapping.data() == nullptr) {
      base::fail(Errc::out_of_memory,
                 "cannot map the {} bytes of process {}: {}; this rank may have no more address space (see "
                 "`ulimit -v`)",
                 token.bytes, token.pid, std::strerror(error));
    }
    return mapping;
  }

  bool reaches_existing() const override { return false; }
  Mapping adopt(std::byte*, std::size_t, Token&) const override { return {}; }

  void seal(const Token& token) override { close(static_cast<int>(token.handle)); }
};

}  // namespace

int set_length(int fd, std::size_t bytes) {
  const NoSizeSignal guard;
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

// This reserves piece by piece. A signal makes posix_fallocate fail and give back what it has got, so that
// one call for everything might never finish where the timer of a profiler goes off a hundred times a
// second.
int reserve_pages(int fd, std::size_t bytes) {
  const NoSizeSignal guard;
  constexpr std::size_t at_once = std::size_t{16} << 20;
  for (std::size_t begin = 0; begin < bytes; begin += at_once) {
    int error;
    do {
      error = posix_fallocate(fd, static_cast<off_t>(begin),
                              static_cast<off_t>(std::min(at_once, bytes - begin)));
    } while (error == EINTR);
    if (error != 0) return error;
  }
  return 0;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owned_, other.owned_);
  return *this;
}

Mapping::~Mapping() {
  if (owned_) munmap(data_, bytes_);
}

std::unique_ptr<Space> Space::of_threads() { return std::make_unique<ThreadSpace>(); }
std::unique_ptr<Space> Space::of_processes() { return std::make_unique<ProcessSpace>(); }

}  // namespace tca::shm
