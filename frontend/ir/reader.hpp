// Reads declarations and statements from tokens into a Program. Not a compiler: of what is no declaration it
// only finds ends and names.
#pragma once

#include "ir/program.hpp"

namespace tca::xacc {

class Reader {
 public:
  explicit Reader(Program& program) : program_(program), tokens_(program.tokens) {}

  void read_file();

 private:
  // Declarations: declarations.cpp.
  struct Specifiers {
    Range tokens;
    bool is_typedef = false, is_extern = false, is_static = false, has_type = false;
  };
  bool begins_declaration(std::size_t at) const;
  Specifiers read_specifiers();
  bool read_specifier(Specifiers& found);
  void skip_attributes();
  Declaration* read_declaration();
  Symbol* read_declarator(const Specifiers& specifiers, Symbol::Kind kind, bool declare);
  void read_declarator_core(Symbol& symbol);
  void read_suffixes(Symbol& symbol);
  void read_parameters(Range brackets);
  void read_initial(Symbol& symbol);
  void declare_members(Symbol& variable);
  void read_external();
  void read_function(Symbol& symbol);

  // Statements: statements.cpp.
  std::unique_ptr<Statement> read_statement();
  void read_block(Statement& block);
  void read_for(Statement& loop);
  void read_branch(Statement& branch);
  void read_other_loop(Statement& loop);
  void read_simple(Statement& simple);
  bool read_pragmas(Statement& statement);
  void check_construct(const Statement& statement) const;

  // Tokens.
  const Token& now(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool done() const { return now().kind == TokenKind::end; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  // Goes behind the bracket that closes the one here, noting uses on the way.
  Range read_brackets();
  // Goes to the first of `marks` outside of brackets.
  Range read_until(std::string_view marks);
  void note_use();
  Scope* open_scope();
  void close_scope() { scope_ = scope_->parent; }
  [[noreturn]] void fail(const std::string& rule) const;

  Program& program_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  Scope* scope_ = nullptr;
};

}  // namespace tca::xacc
