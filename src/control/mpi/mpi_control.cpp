#include "control/mpi/mpi_control.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>

#include "base/fail.hpp"
#include "base/text/ranks.hpp"
#include "control/mpi/nonblocking_all_gather.hpp"
#include "control/mpi/wire.hpp"
#include "tca/version.hpp"

namespace tca::mpi {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view start_up = "start-up (World::init or World::from_mpi)";

// What a rank sent before it went may still be on its way when the news of its end arrives.
constexpr auto last_words_take = 300ms;

// Returns a key that is equal on ranks that can reach each other's memory through /proc: those with the
// same kernel, host name and PID namespace.
std::string host_key() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat processes {};
  stat("/proc/self/ns/pid", &processes);
  return fmt::format("{} {} {}", name, boot, processes.st_ino);
}

}  // namespace

MpiControl::MpiControl(MPI_Comm program, std::chrono::milliseconds limit) {
  time_limit = limit;
  make_comm(program);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  detector_ = std::make_unique<FailureDetector>(rank_, size_, limit);
  meet();
  int all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (size_ == all) mend_session();
}

void MpiControl::make_comm(MPI_Comm program) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto begin = [&] {
    const InMpi inside;
    check(MPI_Comm_idup(program, &comm_, &request), start_up);
  };
  const auto is_made = [&] {
    const InMpi inside;
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), start_up);
    return done != 0;
  };
  begin();
  if (const base::Awaited made = base::await(is_made, time_limit); !made) {
    spoil_session();
    base::fail(
        Errc::timed_out,
        "a rank waited {:.1f} s in {} for others of its communicator; does every one of them make this call?",
        made.seconds(), start_up);
  }
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

// Exchanges the hosts, cores and versions of all ranks. From then on everybody is watched.
void MpiControl::meet() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  const auto mine = base::Writer()
                        .put_string(fmt::format("{} (messages {})", library_version(), wire_version))
                        .put_string(host_key())
                        .put(cpus)
                        .put_string(detector_->card());
  std::map<std::string, int> numbers;
  std::map<int, std::pair<cpu_set_t, int>> usable;  // by host, with the number of ranks there
  std::vector<std::string> cards;
  std::string first_version;
  for (const base::Blob& blob : all_gather(mine.blob(), start_up)) {
    base::Reader reader(blob);
    const std::string version = reader.get_string();
    if (hosts_.empty()) first_version = version;
    if (version != first_version) {
      base::fail(Errc::incompatible,
                 "rank {} runs OpenTCA {}, rank 0 {}; start every rank from the same build", hosts_.size(),
                 version, first_version);
    }
    const int host = numbers.try_emplace(reader.get_string(), static_cast<int>(numbers.size())).first->second;
    const auto theirs = reader.get<cpu_set_t>();
    auto& [all, ranks] = usable[host];  // zeroed when it is new
    CPU_OR(&all, &all, &theirs);
    ++ranks;
    hosts_.push_back(host);
    cards.push_back(reader.get_string());
  }
  // This is the same on every rank, since the choices that depend on it must be. One crowded host holds up
  // all.
  const bool crowded = std::any_of(usable.begin(), usable.end(), [](const auto& host) {
    return CPU_COUNT(&host.second.first) < host.second.second;
  });
  usable_cores = 0;
  for (const auto& [host, of_host] : usable) usable_cores += CPU_COUNT(&of_host.first);
  cores_ = crowded ? base::Cores::crowded : base::Cores::enough;
  detector_->begin(cards);
}

// The communicator is not freed: that would be collective, and ranks leave whenever they like. MPI frees it
// at the end.
MpiControl::~MpiControl() {
  const bool fails = has_failed_ || std::uncaught_exceptions() > 0;
  leave(fails ? std::optional(trouble) : std::nullopt);
}

void MpiControl::check_call(std::string_view what) {
  if (!here_) fail_over(what);
  check_thread(what);
}

std::vector<base::Blob> MpiControl::gather(const base::Blob& mine, std::string_view what) {
  NonblockingAllGather exchange(comm_, Tag::set_up, mine);
  return complete(exchange, what,
                  what == start_up ? "; was it started, and does it call World::init?"
                                   : "; did it make the same call, in the same order?");
}

// What two ranks exchange in several groups travels in one order, that in which both make the calls.
std::unique_ptr<control::AllGather> MpiControl::begin_among(const control::Subset& subset,
                                                            const base::Blob& mine) {
  check_call("a call of a group");
  return std::make_unique<NonblockingAllGather>(comm_, Tag::of_group, mine, subset.ranks);
}

std::optional<control::Loss> MpiControl::lost(int rank) {
  if (detector_ == nullptr) return std::nullopt;
  const std::optional<Gone> gone = detector_->gone(rank);
  if (!gone || std::chrono::steady_clock::now() - gone->since < last_words_take) return std::nullopt;
  if (gone->how != Presence::left) {
    others_are_well_ = false;
    spoil_session();
  }
  using How = control::Loss::How;
  if (gone->how == Presence::failed) return control::Loss{How::failed, gone->trouble};
  return gone->how == Presence::left ? control::Loss{} : control::Loss{How::died, {"its process has ended"}};
}

// A rank that this one has waited for in vain may never reach MPI_Finalize, even if the program catches the
// error here. If the ranks that are gone left in good order, everybody gets there.
void MpiControl::note_failure(Errc code) {
  if (ending_ || (code == Errc::rank_lost && others_are_well_)) return;
  has_failed_ = true;
  spoil_session();
}

bool MpiControl::is_gone(int rank) const {
  if (detector_ == nullptr) return false;
  const std::optional<Gone> gone = detector_->gone(rank);
  return gone && std::chrono::steady_clock::now() - gone->since >= last_words_take;
}

// The first exchange says who has arrived, the second that all know it. A rank that arrives late finds what
// the others said before they left. They left without freeing MPI's windows, but they go to MPI_Finalize
// and wait for it there.
bool MpiControl::ends_together(bool in_order) {
  constexpr std::string_view what = "the end of a world whose ranks have used mpi/rma";
  if (!is_up() || !here_ || has_failed_ || std::uncaught_exceptions() > 0) return false;
  ending_ = true;
  try {
    for (const bool theirs : all_gather_value(in_order, what)) in_order &= theirs;
    barrier(what);
    return in_order;
  } catch (...) {
    return false;  // the error was reported when it mattered, or no longer concerns anybody
  }
}

void MpiControl::leave(const std::optional<control::Trouble>& why) {
  // A child forked from this rank does not speak for it.
  if (!here_ || detector_ == nullptr || !is_own_process()) return;
  here_ = false;
  if (why) spoil_session();
  detector_->leave(why ? Presence::failed : Presence::left, why.value_or(control::Trouble{}));
}

}  // namespace tca::mpi
