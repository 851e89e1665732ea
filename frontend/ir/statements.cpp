#include "ir/reader.hpp"

namespace tca::xacc {

// Constructs in front of a statement, in any order. Returns whether a directive is the statement itself.
bool Reader::read_pragmas(Statement& statement) {
  while (now().kind == TokenKind::pragma) {
    const int number = now().pragma;
    const auto& directive = program_.directives[static_cast<std::size_t>(number)];
    program_.directive_scopes[static_cast<std::size_t>(number)] = scope_;
    ++at_;
    if (!directive) continue;  // belongs to the compiler
    if (!directive->is_construct()) {
      statement.kind = Statement::Kind::directive;
      statement.directive = number;
      return true;
    }
    statement.constructs.push_back(number);
  }
  return false;
}

void Reader::check_construct(const Statement& statement) const {
  if (statement.constructs.empty() || !now().is("}")) return;
  const auto number = static_cast<std::size_t>(statement.constructs.back());
  const Directive& directive = *program_.directives[number];
  throw Fault{directive.place,
              directive.name + " says something about the statement behind it, and there is none",
              "move the directive in front of its statement, or remove it"};
}

std::unique_ptr<Statement> Reader::read_statement() {
  auto statement = std::make_unique<Statement>();
  statement->scope = scope_;
  if (read_pragmas(*statement)) {
    statement->tokens = {at_ - 1, at_};
    return statement;
  }
  check_construct(*statement);
  statement->tokens = {at_, at_};
  if (now().is("}")) return statement;  // behind a pragma of the compiler's
  if (now().kind == TokenKind::word && now(1).is(":") && !now(2).is("[") && !now().is("default")) {
    at_ += 2;  // a label
    if (now().is("}")) {
      statement->tokens.last = at_;
      return statement;
    }
    statement->children.push_back(read_statement());
  } else if (now().is("{")) {
    statement->kind = Statement::Kind::block;
    open_scope();
    read_block(*statement);
    close_scope();
  } else if (now().is("for")) {
    read_for(*statement);
  } else if (now().is("while") || now().is("do") || now().is("switch")) {
    read_other_loop(*statement);
  } else if (now().is("if")) {
    read_branch(*statement);
  } else if (begins_declaration(at_)) {
    statement->kind = Statement::Kind::declaration;
    statement->declaration = read_declaration();
    expect(";");
    statement->declaration->tokens.last = at_;
  } else {
    read_simple(*statement);
  }
  statement->tokens.last = at_;
  return statement;
}

void Reader::read_block(Statement& block) {
  expect("{");
  while (!done() && !now().is("}")) block.children.push_back(read_statement());
  expect("}");
}

void Reader::read_for(Statement& loop) {
  loop.kind = Statement::Kind::loop;
  open_scope();
  ++at_;
  loop.open = at_;
  expect("(");
  if (begins_declaration(at_))
    loop.declaration = read_declaration();
  else
    read_until(";");
  loop.first_semicolon = at_;
  expect(";");
  read_until(";");
  loop.second_semicolon = at_;
  expect(";");
  read_until(")");
  loop.close = at_;
  expect(")");
  loop.children.push_back(read_statement());
  close_scope();
}

void Reader::read_branch(Statement& branch) {
  branch.kind = Statement::Kind::branch;
  ++at_;
  read_brackets();
  branch.children.push_back(read_statement());
  if (accept("else")) branch.children.push_back(read_statement());
}

void Reader::read_other_loop(Statement& loop) {
  loop.kind = Statement::Kind::other_loop;
  const bool ends = now().is("do");
  ++at_;
  if (!ends) read_brackets();
  loop.children.push_back(read_statement());
  if (!ends) return;
  expect("while");
  read_brackets();
  expect(";");
}

void Reader::read_simple(Statement& simple) {
  if (accept("case") || accept("default")) {
    read_until(":");
    expect(":");
    if (!now().is("}")) simple.children.push_back(read_statement());
    return;
  }
  if (accept("goto")) ++at_;
  read_until(";}");
  expect(";");
}

}  // namespace tca::xacc
