// Walks through the tokens of one directive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lex/token.hpp"
#include "parse/directive.hpp"

namespace tca::xacc {

class Cursor {
 public:
  Cursor(const std::string& text, Place line, Files& files);

  // What the directive may look like, for the way out.
  void set_grammar(std::string_view grammar) { grammar_ = grammar; }

  const Token& peek(std::size_t ahead = 0) const;
  bool at(std::string_view text) const { return peek().is(text); }
  bool done() const { return peek().kind == TokenKind::end; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  Name name(std::string_view what);
  // The text up to one of the marks outside of brackets, or to a bracket that closes.
  Expr expression(std::string_view marks);
  // Of the token that is next.
  Place place() const { return place_of(position_); }
  [[noreturn]] void fail(std::string rule) const;
  [[noreturn]] void fail(Place place, std::string rule) const;

  // Calls `item` for each part of a list in brackets, `(a, b)` or `[a][b]`. Returns the form, and whether
  // there was any in `found`.
  template <class Item>
  Form list(bool* found, Item item) {
    *found = true;
    if (accept("(")) {
      do item(Form::round);
      while (accept(","));
      expect(")");
      return Form::round;
    }
    *found = at("[");
    while (accept("[")) {
      do item(Form::square);
      while (accept(","));
      expect("]");
    }
    return Form::square;
  }

 private:
  Place place_of(std::size_t index) const;

  std::string text_;
  Files& files_;
  Place line_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::string_view grammar_;
};

}  // namespace tca::xacc
