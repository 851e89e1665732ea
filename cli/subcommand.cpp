// The list of subcommands, with their help, and the choice of one.
#include "cli/subcommand.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <utility>

#include "cli/options/refuse.hpp"

namespace tca::tool {

CLI::App& Subcommands::add(const std::string& name, const std::string& summary, const std::string& example,
                           Action action) {
  CLI::App* app = root_.add_subcommand(name, summary);
  std::istringstream lines(example);
  std::string footer = example.find('\n') == std::string::npos ? "Example:" : "Examples:";
  for (std::string line; std::getline(lines, line);) footer += "\n  " + line;
  app->footer(footer);
  entries_.push_back({app, example, std::move(action)});
  return *app;
}

CLI::App& Subcommands::add_hidden(const std::string& name, const std::string& summary, Action action) {
  CLI::App* app = root_.add_subcommand(name, summary);
  app->group("");
  entries_.push_back({app, {}, std::move(action)});
  return *app;
}

namespace {

// Names that options had before, accepted in silence until 1.0.
struct FormerOption {
  std::string former, name;
};
const std::array former_options{FormerOption{"--route", "--channel"}};

// Adds an option that passes its value on. It is read behind the option itself.
void accept_former_name(CLI::App& app, CLI::Option& option, const FormerOption& names) {
  const auto pass_on = [&option, names](const std::string& value) {
    if (option.count() == 0) {
      option.add_result(value);
      option.run_callback();
    } else if (option.as<std::string>() != value) {
      throw CLI::ValidationError(
          names.former, fmt::format("{} contradicts {} {}; {} is its former name, leave it out", value,
                                    names.name, option.as<std::string>(), names.former));
    }
  };
  app.add_option_function<std::string>(names.former, pass_on)->group("");
}

}  // namespace

void Subcommands::accept_former_names() {
  for (const Entry& entry : entries_)
    for (const FormerOption& names : former_options)
      if (CLI::Option* const option = entry.app->get_option_no_throw(names.name);
          option != nullptr && option->get_expected_max() == 1)
        accept_former_name(*entry.app, *option, names);
}

const Subcommands::Entry* Subcommands::chosen() const {
  for (const Entry& entry : entries_)
    if (entry.app->parsed()) return &entry;
  return nullptr;
}

int Subcommands::run() const { return chosen()->action(); }

std::string Subcommands::chosen_name() const {
  const Entry* entry = chosen();
  return entry ? "tca " + entry->app->get_name() : "tca";
}

std::string Subcommands::examples() const {
  std::string text = "Examples:";
  for (const Entry& entry : entries_)
    if (!entry.app->get_group().empty()) text += "\n  " + entry.example.substr(0, entry.example.find('\n'));
  return text + "\n\n`tca SUBCOMMAND --help` lists a subcommand's options.";
}

void add_bind_option(CLI::App& app, Binding& bind) {
  const auto read = [&bind](const std::string& word) {
    if (word == "auto")
      bind.how = Bind::automatic;
    else if (word == "core")
      bind.how = Bind::core;
    else if (word == "none")
      bind.how = Bind::none;
    else
      throw CLI::ValidationError("--bind", fmt::format("`{}`: choose auto, core or none", word));
    bind.is_told = true;
  };
  app.add_option_function<std::string>(
         "--bind", read,
         "Binding of ranks to cores: one core each (core), none, or auto, which binds to free cores unless "
         "there is a single rank, threads are asked for (OMP_NUM_THREADS and the like) or too few cores are "
         "free; when given, the binding is printed")
      ->type_name("auto|core|none")
      ->default_str("auto");
}

void check_bind(const Binding& bind, const std::string& fabric, bool threads) {
  if (bind.how == Bind::automatic || (fabric != "sim" && !threads)) return;
  refuse("--bind is for ranks that are processes, not for {}",
         fabric == "sim" ? "--fabric sim" : "--threads");
}

void check_known(const CLI::App& app, std::initializer_list<OptionFor> options) {
  for (const auto& [option, is_known, whom] : options)
    if (!is_known && app.count(option) > 0) refuse("{} is for {}", option, whom);
}

}  // namespace tca::tool
