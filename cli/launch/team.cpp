// Starts the guard and the ranks, and reaps them.
#include "cli/launch/team.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/system/limits.hpp"
#include "cli/launch/child.hpp"
#include "cli/launch/placement.hpp"
#include "control/shm/segment.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(Errc::out_of_memory, fmt::format("no pipe: {}", base::limit_met(errno)));
  return {Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

void remove_variable(std::vector<std::string>& environment, const std::string& name) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  remove_variable(environment, name);
  environment.push_back(name + "=" + value);
}

std::vector<std::string> environment_for_ranks(const LaunchOptions& options, int control) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
  for (const auto& [name, value] : options.environment) set_variable(environment, name, value);
  set_variable(environment, "OPENTCA_CONTROL", fmt::format("/proc/{}/fd/{}", getpid(), control));
  if (options.argv_is_mpirun) {
    // Those of a rank that has started this launcher are not its ranks'.
    for (const char* name : {"OPENTCA_RANK", "OPENTCA_SIZE"}) remove_variable(environment, name);
    return environment;
  }
  set_variable(environment, "OPENTCA_SIZE", std::to_string(options.ranks));
  set_variable(environment, "OPENTCA_RANK", "");
  return environment;
}

// Returns the CPUs that process `number` of the launch is confined to.
std::span<const int> cpus_of(int number, const LaunchOptions& options, const Placement& placement) {
  if (options.argv_is_mpirun) return options.mpirun_cpus;
  const std::span<const int> all = placement.cpus;
  return all.empty() ? all : all.subspan(static_cast<std::size_t>(number), 1);
}

}  // namespace

std::string program_to_run(const std::string& name) {
  const std::string path = find_program(name);
  struct stat status {};
  if (path.empty()) throw CannotRun(127, fmt::format("{}: there is no such program in PATH", name));
  if (stat(path.c_str(), &status) != 0)
    throw CannotRun(127, fmt::format("{}: {}", name, std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw CannotRun(126, fmt::format("{}: is a directory", name));
  if (access(path.c_str(), X_OK) != 0) throw CannotRun(126, fmt::format("{}: is not executable", name));
  return path;
}

CannotRun cannot_start(const std::string& program, int error) {
  if (error == ENOENT) return {127, fmt::format("{}: its interpreter is not there", program)};
  if (error == ENOEXEC)
    return {126,
            fmt::format("{}: is not a program for this machine, nor a script that begins with #!", program)};
  return {126, fmt::format("{}: cannot be run: {}", program, std::strerror(error))};
}

Team::Team(const LaunchOptions& options, const sigset_t& rank_signals, const Streams& streams)
    : scratch_(options.scratch) {
  control_ = Fd(memfd_create(shm::launcher_memory, MFD_CLOEXEC));
  if (!control_.is_open())
    throw Error(Errc::out_of_memory, fmt::format("no memory file for the ranks: {}", base::limit_met(errno)));
  try {
    start_guard();
    make_scratch();
    start_ranks(options, rank_signals, streams);
    check_started(options.argv.front());
  } catch (...) {
    end();
    throw;
  }
}

Team::~Team() { end(); }

void Team::start_guard() {
  Pipe pipe = make_pipe();
  guard_ = fork();
  if (guard_ == 0) {
    pipe.write.close();
    become_guard(pipe.read.get());
  }
  if (guard_ < 0)
    throw Error(Errc::out_of_memory, fmt::format("no process can be started: {}", base::limit_met(errno)));
  setpgid(guard_, guard_);
  lifeline_ = std::move(pipe.write);
}

void Team::start_ranks(const LaunchOptions& options, const sigset_t& rank_signals, const Streams& streams) {
  TaggedOutput* const output = streams.output;
  Pipe said = make_pipe();
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<std::string> argv = options.argv;
  std::vector<std::string> environment = environment_for_ranks(options, control_.get());
  RankStart start{program_to_run(argv.front()),
                  pointers(argv),
                  {},
                  getpid(),
                  guard_,
                  rank_signals,
                  {},
                  control_.get(),
                  null.get(),
                  said.write.get(),
                  options.argv_is_mpirun ? SIGTERM : SIGKILL};
  // Tagged output takes two descriptors a rank in this process. The ranks keep the limit that they would have
  // without it.
  getrlimit(RLIMIT_NOFILE, &start.files);
  const rlimit raised{start.files.rlim_max, start.files.rlim_max};
  if (output) setrlimit(RLIMIT_NOFILE, &raised);
  std::optional<PlacementTurn> turn;
  if (!options.argv_is_mpirun && options.bind.how != Bind::none) {
    turn.emplace();
    placement_ = place(options.bind.how, options.ranks, look_at_host());
  }
  const int processes = options.argv_is_mpirun ? 1 : options.ranks;
  for (int rank = 0; rank < processes; ++rank) {
    if (!options.argv_is_mpirun) environment.back() = fmt::format("OPENTCA_RANK={}", rank);
    start.environment = pointers(environment);
    TaggedOutput::Ends ends;
    if (output) ends = options.argv_is_mpirun ? output->add_untagged() : output->add_rank(rank);
    const Input::End input = streams.input.add_rank(rank);
    const pid_t pid = fork();
    if (pid == 0) become_rank(start, input, cpus_of(rank, options, placement_), ends);
    if (pid < 0)
      throw Error(
          Errc::out_of_memory,
          fmt::format("only {} of {} ranks could be started: {}. Start fewer, where no limit can be raised",
                      rank, processes, base::limit_met(errno)));
    setpgid(pid, guard_);
    if (options.argv_is_mpirun) tell_guard(pid);
    ranks_.push_back(pid);
    ++alive_;
  }
  exec_said_ = std::move(said.read);
}

// The guard is told of the folder before the folder exists.
void Team::make_scratch() const {
  if (scratch_.empty()) return;
  tell_guard(-1);
  remove_scratch(scratch_.c_str());
  if (mkdir(scratch_.c_str(), 0700) != 0)
    throw Error(Errc::incompatible,
                fmt::format("cannot make the folder {}: {}", scratch_, std::strerror(errno)));
}

// The message is small enough for a pipe to take it in one piece.
void Team::tell_guard(pid_t asked_first) const {
  LastWill will{.asked_first = asked_first};
  scratch_.copy(will.scratch, sizeof will.scratch - 1);
  while (write(lifeline_.get(), &will, sizeof will) < 0 && errno == EINTR) {
  }
}

// The pipe closes by itself in every rank whose program has started.
void Team::check_started(const std::string& program) {
  int error = 0;
  ssize_t got;
  while ((got = read(exec_said_.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  exec_said_.close();
  if (got != sizeof error) return;
  throw cannot_start(program, error);
}

// Where a rank has killed its whole group, the guard included, the group's number may soon be another's.
void Team::signal(int number) const {
  if (guard_ > 0) {
    kill(-guard_, number);
    return;
  }
  for (const pid_t pid : ranks_)
    if (pid > 0) kill(pid, number);
}

std::optional<Ended> Team::reap() {
  int status = 0;
  while (alive_ > 0) {
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return std::nullopt;
    if (pid == guard_) guard_ = -1;
    const auto found = std::find(ranks_.begin(), ranks_.end(), pid);
    if (found == ranks_.end()) continue;
    *found = -1;
    --alive_;
    return Ended{static_cast<int>(found - ranks_.begin()), status};
  }
  return std::nullopt;
}

void Team::end() {
  if (!ended_well_)
    signal(SIGKILL);
  else if (guard_ > 0)
    kill(guard_, SIGKILL);
  for (pid_t& pid : ranks_)
    if (pid > 0) waitpid(std::exchange(pid, -1), nullptr, 0);
  if (guard_ > 0) waitpid(std::exchange(guard_, -1), nullptr, 0);
  remove_scratch(scratch_.c_str());
}

}  // namespace tca::tool
