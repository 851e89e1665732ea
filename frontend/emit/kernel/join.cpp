// What one thread does with a region's sums, the last block of the region does, which has them: a `serial` statement right
// behind, about scalars on the device alone. It is a kernel of its own too, for when other ranks reduce by the host.
#include <algorithm>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

bool says_only_present(const AccDirective& acc) {
  return std::all_of(acc.clauses.begin(), acc.clauses.end(),
                     [](const AccClause& clause) { return clause.name.text == "present"; });
}

}  // namespace

// The statement behind a region, if it is such a one; null otherwise.
const Statement* Emitter::joined_by(const Region& r, const Statement* behind) {
  if (!behind || behind->kind != Statement::Kind::simple || behind->constructs.size() != 1) return nullptr;
  const auto& directive = program_.directives[static_cast<std::size_t>(behind->constructs[0])];
  const AccDirective* serial = acc_of(directive);
  const bool fits = serial && serial->name == "serial" && says_only_present(*serial) &&
                    r.acc->name.find("loop") != r.acc->name.npos && r.acc->find("reduction") &&
                    !r.acc->find("if") && !r.acc->find("async");
  if (!fits) return nullptr;
  for (std::size_t i = behind->tokens.first; i < behind->tokens.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol) continue;
    const bool scalar = symbol->kind != Symbol::Kind::function && !symbol->array && !symbol->coarray &&
                        symbol->dims.empty() && symbol->pointers == 0;
    if (!scalar || !resident_.contains(std::string(symbol->name))) return nullptr;
  }
  return behind;
}

void Emitter::join(Kernel& k, const Statement& statement) {
  k.last = statement.tokens;
  joined_[&*program_.directives[static_cast<std::size_t>(statement.constructs[0])]] = k.joined;
  std::set<const Symbol*> known;
  for (std::size_t i = k.last.first; i < k.last.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol || !known.insert(symbol).second) continue;
    const std::string name(symbol->name), at = unique("at");
    k.set_up += " xacc_rows " + at + " = xacc_rows_of(" + quoted(name) + ", &" + name + ", 1, 0, " +
                k.place_text + ");";
    add_value(k, element_type(*symbol) + "* " + at, "&" + at + ".data");
    k.last_before += " " + element_type(*symbol) + "& " + name + " = *" + at + ";";
  }
}

}  // namespace tca::xacc
