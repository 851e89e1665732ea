#include "cli/output/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tca::tool {
namespace {

constexpr std::size_t left_column = 28;

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, between);) parts.push_back(part);
  return parts;
}

// CLI11 tells a type and, behind colons, what its checks say of themselves: INT:1 to 64, TEXT:block|stride.
struct Type {
  std::string value;
  std::vector<std::string> limits;
};

Type type_of(const CLI::Option& option) {
  Type type;
  if (option.get_type_size() == 0) return type;
  for (const std::string& part : split(option.get_type_name(), ':')) {
    if (type.value.empty())
      type.value = part == "INT" || part == "UINT" ? "N" : part == "FLOAT" ? "X" : part;
    else if (part.find('|') != std::string::npos)
      type.value = part;
    else
      type.limits.push_back(part);
  }
  if (option.get_expected_max() == CLI::detail::expected_max_vector_size && !option.get_positional())
    type.value += option.get_delimiter() == ',' ? ",..." : " ...";
  return type;
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

std::string in_brackets(const CLI::Option& option, std::vector<std::string> notes) {
  if (const std::string text = default_of(option); !text.empty()) notes.push_back("default " + text);
  if (!option.get_envname().empty()) notes.push_back("environment " + option.get_envname());
  std::vector<std::string> excluded;
  for (const CLI::Option* other : option.get_excludes()) excluded.push_back(other->get_name());
  std::ranges::sort(excluded);
  if (!excluded.empty()) notes.push_back(fmt::format("not with {}", fmt::join(excluded, ", ")));
  if (option.get_required() && !option.get_positional()) notes.emplace_back("required");
  return notes.empty() ? "" : fmt::format(" ({})", fmt::join(notes, "; "));
}

std::size_t columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<std::size_t>(size.ws_col, 60, 120);
}

// A heading that fills the left column has a line of its own.
std::string in_two_columns(const std::string& heading, const std::string& text) {
  std::string out = "  " + heading, line;
  if (heading.size() + 4 > left_column)
    out += "\n" + std::string(left_column, ' ');
  else
    out.resize(left_column, ' ');
  const std::size_t room = columns() - left_column;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > room) {
      out += line + "\n" + std::string(left_column, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line + "\n";
}

}  // namespace

std::string OptionHelp::heading() const {
  return fmt::format("{}{}{}", fmt::join(names, ", "), value.empty() ? "" : " ", value);
}

std::vector<std::string> OptionHelp::words() const {
  std::string alone = value;
  for (const char* more : {",...", " ..."})
    if (alone.ends_with(more)) alone.resize(alone.size() - 4);
  return alone.find('|') == std::string::npos ? std::vector<std::string>{} : split(alone, '|');
}

OptionHelp help_of(const CLI::Option& option) {
  const Type type = type_of(option);
  OptionHelp help{{}, type.value, option.get_description() + in_brackets(option, type.limits)};
  if (option.get_positional()) {
    help.names.push_back(option.get_name(true, false));
    if (help.words().empty()) help.value.clear();
    return help;
  }
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  return help;
}

HelpFormatter::HelpFormatter() { column_width(left_column); }

// CLI11 leaves an empty line for options that no help shows.
std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  if (const std::size_t at = text.find("\n\n\n"); at != std::string::npos) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool) const {
  const OptionHelp help = help_of(*option);
  return in_two_columns(help.heading(), help.meaning);
}

std::string HelpFormatter::make_subcommand(const CLI::App* subcommand) const {
  return in_two_columns(subcommand->get_name(), subcommand->get_description());
}

}  // namespace tca::tool
