// `tca plot`: passes result files to the Python script that draws them.
#include "cli/output/plot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/data.hpp"
#include "cli/launch/launch.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::vector<std::string> files;
  std::string output = "results.svg";
  bool is_told = false;  // that file
  std::string title;
};

// Throws Error{invalid_argument} when there is no script.
fs::path find_script() {
  const std::vector<fs::path> places = base::data_places("plot.py", "tools/plot/plot.py");
  std::error_code unreadable;
  for (const fs::path& path : places)
    if (fs::exists(path, unreadable)) return path;
  std::vector<std::string> searched;
  for (const fs::path& path : places) searched.push_back(path.string());
  refuse("the script that draws is missing: there is none of {}", fmt::join(searched, ", "));
}

constexpr int interrupted_code = 128 + SIGINT;

// Thrown when Ctrl-C comes while the tools for drawing are being looked for.
struct Interrupted {};

volatile pid_t running = 0;
volatile sig_atomic_t was_interrupted = 0;

void pass_on(int number) {
  was_interrupted = 1;
  if (running > 0) kill(running, number);
}

// Passes a SIGINT that is sent to this process alone on to the running child. This process itself outlives
// the signal, and reports it.
class PassedOn {
 public:
  PassedOn() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &mask_);
    struct sigaction action {};
    action.sa_handler = pass_on;
    sigaction(SIGINT, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  }
  ~PassedOn() {
    running = 0;
    sigaction(SIGINT, &before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  PassedOn(const PassedOn&) = delete;

  const sigset_t& mask() const { return mask_; }
  void to(pid_t child) const {
    running = child;
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_{};
  struct sigaction before_ {};
};

// Runs a program as a child, since the caller may go on afterwards. Returns its exit code, as a shell would,
// or -1 with errno when it cannot be run.
int run_to_the_end(std::vector<std::string> line, bool is_quiet) {
  std::fflush(nullptr);
  std::vector<char*> argv;
  for (std::string& argument : line) argv.push_back(argument.data());
  argv.push_back(nullptr);
  PassedOn interrupts;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (is_quiet)
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &interrupts.mask());
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  if (error != 0) return -1;
  interrupts.to(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // A Python that is interrupted while it starts ends with other codes.
  if (was_interrupted != 0) return interrupted_code;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Looks for it without loading it, which would take longer than all else here.
bool has_matplotlib(const std::string& python) {
  const char* look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";
  const int code = run_to_the_end({python, "-c", look}, true);
  if (code == interrupted_code) throw Interrupted();
  return code == 0;
}

// Tries the system's python3 too, for which packages are installed: the first one in PATH may be another.
std::string find_python() {
  for (const std::string& python : {find_program("python3"), std::string("/usr/bin/python3")})
    if (!python.empty() && access(python.c_str(), X_OK) == 0 && has_matplotlib(python)) return python;
  return {};
}

int failed(const std::string& why) {
  fmt::print(stderr, "tca plot: {}\n", why);
  return 1;
}

// The programs that drawing needs on this host. Throws Error{invalid_argument} when they are missing.
struct Tools {
  fs::path script = find_script();
  std::string python = find_python();

  Tools() {
    if (python.empty())
      refuse("python3 with matplotlib is not there; install the package python3-matplotlib");
  }
};

int interrupted() {
  fmt::print(stderr, "tca plot: interrupted\n");
  return interrupted_code;
}

}  // namespace

void check_drawable(const std::string& output) {
  if (output.empty()) return;
  const std::string ending = fs::path(output).extension();
  if (ending != ".svg" && ending != ".png" && ending != ".pdf")
    refuse("{}: the name must end in .svg, .png or .pdf", output);
  check_replaceable(output);
  try {
    const Tools tools;
  } catch (const Interrupted&) {
    raise(SIGINT);  // nothing has been measured yet, so there is nothing to report
  }
}

int draw(const std::vector<std::string>& files, const std::string& output, const std::string& title) try {
  const Tools tools;
  std::vector<std::string> line{tools.python, tools.script, "-o", output};
  if (!title.empty()) line.insert(line.end(), {"--title", title});
  line.emplace_back("--");
  line.insert(line.end(), files.begin(), files.end());
  const int code = run_to_the_end(line, false);
  if (code < 0) return failed(fmt::format("{}: {}", tools.python, std::strerror(errno)));
  return code == interrupted_code ? interrupted() : code;
} catch (const Interrupted&) {
  return interrupted();
}

void add_plot(Subcommands& tca) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App& app = tca.add("plot", "Draws results: time and bandwidth against bytes, and ratios to a peer",
                          "tca plot results.jsonl -o results.svg", [options] {
                            for (const std::string& file : options->files)
                              check_distinct({{"FILE", file}, {"--output", options->output}});
                            const int code = draw(options->files, options->output, options->title);
                            if (code == 0 && !options->is_told) fmt::print("drawn     {}\n", options->output);
                            return code;
                          });
  app.add_option("FILE", options->files,
                 "Files of results, one per line, as --json writes them (docs/results.md)")
      ->required()
      ->expected(1, -1);
  app.add_option("-o,--output", options->output, "File to draw into: .svg, .png or .pdf")
      ->type_name("FILE")
      ->capture_default_str()
      ->each([options](const std::string&) { options->is_told = true; });
  app.add_option("--title", options->title, "Title above the drawing");
}

}  // namespace tca::tool
