// -fcheck: accesses of distributed arrays, and of what data clauses name, become calls that look at them.
#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

bool changes(std::string_view mark) {
  if (mark == "++" || mark == "--") return true;
  return mark.size() > 1 && mark.ends_with("=") && mark != "==" && mark != "!=" && mark != "<=" &&
         mark != ">=";
}

// Whether a `&` behind this takes an address, and is no operation of two values.
bool in_front_of_value(const Token& token) {
  if (token.kind == TokenKind::word) return token.is("return");
  return token.kind != TokenKind::number && !token.is(")") && !token.is("]");
}

}  // namespace

// All that data clauses name but distributed arrays, which are looked at anyway.
void Emitter::find_device_variables() {
  for (std::size_t i = 0; i < program_.directives.size(); ++i) {
    const auto& directive = program_.directives[i];
    const auto* acc = directive ? std::get_if<AccDirective>(&directive->body) : nullptr;
    const Scope* scope = program_.directive_scopes[i];
    if (!acc || !scope) continue;
    for (const AccClause& clause : acc->clauses) {
      const std::string& name = clause.name.text;
      if (name == "private" || name == "firstprivate" || name == "reduction" || name == "use_device" ||
          name == "on_device" || name == "layout")
        continue;
      for (const Ref& ref : clause.variables) {
        const Symbol* symbol = scope->find(ref.name.text);
        if (symbol && !symbol->array && !symbol->coarray) on_device_.insert(symbol);
      }
    }
  }
}

bool Emitter::is_watched(std::size_t at) const {
  const Symbol* symbol = program_.uses[at];
  return symbol && on_device_.contains(symbol) && symbol->token != at;
}

// What is done to what stands from `name` up to `end`.
std::string Emitter::access_of(std::size_t name, std::size_t end) const {
  for (;;) {  // a member of an element, or an element of that
    if (token(end).is("."))
      end += 2;
    else if (token(end).is("["))
      end = subscripts_behind(end - 1, program_.tokens.size() - 1).end;
    else
      break;
  }
  const Token& before = token(name - 1);
  if (token(end).is("=")) return "XACC_WRITE";
  if (changes(token(end).text) || before.is("++") || before.is("--")) return "XACC_READ | XACC_WRITE";
  const bool address = before.is("&") && in_front_of_value(token(name - 2));
  return address ? "0" : "XACC_READ";
}

std::string Emitter::access_place(std::size_t name, std::size_t end) const {
  return access_of(name, end) + ", &(const xacc_place){" + quoted(token(name).file) + ", " +
         std::to_string(token(name).line) + ", " + quoted(token(name).text) + "}";
}

// a[i][j] is *element(&a, ACCESS, {i, j}): a subscript stays where it is.
void Emitter::check_element(std::size_t name, const Subscripts& subscripts) {
  const Symbol& symbol = *program_.uses[name];
  const Array& array = *symbol.array;
  const std::size_t end = subscripts.all[array.rank - 1].parts.back().last + 1;
  const std::string access = access_of(name, end);
  edits_.replace(token(name).begin, token(name).end,
                 "(*(" + element_type(symbol) + "*)xacc_element(&" + array.c() + ", " + access);
  std::size_t open = name + 1;
  for (std::size_t d = 0; d < array.rank; ++d) {
    const std::size_t close = subscripts.all[d].parts.back().last;
    edits_.replace(token(open).begin, token(open).end, d == 0 ? ", (const int64_t[]){(" : ", (");
    edits_.replace(token(close).begin, token(close).end, ")");
    open = close + 1;
  }
  const std::string place = access_place(name, end);
  edits_.insert(token(end - 1).end, "}, " + place.substr(place.find('&')) + "))");
}

void Emitter::check_variable(std::size_t name) {
  const Symbol& symbol = *program_.uses[name];
  const std::size_t rank = symbol.dims.size() + static_cast<std::size_t>(symbol.pointers);
  const Subscripts subscripts = subscripts_behind(name, program_.tokens.size() - 1);
  if (subscripts.all.size() < rank || token(name - 1).is("sizeof")) return;
  const std::size_t end = rank == 0 ? name + 1 : subscripts.all[rank - 1].parts.back().last + 1;
  std::string element(symbol.name);
  for (std::size_t d = 0; d < rank; ++d) element += "[0]";
  edits_.insert(token(name).begin, "(*(__typeof__(&" + element + "))xacc_touch(&");
  edits_.insert(token(end - 1).end, ", sizeof(" + element + "), " + access_place(name, end) + "))");
}

std::string Emitter::check_scope(bool compute) {
  return " xacc_scope " + unique("scope") +
         " __attribute__((cleanup(xacc_scope_leave), unused)) = xacc_scope_enter(" + (compute ? "1" : "0") +
         ");";
}

}  // namespace tca::xacc
