// Reads the arguments, runs one subcommand, and turns an error into one line and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "base/text/spelling.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/words.hpp"
#include "cli/options/arguments.hpp"
#include "cli/output/build_info.hpp"
#include "cli/output/help.hpp"
#include "cli/subcommand.hpp"
#include "tca/error.hpp"
#include "tca/version.hpp"

namespace tca::tool {
namespace {

constexpr int usage_error = 2;

std::string in_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

// Rewords CLI11's "Could not convert: --ranks = x".
std::string in_plain_words(const CLI::ConversionError& error) {
  const std::string text = error.what(), begin = "Could not convert: ", equals = " = ";
  const std::size_t at = text.find(equals);
  if (!text.starts_with(begin) || at == std::string::npos) return text;
  return fmt::format("{}: {} is no value for this option", text.substr(begin.size(), at - begin.size()),
                     text.substr(at + equals.size()));
}

// Names the variable in place of the option where the value that is refused came by it.
std::string naming_variable(const CLI::App& command, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr || option->get_envname().empty()) return text;
  for (const std::string& word : own_command_line())
    for (const std::string& own : option->get_lnames())
      if (word.starts_with("--" + own)) return text;
  return option->get_envname() + text.substr(name.size());
}

// Where the library names an option of the world, names the command's own in its place: `option faults` is --fault here.
std::string naming_options(const CLI::App& command, const std::string& text) {
  static const std::regex named("\\boption ([a-z_]+)");
  std::string out;
  std::string::const_iterator from = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), named); at != std::sregex_iterator(); ++at) {
    std::string name = "--" + (*at)[1].str();
    std::ranges::replace(name, '_', '-');
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr && name.ends_with('s'))
      option = command.get_option_no_throw(name.substr(0, name.size() - 1));
    out.append(from, (*at)[0].first).append(option != nullptr ? option->get_name() : (*at)[0].str());
    from = (*at)[0].second;
  }
  return out.append(from, text.end());
}

const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

// Returns whose help to read: "tca qcd invert".
std::string full_name(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + full_name(*chosen.front());
}

// Returns what to do about an option in front of the subcommand that it belongs to, or nothing where there is none.
std::string misplaced_option(const CLI::App& app) {
  for (const CLI::App* at = &app; !at->get_subcommands().empty(); at = at->get_subcommands().front()) {
    const std::vector<std::string> before = at->remaining();
    if (before.empty() || !before.front().starts_with("-")) continue;
    const std::string option = before.front().substr(0, before.front().find('='));
    if (chosen_command(app).get_option_no_throw(option) != nullptr)
      return fmt::format("{} belongs behind the subcommand: {} {}", option, full_name(app), option);
  }
  return {};
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error, const std::string& elsewhere) {
  if (const std::string misplaced = misplaced_option(app); !misplaced.empty()) return misplaced;
  if (const auto* conversion = dynamic_cast<const CLI::ConversionError*>(&error))
    return in_one_line(in_plain_words(*conversion));
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    return in_one_line(naming_variable(chosen_command(app), error.what()));
  // CLI11's would be "--ranks: 1 required INT missing" and "--ranks: At Most 1 required but received 2".
  if (const std::string text = error.what(); dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const std::size_t at = text.find(": 1 required ");
        at != std::string::npos && text.ends_with(" missing"))
      return text.substr(0, at) + ": a value is missing";
    if (const std::size_t at = text.find(": At Most 1 required"); at != std::string::npos)
      return text.substr(0, at) + " is given more than once";
  }
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  // What is missing may be what a misspelt option was to give.
  const std::vector<std::string> unexpected = app.remaining(true);
  if (is_extra || dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    if (!unexpected.empty() && unexpected.front().starts_with("-"))
      return unknown_option(chosen_command(app), unexpected.front());
  // CLI11 would list the unexpected arguments from the last to the first.
  if (is_extra) return in_one_line(fmt::format("{}: not expected here", fmt::join(unexpected, " ")));
  // A subcommand may have subcommands of its own.
  if (const auto chosen = app.get_subcommands(); !chosen.empty())
    return usage_message(*chosen.front(), error, {});
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands({}))
    if (!subcommand->get_group().empty()) names.push_back(subcommand->get_name());
  if (names.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr)
    return in_one_line(error.what());
  const std::vector<std::string> unknown = app.remaining();
  const std::string list = fmt::format("{}", fmt::join(names, ", "));
  if (unknown.empty()) return fmt::format("a subcommand is missing: {}", list);
  // Short words are near to everything.
  const auto meant = unknown.front().size() > 3 ? base::nearest(unknown.front(), names) : std::nullopt;
  return fmt::format("there is no subcommand `{}`; there are {}{}{}", unknown.front(), list,
                     meant ? fmt::format("; did you mean `{}`?", *meant) : "",
                     elsewhere.empty() ? "" : "; " + elsewhere);
}

// Returns this process's rank, or -1 when it is not a rank. Also returns -1 when the launcher's description
// of the rank is invalid: then that is the error being reported.
int own_rank() {
  try {
    return launched_rank();
  } catch (const Error&) {
    return -1;
  }
}

// A refusal concerns all ranks. Where no launcher collects what the ranks say, rank 0 alone says it.
void print_error(const std::string& name, const std::string& message, bool is_refusal) {
  const int rank = own_rank();
  if (rank >= 0 && tell_launcher(rank, name, message)) return;
  if (is_refusal && rank > 0) return;
  const std::string who = rank < 0 ? name : fmt::format("{}: rank {}", name, rank);
  const std::string line = fmt::format("{}: {}\n", who, message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

[[noreturn]] void fail_output() {
  throw Error(Errc::invalid_argument, fmt::format("standard output: {}", std::strerror(errno)));
}

// Opens /dev/null for closed standard descriptors, so that no descriptor opened later becomes stdin, stdout
// or stderr, of this process or of a rank. A closed stdout is opened for reading only: writing to it still
// fails, so that lost output is reported.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

// Flushes stdout, since what has been printed may still be buffered, and lost when there is no room for it.
// Returns `code`.
int printed(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_output();
  return code;
}

// Options are checked against each other once all have been read, so parsing may throw whatever running may
// throw.
int run_chosen(CLI::App& app, const Subcommands& subcommands, int argc, char** argv) {
  try {
    std::vector<std::string> arguments = arguments_in_reverse(app, argc, argv);
    app.parse(arguments);
    return printed(subcommands.run());
  } catch (const CLI::Success& asked) {
    return printed(app.exit(asked));
  } catch (const std::system_error& error) {
    // Printing throws such errors, and then stdout's error flag is set. Other ones are passed on.
    if (std::ferror(stdout) == 0) throw;
    errno = error.code().value();
    fail_output();
  }
}

int run(CLI::App& app, const Subcommands& subcommands, int argc, char** argv, const std::string& elsewhere) {
  try {
    return run_chosen(app, subcommands, argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string name = subcommands.chosen_name();
    const std::string message =
        fmt::format("{}\nTry `{} --help`.", usage_message(app, error, elsewhere), full_name(app));
    print_error(name, message, true);
    return usage_error;
  } catch (const Error& error) {
    print_error(subcommands.chosen_name(), naming_options(chosen_command(app), error.what()),
                error.code() == Errc::refused);
    return error.exit_code();
  } catch (const std::exception& error) {
    print_error(subcommands.chosen_name(), error.what(), false);
    return 1;
  }
}

}  // namespace

int command_line(int argc, char** argv, void (*add_all)(Subcommands&), const std::string& elsewhere) {
  open_standard_descriptors();
  CLI::App app("OpenTCA: accelerators that write straight into each other's memory", "tca");
  app.set_version_flag("--version", fmt::format("tca {} ({})", library_version(), build_commit()));
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands take it over
  app.get_help_ptr()->description("Print this help");
  app.get_version_ptr()->description("Print the version and the commit");
  Subcommands subcommands(app);
  add_all(subcommands);
  subcommands.accept_former_names();
  app.footer(elsewhere.empty() ? subcommands.examples()
                               : fmt::format("{}\n\n{}", subcommands.examples(), elsewhere));
  if (argc == 1) {
    fmt::print("{}", app.help());
    return usage_error;
  }
  return run(app, subcommands, argc, argv, elsewhere);
}

}  // namespace tca::tool
