#include <algorithm>

#include "emit/emitter.hpp"

namespace tca::xacc {

// T (*declarator)[n1][n2] with the extents that this rank has.
std::string Emitter::pointer_type(const Array& array, const std::string& declarator) const {
  if (array.rank == 1) return element_type(*array.symbol) + " *" + declarator;
  std::string type = element_type(*array.symbol) + " (*" + declarator + ")";
  for (std::size_t d = 1; d < array.rank; ++d)
    type += "[" + array.c() + ".extent[" + std::to_string(d) + "]]";
  return type;
}

bool Emitter::hoisted(std::size_t at, const Symbol* symbol) const {
  for (const auto& [range, symbols] : hoisted_)
    if (range.first <= at && at < range.last && symbols.contains(symbol)) return true;
  return false;
}

// A subscript counts from the array's origin, so it stays as it is; without one the array is its own memory.
// Of cyclic dimensions a rank has every so many elements, one behind the other: subscripts are looked up
// there, and everywhere where they are to be checked.
void Emitter::rewrite_subscripts(std::size_t at, const Subscripts& subscripts) {
  const Array& array = *program_.uses[at]->array;
  std::size_t open = at + 1;
  for (std::size_t d = 0; d < std::min(array.rank, subscripts.all.size()); ++d) {
    const std::size_t close = subscripts.all[d].parts.back().last;
    std::string before, behind;
    if (array.slotted(d)) {
      before = "xacc_slot(&" + array.with->c() + ".dim[" + std::to_string(array.template_dims[d]) + "], " +
               array.offsets[d] + " + (";
      behind = "))";
    }
    if (choices_.check) {
      before += "xacc_check(&" + array.c() + ", " + std::to_string(d) + ", (";
      behind = "), &(const xacc_place){" + quoted(token(at).file) + ", " + std::to_string(token(at).line) +
               ", " + quoted(token(at).text) + "})" + behind;
    }
    if (!before.empty()) {
      edits_.replace(token(open).begin, token(open).end, "[" + before);
      edits_.replace(token(close).begin, token(close).end, behind + "]");
    }
    open = close + 1;
  }
}

void Emitter::rewrite_name(std::size_t at) {
  const Symbol* symbol = program_.uses[at];
  const Array& array = *symbol->array;
  const auto replace = [&](const std::string& text) { edits_.replace(token(at).begin, token(at).end, text); };
  if (token(at + 1).is("[")) {
    const Subscripts subscripts = subscripts_behind(at, program_.tokens.size() - 1);
    if (choices_.check && subscripts.all.size() >= array.rank) return check_element(at, subscripts);
    rewrite_subscripts(at, subscripts);
    if (hoisted(at, symbol)) {
      if (!symbol->member.empty()) replace(name_of(*symbol));
      return;
    }
    replace("((" + pointer_type(array, "") + ")" + array.c() + ".origin)");
    return;
  }
  const bool in_sizeof =
      at >= 2 && token(at - 1).is("(") && token(at - 2).is("sizeof") && token(at + 1).is(")");
  if (in_sizeof) {
    edits_.replace(token(at - 2).begin, token(at + 1).end, "xacc_bytes(&" + array.c() + ")");
  } else if (token(at + 1).is("=")) {
    replace(array.c() + ".base");
  } else {
    replace("((" + pointer_type(array, "") + ")" + array.c() + ".base)");
  }
}

// A directive within a function is executed where it stands.
void Emitter::check_order(std::size_t at, const Array& array) const {
  const std::size_t made = program_.pragma_tokens[static_cast<std::size_t>(array.last_pragma)];
  for (const Function& f : program_.functions) {
    const Range body = f.body->tokens;
    if (body.first <= at && at < made && made < body.last)
      throw Fault{program_.place(at),
                  "`" + std::string(array.symbol->name) + "` is distributed in line " +
                      std::to_string(token(made).line) + ", behind this",
                  "move its directives in front of this, or out of the function"};
  }
}

void Emitter::rewrite_descriptor(std::size_t at, const Scope& scope) {
  if (!token(at + 1).is("(") || !token(at + 3).is(")")) return;
  const std::string name(token(at + 2).text);
  const Symbol* symbol = program_.uses[at + 2];
  std::string object;
  if (symbol && symbol->array) {
    check_order(at, *symbol->array);
    object = symbol->array->c();
  } else if (const Nodes* nodes = try_nodes(scope, name)) {
    object = nodes->c();
  } else if (const Template* t = try_template(scope, name)) {
    object = t->c();
  } else {
    throw Fault{program_.place(at),
                "xmp_desc_of: `" + name + "` is no distributed array, no nodes and no template",
                "declare it with a directive in front of this"};
  }
  edits_.replace(token(at).begin, token(at + 3).end, "((void*)&" + object + ")");
}

void Emitter::rewrite_names() {
  for (const auto& [at, scope] : program_.descriptors) guarded([&] { rewrite_descriptor(at, *scope); });
  for (std::size_t i = 0; i + 1 < program_.tokens.size(); ++i)
    if (program_.uses[i] && program_.uses[i]->array)
      rewrite_name(i);
    else if (is_watched(i))
      check_variable(i);
    else if (is_free(i))
      edits_.replace(token(i).begin, token(i).end, "xacc_free");
    else if (program_.uses[i] && program_.uses[i]->coarray)
      edits_.replace(token(i).begin, token(i).end, name_of(*program_.uses[i]));
}

// A call of the C library's, not a declaration or a member of that name.
bool Emitter::is_free(std::size_t at) const {
  const Symbol* symbol = program_.uses[at];
  return symbol && symbol->name == "free" && symbol->kind == Symbol::Kind::function &&
         token(symbol->token).system && !token(at).system && token(at + 1).is("(");
}

std::string Emitter::hoist(Range tokens) {
  std::set<const Symbol*> symbols;
  std::string text;
  for (std::size_t i = tokens.first; i < tokens.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol || !symbol->array || !token(i + 1).is("[") || hoisted(i, symbol)) continue;
    const bool inside = symbol->token >= tokens.first && symbol->token < tokens.last;
    if (inside || !symbols.insert(symbol).second) continue;
    const Array& array = *symbol->array;
    text += " " + pointer_type(array, "const " + name_of(*symbol)) + " = (" + pointer_type(array, "") + ")" +
            array.c() + ".origin;";
  }
  hoisted_.emplace_back(tokens, std::move(symbols));
  return text;
}

}  // namespace tca::xacc
