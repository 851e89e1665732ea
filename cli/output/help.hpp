// Lays out help: on the left an option's names and value; on the right its meaning, with limits, default and
// other remarks in brackets.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tca::tool {

// An option or positional argument as every kind of help shows it: --help, manual pages, completion.
struct OptionHelp {
  std::vector<std::string> names;  // -n, --ranks; or of a positional argument its name alone
  std::string value;               // N, FILE, auto|core|none; empty for a flag
  std::string meaning;             // ends in the brackets

  std::string heading() const;  // -n, --ranks N
  // The words that the value may be; empty when it may be something else.
  std::vector<std::string> words() const;
};

OptionHelp help_of(const CLI::Option& option);

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;
};

}  // namespace tca::tool
