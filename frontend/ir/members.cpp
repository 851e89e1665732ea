#include "ir/members.hpp"

#include <algorithm>
#include <set>

namespace tca::xacc {
namespace {

std::vector<Member> members_of(const Program& program) {
  std::vector<Member> found;
  for (const auto& directive : program.directives) {
    const auto* align = directive ? std::get_if<AlignDirective>(&directive->body) : nullptr;
    if (!align) continue;
    for (const Name& name : align->arrays)
      if (const std::size_t dot = name.text.find('.'); dot != name.text.npos)
        found.push_back({name.text.substr(0, dot), name.text.substr(dot + 1)});
  }
  return found;
}

// The variables that are declared as `struct TAG a, b;`.
std::set<std::string_view> variables_of(const std::vector<Token>& tokens, const std::string& tag) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("struct") || !tokens[i + 1].is(tag)) continue;
    for (std::size_t at = i + 2; tokens[at].kind == TokenKind::word; at += 2) {
      names.insert(tokens[at].text);
      if (!tokens[at + 1].is(",")) break;
    }
  }
  return names;
}

void join(Program& program, const Member& member) {
  const std::set<std::string_view> variables = variables_of(program.tokens, member.tag);
  std::vector<Token> joined;
  for (std::size_t i = 0; i < program.tokens.size(); ++i) {
    joined.push_back(program.tokens[i]);
    const bool used = i + 2 < program.tokens.size() && variables.contains(program.tokens[i].text) &&
                      program.tokens[i + 1].is(".") && program.tokens[i + 2].is(member.name);
    if (!used) continue;
    joined.back().text = program.kept.emplace_back(std::string(program.tokens[i].text) + "." + member.name);
    joined.back().end = program.tokens[i + 2].end;
    i += 2;
  }
  program.tokens = std::move(joined);
}

// Where the structure declares it: `int a[10], b[3];` has one type for both.
void find_declaration(const std::vector<Token>& tokens, Member& member) {
  std::size_t at = 0;
  while (at + 2 < tokens.size() &&
         !(tokens[at].is("struct") && tokens[at + 1].is(member.tag) && tokens[at + 2].is("{")))
    ++at;
  std::size_t first = at + 3, type_end = 0;
  for (at += 3; at + 1 < tokens.size() && !tokens[at].is("}"); ++at) {
    const bool declared = tokens[at].kind == TokenKind::word &&
                          (tokens[at + 1].is("[") || tokens[at + 1].is(",") || tokens[at + 1].is(";"));
    if (tokens[at].is(";")) first = at + 1, type_end = 0;
    if (declared && type_end == 0) type_end = at;
    if (!declared || !tokens[at].is(member.name)) continue;
    member.specifiers = {first, type_end};
    for (std::size_t open = at + 1; tokens[open].is("[");) {
      std::size_t close = open;
      while (!tokens[close].is("]") && close + 1 < tokens.size()) ++close;
      member.dims.push_back({open + 1, close});
      open = close + 1;
    }
    return;
  }
}

}  // namespace

void join_members(Program& program) {
  program.members = members_of(program);
  for (const Member& member : program.members) join(program, member);
  for (Member& member : program.members) find_declaration(program.tokens, member);
}

}  // namespace tca::xacc
