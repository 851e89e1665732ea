#include "control/shm/space.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "base/fail.hpp"
#include "base/system/limits.hpp"
#include "control/shm/passing.hpp"

namespace tca::shm {

namespace {

constexpr int read_write = PROT_READ | PROT_WRITE;

// While this object lives, a file that would grow past this process's limit causes an EFBIG, but not the
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
    token = {.bytes = bytes};
    const int reserve = backing == Backing::committed ? 0 : MAP_NORESERVE;
    void* data = mmap(nullptr, bytes, read_write, MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
    if (data == MAP_FAILED) {
      token.error = errno;
      return {};
    }
    token.handle = reinterpret_cast<std::int64_t>(data);
    return {static_cast<std::byte*>(data), bytes, true};
  }

  Mapping attach(const Token& token, File) override {
    return {reinterpret_cast<std::byte*>(token.handle), token.bytes, false};
  }

  bool attaches_alone() const override { return true; }
  bool reaches_existing() const override { return true; }
  Mapping adopt(std::byte* data, std::size_t bytes, Token& token) const override {
    token = {.handle = reinterpret_cast<std::int64_t>(data), .bytes = bytes};
    return {data, bytes, false};
  }

  void seal(const Token&) override {}
};

class ProcessSpace final : public Space {
 public:
  explicit ProcessSpace(std::optional<Passing> passing) : passing_(std::move(passing)) {}

  Mapping allocate(std::size_t bytes, Backing backing, Token& token) override {
    token = {.owner = own_identity(), .bytes = bytes};
    const int fd = memfd_create("opentca", MFD_CLOEXEC);
    if (fd < 0) {
      token.error = errno;
      return {};
    }
    // Without the pages a store could cause a SIGBUS much later, when no message can say why.
    int error = set_length(fd, bytes);
    if (error == 0 && backing == Backing::committed) error = reserve_pages(fd, bytes);
    Mapping mapping = error == 0 ? map_file(fd, bytes) : Mapping{};
    if (mapping.data() == nullptr) {
      token.error = error != 0 ? error : errno;
      close(fd);
      return {};
    }
    token.handle = fd;
    return mapping;
  }

  Mapping attach(const Token& token, File passed) override {
    const File file = passing_ ? checked(std::move(passed), token) : open_through_proc(token);
    Mapping mapping = map_file(file.get(), token.bytes);
    if (mapping.data() == nullptr) {
      base::fail(Errc::out_of_memory, "cannot map the {} bytes of process {}: {}", token.bytes,
                 token.owner.pid, base::limit_met(errno, token.bytes));
    }
    return mapping;
  }

  std::vector<File> pass(const control::Members& members, const Token& own, const Reach& reach,
                         std::string_view what) override {
    if (!passing_) return Space::pass(members, own, reach, what);
    return passing_->pass(members, static_cast<int>(own.handle), reach, what);
  }

  bool attaches_alone() const override { return !passing_; }
  bool reaches_existing() const override { return false; }
  Mapping adopt(std::byte*, std::size_t, Token&) const override { return {}; }

  void seal(const Token& token) override { close(static_cast<int>(token.handle)); }

 private:
  static File open_through_proc(const Token& token) {
    const std::string path = fmt::format("/proc/{}/fd/{}", token.owner.pid, token.handle);
    File file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file.ok()) {
      const int error = errno;
      base::fail(base::is_of_limit(error) ? Errc::out_of_memory : Errc::incompatible,
                 "cannot map the memory of process {} through {}: {}", token.owner.pid, path,
                 why_no_access(token.owner, error));
    }
    struct stat info {};
    fstat(file.get(), &info);
    if (info.st_uid != geteuid() || static_cast<std::uint64_t>(info.st_size) < token.bytes) {
      base::fail(Errc::incompatible, "{} is not the {} bytes of this user's memory that process {} announced",
                 path, token.bytes, token.owner.pid);
    }
    return file;
  }

  File checked(File passed, const Token& token) const {
    if (!passed.ok()) {
      base::fail(Errc::incompatible, "nothing has come from process {} over a socket{}{}", token.owner.pid,
                 passing_->problem().empty() ? "" : ": ", passing_->problem());
    }
    struct stat info {};
    fstat(passed.get(), &info);
    if (static_cast<std::uint64_t>(info.st_size) < token.bytes) {
      base::fail(Errc::incompatible,
                 "what has come from process {} over a socket is not the {} bytes that it announced",
                 token.owner.pid, token.bytes);
    }
    return passed;
  }

  std::optional<Passing> passing_;  // none: through /proc
};

}  // namespace

int set_length(int fd, std::size_t bytes) {
  const NoSizeSignal guard;
  return ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

// This reserves piece by piece. A signal makes posix_fallocate fail and release what it has got, so that a
// single call for everything might never finish if a profiler's timer fires a hundred times a second.
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

int make_pages(std::byte* data, std::size_t bytes) {
  if (const int error = populate(data, bytes)) return error;
  std::memset(data, 0, bytes);
  return 0;
}

int populate([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(data) % page;
  if (madvise(data - before, before + bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) return errno;
#endif
  return 0;
}

void drop_pages(std::byte* data, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (first >= end) return;
  // The first is for memory that processes share, the second for that of threads.
  std::byte* const pages = data + (first - begin);
  if (madvise(pages, end - first, MADV_REMOVE) != 0) madvise(pages, end - first, MADV_DONTNEED);
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
std::unique_ptr<Space> Space::of_processes() { return std::make_unique<ProcessSpace>(std::nullopt); }
std::unique_ptr<Space> Space::of_processes(control::Control& control) {
  return std::make_unique<ProcessSpace>(Passing(control));
}

std::vector<File> Space::pass(const control::Members&, const Token&, const Reach& reach, std::string_view) {
  return std::vector<File>(reach.size());
}

}  // namespace tca::shm
