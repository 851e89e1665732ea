// The words in front of what is declared.
#include <algorithm>
#include <array>
#include <string_view>

#include "ir/reader.hpp"

namespace tca::xacc {
namespace {

template <std::size_t n>
bool among(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 26> type_words{"void",
                                                      "char",
                                                      "short",
                                                      "int",
                                                      "long",
                                                      "float",
                                                      "double",
                                                      "signed",
                                                      "unsigned",
                                                      "_Bool",
                                                      "struct",
                                                      "union",
                                                      "enum",
                                                      "_Complex",
                                                      "__signed__",
                                                      "__int128",
                                                      "_Float16",
                                                      "_Float32",
                                                      "_Float64",
                                                      "_Float128",
                                                      "_Float32x",
                                                      "_Float64x",
                                                      "__builtin_va_list",
                                                      "__float128",
                                                      "__complex__",
                                                      "__signed"};
constexpr std::array<std::string_view, 24> other_words{
    "typedef",  "extern",       "static",     "auto",      "register",       "inline",
    "const",    "volatile",     "restrict",   "_Noreturn", "_Thread_local",  "__thread",
    "__inline", "__inline__",   "__restrict", "__const",   "__volatile__",   "__extension__",
    "_Atomic",  "__restrict__", "__volatile", "__const__", "_Static_assert", "noreturn"};
constexpr std::array<std::string_view, 7> with_brackets{"__attribute__", "__attribute", "_Alignas", "typeof",
                                                        "__typeof__",    "__typeof",    "_Atomic"};
constexpr std::array<std::string_view, 3> assembler{"__asm__", "asm", "__asm"};

}  // namespace

bool qualifier(const Token& token) {
  return token.kind == TokenKind::word && among(other_words, token.text) && token.text != "typedef";
}

bool Reader::begins_declaration(std::size_t at) const {
  const Token& token = tokens_[at];
  if (token.kind != TokenKind::word) return false;
  if (among(type_words, token.text) || among(other_words, token.text) || among(with_brackets, token.text))
    return true;
  const Symbol* symbol = scope_->find(token.text);
  return symbol && symbol->kind == Symbol::Kind::type && !tokens_[at + 1].is(":");
}

void Reader::skip_attributes() {
  while (now().kind == TokenKind::word &&
         (among(with_brackets, now().text) || among(assembler, now().text))) {
    ++at_;
    if (now().is("(")) read_brackets();
  }
}

bool Reader::read_specifier(Specifiers& found) {
  const Token& token = now();
  if (token.kind != TokenKind::word) return false;
  if (token.is("struct") || token.is("union") || token.is("enum")) {
    ++at_;
    skip_attributes();
    if (now().kind == TokenKind::word) ++at_;
    if (now().is("{")) {
      const std::size_t open = at_;
      read_brackets();
      // Members are no uses of what has the same name outside.
      std::fill(program_.uses.begin() + static_cast<std::ptrdiff_t>(open),
                program_.uses.begin() + static_cast<std::ptrdiff_t>(at_), nullptr);
    }
    return found.has_type = true;
  }
  if (among(with_brackets, token.text) && tokens_[at_ + 1].is("(")) {
    found.has_type = found.has_type || token.text.find("typeof") != token.text.npos || token.is("_Atomic");
    ++at_;
    read_brackets();
    return true;
  }
  const bool is_type = among(type_words, token.text);
  const Symbol* symbol = scope_->find(token.text);
  const bool is_name = !found.has_type && symbol && symbol->kind == Symbol::Kind::type;
  if (!is_type && !is_name && !among(other_words, token.text)) return false;
  found.has_type = found.has_type || is_type || is_name;
  found.is_typedef = found.is_typedef || token.is("typedef");
  found.is_extern = found.is_extern || token.is("extern");
  found.is_static = found.is_static || token.is("static");
  ++at_;
  return true;
}

Reader::Specifiers Reader::read_specifiers() {
  Specifiers found;
  found.tokens.first = at_;
  while (read_specifier(found)) {
  }
  found.tokens.last = at_;
  return found;
}

}  // namespace tca::xacc
