// `tca plot`: hands result files to the Python script that draws them.
#include "plot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "launch.hpp"
#include "refuse.hpp"
#include "subcommand.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::vector<std::string> files;
  std::string output = "results.svg";
  std::string title;
};

fs::path find_script() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  std::error_code none;
  for (const fs::path& path : {here / "../share/opentca/plot.py", here / "../../../tools/plot/plot.py",
                               fs::path(OPENTCA_PLOT_SCRIPT)})
    if (fs::exists(path, none)) return path;
  return {};
}

bool has_matplotlib(const std::string& python) {
  const std::string test = fmt::format("'{}' -c 'import matplotlib' >/dev/null 2>&1", python);
  return std::system(test.c_str()) == 0;
}

// The first python3 of PATH need not be the system's, for which packages are installed.
std::string find_python() {
  for (const std::string& python : {find_program("python3"), std::string("/usr/bin/python3")})
    if (!python.empty() && access(python.c_str(), X_OK) == 0 && has_matplotlib(python)) return python;
  return {};
}

int failed(const std::string& why) {
  fmt::print(stderr, "tca plot: {}\n", why);
  return 1;
}

// What drawing needs of this machine. Throws Error{invalid_argument} when it is not there.
struct Tools {
  fs::path script = find_script();
  std::string python = find_python();

  Tools() {
    if (script.empty()) refuse("the script plot.py is neither in share/opentca nor in the source tree");
    if (python.empty())
      refuse("python3 with matplotlib is not there; install the package python3-matplotlib");
  }
};

// By a child, since somebody may have more to do afterwards.
int run_to_the_end(const std::vector<char*>& argv) {
  std::fflush(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ); error != 0)
    return failed(fmt::format("{}: {}", argv[0], std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void check_drawable(const std::string& output) {
  if (output.empty()) return;
  const std::string ending = fs::path(output).extension();
  if (ending != ".svg" && ending != ".png" && ending != ".pdf")
    refuse("{}: the name must end in .svg, .png or .pdf", output);
  const bool was_there = fs::exists(output);
  check_writable(output);
  if (!was_there) fs::remove(output);
  const Tools tools;
}

int draw(const std::vector<std::string>& files, const std::string& output, const std::string& title) {
  const Tools tools;
  std::vector<std::string> line{tools.python, tools.script, "-o", output};
  if (!title.empty()) line.insert(line.end(), {"--title", title});
  line.emplace_back("--");
  line.insert(line.end(), files.begin(), files.end());
  std::vector<char*> argv;
  for (std::string& argument : line) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return run_to_the_end(argv);
}

void add_plot(Subcommands& tca) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App& app = tca.add("plot", "Draws results: time and bandwidth against bytes, and ratios to a peer",
                          "tca plot results.jsonl -o results.svg", [options] {
                            for (const std::string& file : options->files)
                              check_distinct({{"FILE", file}, {"--output", options->output}});
                            return draw(options->files, options->output, options->title);
                          });
  app.add_option("FILE", options->files, "Files with one result a line (docs/results.md)")
      ->required()
      ->expected(1, -1);
  app.add_option("-o,--output", options->output, "What to draw: .svg, .png or .pdf")->capture_default_str();
  app.add_option("--title", options->title, "Above the drawing");
}

}  // namespace tca::tool
