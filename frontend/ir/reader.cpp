#include "ir/reader.hpp"

#include "ir/members.hpp"

namespace tca::xacc {

bool Reader::accept(std::string_view text) {
  if (!now().is(text)) return false;
  ++at_;
  return true;
}

void Reader::expect(std::string_view text) {
  if (!accept(text)) fail("`" + std::string(text) + "` is expected here");
}

void Reader::fail(const std::string& rule) const {
  throw Fault{program_.place(at_),
              rule + (done() ? ", at the end of the file" : ", before `" + std::string(now().text) + "`")};
}

Scope* Reader::open_scope() {
  program_.all_scopes.push_back({scope_});
  return scope_ = &program_.all_scopes.back();
}

void Reader::note_use() {
  if (now().kind != TokenKind::word) return;
  if (at_ > 0 && (tokens_[at_ - 1].is(".") || tokens_[at_ - 1].is("->"))) return;
  program_.uses[at_] = scope_->find(now().text);
  if (now().is("xmp_desc_of")) program_.descriptors[at_] = scope_;
}

Range Reader::read_brackets() {
  const std::size_t first = at_ + 1;
  int depth = 0;
  for (; !done(); ++at_) {
    const std::string_view text = now().text;
    if (now().kind == TokenKind::punctuation && (text == "(" || text == "[" || text == "{"))
      ++depth;
    else if (now().kind == TokenKind::punctuation && (text == ")" || text == "]" || text == "}") &&
             --depth == 0)
      break;
    note_use();
  }
  if (done()) fail("a bracket is never closed");
  return {first, at_++};
}

Range Reader::read_until(std::string_view marks) {
  const std::size_t first = at_;
  while (!done()) {
    const Token& token = now();
    if (token.kind == TokenKind::punctuation && token.text.size() == 1) {
      if (marks.find(token.text[0]) != marks.npos) break;
      if (token.is("(") || token.is("[") || token.is("{")) {
        read_brackets();
        continue;
      }
    }
    note_use();
    ++at_;
  }
  return {first, at_};
}

void Reader::read_file() {
  program_.file = open_scope();
  scope_->is_file = true;
  while (!done()) {
    if (now().kind == TokenKind::pragma) {
      program_.directive_scopes[static_cast<std::size_t>(now().pragma)] = scope_;
      ++at_;
    } else {
      read_external();
    }
  }
}

Program analyse(std::vector<Token> tokens, std::vector<std::optional<Directive>> directives) {
  Program program;
  program.tokens = std::move(tokens);
  program.directives = std::move(directives);
  join_members(program);
  program.directive_scopes.resize(program.directives.size());
  program.uses.resize(program.tokens.size());
  for (std::size_t i = 0; i < program.tokens.size(); ++i)
    if (program.tokens[i].kind == TokenKind::pragma) program.pragma_tokens.push_back(i);
  Reader(program).read_file();
  return program;
}

}  // namespace tca::xacc
