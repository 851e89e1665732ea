// A loop whose body has loops for vectors besides other statements: a warp takes each of its iterations. Its threads share
// out the vectors' loops, and all of them do the rest, except that one alone stores to memory that they have in common.
#include <algorithm>

#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

bool changes(const Token& t) {
  return t.is("++") || t.is("--") ||
         (t.kind == TokenKind::punctuation && t.text.ends_with("=") && !t.is("==") && !t.is("<=") &&
          !t.is(">=") && !t.is("!="));
}

bool has_constructs(const Statement& s) {
  return std::any_of(s.children.begin(), s.children.end(), [](const auto& child) {
    return !child->constructs.empty() || child->directive >= 0 || has_constructs(*child);
  });
}

}  // namespace

// What is said of a loop for vectors that has none of its own in it; null for any other statement.
const AccDirective* Emitter::vector_loop(const Statement& s) const {
  if (s.kind != Statement::Kind::loop || s.constructs.size() != 1 || has_constructs(s)) return nullptr;
  const auto& directive = program_.directives[static_cast<std::size_t>(s.constructs[0])];
  const auto* acc = directive ? std::get_if<AccDirective>(&directive->body) : nullptr;
  const bool vector =
      acc && acc->name == "loop" && acc->find("vector") && !acc->find("collapse") && !acc->find("tile");
  return vector ? acc : nullptr;
}

// The variable that an assignment changes, or its elements; null where that is not known.
const Symbol* Emitter::changed_by(const Statement& s) const {
  if (s.kind != Statement::Kind::simple || !s.constructs.empty()) return nullptr;
  std::size_t changed = 0;
  for (std::size_t i = s.tokens.first; i < s.tokens.last; ++i)
    if (changes(token(i))) ++changed;
  const Symbol* symbol = program_.uses[s.tokens.first];
  const bool variable =
      symbol && symbol->kind != Symbol::Kind::function && symbol->kind != Symbol::Kind::type;
  return changed == 1 && variable && (symbol->pointers == 0 || symbol->dims.empty()) ? symbol : nullptr;
}

// Whether every thread has what an assignment changes for itself.
bool Emitter::changes_own(const Statement& assignment, const Statement& region, const Region& r) const {
  const Symbol& symbol = *changed_by(assignment);
  const Token& next = token(assignment.tokens.first + 1);
  const bool elsewhere = symbol.pointers > 0 && (next.is("[") || next.is("->"));
  if (symbol.token >= region.tokens.first && symbol.token < region.tokens.last) return !elsewhere;
  const std::string name(symbol.name);
  if (in_clause(r.loops, "private", name)) return true;
  return !elsewhere && !symbol.array && symbol.dims.empty() && !resident_.contains(name) &&
         reduction_of(r.loops, name).empty();
}

// The loops for vectors in the body of one that is shared out; none where the body has anything that a warp cannot take.
std::vector<const Statement*> Emitter::vector_loops(const Statement& loop, const Region& r) const {
  std::vector<const Statement*> found;
  if (loop.children[0]->kind != Statement::Kind::block) return {};
  if (std::any_of(r.loops.begin(), r.loops.end(), [](const AccDirective* a) { return a->find("vector"); }))
    return {};
  for (const auto& child : loop.children[0]->children) {
    if (vector_loop(*child)) {
      const auto clip =
          r.clips.find(std::string(header_of(*child, program_.place(child->tokens.first)).variable));
      if (clip != r.clips.end()) return {};
      found.push_back(child.get());
    } else if (child->kind != Statement::Kind::declaration && !changed_by(*child)) {
      return {};
    }
  }
  return found;
}

// One thread stores what all of them see; the others have read what was there, and go on when it has.
void Emitter::store_once(const Statement& loop, const Statement& region, const Region& r) {
  for (const auto& child : loop.children[0]->children) {
    if (!changed_by(*child) || changes_own(*child, region, r)) continue;
    edits_.insert(token(child->tokens.first).begin, "__syncwarp(); if (xacc_thread<0>() == 0) { ");
    edits_.insert(token(child->tokens.last - 1).end, " } __syncwarp();");
  }
}

// What a vectors' loop reduces, unless the region does: each thread begins with nothing, and the warp combines.
void Emitter::reduce_over_warp(const Statement& loop, const Region& r) {
  std::string before = "__syncwarp();", behind;
  for (const AccClause& clause : vector_loop(loop)->clauses)
    for (const Ref& ref : clause.variables) {
      const std::string& name = ref.name.text;
      if (clause.name.text != "reduction" || !reduction_of(r.loops, name).empty()) continue;
      const std::string kept = unique("kept"), operation = operation_of({clause.operation, {}});
      before += " auto " + kept + " = " + name + "; xacc_begin<" + operation + ">(" + name + ");";
      behind += " xacc_over_warp<" + operation + ">(" + name + ", " + kept + ");";
    }
  edits_.insert(token(loop.tokens.first).begin, before + " ");
  edits_.insert(token(loop.tokens.last - 1).end, behind + " __syncwarp();");
}

}  // namespace tca::xacc
