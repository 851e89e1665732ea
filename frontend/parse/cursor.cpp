#include "parse/cursor.hpp"

#include <algorithm>
#include <utility>

namespace tca::xacc {

Cursor::Cursor(const std::string& text, Place line, Files& files)
    : text_(text), files_(files), line_(line), tokens_(split_line(text_, line)) {}

const Token& Cursor::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  ++position_;
  return true;
}

void Cursor::expect(std::string_view text) {
  if (accept(text)) return;
  fail(done() ? "`" + std::string(text) + "` is missing at the end of the directive"
              : "`" + std::string(text) + "` is expected before `" + std::string(peek().text) + "`");
}

Name Cursor::name(std::string_view what) {
  if (peek().kind != TokenKind::word)
    fail(done() ? std::string(what) + " is missing at the end of the directive"
                : std::string(what) + " is expected, and `" + std::string(peek().text) + "` is none");
  Name name{std::string(peek().text), place()};
  ++position_;
  return name;
}

Expr Cursor::expression(std::string_view marks) {
  const std::size_t first = position_;
  int depth = 0;
  int choices = 0;  // of ?:, whose colon ends nothing
  for (; !done(); ++position_) {
    const std::string_view text = peek().text;
    const char c = text.size() == 1 ? text[0] : '\0';
    if (depth == 0 && c == ':' && choices > 0) {
      --choices;
      continue;
    }
    if (depth == 0 && (c == ')' || c == ']' || (c != '\0' && marks.find(c) != marks.npos))) break;
    if (c == '?') ++choices;
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
  }
  if (position_ == first) return {};
  const std::size_t begin = tokens_[first].begin, end = tokens_[position_ - 1].end;
  return {text_.substr(begin, end - begin), place_of(first)};
}

Place Cursor::place_of(std::size_t index) const {
  const std::string_view word = tokens_[std::min(index, tokens_.size() - 1)].text;
  if (word.empty()) return files_.find(line_.file, line_.line, "#", 0);
  int nth = 0;
  for (std::size_t i = 0; i < index; ++i) nth += tokens_[i].text == word;
  Place found = files_.find(line_.file, line_.line, word, nth);
  // What a macro has made stands nowhere; then the directive is shown.
  return found.column > 0 ? found : files_.find(line_.file, line_.line, "#", 0);
}

void Cursor::fail(std::string rule) const { fail(place(), std::move(rule)); }

void Cursor::fail(Place place, std::string rule) const {
  throw Fault{place, std::move(rule),
              grammar_.empty() ? std::string() : "form: #pragma " + std::string(grammar_)};
}

}  // namespace tca::xacc
