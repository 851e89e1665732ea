#include "trigger/detector/process.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "tca/error.hpp"
#include "trigger/detector/spoken.hpp"

extern char** environ;

namespace tca::trigger {
DetectorProcess::DetectorProcess(const std::vector<std::string>& arguments) {
  const auto fail = [](int error) {
    throw Error(Errc::out_of_memory,
                fmt::format("the detector's process cannot be started: {}", std::strerror(error)));
  };
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error = posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  line_ = ends[0];
  if (error == 0) return;
  close(line_);
  fail(error);
}

DetectorProcess::~DetectorProcess() {
  close(line_);
  if (status_) return;
  kill(pid_, SIGKILL);
  reap(0);
}

void DetectorProcess::reap(int flags) {
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(pid_, &status, flags);
  while (ended < 0 && errno == EINTR);
  if (ended == pid_) status_ = status;
}

std::string DetectorProcess::end_in_words() const {
  if (WIFSIGNALED(*status_)) return fmt::format("was ended by signal {}", WTERMSIG(*status_));
  return fmt::format("ended with exit code {}", WEXITSTATUS(*status_));
}

void DetectorProcess::wait_until_ready() {
  char word = 0;
  ssize_t got = 0;
  do got = read(line_, &word, 1);
  while (got < 0 && errno == EINTR);
  if (got == 1 && word == ready) return;
  reap(0);
  throw Error(Errc::rank_lost,
              fmt::format("the detector (process {}) {} before it was ready", pid_, end_in_words()));
}

// One that has died is found by has_ended().
void DetectorProcess::start() { static_cast<void>(send(line_, &go, 1, MSG_NOSIGNAL)); }

bool DetectorProcess::has_ended() {
  if (!status_) reap(WNOHANG);
  if (!status_) return false;
  if (*status_ == 0) return true;
  throw Error(Errc::rank_lost, fmt::format("the detector (process {}) {} before it had sent everything", pid_,
                                           end_in_words()));
}

}  // namespace tca::trigger
