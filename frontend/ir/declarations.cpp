// What is declared: variables, functions and their parameters.
#include "ir/reader.hpp"

namespace tca::xacc {

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
