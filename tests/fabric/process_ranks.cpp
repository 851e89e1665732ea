// Runs ranks as forked processes, which find each other by the environment that the launcher would set.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ranks.hpp"

namespace tca::test {

namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// Marks of messages. A rank that has lost another one (rank_lost) knows less than the one that failed, so its
// message is marked and sorts behind.
constexpr char first_hand = '!', consequence = '~';

std::string run_body(const Ranks::Body& body, const WorldOptions& options) {
  try {
    World world = World::init(options);
    body(world);
    return {};
  } catch (const Error& error) {
    return (error.code() == Errc::rank_lost ? consequence : first_hand) + std::string(error.what());
  } catch (const std::exception& error) {
    return first_hand + std::string(error.what());
  }
}

[[noreturn]] void be_rank(int rank, int ranks, const std::string& control, int answer,
                          const Ranks::Body& body, const WorldOptions& options) {
  setenv("OPENTCA_RANK", std::to_string(rank).c_str(), 1);
  setenv("OPENTCA_SIZE", std::to_string(ranks).c_str(), 1);
  setenv("OPENTCA_CONTROL", control.c_str(), 1);
  const std::string message = run_body(body, options);
  const std::size_t sent = std::min(message.size(), std::size_t{2000});
  const bool told = write(answer, message.data(), sent) == static_cast<ssize_t>(sent);
  std::fflush(nullptr);
  _exit(message.empty() && told ? 0 : 1);
}

std::string read_all(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(n));
  return text;
}

struct Child {
  pid_t pid;
  std::unique_ptr<Fd> answer;
};

Child spawn(const std::function<void(int answer)>& be) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  auto reader = std::make_unique<Fd>(ends[0]);
  Fd writer(ends[1]);
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) be(writer.get());
  return {pid, std::move(reader)};
}

class ProcessRanks final : public Ranks {
 public:
  explicit ProcessRanks(std::string fabric) : fabric_(std::move(fabric)) {}

  std::string run(int ranks, const Body& body, const WorldOptions& given) override {
    WorldOptions options = given;
    options.fabric = fabric_;
    const Fd control(memfd_create("opentca-test", MFD_CLOEXEC));
    const std::string path = fmt::format("/proc/{}/fd/{}", getpid(), control.get());
    std::vector<Child> children;
    for (int rank = 0; rank < ranks; ++rank) {
      children.push_back(spawn([&](int answer) { be_rank(rank, ranks, path, answer, body, options); }));
    }
    std::string cause, effect;
    for (Child& child : children) {
      const std::string answer = read_all(child.answer->get());
      int status = 0;
      waitpid(child.pid, &status, 0);
      if (!answer.empty()) {
        std::string& text = answer[0] == first_hand ? cause : effect;
        if (text.empty()) text = answer.substr(1);
      } else if (status != 0 && cause.empty()) {
        cause = WIFSIGNALED(status) ? fmt::format("a rank was ended by signal {}", WTERMSIG(status))
                                    : fmt::format("a rank returned {}", WEXITSTATUS(status));
      }
    }
    return cause.empty() ? effect : cause;
  }

 private:
  std::string fabric_;
};

}  // namespace

std::unique_ptr<Ranks> process_ranks(const std::string& fabric) {
  return std::make_unique<ProcessRanks>(fabric);
}

}  // namespace tca::test
