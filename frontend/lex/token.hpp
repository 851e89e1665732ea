// C as the preprocessor leaves it, in tokens that know their places. Nothing here knows a directive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lex/place.hpp"

namespace tca::xacc {

enum class TokenKind { word, number, text, punctuation, pragma, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text = {};  // of a pragma, its line
  std::size_t begin = 0;       // in the preprocessed text
  std::size_t end = 0;
  std::string_view file = {};
  int line = 0;
  bool system = false;  // of a header of the system
  int pragma = -1;      // the number of a pragma, in the order of the text

  bool is(std::string_view other) const { return kind != TokenKind::text && text == other; }
};

// Splits preprocessed text with line markers; the last token is `end`. `text` must outlive the tokens.
std::vector<Token> split(std::string_view text, Files& files);

// Splits one line of a pragma, with `at` as the place of its `#`.
std::vector<Token> split_line(std::string_view text, Place at);

}  // namespace tca::xacc
