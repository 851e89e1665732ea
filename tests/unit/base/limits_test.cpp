// Tests that a message says which limit of the system was met. Each test lowers a limit in a child process, and
// there makes a call that meets it.
#include "base/system/limits.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <thread>
#include <vector>

#include "base/system/proc.hpp"
#include "base/system/worker.hpp"
#include "tca/error.hpp"

namespace tca::test {
namespace {

using base::limit_met;

constexpr std::uint64_t mebibyte = 1 << 20;

// Returns what `act` returns in a child.
std::string in_child(const std::function<std::string()>& act) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = act();
    _exit(write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char chunk[1024];
  for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;)
    said.append(chunk, static_cast<std::size_t>(got));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return said;
}

bool matches(const std::string& said, const char* pattern) {
  return std::regex_search(said, std::regex(pattern));
}

void lower(__rlimit_resource resource, std::uint64_t to) {
  const rlimit limit{to, to};
  setrlimit(resource, &limit);
}

void* map(std::uint64_t bytes, int protection = PROT_READ | PROT_WRITE) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

class Limits : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's own memory would meet the limits";
#endif
  }
};

TEST_F(Limits, OfOpenFiles) {
  const std::string said = in_child([] {
    lower(RLIMIT_NOFILE, 30);
    while (open("/dev/null", O_RDONLY) >= 0) continue;
    return limit_met(errno);
  });
  EXPECT_EQ(said, "Too many open files: this process may have 30 files open (`ulimit -n`); raise it");
}

TEST_F(Limits, OfAddressSpace) {
  const std::string said = in_child([] {
    lower(RLIMIT_AS, 1000 * mebibyte);
    return map(2000 * mebibyte) == MAP_FAILED ? limit_met(errno, 2000 * mebibyte) : "mapped";
  });
  EXPECT_TRUE(
      matches(said,
              "^Cannot allocate memory: this process has \\d+ MiB of address space, and `ulimit -v` allows "
              "1000 MiB; raise it$"))
      << said;
}

TEST_F(Limits, OfData) {
  const std::string said = in_child([] {
    lower(RLIMIT_DATA, 1000 * mebibyte);
    return map(2000 * mebibyte) == MAP_FAILED ? limit_met(errno, 2000 * mebibyte) : "mapped";
  });
  EXPECT_TRUE(matches(said, "\\d+ MiB of data, and `ulimit -d` allows 1000 MiB; raise it$")) << said;
}

// Neighbours that may be read differ from neighbours that may not, so that the system does not merge them.
TEST_F(Limits, OfMappings) {
  const std::uint64_t allowed = base::read_number("/proc/sys/vm/max_map_count");
  if (allowed > 300'000)
    GTEST_SKIP() << "vm.max_map_count allows " << allowed << ", which would take long to reach";
  const std::string said = in_child([] {
    std::string(100'000, ' ').clear();  // leaves the heap with room for the message
    for (int protection = PROT_NONE; map(4096, protection) != MAP_FAILED;)
      protection = protection == PROT_NONE ? PROT_READ : PROT_NONE;
    return limit_met(errno, 4096);
  });
  EXPECT_TRUE(
      matches(said, "this process has \\d+ mappings of memory, and vm.max_map_count allows \\d+; raise it"))
      << said;
}

TEST_F(Limits, OfTheSizeOfFiles) {
  const std::string said = in_child([] {
    lower(RLIMIT_FSIZE, 3 * mebibyte);
    return limit_met(EFBIG);
  });
  EXPECT_EQ(said, "File too large: files may have 3072 KiB here (`ulimit -f`); raise it");
}

TEST_F(Limits, OfProcesses) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become a user who has no processes";
  constexpr uid_t nobody_else = 54'321;
  const std::string said = in_child([] {
    lower(RLIMIT_NPROC, 1);
    if (setresuid(nobody_else, nobody_else, nobody_else) != 0) return std::string("still root");
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child < 0 ? limit_met(errno) : "forked";
  });
  EXPECT_TRUE(
      matches(said,
              "^Resource temporarily unavailable: user 54321 has \\d+ processes and threads, and `ulimit -u` "
              "allows 1; raise it$"))
      << said;
}

TEST_F(Limits, AreNotNamedWhereNoneWasMet) {
  EXPECT_EQ(limit_met(ENOMEM), "Cannot allocate memory");
  EXPECT_EQ(limit_met(EACCES), "Permission denied");
}

TEST_F(Limits, OfThreadsAreNamedWithWhatTheThreadIsFor) {
  const std::string said = in_child([] {
    lower(RLIMIT_AS, base::read_sum("/proc/self/status", "VmSize:") * 1024 + mebibyte);
    try {
      // The C library keeps the stacks of some threads that have ended.
      std::vector<std::unique_ptr<base::Worker>> workers;
      for (int i = 0; i < 100; ++i)
        workers.push_back(std::make_unique<base::Worker>("tea", [](const std::stop_token& stopped) {
          while (!stopped.stop_requested()) std::this_thread::yield();
        }));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("started");
  });
  EXPECT_TRUE(
      matches(said, "^no thread for tea: .*: this process has \\d+ MiB of address space, and `ulimit -v`"))
      << said;
}

}  // namespace
}  // namespace tca::test
