#include "lex/token.hpp"

#include <array>
#include <cctype>
#include <charconv>

namespace tca::xacc {
namespace {

bool word_begins(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

constexpr std::array<std::string_view, 22> long_punctuation{"...", "<<=", ">>=", "->", "++", "--", "<<", ">>",
                                                            "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                            "*=",  "/=",  "%=",  "&=", "|=", "^="};

class Splitter {
 public:
  Splitter(std::string_view text, Files* files, Place at) : text_(text), files_(files), at_(at) {}

  std::vector<Token> run() {
    while (next_token()) {
    }
    push(TokenKind::end, position_, position_);
    return std::move(tokens_);
  }

 private:
  bool next_token() {
    skip_blanks();
    if (position_ >= text_.size()) return false;
    const char c = text_[position_];
    if (c == '#' && line_begins_ && files_)
      directive_line();
    else if (word_begins(c))
      word();
    else if (digit(c) || (c == '.' && position_ + 1 < text_.size() && digit(text_[position_ + 1])))
      number();
    else if (c == '"' || c == '\'')
      quoted(position_);
    else
      punctuation();
    return true;
  }

  void skip_blanks() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) {
      if (text_[position_++] != '\n') continue;
      ++at_.line;
      line_begins_ = true;
    }
  }

  void push(TokenKind kind, std::size_t begin, std::size_t end) {
    tokens_.push_back({kind, text_.substr(begin, end - begin), begin, end, at_.file, at_.line, system_, -1});
    position_ = end;
    line_begins_ = false;
  }

  // A line marker (`# 12 "heat.c" 1 3`), or a pragma.
  void directive_line() {
    std::size_t end = text_.find('\n', position_);
    if (end == text_.npos) end = text_.size();
    const std::string_view line = text_.substr(position_, end - position_);
    if (line.starts_with("#pragma")) {
      push(TokenKind::pragma, position_, end);
      tokens_.back().pragma = pragmas_++;
      return;
    }
    if (line.size() > 2 && digit(line[2])) marker(line);
    position_ = end;
  }

  void marker(std::string_view line) {
    int number = 0;
    std::from_chars(line.data() + 2, line.data() + line.size(), number);
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (open == line.npos || close == open) return;
    at_.file = files_->name(line.substr(open + 1, close - open - 1));
    at_.line = number - 1;  // the end of this line makes it `number`
    system_ = line.find('3', close) != line.npos;
  }

  void word() {
    std::size_t end = position_;
    while (end < text_.size() && (word_begins(text_[end]) || digit(text_[end]))) ++end;
    const bool prefix =
        end < text_.size() && (text_[end] == '"' || text_[end] == '\'') && end - position_ <= 2;
    const std::string_view name = text_.substr(position_, end - position_);
    if (prefix && (name == "L" || name == "u" || name == "U" || name == "u8"))
      quoted(end);
    else
      push(TokenKind::word, position_, end);
  }

  void number() {
    std::size_t end = position_ + 1;
    const auto exponent = [&] {
      const char before = text_[end - 1];
      return (text_[end] == '+' || text_[end] == '-') &&
             (before == 'e' || before == 'E' || before == 'p' || before == 'P') && !hexadecimal_integer(end);
    };
    while (end < text_.size() &&
           (word_begins(text_[end]) || digit(text_[end]) || text_[end] == '.' || exponent()))
      ++end;
    push(TokenKind::number, position_, end);
  }

  // In 0xe+1 the e is a digit.
  bool hexadecimal_integer(std::size_t end) const {
    const std::string_view number = text_.substr(position_, end - position_);
    return (number.starts_with("0x") || number.starts_with("0X")) && number.back() != 'p' &&
           number.back() != 'P';
  }

  void quoted(std::size_t open) {
    std::size_t end = open + 1;
    while (end < text_.size() && text_[end] != text_[open] && text_[end] != '\n')
      end += text_[end] == '\\' ? 2U : 1U;
    push(TokenKind::text, position_, std::min(end + 1, text_.size()));
  }

  void punctuation() {
    for (const std::string_view mark : long_punctuation)
      if (text_.substr(position_).starts_with(mark))
        return push(TokenKind::punctuation, position_, position_ + mark.size());
    push(TokenKind::punctuation, position_, position_ + 1);
  }

  std::string_view text_;
  Files* files_;  // none within a pragma
  Place at_;
  std::size_t position_ = 0;
  bool line_begins_ = true;
  bool system_ = false;
  int pragmas_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> split(std::string_view text, Files& files) {
  return Splitter(text, &files, {{}, 1, 0}).run();
}

std::vector<Token> split_line(std::string_view text, Place at) { return Splitter(text, nullptr, at).run(); }

}  // namespace tca::xacc
