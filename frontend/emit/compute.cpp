#include <algorithm>

#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

const Statement* inner_loop(const Statement& s) {
  for (const auto& child : s.children) {
    if (child->kind == Statement::Kind::loop) return child.get();
    if (const Statement* found = inner_loop(*child)) return found;
  }
  return nullptr;
}

bool assigns(std::string_view mark) {
  static constexpr std::string_view marks[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
  return std::find(std::begin(marks), std::end(marks), mark) != std::end(marks);
}

std::string list_of(const AccClause& clause) {
  std::string list;
  for (const Ref& ref : clause.variables) list += (list.empty() ? "" : ", ") + ref.name.text;
  return list;
}

}  // namespace

bool Emitter::is_innermost(const Statement& loop, int levels) const {
  const Statement* inner = &loop;
  for (; levels > 1 && inner; --levels) inner = inner_loop(*inner);
  return !inner || !inner_loop(*inner);
}

// Scalars that a compute region assigns are private to each iteration, unless they are named otherwise or
// have memory on the device.
std::string Emitter::private_scalars(const Statement& s, const AccDirective& acc) const {
  std::set<std::string> named = resident_;
  for (const AccClause& clause : acc.clauses)
    for (const Ref& ref : clause.variables) named.insert(ref.name.text);
  std::set<std::string> own, copied;
  for (std::size_t i = s.tokens.first; i < s.tokens.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol || symbol->array || symbol->coarray || !symbol->dims.empty() ||
        symbol->kind == Symbol::Kind::function)
      continue;
    if (symbol->token >= s.tokens.first && symbol->token < s.tokens.last) continue;
    const bool assigned = assigns(token(i + 1).text) || token(i - 1).is("++") || token(i - 1).is("--");
    const std::string name(symbol->name);
    if (!assigned || named.contains(name)) continue;
    // The variable of an inner loop is set before it is read.
    const bool counts = token(i - 1).is("(") && token(i - 2).is("for") && i > s.open + 1;
    (counts ? own : copied).insert(name);
  }
  std::string text;
  for (const std::string& name : own) text += " private(" + name + ")";
  for (const std::string& name : copied)
    if (!own.contains(name) && name != token(s.open + 1).text) text += " firstprivate(" + name + ")";
  return text;
}

// acc loop is OpenMP's `parallel for` where nothing around is shared out yet, and `simd` where it is
// innermost.
std::string Emitter::openmp(const Statement& s, const AccDirective& acc) {
  if (s.kind != Statement::Kind::loop)
    throw Fault{program_.place(s.tokens.first), "acc " + acc.name + " stands in front of what is no `for`"};
  if (acc.find("seq")) return "";
  const AccClause* collapse = acc.find("collapse");
  const std::string levels = collapse && !collapse->arguments.empty() ? collapse->arguments[0].text : "1";
  const bool innermost = is_innermost(s, std::atoi(levels.c_str()));
  if (shared_out_ && !innermost) return "";
  std::string line = shared_out_ ? "#pragma omp simd"
                     : innermost ? "#pragma omp parallel for simd"
                                 : "#pragma omp parallel for";
  if (levels != "1") line += " collapse(" + levels + ")";
  std::string copied;
  for (const AccClause& clause : acc.clauses) {
    const std::string& name = clause.name.text;
    if (name == "reduction") line += " reduction(" + clause.operation + ":" + list_of(clause) + ")";
    if (name == "private") line += " private(" + list_of(clause) + ")";
    if (name == "firstprivate" && !shared_out_) line += " firstprivate(" + list_of(clause) + ")";
  }
  return line + (shared_out_ ? "" : private_scalars(s, acc));
}

}  // namespace tca::xacc
