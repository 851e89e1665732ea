// `tca plot`: hands result files to the Python script that draws them.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "launch.hpp"
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

int plot(const PlotOptions& options) {
  const fs::path script = find_script();
  if (script.empty()) return failed("its script plot.py is neither in share/opentca nor in the source tree");
  const std::string python = find_python();
  if (python.empty())
    return failed("python3 with matplotlib is not there; install the package python3-matplotlib");
  std::vector<std::string> line{python, script, "-o", options.output};
  if (!options.title.empty()) line.insert(line.end(), {"--title", options.title});
  line.emplace_back("--");
  line.insert(line.end(), options.files.begin(), options.files.end());
  std::vector<char*> argv;
  for (std::string& argument : line) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(python.c_str(), argv.data());
  return failed(fmt::format("{}: {}", python, std::strerror(errno)));
}

}  // namespace

void add_plot(Subcommands& tca) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App& app = tca.add("plot", "Draws results: time and bandwidth against bytes, and ratios to a peer",
                          "tca plot results.jsonl -o results.svg", [options] { return plot(*options); });
  app.add_option("FILE", options->files, "Files with one result a line (docs/results.md)")
      ->required()
      ->expected(1, -1);
  app.add_option("-o,--output", options->output, "What to draw: .svg, .png or .pdf")->capture_default_str();
  app.add_option("--title", options->title, "Above the drawing");
}

}  // namespace tca::tool
