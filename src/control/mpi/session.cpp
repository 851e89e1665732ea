#include "control/mpi/session.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "control/mpi/call.hpp"
#include "control/mpi/watchdog.hpp"

namespace tca::mpi {

// All BeforeEnd objects. The list is never destroyed, since worlds may outlive everything that is static
// here.
class Ends {
 public:
  static Ends& all() {
    static Ends& ends = *new Ends;
    return ends;
  }
  void add(BeforeEnd* end) {
    const std::lock_guard lock(mutex_);
    ends_.push_back(end);
  }
  void remove(BeforeEnd* end) {
    const std::lock_guard lock(mutex_);
    std::erase(ends_, end);
  }
  // Calls the last one first, as if the worlds were destroyed.
  void call(const std::optional<control::Trouble>& trouble) {
    const std::lock_guard lock(mutex_);
    for (auto end = ends_.rbegin(); end != ends_.rend(); ++end) (*end)->call_(trouble);
  }

 private:
  std::mutex mutex_;
  std::vector<BeforeEnd*> ends_;
};

BeforeEnd::BeforeEnd(Call call) : call_(std::move(call)) { Ends::all().add(this); }
BeforeEnd::~BeforeEnd() { Ends::all().remove(this); }

namespace {

bool spoiled = false;

int call_ends(MPI_Comm, int, void*, void*) {
  Ends::all().call({});
  return MPI_SUCCESS;
}

// Makes MPI_Finalize call `call_ends`: it begins by deleting the attributes of MPI_COMM_SELF.
void watch_finalize() {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, call_ends, &key, nullptr), "starting");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "starting");
}

// If this rank gives up in the middle of a world, the others wait for it and do not reach MPI_Finalize. So
// it does not wait for them there, and the launcher gets its exit code.
void end_session(int exit_code, void*) {
  if (!is_up()) return;
  if (exit_code != 0)
    Ends::all().call(control::Trouble{fmt::format("it ended with exit code {}", exit_code)});
  if (!spoiled) MPI_Finalize();
}

struct Session {
  Session(int threads, std::chrono::milliseconds time_limit) {
    int given = 0;
    Watchdog watchdog;
    const Watchdog::Call call(watchdog, time_limit,
                              "fabric mpi: MPI_Init, which waits for every rank to call it (World::init),");
    check(MPI_Init_thread(nullptr, nullptr, threads, &given), "starting (MPI_Init_thread)");
    // Calls that use none of our communicators (on datatypes, requests) report their errors through these.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    on_exit(end_session, nullptr);
  }
};

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

}  // namespace

void ensure_session(Callers callers, std::chrono::milliseconds time_limit) {
  const int threads = callers == Callers::own_thread ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
  int begun = 0, over = 0, given = 0;
  MPI_Finalized(&over);
  if (over) {
    base::fail(
        Errc::incompatible,
        "fabric mpi: MPI_Finalize has been called, and MPI cannot come up a second time; keep every World "
        "before it");
  }
  MPI_Initialized(&begun);
  if (!begun) static const Session session(threads, time_limit);
  claim_process();
  [[maybe_unused]] static const bool watched = (watch_finalize(), true);
  MPI_Query_thread(&given);
  // Up to MPI_THREAD_FUNNELED only the main thread calls MPI, as in a program that asked for no level.
  if (threads <= MPI_THREAD_FUNNELED || given >= threads) return;
  constexpr std::string_view without_thread =
      ", or leave the thread out (option progress_thread, OPENTCA_PROGRESS_THREAD) and call "
      "World::progress() now and then";
  const bool leaves_out = callers == Callers::progress_thread;
  base::fail(Errc::incompatible,
             "fabric mpi: {} needs {}, but MPI was initialised with {}; call MPI_Init_thread with {}{}",
             leaves_out ? "a progress thread" : "carrying GPU memory (fabric cuda+mpi)", level_name(threads),
             level_name(given), level_name(threads), leaves_out ? without_thread : "");
}

void check_thread(std::string_view what) {
  int level = 0, is_main = 0;
  MPI_Query_thread(&level);
  if (level > MPI_THREAD_FUNNELED) return;
  MPI_Is_thread_main(&is_main);
  if (is_main) return;
  base::fail(Errc::incompatible,
             "fabric mpi: {} is called by another thread than the one that initialised MPI, which gave {}; "
             "use the world in that thread, or call MPI_Init_thread with MPI_THREAD_SERIALIZED",
             what, level_name(level));
}

void spoil_session() { spoiled = true; }

void mend_session() { spoiled = false; }

}  // namespace tca::mpi
