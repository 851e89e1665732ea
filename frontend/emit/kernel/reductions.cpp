// Reductions of regions: in every block, in the block that comes last, among ranks, and to the host.
#include <algorithm>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

bool is_reduction(const AccClause& clause, std::string_view name) {
  return clause.name.text == "reduction" && std::any_of(clause.variables.begin(), clause.variables.end(),
                                                        [&](const Ref& r) { return r.name.text == name; });
}

}  // namespace

std::string reduction_of(const std::vector<const AccDirective*>& loops, std::string_view name) {
  static const std::map<std::string, std::string> names{
      {"+", "XACC_SUM"},   {"-", "XACC_SUM"},     {"*", "XACC_PRODUCT"}, {"max", "XACC_MAX"},
      {"min", "XACC_MIN"}, {"&", "XACC_BIT_AND"}, {"|", "XACC_BIT_OR"},  {"^", "XACC_BIT_XOR"},
      {"&&", "XACC_AND"},  {"||", "XACC_OR"}};
  for (const AccDirective* loop : loops)
    for (const AccClause& clause : loop->clauses)
      if (is_reduction(clause, name)) return names.at(clause.operation);
  return "";
}

bool in_clause(const std::vector<const AccDirective*>& loops, std::string_view clause,
               std::string_view name) {
  for (const AccDirective* loop : loops)
    for (const AccClause& c : loop->clauses)
      if (c.name.text == clause)
        for (const Ref& ref : c.variables)
          if (ref.name.text == name) return true;
  return false;
}

// What the region reduces itself is reduced among ranks by the same kernel, if it is one, and if both mean the same
// memory: that of the device with `acc`, and else the host's. Returns whether it is.
bool Emitter::reduce_in_region(Region& r, const ReductionClause& clause, const std::string& on, bool acc,
                               const Directive& directive, const Scope& scope) {
  if (r.acc->name.find("loop") == r.acc->name.npos || r.acc->find("if")) return false;
  for (std::size_t v = 0; v < clause.variables.size(); ++v) {
    const std::string& name = clause.variables[v].text;
    const Symbol* symbol = scope.find(name);
    const bool scalar =
        symbol && !symbol->array && !symbol->coarray && symbol->dims.empty() && symbol->pointers == 0;
    if (!scalar || !clause.locations[v].empty() || resident_.contains(name) != acc || r.over.contains(name) ||
        reduction_of(r.loops, name).empty())
      return false;
  }
  for (const Name& variable : clause.variables) {
    std::string site;
    r.open += declare_site(directive, site);
    r.over[variable.text] = {operation_of(clause), "(const xacc_on[]){" + on + "}, " +
                                                       type_of(variable.text) + ", " + operation_of(clause) +
                                                       ", " + site};
  }
  return true;
}

// The same of a directive that stands right behind the region.
void Emitter::reduce_behind(Region& r, const Statement* behind) {
  if (!behind || behind->kind != Statement::Kind::directive) return;
  const Directive& directive = *program_.directives[static_cast<std::size_t>(behind->directive)];
  const auto* d = std::get_if<ReductionDirective>(&directive.body);
  if (!d || d->async) return;
  if (reduce_in_region(r, d->what, on(d->on, *behind->scope, directive), d->acc, directive, *behind->scope))
    done_.insert(behind->directive);
}

// The kernel has a variable of its own, whose values meet behind the region's text. `rows` is where the variable is on the device,
// if it is.
void Emitter::capture_reduction(Kernel& k, const Symbol& symbol, const std::string& plain,
                                const std::string& operation, const std::string& rows, const Region& r) {
  const std::string name(symbol.name), there = name_of(symbol);
  const bool resident = !rows.empty();
  const std::string which = plain + ", " + operation, number = std::to_string(k.reductions++);
  k.before += " " + plain + " " + name + " = xacc_identity<" + which + ">();";
  const auto over = r.over.find(name);
  k.results += std::string(k.results.empty() ? "" : ", ") + "{&" + there + ", sizeof(" + there + "), " +
               (resident ? "1, " : "0, ") + (over == r.over.end() ? "0, 0, 0, 0" : over->second.result) + "}";
  std::string from = "*" + rows;
  if (resident) {
    k.tell += " xacc_keep<" + plain + ">(xacc_scratch, " + number + ", " + rows + ");";
  } else {
    from = unique("from");
    add_value(k, plain + " " + from, "(void*)&" + there);
    k.tell += " xacc_tell<" + plain + ">(xacc_meet, " + number + ");";
  }
  if (over != r.over.end())
    k.over += " xacc_over_ranks<" + plain + ", " + over->second.operation + ">(xacc_team, xacc_scratch, " +
              number + ");";
  k.leave += " xacc_leave_value<" + which + ">(xacc_scratch, xacc_reductions, " + number + ", " + name + ");";
  k.finish += " xacc_finish<" + which + ">(xacc_scratch, xacc_reductions, " + number + ", " + from + ");";
}

}  // namespace tca::xacc
