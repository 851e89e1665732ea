// Subcommands of `tca`. Each is a file with one function `add_<name>(Subcommands&)`, which main.cpp calls:
//
//   void add_hello(Subcommands& tca) {
//     auto options = std::make_shared<HelloOptions>();
//     CLI::App& app = tca.add("hello", "Greets every rank", "tca hello --ranks 4",
//                             [options] { return hello(*options); });
//     app.add_option("-n,--ranks", options->ranks, "Number of ranks")->capture_default_str();
//   }
//
// The action runs after all arguments have been read, and returns the exit code of `tca`. It throws
// tca::Error when something goes wrong; command_line() prints `tca hello: rank 2: message` and returns the
// error's exit code. An action that runs as several ranks starts them itself (launch/launch.hpp):
//
//   if (!already_a_rank())
//     return launch({.name = "tca hello", .ranks = ranks, .argv = own_command_line(), .argv_is_tca = true});
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "cli/launch/launch.hpp"

namespace tca::tool {

class Subcommands {
 public:
  using Action = std::function<int()>;

  explicit Subcommands(CLI::App& root) : root_(root) {}

  // Adds a subcommand and returns it, so that options can be added. `example` is one or more lines for the
  // help.
  CLI::App& add(const std::string& name, const std::string& summary, const std::string& example,
                Action action);

  // Adds a subcommand that no help shows.
  CLI::App& add_hidden(const std::string& name, const std::string& summary, Action action);

  const CLI::App& root() const { return root_; }

  // Lets every option be given by its former name too, which no help shows.
  void accept_former_names();

  // Runs the subcommand that was chosen on the command line.
  int run() const;

  // Returns the name for messages, such as "tca run", or "tca" when no subcommand was chosen.
  std::string chosen_name() const;

  // Returns the subcommands' examples, for the help of `tca` itself.
  std::string examples() const;

 private:
  struct Entry {
    CLI::App* app;
    std::string example;
    Action action;
  };
  const Entry* chosen() const;

  CLI::App& root_;
  std::vector<Entry> entries_;
};

// The whole of main(): returns the exit code of `tca`, whose subcommands `add_all` adds. `elsewhere` says where others are, for
// whoever asks for one that is not here.
int command_line(int argc, char** argv, void (*add_all)(Subcommands&), const std::string& elsewhere = {});

// Adds `--bind auto|core|none`, for subcommands that launch ranks.
void add_bind_option(CLI::App& app, Binding& bind);

// Refuses to bind ranks that are threads.
void check_bind(const Binding& bind, const std::string& fabric, bool threads);

// An option of a subcommand, whether it applies to what was asked for, and what it is for.
struct OptionFor {
  const char* option;
  bool is_known;
  const char* whom;
};

// Refuses options that would be silently ignored.
void check_known(const CLI::App& app, std::initializer_list<OptionFor> options);

void add_himeno(Subcommands& tca);
void add_qcd(Subcommands& tca);
void add_cg(Subcommands& tca);
void add_bfs(Subcommands& tca);
void add_spin(Subcommands& tca);
void add_fft(Subcommands& tca);
void add_pic(Subcommands& tca);
void add_trigger(Subcommands& tca);
void add_run(Subcommands& tca);
void add_mpi(Subcommands& tca);
void add_xacc(Subcommands& tca);
void add_bench(Subcommands& tca);
void add_tune(Subcommands& tca);
void add_explain(Subcommands& tca);
void add_faults(Subcommands& tca);
void add_info(Subcommands& tca);
void add_plot(Subcommands& tca);
void add_model(Subcommands& tca);
void add_scorecard(Subcommands& tca);
void add_fit(Subcommands& tca);
void add_pages(Subcommands& tca);

}  // namespace tca::tool
