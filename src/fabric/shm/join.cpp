#include "fabric/shm/join.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "base/poll.hpp"

namespace tca::shm {

namespace {

using base::fail;

const char* env(const char* name) { return name == nullptr ? nullptr : std::getenv(name); }

int env_number(const char* name) {
  const char* text = env(name);
  int value = -1;
  const char* end = text == nullptr ? nullptr : text + std::strlen(text);
  if (text == nullptr || std::from_chars(text, end, value).ptr != end || value < 0) {
    fail(Errc::invalid_argument, "{}={} is not a rank count or rank; unset it or start through `tca run`",
         name, text == nullptr ? "(unset)" : text);
  }
  return value;
}

// What launchers tell their ranks. `job` sets one launch apart from another of the same user on the same
// host.
struct Launcher {
  const char *name, *rank, *size, *local_size, *job;
};
constexpr std::array<Launcher, 4> launchers{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr, "PMIX_NAMESPACE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr, "SLURM_JOB_ID"},
}};

// A launcher without a job name of its own is the parent of all its ranks on this host.
std::string job_name(const Launcher& launcher) {
  std::string name;
  if (const char* job = env(launcher.job)) {
    name = job;
    if (const char* step = env("SLURM_STEP_ID"); step && std::strcmp(launcher.name, "Slurm") == 0)
      name += std::string(".") + step;
  } else {
    name = fmt::format("parent{}", getppid());
  }
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return name;
}

bool is_launcher(const Launcher& launcher) {
  if (env(launcher.rank) == nullptr || env(launcher.size) == nullptr) return false;
  // A shell inside an allocation has Slurm's variables without being a task.
  return std::strcmp(launcher.name, "Slurm") != 0 || env_number(launcher.size) > 1;
}

// A control segment file, closed with its object.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

void check_owner(int fd, const std::string& path) {
  struct stat info {};
  fstat(fd, &info);
  if (info.st_uid != geteuid()) {
    fail(Errc::incompatible,
         "{} belongs to user {}, not to you (user {}); remove it or start under another job name", path,
         info.st_uid, geteuid());
  }
  if (!S_ISREG(info.st_mode)) fail(Errc::incompatible, "{} is not a shared-memory segment", path);
}

std::size_t file_bytes(int fd) {
  struct stat info {};
  fstat(fd, &info);
  return static_cast<std::size_t>(info.st_size);
}

Mapping map(int fd, std::size_t bytes, const std::string& path) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    fail(Errc::out_of_memory, "cannot map {} bytes of {}: {}", bytes, path, std::strerror(errno));
  return {static_cast<std::byte*>(data), bytes, true};
}

bool alive(std::int32_t pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

// A whole segment of a run that is over, or nothing when there is no segment or it is in use.
bool is_stale(int fd, const std::string& path) {
  check_owner(fd, path);
  Header header{};
  if (file_bytes(fd) < sizeof header) return false;
  const Mapping mapping = map(fd, sizeof header, path);
  const Header& found = Board(mapping.data()).header();
  const std::uint64_t magic = found.magic.load(std::memory_order_acquire);
  if (magic != 0 && magic != Header::magic_value) {
    fail(Errc::incompatible, "{} exists and is not an OpenTCA segment; remove it", path);
  }
  return magic == Header::magic_value && !alive(found.creator);
}

File create_named(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) return File(fd);
    if (errno != EEXIST) fail(Errc::out_of_memory, "cannot create {}: {}", path, std::strerror(errno));
    const File old(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!old.ok()) {
      fail(Errc::incompatible, "{} exists and cannot be opened ({}); it is another user's, or not a segment",
           path, std::strerror(errno));
    }
    if (!is_stale(old.get(), path)) break;
    unlink(path.c_str());
  }
  fail(Errc::incompatible, "{} is in use by a running world; two worlds cannot share a job name", path);
}

Mapping set_up_board(int fd, int size, const std::string& path) {
  const std::size_t bytes = Board::bytes(size);
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0) {
    fail(Errc::out_of_memory,
         "shared memory cannot hold the {} bytes that {} ranks meet in ({}); enlarge /dev/shm (docker: "
         "--shm-size)",
         bytes, size, path);
  }
  Mapping mapping = map(fd, bytes, path);
  Board(mapping.data()).format(size);
  return mapping;
}

// Looks once for the board that rank 0 sets up; empty while it is not there yet.
Mapping look_for_board(const Seating& seating) {
  const File file(open(seating.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.ok()) {
    if (errno == ENOENT && seating.named) return {};
    fail(Errc::incompatible,
         "cannot open {}, the memory in which the ranks meet: {}; is the launcher still there?", seating.path,
         std::strerror(errno));
  }
  check_owner(file.get(), seating.path);
  const std::size_t bytes = file_bytes(file.get());
  if (bytes < sizeof(Header)) return {};
  Mapping mapping = map(file.get(), bytes, seating.path);
  const Header& header = Board(mapping.data()).header();
  // Acquire: pairs with the release at the end of Board::format.
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic == 0) return {};
  if (magic != Header::magic_value)
    fail(Errc::incompatible, "{} is not an OpenTCA segment; remove it", seating.path);
  if (seating.named && !alive(header.creator))
    return {};  // an earlier run's, which rank 0 is about to replace
  if (header.abi == abi_version && bytes < Board::bytes(header.ranks)) {
    fail(Errc::incompatible, "{} is too short for the {} ranks it names; it is damaged, remove it",
         seating.path, header.ranks);
  }
  return mapping;
}

Mapping await_board(const Seating& seating, std::chrono::milliseconds time_limit) {
  base::Poll poll(base::Cores::crowded);
  for (;;) {
    Mapping mapping = look_for_board(seating);
    if (mapping.data() != nullptr) return mapping;
    poll.pause();
    if (poll.waited() > time_limit) {
      fail(Errc::timed_out, "rank {} waited {} ms for rank 0 to set up the world in {}; was rank 0 started?",
           seating.rank, time_limit.count(), seating.path);
    }
  }
}

}  // namespace

Seating find_seating() {
  Seating seating;
  if (env("OPENTCA_RANK") != nullptr) {
    seating = {env_number("OPENTCA_RANK"), env_number("OPENTCA_SIZE"), "tca run", {}, false};
    if (const char* path = env("OPENTCA_CONTROL")) seating.path = path;
    if (seating.path.empty() && seating.size > 1) {
      fail(Errc::invalid_argument, "OPENTCA_RANK is set without OPENTCA_CONTROL; start through `tca run`");
    }
  } else {
    for (const Launcher& launcher : launchers) {
      if (!is_launcher(launcher)) continue;
      seating = {env_number(launcher.rank), env_number(launcher.size), launcher.name, {}, true};
      if (env(launcher.local_size) && env_number(launcher.local_size) != seating.size) {
        fail(Errc::invalid_argument,
             "{} started {} of {} ranks on this host; the shm fabric serves one host, so start all of them "
             "on one",
             launcher.name, env(launcher.local_size), seating.size);
      }
      seating.path = fmt::format("/dev/shm/opentca.{}.{}", geteuid(), job_name(launcher));
      break;
    }
  }
  if (seating.size < 1 || seating.rank >= seating.size) {
    fail(Errc::invalid_argument, "rank {} of {} makes no world (as {} says)", seating.rank, seating.size,
         seating.launcher);
  }
  if (seating.size > max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks is larger than the shm fabric can hold ({})",
         seating.size, max_ranks);
  }
  return seating;
}

std::unique_ptr<ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit) {
  // Under a wrapper script the launcher's own death signal would stop at the script.
  if (!seating.named) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (seating.rank != 0) {
    return std::make_unique<ShmControl>(await_board(seating, time_limit), seating.rank, seating.size,
                                        time_limit);
  }
  const File file =
      seating.named ? create_named(seating.path) : File(open(seating.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.ok()) {
    fail(Errc::incompatible,
         "cannot open {}, the memory in which the ranks meet: {}; is the launcher still there?", seating.path,
         std::strerror(errno));
  }
  // The name goes as soon as all have mapped the segment, or when they do not come.
  struct Unlink {
    const Seating& seating;
    ~Unlink() {
      if (seating.named) unlink(seating.path.c_str());
    }
  } unlink_name{seating};
  check_owner(file.get(), seating.path);
  return std::make_unique<ShmControl>(set_up_board(file.get(), seating.size, seating.path), 0, seating.size,
                                      time_limit);
}

Mapping make_thread_board(int ranks) {
  if (ranks < 1 || ranks > max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks cannot be: 1 to {} ranks of one process", ranks,
         max_ranks);
  }
  Token token;
  Mapping mapping = Space::of_threads()->allocate(Board::bytes(ranks), Backing::committed, token);
  if (mapping.data() == nullptr) fail(Errc::out_of_memory, "no memory for a board of {} ranks", ranks);
  Board(mapping.data()).format(ranks);
  return mapping;
}

}  // namespace tca::shm
