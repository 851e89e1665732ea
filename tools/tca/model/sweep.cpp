#include "model/sweep.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <sstream>

#include "base/fail.hpp"
#include "base/system/limits.hpp"
#include "cli/launch/fd.hpp"
#include "cli/launch/signals.hpp"
#include "cli/options/bytes.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"

namespace tca::tool {

namespace {

constexpr std::size_t most_points = 1000;

[[noreturn]] void refuse_sweep(const std::string& text) {
  refuse("--sweep {}: write NAME=VALUE,VALUE,... or NAME=FIRST:LAST, which doubles", text);
}

std::int64_t whole(const std::string& text, const std::string& sweep) {
  const std::optional<std::int64_t> value = parse_bytes(text);
  if (!value || *value < 1) refuse_sweep(sweep);
  return *value;
}

// Returns the message of a point's process. Its first byte says whether an answer or an error follows; the
// second is the exit code.
std::string framed(bool answers, int code, const std::string& text) {
  return std::string{answers ? 'a' : 'e', static_cast<char>(code)} + text;
}

[[noreturn]] void become_point(std::size_t point, const std::function<std::string(std::size_t)>& work,
                               const Signals& signals, pid_t parent, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the line above
  sigprocmask(SIG_SETMASK, &signals.before(), nullptr);
  std::string said;
  try {
    said = framed(true, 0, work(point));
  } catch (const Error& error) {
    said = framed(false, error.exit_code(), error.what());
  } catch (const std::exception& error) {
    said = framed(false, 1, error.what());
  }
  for (std::size_t at = 0; at < said.size();) {
    const ssize_t written = write(pipe, said.data() + at, said.size() - at);
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  _exit(0);
}

class Points {
 public:
  Points(std::size_t count, const std::function<std::string(std::size_t)>& work,
         std::vector<SweepPoint>& points)
      : count_(count), work_(work), points_(points) {
    points_.assign(count, {});
  }

  ~Points() {
    for (const Running& one : running_) kill(one.process, SIGKILL);
    for (const Running& one : running_) waitpid(one.process, nullptr, 0);
  }

  int run(const std::string& label, int jobs) {
    Progress bar(label, static_cast<std::int64_t>(count_));
    while (done_ < count_) {
      while (next_ < count_ && running_.size() < static_cast<std::size_t>(jobs)) start(next_++);
      if (const int number = wait_for_news()) return 128 + number;
      bar.update(static_cast<std::int64_t>(done_), std::to_string(count_) + " points");
    }
    return 0;
  }

 private:
  struct Running {
    pid_t process;
    std::size_t point;
    Fd pipe;
    std::string said;
  };

  void start(std::size_t point) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      base::fail(Errc::out_of_memory, "no pipe for a further process: {}", base::limit_met(errno));
    Fd out(ends[0]), in(ends[1]);
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0)
      base::fail(Errc::out_of_memory, "no further process can be started: {}", base::limit_met(errno));
    if (process == 0) become_point(point, work_, signals_, parent, in.get());
    running_.push_back({process, point, std::move(out), {}});
  }

  // Waits for output of the processes or for a signal. Returns the signal that asks to end, or 0.
  int wait_for_news() {
    std::vector<pollfd> polled{{signals_.fd(), POLLIN, 0}};
    for (const Running& one : running_) polled.push_back({one.pipe.get(), POLLIN, 0});
    constexpr int redraw_ms = 200;
    poll(polled.data(), polled.size(), redraw_ms);
    while (const int number = signals_.next()) {
      if (number == SIGTSTP) signals_.stop_here();
      if (number != SIGCHLD && number != SIGTSTP) return number;
    }
    for (std::size_t i = running_.size(); i-- > 0;)
      if (polled[i + 1].revents != 0 && !read_on(running_[i])) finish(i);
    return 0;
  }

  static bool read_on(Running& one) {
    char chunk[4096];
    const ssize_t got = read(one.pipe.get(), chunk, sizeof chunk);
    if (got > 0) one.said.append(chunk, static_cast<std::size_t>(got));
    return got > 0;
  }

  void finish(std::size_t i) {
    Running& one = running_[i];
    int status = 0;
    waitpid(one.process, &status, 0);
    SweepPoint& point = points_[one.point];
    if (one.said.size() < 2) {
      const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      point.error = number != 0 ? fmt::format("its process was killed by signal {}", number)
                                : "its process ended early";
      point.exit_code = number != 0 ? 128 + number : 1;
    } else {
      (one.said[0] == 'a' ? point.answer : point.error) = one.said.substr(2);
      point.exit_code = one.said[1];
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    ++done_;
  }

  std::size_t count_, next_ = 0, done_ = 0;
  const std::function<std::string(std::size_t)>& work_;
  std::vector<SweepPoint>& points_;
  Signals signals_;
  std::vector<Running> running_;
};

}  // namespace

Sweep parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) refuse_sweep(text);
  Sweep sweep{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  if (const std::size_t colon = values.find(':'); colon != std::string::npos) {
    const std::int64_t first = whole(values.substr(0, colon), text),
                       last = whole(values.substr(colon + 1), text);
    if (first > last) refuse_sweep(text);
    std::int64_t value = first;
    sweep.values.push_back(std::to_string(value));
    while (value <= last / 2) sweep.values.push_back(std::to_string(value *= 2));
    return sweep;
  }
  std::istringstream list(values);
  for (std::string value; std::getline(list, value, ',');) {
    if (value.empty()) refuse_sweep(text);
    sweep.values.push_back(value);
  }
  if (sweep.values.size() > most_points)
    refuse("--sweep {} has {} points; {} are possible", sweep.name, sweep.values.size(), most_points);
  return sweep;
}

int run_points(const std::string& label, std::size_t count, int jobs,
               const std::function<std::string(std::size_t)>& work, std::vector<SweepPoint>& points) {
  return Points(count, work, points).run(label, jobs);
}

}  // namespace tca::tool
