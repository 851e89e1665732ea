#include "control/shm/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "base/system/limits.hpp"
#include "base/text/ranks.hpp"

namespace tca::shm {

namespace {

using base::fail;

constexpr std::chrono::milliseconds late_ranks_may_take{1000}, rank_0_may_take{2000};

Mapping map(int fd, std::size_t bytes, const std::string& path) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    fail(Errc::out_of_memory, "cannot map the {} bytes of {}: {}", bytes, path,
         base::limit_met(errno, bytes));
  return {static_cast<std::byte*>(data), bytes, true};
}

struct stat status_of(const File& file) {
  struct stat status {};
  fstat(file.get(), &status);
  return status;
}

std::size_t bytes_of(const File& file) { return static_cast<std::size_t>(status_of(file).st_size); }

// Describes a lock of `length` bytes from `begin` on; 0 means up to the end of the file.
struct flock lock_of(off_t begin, off_t length) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = length;
  return lock;
}

void lock(const File& file) {
  struct flock mine = lock_of(0, 0);
  if (fcntl(file.get(), F_OFD_SETLK, &mine) != 0)
    fail(Errc::incompatible, "files in /dev/shm cannot be locked here: {}; mount a tmpfs there",
         std::strerror(errno));
}

// Returns whether the rank 0 that has published the file is still bringing its world up.
bool is_locked(const File& file) {
  struct flock theirs = lock_of(0, 1);
  return fcntl(file.get(), F_OFD_GETLK, &theirs) == 0 && theirs.l_type != F_UNLCK;
}

std::uint64_t magic_of(const File& file, const std::string& path) {
  const Mapping mapping = map(file.get(), sizeof(Header), path);
  // Acquire: pairs with the release at the end of Rendezvous::format.
  return Rendezvous(mapping.data()).header().magic.load(std::memory_order_acquire);
}

std::int32_t creator_of(const File& file, const std::string& path) {
  const Mapping mapping = map(file.get(), sizeof(Header), path);
  return Rendezvous(mapping.data()).header().creator;
}

// Returns the launcher's memory if this rank has inherited it: in a separate namespace it cannot open it by
// its name, /proc/<launcher>/fd/<number>.
File inherited(const std::string& path) {
  const std::string number = path.substr(path.rfind('/') + 1);
  char target[64] = {};
  if (readlink(("/proc/self/fd/" + number).c_str(), target, sizeof target - 1) < 0 ||
      std::string_view(target) != fmt::format("/memfd:{} (deleted)", launcher_memory))
    return File();
  return File(fcntl(std::atoi(number.c_str()), F_DUPFD_CLOEXEC, 0));
}

// Leaves the errno set if it fails.
File open_file(const Place& place) {
  File file(open(place.path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | (place.named ? O_NOFOLLOW : 0)));
  if (file.ok() || place.named) return file;
  const int error = errno;
  file = inherited(place.path);
  errno = error;
  return file;
}

[[noreturn]] void explain_open_failure(const Place& place, int error) {
  if (base::is_of_limit(error))
    fail(Errc::out_of_memory, "cannot open {}: {}", place.path, base::limit_met(error));
  if (!place.named) {
    fail(Errc::incompatible,
         "cannot open {}, the memory in which the ranks meet (OPENTCA_CONTROL): {}; is the launcher still "
         "there, and this the same container and user?",
         place.path, std::strerror(error));
  }
  fail(Errc::incompatible,
       "{} exists and is no OpenTCA segment of yours ({}); remove it or start under another job name",
       place.path, error == ELOOP ? "it is a symbolic link" : std::strerror(error));
}

void check_owner(const File& file, const Place& place) {
  const struct stat status = status_of(file);
  if (status.st_uid != geteuid()) {
    fail(Errc::incompatible, "{} belongs to user {}, not to you (user {}); {}", place.path, status.st_uid,
         geteuid(),
         place.named ? "have it removed or start under another job name" : "start every rank as one user");
  }
  if (!S_ISREG(status.st_mode))
    fail(Errc::incompatible, "{} is not a shared-memory segment{}", place.path,
         place.named ? "; remove it" : "");
}

// Throws unless the file begins like a rendezvous.
void check_is_rendezvous(const File& file, const Place& place) {
  const std::string_view remedy =
      place.named ? "remove it" : "OPENTCA_CONTROL is to name the memory that `tca run` has made";
  if (bytes_of(file) < sizeof(Header)) {
    fail(Errc::incompatible, "{} is too short ({} bytes) to be an OpenTCA segment; {}", place.path,
         bytes_of(file), remedy);
  }
  if (magic_of(file, place.path) != Header::magic_value)
    fail(Errc::incompatible, "{} exists and is not an OpenTCA segment; {}", place.path, remedy);
}

// Returns whether the launcher's memory is still in its initial state, or was left so by a rank 0 that
// ended in `OwnSegment::set_up`.
bool is_not_set_up(const File& file, const Place& place) {
  return bytes_of(file) == 0 || (bytes_of(file) >= sizeof(Header) && magic_of(file, place.path) == 0);
}

// Takes a lock so that, until the file is closed, nobody else removes the name that a dead rank 0 has left.
// The lock is on the second byte, which `is_locked` does not look at, because a left-over file must go on
// looking like one. This waits only for others that are removing it.
bool lock_to_remove(const File& file) {
  struct flock mine = lock_of(1, 1);
  return fcntl(file.get(), F_OFD_SETLKW, &mine) == 0;
}

bool is_named(const File& file, const std::string& path) {
  const struct stat held = status_of(file);
  struct stat named {};
  return lstat(path.c_str(), &named) == 0 && named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

// Removes the name that a dead rank 0 has left. Anything else stays, including what another process has put
// under the name meanwhile.
void remove_if_left_over(const std::string& path) {
  const File file = open_file({path, true});
  if (!file.ok()) return;
  const struct stat status = status_of(file);
  const bool ours = status.st_uid == geteuid() && S_ISREG(status.st_mode) &&
                    bytes_of(file) >= sizeof(Header) && magic_of(file, path) == Header::magic_value;
  if (ours && !is_locked(file) && lock_to_remove(file) && is_named(file, path)) unlink(path.c_str());
}

// Removes boards of this user's earlier worlds whose ranks were all killed while they came up.
void remove_left_over(const std::string& path) {
  const std::string prefix = fmt::format("opentca.{}.", geteuid());
  const std::string folder = path.substr(0, path.rfind('/'));
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0)
      remove_if_left_over(folder + "/" + entry->d_name);
  }
  closedir(entries);
}

}  // namespace

void await_removal(const std::string& path) {
  base::await(
      [&] {
        remove_if_left_over(path);
        return access(path.c_str(), F_OK) != 0;
      },
      rank_0_may_take);
}

OwnSegment::OwnSegment(const Place& place, int ranks, std::chrono::milliseconds time_limit)
    : place_(place),
      file_(place.named ? File(open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) : open_file(place)) {
  if (!place_.named) {
    if (!file_.ok()) explain_open_failure(place_, errno);
    check_owner(file_, place_);
    if (is_not_set_up(file_, place_)) {
      set_up(ranks);
    } else {
      take_over(ranks, time_limit);
    }
    return;
  }
  if (!file_.ok())
    fail(Errc::out_of_memory, "cannot create the memory in which the ranks meet: {}", base::limit_met(errno));
  fchmod(file_.get(), 0600);  // whatever the umask
  set_up(ranks);
  publish();
}

void OwnSegment::set_up(int ranks) {
  const std::size_t bytes = Rendezvous::bytes(ranks);
  int error = set_length(file_.get(), bytes);
  if (error == 0) error = reserve_pages(file_.get(), bytes);
  if (error != 0) {
    set_length(file_.get(), 0);  // a rank that touches a missing page would be killed
    fail(Errc::out_of_memory, "shared memory cannot hold the {} bytes that {} ranks meet in ({}): {}{}",
         bytes, ranks, place_.path, base::limit_met(error, bytes),
         error == ENOSPC && place_.named ? "; enlarge /dev/shm (docker: --shm-size)" : "");
  }
  mapping_ = map(file_.get(), bytes, place_.path);
  Rendezvous(mapping_.data()).format(ranks);
}

// Takes over the rendezvous from an earlier world of this launch, which ends when the last rank leaves it.
void OwnSegment::take_over(int ranks, std::chrono::milliseconds time_limit) {
  check_is_rendezvous(file_, place_);
  check_same_build(ranks);
  mapping_ = map(file_.get(), Rendezvous::bytes(ranks), place_.path);
  const Rendezvous rendezvous(mapping_.data());
  const std::int32_t owner = rendezvous.seat(0).pid.load(std::memory_order_relaxed);
  if (owner == 0) return;  // it was set up, and rank 0 died before it sat down
  if (!rendezvous.is_vacated(0)) fail_taken(0, owner);
  await_vacated(rendezvous, time_limit);
  rendezvous.reopen();
}

void OwnSegment::check_same_build(int ranks) const {
  const Mapping mapping = map(file_.get(), sizeof(Header), place_.path);
  const Rendezvous rendezvous(mapping.data());
  const Header& header = rendezvous.header();
  if (header.abi == abi_version && header.ranks == ranks && bytes_of(file_) >= Rendezvous::bytes(ranks))
    return;
  fail(Errc::incompatible,
       "{}, the memory in which the ranks meet, is of an earlier program of this launch, of OpenTCA {} "
       "(interface {:#x}) for {} ranks, and this is interface {:#x} for {}; start programs of different "
       "builds with a `tca run` each",
       place_.path, std::string(header.version, strnlen(header.version, sizeof header.version)), header.abi,
       header.ranks, abi_version, ranks);
}

void OwnSegment::await_vacated(const Rendezvous& rendezvous, std::chrono::milliseconds time_limit) {
  const bool was_refused = rendezvous.refusal().has_value();
  std::vector<int> still_there;
  const auto are_gone = [&] {
    still_there.clear();
    for (int rank = 0; rank < rendezvous.header().ranks; ++rank) {
      if (!rendezvous.clear(rank)) still_there.push_back(rank);
    }
    if (still_there.empty()) return true;
    const std::optional<std::string> reason = rendezvous.refusal();
    if (reason && !was_refused) throw Error(Errc::incompatible, *reason);
    return false;
  };
  if (const base::Awaited end = base::await(are_gone, time_limit); !end) {
    fail(Errc::timed_out,
         "rank 0 waited {:.1f} s in start-up (World::init) for rank {} to leave the world before this one; "
         "are its World, windows and chains gone?",
         end.seconds(), base::list_ranks(still_there));
  }
}

void OwnSegment::publish() {
  lock(file_);
  remove_left_over(place_.path);
  const std::string nameless = fmt::format("/proc/self/fd/{}", file_.get());
  if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, place_.path.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
  if (errno != EEXIST) fail(Errc::out_of_memory, "cannot create {}: {}", place_.path, base::limit_met(errno));
  const File theirs = open_file(place_);
  if (!theirs.ok()) explain_open_failure(place_, errno);
  check_owner(theirs, place_);
  check_is_rendezvous(theirs, place_);
  fail(Errc::incompatible,
       "{} is in use by a world that process {} is bringing up; two worlds cannot share a job name or key, "
       "and each rank is started once",
       place_.path, creator_of(theirs, place_.path));
}

Mapping OwnSegment::take_mapping() { return std::move(mapping_); }

OwnSegment::~OwnSegment() {
  if (!place_.named) return;
  try {
    if (std::uncaught_exceptions() > 0) await_arrivals();
  } catch (const Error&) {
    // Ranks that arrive late find nobody, and their errors say so.
  }
  unlink(place_.path.c_str());
}

void OwnSegment::await_arrivals() const {
  const Mapping mapping = map(file_.get(), sizeof(Header), place_.path);
  const Rendezvous rendezvous(mapping.data());
  const Header& header = rendezvous.header();
  // Relaxed: only a hint that every rank has looked.
  base::await([&] { return header.arrived.load(std::memory_order_relaxed) >= header.ranks - 1; },
              late_ranks_may_take);
}

Mapping find_rendezvous(const Place& place, int rank, bool last_look) {
  const File file = open_file(place);
  if (!file.ok()) {
    if (errno == ENOENT && place.named) return {};
    explain_open_failure(place, errno);
  }
  check_owner(file, place);
  if (place.named) {
    check_is_rendezvous(file, place);
    if (!is_locked(file)) return {};  // left by an earlier run; rank 0 is about to replace it
  }
  const std::size_t bytes = bytes_of(file);
  if (bytes < sizeof(Header)) return {};
  Mapping mapping = map(file.get(), bytes, place.path);
  const Rendezvous rendezvous(mapping.data());
  Header& header = rendezvous.header();
  // Acquire: pairs with the release at the end of Rendezvous::format.
  const std::uint64_t magic = header.magic.load(std::memory_order_acquire);
  if (magic == 0) return {};
  if (magic != Header::magic_value) fail(Errc::incompatible, "{} is not an OpenTCA segment", place.path);
  if (header.abi == abi_version &&
      (header.ranks < 1 || header.ranks > max_ranks || bytes < Rendezvous::bytes(header.ranks))) {
    fail(Errc::incompatible, "{} cannot hold the {} ranks it names; it is damaged, remove it", place.path,
         header.ranks);
  }
  if (header.abi == abi_version && rank < header.ranks) {
    // It is still the rendezvous of the world that this rank has left. If the next world was refused before
    // it began, no other one comes.
    if (rendezvous.is_vacated(rank)) {
      const std::optional<std::string> reason = rendezvous.refusal();
      if (last_look && reason) throw Error(Errc::incompatible, *reason);
      return {};
    }
    // Or it is the rendezvous of a world that is over and that this rank has not joined. If no other one
    // comes, this rendezvous says why.
    if (!place.named && !last_look && rendezvous.is_vacated(0)) return {};
  }
  header.arrived.fetch_add(1, std::memory_order_relaxed);
  return mapping;
}

}  // namespace tca::shm
