#include "lex/place.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>

namespace tca::xacc {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The position of an occurrence that is no part of a longer word, or npos.
std::size_t find_word(std::string_view line, std::string_view word, int& nth) {
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || !in_word(line[at - 1]) || !in_word(word.front());
    const std::size_t end = at + word.size();
    const bool ends = end == line.size() || !in_word(line[end]) || !in_word(word.back());
    if (begins && ends && nth-- == 0) return at;
  }
  return line.npos;
}

std::string text(std::string_view view) { return std::string(view); }

}  // namespace

std::string_view Files::name(std::string_view file) {
  for (const std::string& known : names_)
    if (known == file) return known;
  return names_.emplace_back(file);
}

const std::vector<std::string>& Files::lines(std::string_view file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  std::vector<std::string>& lines = files_[text(file)];
  std::ifstream in{text(file)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string_view Files::line(std::string_view file, int number) {
  const auto& all = lines(file);
  const auto index = static_cast<std::size_t>(number - 1);
  return number > 0 && index < all.size() ? std::string_view(all[index]) : std::string_view();
}

Place Files::find(std::string_view file, int number, std::string_view word, int nth) {
  for (int at = number; !word.empty(); ++at) {
    const std::string_view text = line(file, at);
    const std::size_t column = find_word(text, word, nth);
    if (column != text.npos) return {file, at, static_cast<int>(column) + 1};
    if (text.empty() || text.back() != '\\') break;
  }
  return {file, number, 0};
}

void print(Files& files, Severity severity, const Fault& fault) {
  const char* what = severity == Severity::error ? "error" : "warning";
  const Place& at = fault.place;
  if (at.line > 0) {
    std::fprintf(stderr, "%s:%d:%d: %s: %s\n", text(at.file).c_str(), at.line, std::max(at.column, 1), what,
                 fault.rule.c_str());
    const std::string line = text(files.line(at.file, at.line));
    if (!line.empty()) {
      std::string blank;  // keeps tabs, so that the caret stands below its word
      for (int i = 0; i + 1 < at.column; ++i) blank += line[static_cast<std::size_t>(i)] == '\t' ? '\t' : ' ';
      std::fprintf(stderr, "  %s\n  %s^\n", line.c_str(), blank.c_str());
    }
  } else {
    std::fprintf(stderr, "tca xacc: %s: %s\n", what, fault.rule.c_str());
  }
  if (!fault.remedy.empty()) std::fprintf(stderr, "  %s\n", fault.remedy.c_str());
}

}  // namespace tca::xacc
