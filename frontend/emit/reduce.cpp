// Reductions, as a directive and as a clause.
#include "emit/emitter.hpp"

namespace tca::xacc {

// The number of a type, found by the compiler.
std::string type_of(const std::string& value) {
  return "_Generic((" + value +
         "), float: XACC_FLOAT, double: XACC_DOUBLE, long double: XACC_LONG_DOUBLE, char: XACC_INT8, signed "
         "char: XACC_INT8, short: XACC_INT16, int: XACC_INT32, long: XACC_INT64, long long: XACC_INT64, "
         "unsigned char: XACC_UINT8, unsigned short: XACC_UINT16, unsigned: XACC_UINT32, unsigned long: "
         "XACC_UINT64, unsigned long long: XACC_UINT64, float _Complex: XACC_COMPLEX_FLOAT, double _Complex: "
         "XACC_COMPLEX_DOUBLE, default: XACC_OTHER)";
}

std::string operation_of(const ReductionClause& clause) {
  static const std::map<std::string, std::string> names{
      {"+", "XACC_SUM"},        {"-", "XACC_SUM"},      {"*", "XACC_PRODUCT"},    {"max", "XACC_MAX"},
      {"min", "XACC_MIN"},      {"&", "XACC_BIT_AND"},  {"|", "XACC_BIT_OR"},     {"^", "XACC_BIT_XOR"},
      {"&&", "XACC_AND"},       {"||", "XACC_OR"},      {"firstmax", "XACC_MAX"}, {"lastmax", "XACC_MAX"},
      {"firstmin", "XACC_MIN"}, {"lastmin", "XACC_MIN"}};
  return names.at(clause.operation);
}

namespace {

// Of several nodes that have the greatest or the least value, the one that counts.
std::string choice_of(const ReductionClause& clause) {
  if (clause.operation.starts_with("first")) return "XACC_FIRST_PLACE";
  return clause.operation.starts_with("last") ? "XACC_LAST_PLACE" : "XACC_FIRST_NODE";
}

}  // namespace

std::string Emitter::communicate(const ReductionDirective& d, const Directive& directive,
                                 const Scope& scope) {
  return reduce(d.what, on(d.on, scope, directive), d.acc, directive, scope);
}

std::string Emitter::reduce(const ReductionClause& clause, const std::string& on, bool acc,
                            const Directive& directive, const Scope& scope) {
  std::string text = "{";
  for (std::size_t v = 0; v < clause.variables.size(); ++v) {
    const Name& name = clause.variables[v];
    const Symbol* symbol = scope.find(name.text);
    if (!symbol) throw Fault{name.place, "`" + name.text + "` is not declared here"};
    if (!clause.locations[v].empty()) {
      text += reduce_with_places(clause, v, *symbol, on, directive, scope);
      continue;
    }
    const std::string among = ", " + operation_of(clause) + ", " + on + ", " + flags_of(acc) + ", ";
    const Memory memory = memory_of(*symbol, name.place);
    if (symbol->array) {
      text += " xacc_reduce_array(&" + symbol->array->c() + ", " +
              type_of("*(" + element_type(*symbol) + "*)0") + among + place_of(directive) + ");";
      continue;
    }
    std::string site;
    text += declare_site(directive, site) + " xacc_reduce(" + memory.address + ", " + memory.bytes +
            " / sizeof(" + memory.element + "), " + type_of(memory.element) + among + site + ");";
  }
  return text + " }";
}

// The greatest or the least value, and what the node that has it says about its place.
std::string Emitter::reduce_with_places(const ReductionClause& clause, std::size_t variable,
                                        const Symbol& symbol, const std::string& on,
                                        const Directive& directive, const Scope& scope) {
  const std::string operation = operation_of(clause);
  const Name& name = clause.variables[variable];
  if (operation != "XACC_MAX" && operation != "XACC_MIN")
    throw Fault{name.place,
                "`" + clause.operation + "` has no place: only max and min and the like have one"};
  if (symbol.array || !symbol.dims.empty())
    throw Fault{name.place, "`" + name.text + "` is an array, whose elements have no place together"};
  const std::vector<Ref>& places = clause.locations[variable];
  std::string sections;
  for (const Ref& place : places) sections += (sections.empty() ? "" : ", ") + local_section(place, scope);
  return " xacc_reduce_place(&" + name_of(symbol) + ", " + type_of(name_of(symbol)) + ", " + operation +
         ", " + choice_of(clause) + ", (const xacc_section* const[]){" + sections + "}, " +
         std::to_string(places.size()) + ", " + on + ", " + place_of(directive) + ");";
}

}  // namespace tca::xacc
