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

bool qualifier(const Token& token) {
  return token.kind == TokenKind::word && among(other_words, token.text) && token.text != "typedef";
}

}  // namespace

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

void Reader::read_suffixes(Symbol& symbol) {
  for (;;) {
    skip_attributes();
    if (now().is("[")) {
      Range size = read_brackets();  // without the qualifiers of a parameter, [restrict n]
      while (!size.empty() && (qualifier(tokens_[size.first]) || tokens_[size.first].is("static")))
        ++size.first;
      symbol.dims.push_back(size);
    } else if (now().is("(") && symbol.parameters.empty()) {
      symbol.parameters = read_brackets();
      // Parameters are no uses of what has the same name outside.
      std::fill(program_.uses.begin() + static_cast<std::ptrdiff_t>(symbol.parameters.first),
                program_.uses.begin() + static_cast<std::ptrdiff_t>(symbol.parameters.last), nullptr);
    } else if (now().is("(")) {
      read_brackets();
    } else if (now().is(":") && now(1).is("[")) {
      ++at_;
      while (now().is("[")) symbol.codims.push_back(read_brackets());
    } else {
      return;
    }
  }
}

void Reader::read_declarator_core(Symbol& symbol) {
  for (;; ++at_) {
    skip_attributes();
    if (now().is("*"))
      ++symbol.pointers;
    else if (!qualifier(now()))
      break;
  }
  if (now().is("(") && (now(1).is("*") || now(1).is("(") ||
                        (now(1).kind == TokenKind::word && !begins_declaration(at_ + 1)))) {
    ++at_;
    read_declarator_core(symbol);
    expect(")");
  } else if (now().kind == TokenKind::word) {
    symbol.name = now().text;
    symbol.token = at_++;
  }
  read_suffixes(symbol);
}

void Reader::read_initial(Symbol& symbol) {
  if (!accept("=")) return;
  symbol.initial = read_until(",;");
}

Symbol* Reader::read_declarator(const Specifiers& specifiers, Symbol::Kind kind, bool declare) {
  Symbol& symbol = program_.all_symbols.emplace_back();
  symbol.kind = specifiers.is_typedef ? Symbol::Kind::type : kind;
  symbol.scope = scope_;
  symbol.specifiers = specifiers.tokens;
  symbol.is_extern = specifiers.is_extern;
  symbol.is_static = specifiers.is_static;
  symbol.declarator.first = at_;
  read_declarator_core(symbol);
  // A function, and no pointer to one: `int (*f)(int)` has its star within the brackets.
  if (!symbol.parameters.empty() || (at_ > 1 && tokens_[at_ - 1].is(")") && tokens_[at_ - 2].is("(")))
    if (symbol.kind == Symbol::Kind::variable && symbol.token + 1 < at_ && tokens_[symbol.token + 1].is("("))
      symbol.kind = Symbol::Kind::function;
  if (declare && !symbol.name.empty()) scope_->symbols[symbol.name] = &symbol;
  read_initial(symbol);
  symbol.declarator.last = at_;
  if (symbol.kind == Symbol::Kind::variable) declare_members(symbol);
  return &symbol;
}

// The distributed members of a variable `struct TAG c`.
void Reader::declare_members(Symbol& variable) {
  for (const Member& member : program_.members) {
    const Range type = variable.specifiers;
    bool same = false;
    for (std::size_t i = type.first; i + 1 < type.last; ++i)
      same = same || (tokens_[i].is("struct") && tokens_[i + 1].is(member.tag));
    if (!same || member.dims.empty() || variable.pointers > 0 || !variable.dims.empty()) continue;
    Symbol& symbol = program_.all_symbols.emplace_back();
    symbol.name = program_.kept.emplace_back(std::string(variable.name) + "." + member.name);
    symbol.member = program_.kept.emplace_back(member.tag + "." + member.name);
    symbol.token = variable.token;
    symbol.scope = scope_;
    symbol.specifiers = member.specifiers;
    symbol.dims = member.dims;
    symbol.is_extern = variable.is_extern;
    symbol.is_static = variable.is_static;
    scope_->symbols[symbol.name] = &symbol;
    variable.members.push_back(&symbol);
  }
}

void Reader::read_parameters(Range brackets) {
  const std::size_t behind = at_;
  at_ = brackets.first;
  while (at_ < brackets.last) {
    if (accept(",") || accept("...")) continue;
    const std::size_t before = at_;
    const Specifiers specifiers = read_specifiers();
    read_declarator(specifiers, Symbol::Kind::parameter, true);
    if (at_ == before) ++at_;
  }
  at_ = behind;
}

Declaration* Reader::read_declaration() {
  Declaration& declaration = program_.all_declarations.emplace_back();
  declaration.tokens.first = at_;
  const Specifiers specifiers = read_specifiers();
  declaration.specifiers = specifiers.tokens;
  while (!done() && !now().is(";") && !now().is("{")) {
    const std::size_t before = at_;
    declaration.symbols.push_back(read_declarator(specifiers, Symbol::Kind::variable, true));
    if (now().is("{") || !accept(",")) break;
    if (at_ == before) fail("a declaration is expected");
  }
  return &declaration;
}

void Reader::read_external() {
  if (accept(";")) return;
  if (now().is("_Static_assert") || now().is("__asm__") || now().is("asm")) {
    read_until(";");
    return expect(";");
  }
  const std::size_t before = at_;
  Declaration* declaration = read_declaration();
  Symbol* last = declaration->symbols.empty() ? nullptr : declaration->symbols.back();
  if (last && last->kind == Symbol::Kind::function && !now().is(";")) return read_function(*last);
  if (!now().is(";")) {
    read_until(";{");
    if (now().is("{")) read_brackets();  // what this is, the compiler will say
  }
  accept(";");
  if (at_ == before) ++at_;
  declaration->tokens.last = at_;
  program_.file_declarations.push_back(declaration);
}

void Reader::read_function(Symbol& symbol) {
  Function function{&symbol};
  function.parameters = open_scope();
  read_parameters(symbol.parameters);
  while (!done() && !now().is("{")) {  // of the old style: f(a) int a; { ... }
    read_declaration();
    expect(";");
  }
  function.body = std::make_unique<Statement>();
  function.body->kind = Statement::Kind::block;
  function.body->scope = scope_;
  function.body->tokens.first = at_;
  read_block(*function.body);
  function.body->tokens.last = at_;
  close_scope();
  program_.functions.push_back(std::move(function));
}

}  // namespace tca::xacc
