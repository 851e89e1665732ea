// Tests how ranks learn that another one has gone, and why: three ranks watch each other without MPI, and the
// last one goes.
#include "control/mpi/failure_detector.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>

namespace tca::mpi {
namespace {

using namespace std::chrono_literals;

constexpr int ranks = 3;

// The memory that the ranks, which are processes, share.
struct Table {
  struct {
    char text[1024];
    std::size_t length;
  } cards[ranks];
  std::atomic<int> dealt;
};

// Waits for the condition. Returns whether it has come true within 10 s.
bool await(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// Returns what a rank learns of the last one.
std::optional<Gone> run_rank(int rank, Table& table, const std::function<void(FailureDetector&)>& go) {
  FailureDetector watch(rank, ranks, 10s);
  const std::string card = watch.card();
  table.cards[rank].length = card.copy(table.cards[rank].text, sizeof table.cards[rank].text);
  ++table.dealt;
  if (!await([&] { return table.dealt == ranks; })) return {};
  std::vector<std::string> cards;
  for (const auto& other : table.cards) cards.emplace_back(other.text, other.length);
  watch.begin(cards);
  if (rank == ranks - 1) {
    go(watch);
    return {};
  }
  await([&] { return watch.gone(ranks - 1).has_value(); });
  return watch.gone(ranks - 1);
}

void expect_learnt(Presence how, const std::string& reason, const std::function<void(FailureDetector&)>& go) {
  void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Table& table = *new (memory) Table{};
  std::vector<pid_t> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    const std::optional<Gone> gone = run_rank(rank, table, go);
    _exit(gone && gone->how == how && gone->trouble.reason == reason ? 0 : 1);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(processes[static_cast<std::size_t>(rank)], &status, 0);
    EXPECT_TRUE(rank == ranks - 1 || status == 0) << "rank " << rank << " has not learnt it";
  }
  munmap(memory, sizeof(Table));
}

TEST(FailureDetector, ARankThatDies) {
  expect_learnt(Presence::died, "", [](FailureDetector&) {
    std::this_thread::sleep_for(300ms);  // a rank that dies before the others hear of it was never there
    raise(SIGKILL);
  });
}

TEST(Watch, ARankThatLeaves) {
  expect_learnt(Presence::left, "", [](FailureDetector& detector) { detector.leave(Presence::left, {}); });
}

TEST(FailureDetector, ARankThatFails) {
  expect_learnt(Presence::failed, "it has its own reasons", [](FailureDetector& detector) {
    detector.leave(Presence::failed, {"it has its own reasons"});
  });
}

// Returns the CPU time of this process in seconds.
double computed() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// While this object lives, the process gets no further descriptors.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(STDIN_FILENO);
    close(next);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(FailureDetector, AStrangerThatSaysNothing) {
  FailureDetector watch(0, 2, 10s), other(1, 2, 10s);
  const std::string card = watch.card();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(&address.sin_port, card.data() + sizeof(std::uint64_t), sizeof address.sin_port);
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  watch.begin({card, other.card()});
  {
    const NoDescriptors none;
    ASSERT_EQ(connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const double before = computed();
    std::this_thread::sleep_for(300ms);
    EXPECT_LT(computed() - before, 0.1) << "it asks for a descriptor over and over";
  }
  const timeval patience{10, 0};
  setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char byte;
  EXPECT_EQ(recv(stranger, &byte, 1, 0), 0) << "its descriptor stays";
  EXPECT_FALSE(watch.gone(1));
  close(stranger);
}

}  // namespace
}  // namespace tca::mpi
