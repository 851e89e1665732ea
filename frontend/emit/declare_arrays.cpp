// Distributed arrays leave their declaration, and are made where the last directive about them stands.
#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

bool storage_word(std::string_view word) {
  return word == "static" || word == "extern" || word == "typedef" || word == "register" || word == "auto";
}

}  // namespace

Emitter::Declared Emitter::declare_arrays(int pragma, const Directive& directive) const {
  Declared made;
  for (const Array& array : objects_.arrays) {
    if (array.pragma == pragma && array.storage == Array::Storage::given)
      made.variable += "xacc_array " + array.c() + " __attribute__((cleanup(xacc_array_leave))) = {0};";
    if (array.last_pragma == pragma && !array.symbol->is_extern && array.symbol->member.empty())
      made.statement += make_array(array, directive);
  }
  return made;
}

std::string Emitter::make_array(const Array& array, const Directive& directive) const {
  std::vector<std::string> extents;
  std::string aligns;
  const std::size_t missing = array.rank - array.symbol->dims.size();
  for (std::size_t d = 0; d < array.rank; ++d) {
    const bool known = d >= missing && !array.symbol->dims[d - missing].empty() &&
                       array.storage != Array::Storage::allocated;
    extents.push_back(known ? "(" + text_of(array.symbol->dims[d - missing]) + ")" : "-1");
    const Width* width = array.shadow ? &array.shadow->widths[d] : nullptr;
    const std::string low = !width ? "0" : width->full ? "xacc_rest" : "(" + width->low.text + ")";
    const std::string high = !width ? "0" : width->full ? "xacc_rest" : "(" + width->high.text + ")";
    aligns += (d ? ", {" : "{") + std::to_string(array.template_dims[d]) + ", " + array.offsets[d] + ", " +
              low + ", " + high + "}";
  }
  static constexpr const char* storages[] = {"XACC_OWN", "XACC_ALLOCATED", "XACC_GIVEN"};
  const bool given = array.storage == Array::Storage::given;
  const std::string element = element_type(*array.symbol);
  return "xacc_array_make(&" + array.c() + ", " + quoted(array.symbol->name) + ", sizeof(" + element + "), " +
         type_of("*(" + element + "*)0") + ", " + std::to_string(array.rank) + ", " + numbers(extents) +
         ", &" + array.with->c() + ", (const xacc_align[]){" + aligns + "}, " +
         storages[static_cast<int>(array.storage)] + ", " +
         (given ? "(void*)" + std::string(array.symbol->name) : "0") + ", " + place_of(directive) + ");";
}

std::string Emitter::storage(const Symbol& symbol, bool file) const {
  const std::string name = "xacc_array " + symbol.array->c();
  if (symbol.is_extern) return " extern " + name + ";";
  if (symbol.is_static) return " static " + name + ";";
  return " " + name + (file ? ";" : " __attribute__((cleanup(xacc_array_leave))) = {0};");
}

// Distributed members of a variable are arrays beside it, made where it is declared.
void Emitter::declare_members(const Symbol& variable, const Declaration& declaration, bool file) {
  for (const Symbol* member : variable.members) {
    if (!member->array) continue;
    const Array& array = *member->array;
    const std::string make =
        member->is_extern
            ? ""
            : " " + make_array(array, *program_.directives[static_cast<std::size_t>(array.pragma)]);
    edits_.insert(token(declaration.tokens.last - 1).end, storage(*member, file) + (file ? "" : make));
    if (file) set_up_ += make;
  }
}

// Distributed arrays leave their declaration, which goes on without them.
void Emitter::replace_declaration(const Declaration& declaration, bool file) {
  std::string variables;
  std::size_t kept = 0;
  for (const Symbol* symbol : declaration.symbols) {
    declare_members(*symbol, declaration, file);
    if (!symbol->array) {
      ++kept;
      if (symbol->coarray) replace_coarray(*symbol, file);
      continue;
    }
    if (!symbol->initial.empty() && symbol->array->storage == Array::Storage::own)
      throw Fault{program_.place(symbol->token),
                  "a distributed array cannot be initialised where it is declared",
                  "set its elements in a loop with #pragma xmp loop"};
    variables += storage(*symbol, file);
  }
  if (variables.empty()) return;
  const Range all = declaration.tokens;
  const std::string specifiers = text_of(declaration.specifiers);
  if (kept == 0 && specifiers.find('{') == specifiers.npos) {
    edits_.replace(token(all.first).begin, token(all.last - 1).end, variables.substr(1));
    return;
  }
  std::size_t written = 0;
  for (const Symbol* symbol : declaration.symbols) {
    std::size_t begin = token(symbol->declarator.first).begin;
    std::size_t end = token(symbol->declarator.last - 1).end;
    if (!symbol->array) {
      ++written;
    } else {
      if (written > 0) begin = token(symbol->declarator.first - 1).begin;  // with the comma in front of it
      if (written == 0 && kept > 0) end = token(symbol->declarator.last).end;  // or behind it
      edits_.replace(begin, end, "");
    }
  }
  edits_.insert(token(all.last - 1).end, variables);
}

std::string Emitter::element_type(const Symbol& symbol) const {
  std::string type;
  int depth = 0;
  for (std::size_t i = symbol.specifiers.first; i < symbol.specifiers.last; ++i) {
    const std::string_view word = token(i).text;
    if (token(i).is("{") && depth++ == 0 && type.ends_with("struct"))
      throw Fault{program_.place(i), "the elements of a distributed array have a structure without a name",
                  "give it one: struct NAME { ... }"};
    if (depth == 0 && !storage_word(word)) type += (type.empty() ? "" : " ") + std::string(word);
    if (token(i).is("}")) --depth;
  }
  const int stars =
      symbol.pointers - static_cast<int>(symbol.array ? symbol.array->rank - symbol.dims.size() : 0);
  for (int i = 0; i < stars; ++i) type += "*";
  return type;
}

}  // namespace tca::xacc
