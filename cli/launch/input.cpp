// Passes this process's stdin on to ranks.
#include "cli/launch/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "tca/error.hpp"

namespace tca::tool {
namespace {

// Neither stops this process (SIGTTIN, when it has just gone to the background) nor ends it (SIGPIPE, when
// the rank has). The calls fail instead.
class NoSignals {
 public:
  NoSignals() {
    sigemptyset(&held_);
    for (const int number : {SIGTTIN, SIGPIPE}) sigaddset(&held_, number);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~NoSignals() {
    constexpr timespec now{};
    while (sigtimedwait(&held_, nullptr, &now) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t held_, before_;
};

// A terminal that is not this process's own has no foreground.
bool in_foreground() {
  const pid_t group = tcgetpgrp(STDIN_FILENO);
  return group < 0 ? errno == ENOTTY : group == getpgrp();
}

int unread(int pipe) {
  int bytes = 0;
  ioctl(pipe, FIONREAD, &bytes);
  return bytes;
}

}  // namespace

Input::Input(int reader) : reader_(reader), is_terminal_(isatty(STDIN_FILENO)) {}

Input::End Input::add_rank(int rank) {
  if (reader_ != rank && reader_ != everybody) return {};
  if (!is_terminal_ && reader_ != everybody) return {{}, true};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(Errc::out_of_memory,
                fmt::format("no pipe for the ranks' input: {}; raise `ulimit -n`", std::strerror(errno)));
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  pipes_.push_back({Fd(ends[1]), {}});
  return {Fd(ends[0]), false};
}

bool Input::may_read() const {
  const auto has_taken = [&](const Pipe& pipe) {
    return pipe.pending.empty() && (!is_terminal_ || unread(pipe.fd.get()) == 0);
  };
  return std::all_of(pipes_.begin(), pipes_.end(), has_taken) && (!is_terminal_ || in_foreground());
}

void Input::add_to(std::vector<pollfd>& polled) const {
  if (has_ended()) return;
  for (const Pipe& pipe : pipes_)  // without events: only whether its reader has gone
    polled.push_back({pipe.fd.get(), static_cast<short>(pipe.pending.empty() ? 0 : POLLOUT), 0});
  if (may_read()) polled.push_back({STDIN_FILENO, POLLIN, 0});
}

// Nobody tells when the rank has taken a line, or when the shell gives the terminal back.
std::optional<std::chrono::milliseconds> Input::look_again_after() const {
  if (has_ended() || !is_terminal_ || may_read()) return std::nullopt;
  return std::chrono::milliseconds(100);
}

void Input::advance() {
  if (has_ended()) return;
  const NoSignals held;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (may_read() && poll(&input, 1, 0) > 0) read();
  for (Pipe& pipe : pipes_) write(pipe);
  std::erase_if(pipes_, [](const Pipe& pipe) { return !pipe.fd.is_open(); });
}

void Input::read() {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && !in_foreground()))) return;
  for (Pipe& pipe : pipes_) {
    if (got > 0)
      pipe.pending.append(buffer.data(), static_cast<std::size_t>(got));
    else
      pipe.fd.close();  // the end of the input
  }
}

void Input::write(Pipe& pipe) {
  if (!pipe.fd.is_open()) return;
  pollfd reader{pipe.fd.get(), 0, 0};
  if (poll(&reader, 1, 0) > 0) return pipe.fd.close();  // it has gone
  if (pipe.pending.empty()) return;
  const ssize_t put = ::write(pipe.fd.get(), pipe.pending.data(), pipe.pending.size());
  if (put > 0) pipe.pending.erase(0, static_cast<std::size_t>(put));
  if (put < 0 && errno != EAGAIN && errno != EINTR) pipe.fd.close();
}

}  // namespace tca::tool
