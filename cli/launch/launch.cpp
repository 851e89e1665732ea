// Watches over the ranks of one launch until the last has ended: their output, interruptions, failures.
#include "cli/launch/launch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/text/ranks.hpp"
#include "cli/launch/input.hpp"
#include "cli/launch/signals.hpp"
#include "cli/launch/team.hpp"
#include "cli/launch/words.hpp"
#include "cli/output/progress.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long ranks may take to end by themselves, and then after each signal (SIGTERM, SIGKILL) that is to end
// them.
constexpr milliseconds rank_grace{1500};
constexpr milliseconds last_grace{250};

// mpirun itself asks its ranks to end, and waits a second before it kills them.
constexpr milliseconds mpirun_grace{3000};

// One key press may arrive as several signals, through a program above this one. A second press comes later.
constexpr milliseconds same_press{100};

void say(const std::string& line) {
  // The ranks may have left a progress bar on this line.
  const std::string text = (terminal_columns() > 0 ? "\r\033[K" : "") + line + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string ranks_in_words(int count) { return fmt::format("{} rank{}", count, count == 1 ? "" : "s"); }

class Supervisor {
 public:
  // `words` and `output` may be null.
  Supervisor(const LaunchOptions& options, Signals& signals, Team& team, const Words* words,
             TaggedOutput* output, Input& input)
      : options_(options), signals_(signals), team_(team), words_(words), output_(output), input_(input) {}

  int run() {
    while (team_.alive() > 0) {
      wait_for_news();
      while (const int number = signals_.next()) on_signal(number);
      while (const auto ended = team_.reap()) on_end(*ended);
      end_what_is_late();
    }
    if (output_) write_last_output();
    return report();
  }

 private:
  void wait_for_news() {
    std::vector<pollfd> polled{{signals_.fd(), POLLIN, 0}};
    if (output_) output_->add_to(polled);
    input_.add_to(polled);
    poll(polled.data(), polled.size(), milliseconds_to_wait());
    if (output_) output_->advance();
    input_.advance();
  }

  int milliseconds_to_wait() const {
    std::optional<milliseconds> wait = input_.look_again_after();
    const auto at_most = [&](milliseconds other) { wait = std::min(wait.value_or(other), other); };
    if (output_)
      if (const auto soon = output_->look_again_after()) at_most(*soon);
    if (deadline_) at_most(std::chrono::ceil<milliseconds>(*deadline_ - Clock::now()));
    return wait ? static_cast<int>(std::max(*wait, milliseconds(0)).count()) : -1;
  }

  void on_signal(int number) {
    if (number == SIGCHLD) return;
    if (number == SIGTSTP) return pause();
    const auto now = Clock::now();
    if (interrupted_by_ == 0) {
      interrupted_by_ = last_signal_ = number;
      interrupted_at_ = now;
      deadline_ = now + grace();
      team_.signal(number);
    } else if (now - interrupted_at_ > same_press) {  // the user is in a hurry
      // Killed, mpirun would leave files of its ranks behind.
      last_signal_ = options_.argv_is_mpirun ? number : SIGKILL;
      team_.signal(last_signal_);
    }
  }

  milliseconds grace() const { return options_.argv_is_mpirun ? mpirun_grace : rank_grace; }

  // Ctrl-Z reaches only this process, since the ranks have a process group of their own.
  void pause() {
    team_.signal(SIGTSTP);
    signals_.stop_here();
    team_.signal(SIGCONT);
  }

  void on_end(const Ended& ended) {
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 0) return;
    if (!first_failure_) {
      others_ = team_.alive();
      if (!deadline_) deadline_ = Clock::now() + grace();
      first_failure_ = ended;
    } else if (last_signal_ == 0 && only_noticed(*first_failure_) && !only_noticed(ended)) {
      first_failure_ = ended;
    }
  }

  // Whether a rank ended because it lost another one. Then that other rank is the one to name.
  static bool only_noticed(const Ended& ended) {
    return WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == static_cast<int>(Errc::rank_lost);
  }

  void end_what_is_late() {
    if (!deadline_ || Clock::now() < *deadline_ || team_.alive() == 0) return;
    const bool first_time = last_signal_ == 0;
    last_signal_ = first_time ? SIGTERM : SIGKILL;
    team_.signal(last_signal_);
    deadline_ = Clock::now() + last_grace;
  }

  // Does not wait for output that a rank's own children print after its end, nor, once interrupted, for the
  // reader of our output.
  void write_last_output() {
    while (output_->advance() || output_->has_pending()) {
      if (interrupted()) return;
      if (output_->has_pending()) wait_for_news();
    }
    output_->finish_lines();
    output_->advance();
    while (output_->has_pending() && !interrupted()) wait_for_news();
  }

  bool interrupted() {
    while (const int number = signals_.next())
      if (number != SIGCHLD) return true;
    return interrupted_by_ != 0;
  }

  // Whether a rank was ended by writing to a pipe that nobody reads any more, as in
  // `tca bench ... | head -1`.
  bool lost_its_reader() const {
    if (!first_failure_ || !WIFSIGNALED(first_failure_->status) ||
        WTERMSIG(first_failure_->status) != SIGPIPE)
      return false;
    pollfd output{STDOUT_FILENO, 0, 0};
    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
  }

  int report() {
    if (lost_its_reader()) return 128 + SIGPIPE;
    const bool in_words = say_words();
    if (interrupted_by_ != 0) {
      say(fmt::format("{}: interrupted{}; {} ended", options_.name,
                      interrupted_by_ == SIGINT ? "" : fmt::format(" by signal {}", interrupted_by_),
                      ranks_in_words(options_.ranks)));
      return 128 + interrupted_by_;
    }
    if (!first_failure_) {
      team_.ended_well();
      return 0;
    }
    if (!in_words && !is_told())
      say(fmt::format("{}: {}{}", options_.name, what_happened(), what_the_others_did()));
    const int status = first_failure_->status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  // Prints what the ranks have said. A message of all ranks is printed without rank numbers. Returns whether
  // the rank that failed first has said something.
  bool say_words() const {
    bool in_words = false;
    if (words_ == nullptr) return in_words;
    for (const auto& [name, message, ranks] : words_->all()) {
      const std::string who =
          static_cast<int>(ranks.size()) == options_.ranks
              ? std::string()
              : fmt::format("{} {}: ", ranks.size() == 1 ? "rank" : "ranks", base::list_ranks(ranks));
      say(fmt::format("{}: {}{}", name, who, message));
      in_words |=
          first_failure_ && std::find(ranks.begin(), ranks.end(), first_failure_->rank) != ranks.end();
    }
    return in_words;
  }

  // Whether mpirun, or the rank itself, has already said why it failed.
  bool is_told() const {
    return (options_.argv_is_mpirun || options_.fails_in_words) && WIFEXITED(first_failure_->status);
  }

  std::string what_happened() const {
    const auto [rank, status] = *first_failure_;
    if (!WIFSIGNALED(status)) return fmt::format("rank {} exited with code {}", rank, WEXITSTATUS(status));
    return fmt::format("{} was killed by signal {} ({})",
                       options_.argv_is_mpirun ? "mpirun" : fmt::format("rank {}", rank), WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }

  std::string what_the_others_did() const {
    if (others_ == 0) return "";
    const char* verb = last_signal_ == 0 ? "ended by themselves" : others_ == 1 ? "was ended" : "were ended";
    if (others_ == 1) return fmt::format("; the other rank {}", last_signal_ == 0 ? "ended by itself" : verb);
    return fmt::format("; the other {} ranks {}", others_, verb);
  }

  const LaunchOptions& options_;
  Signals& signals_;
  Team& team_;
  const Words* words_;
  TaggedOutput* output_;
  Input& input_;
  int interrupted_by_ = 0;
  Clock::time_point interrupted_at_;
  std::optional<Ended> first_failure_;
  int others_ = 0;       // ranks still running when the first one failed
  int last_signal_ = 0;  // that this process sent to end the ranks
  std::optional<Clock::time_point> deadline_;
};

// mpirun does not notice when its output cannot be written, so this process passes the output on.
bool passes_output_on(const LaunchOptions& options) {
  return options.tag || (options.argv_is_mpirun && !isatty(STDOUT_FILENO));
}

void check(const LaunchOptions& options) {
  if (options.ranks < 1)
    throw Error(Errc::invalid_argument, fmt::format("{} ranks: at least 1 is needed", options.ranks));
  if (options.ranks > max_ranks)
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks: at most {} run on one host", options.ranks, max_ranks));
  if (options.argv.empty()) throw Error(Errc::invalid_argument, "the program to run is missing");
}

}  // namespace

void tell_binding(const LaunchOptions& options, const std::string& what) {
  if (options.bind.is_told) say(fmt::format("{}: --bind: {}", options.name, what));
}

int launch(const LaunchOptions& asked) {
  check(asked);
  LaunchOptions options = asked;
  std::optional<Words> words;
  if (options.argv_is_tca || is_this_program(options.argv.front()))
    options.environment.emplace_back(Words::variable.text(), words.emplace().path());
  std::fflush(nullptr);
  Signals signals;
  TaggedOutput output;
  TaggedOutput* const tagged = passes_output_on(options) ? &output : nullptr;
  Input input(options.argv_is_tca ? nobody : options.stdin_reader);
  try {
    Team team(options, signals.before(), {tagged, input});
    if (!options.argv_is_mpirun) tell_binding(options, team.placement().describe());
    const int code = Supervisor(options, signals, team, words ? &*words : nullptr, tagged, input).run();
    if (output.failure() == 0 || output.failure() == EPIPE) return code;
    say(fmt::format("{}: standard output: {}", options.name, std::strerror(output.failure())));
    return code == 0 ? Error(Errc::invalid_argument, "").exit_code() : code;
  } catch (const CannotRun& error) {
    say(fmt::format("{}: {}", options.name, error.what()));
    return error.exit_code;
  }
}

}  // namespace tca::tool
