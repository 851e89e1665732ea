// What a kernel sees of the host's variables: scalars by value, arrays where they are on the device.
#include <algorithm>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {

bool is_constant(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isdigit(c) || std::isspace(c) ||
           std::string_view("+-*/()uUlL").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

namespace {

// An array whose rows have these extents. What is constant of them, from the last on, is said by the type, so that the
// compiler finds elements with it.
std::string array_parameter(const std::string& element, const std::string& name,
                            const std::vector<std::string>& extents) {
  std::size_t open = extents.size();  // dimensions behind the first that are found at run time
  while (open > 0 && is_constant(extents[open - 1])) --open;
  std::string rows;
  for (std::size_t d = open; d < extents.size(); ++d) rows += "[" + extents[d] + "]";
  if (open > 0) return "const xacc_view<" + element + rows + ", " + std::to_string(open + 1) + "> " + name;
  return rows.empty() ? element + "* " + name : element + " (*" + name + ")" + rows;
}

}  // namespace

// Every variable of the host's that the region names.
void Emitter::capture(Kernel& k, const Statement& s, const Region& r) {
  std::set<const Symbol*> known;
  for (std::size_t i = s.tokens.first; i < s.tokens.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol || symbol->kind == Symbol::Kind::function || symbol->kind == Symbol::Kind::type) continue;
    if (symbol->token >= s.tokens.first && symbol->token < s.tokens.last) continue;
    if (token(i - 1).is(".") || token(i - 1).is("->")) continue;
    if (symbol->array && !token(i + 1).is("["))
      throw Fault{program_.place(i),
                  "`" + std::string(symbol->name) + "` stands in a compute region without a subscript",
                  "write an element, or the address of one: &" + std::string(symbol->name) + "[0]"};
    if (known.insert(symbol).second) capture(k, *symbol, program_.place(i), r);
  }
  for (const auto& [index, clip] : r.clips)
    for (const std::string& bound : {clip.begin, clip.end, clip.inside_begin, clip.inside_end})
      if (!bound.empty()) add_value(k, "const int64_t " + bound, "(void*)&" + bound);
}

void Emitter::add_value(Kernel& k, const std::string& parameter, const std::string& value) {
  k.parameters += ", " + parameter;
  k.values += ", " + value;
}

void Emitter::capture(Kernel& k, const Symbol& symbol, Place place, const Region& r) {
  const std::string name(symbol.name);
  if (!symbol.parameters.empty())
    throw Fault{place, "`" + name + "` is a pointer to a function, which is the host's",
                "call the function by its name"};
  if (element_type(symbol).find("long double") != std::string::npos)
    throw Fault{place, "`" + name + "` is a long double, which GPUs do not have", "make it a double"};
  const Symbol* type = nullptr;
  for (std::size_t i = symbol.specifiers.first; i < symbol.specifiers.last; ++i)
    if (token(i).kind == TokenKind::word)
      if (const Symbol* t = symbol.scope ? symbol.scope->find(token(i).text) : nullptr;
          t && t->kind == Symbol::Kind::type && !token(t->token).system)
        type = t;
  if (type && (!type->dims.empty() || type->pointers > 0))
    throw Fault{place,
                "the type of `" + name + "` is an array or a pointer by another name, `" +
                    std::string(type->name) + "`",
                "declare it with its own brackets or star"};
  surroundings_.need(symbol.specifiers);
  if (symbol.array || !symbol.dims.empty() || symbol.pointers > 0)
    capture_memory(k, symbol, place, r);
  else
    capture_scalar(k, symbol, r);
  // As the region's text names it.
  if (symbol.coarray) k.before += " auto* const " + coarray_address(name) + " = &" + name + ";";
}

void Emitter::capture_scalar(Kernel& k, const Symbol& symbol, const Region& r) {
  const std::string name(symbol.name), there = name_of(symbol), type = element_type(symbol);
  std::string plain = type;
  if (plain.starts_with("const ")) plain = plain.substr(6);
  const bool resident = resident_.contains(name);
  const std::string rows = resident ? unique("at") : "";
  if (resident) {
    k.set_up += " xacc_rows " + rows + " = xacc_rows_of(" + quoted(name) + ", &" + there + ", 1, 0, " +
                k.place_text + ");";
    add_value(k, plain + "* " + rows, "&" + rows + ".data");
  }
  if (const std::string operation = reduction_of(r.loops, name); !operation.empty()) {
    capture_reduction(k, symbol, plain, operation, rows, r);
  } else if (resident) {
    k.before += " " + plain + "& " + name + " = *" + rows + ";";
  } else if (in_clause(r.loops, "private", name)) {
    k.before += " " + plain + " " + name + ";";
  } else {
    add_value(k, type + " " + name, "(void*)&" + there);
  }
}

// Whether every rank has all of a dimension: it is not shared out, or among one node.
bool Emitter::is_whole(const Array& array, std::size_t dim) const {
  const int t = array.template_dims[dim];
  if (t < 0 || array.with->node_dims.empty()) return true;
  const int node_dim = array.with->node_dims[static_cast<std::size_t>(t)];
  if (node_dim < 0) return true;
  const Format::Kind format = array.with->distribute->formats[static_cast<std::size_t>(t)].kind;
  return format == Format::Kind::block &&
         array.with->onto->directive->extents[static_cast<std::size_t>(node_dim)].extent.text == "1";
}

// The extents of all dimensions but the first, as this rank has them; "?" where it only shows when the program runs.
std::vector<std::string> Emitter::row_extents(const Symbol& symbol) const {
  std::vector<std::string> extents;
  const bool rows = is_pointer_to_rows(symbol);
  if (!symbol.array) {
    for (std::size_t d = rows ? 0 : 1; d < symbol.dims.size(); ++d)
      extents.push_back(text_of(symbol.dims[d]));
  } else {
    const Array& array = *symbol.array;
    const std::size_t missing = array.rank - symbol.dims.size();
    for (std::size_t d = 1; d < array.rank; ++d) {
      const bool known = is_whole(array, d) && d >= missing && array.storage != Array::Storage::allocated;
      std::string extent = known ? "(" + text_of(symbol.dims[d - missing]) + ")" : "?";
      if (array.shadow && array.shadow->widths[d].full)
        extent = "?";
      else if (array.shadow)
        extent +=
            " + (" + array.shadow->widths[d].low.text + ") + (" + array.shadow->widths[d].high.text + ")";
      extents.push_back(extent);
    }
  }
  return extents;
}

// T (*a)[n], and not T* a[n].
bool Emitter::is_pointer_to_rows(const Symbol& symbol) const {
  return symbol.pointers == 1 && !symbol.dims.empty() && token(symbol.token - 1).is("*") &&
         token(symbol.token - 2).is("(");
}

void Emitter::capture_memory(Kernel& k, const Symbol& symbol, Place place, const Region& r) {
  const std::string there = name_of(symbol), name = symbol.coarray ? symbol.identifier() : there;
  const bool rows_behind = is_pointer_to_rows(symbol);
  const bool plain_pointer = symbol.dims.empty() && symbol.pointers == 1;
  if (!symbol.array && (symbol.pointers > 1 || (symbol.pointers == 1 && !rows_behind && !plain_pointer)))
    throw Fault{place, "`" + name + "` leads to pointers, whose memory on the device is not known",
                "use an array of rows, such as double (*" + name + ")[N]"};
  std::string element = element_type(symbol);
  if (rows_behind && !symbol.array) element = element.substr(0, element.size() - 1);
  if (plain_pointer && !symbol.array) element = element.substr(0, element.size() - 1);
  if (in_clause(r.loops, "private", name)) {
    k.before += " " + element + " " + name;
    for (const Range dim : symbol.dims) k.before += "[" + text_of(dim) + "]";
    k.before += ";";
    return;
  }
  if (!reduction_of(r.loops, name).empty())
    throw Fault{place, "`" + name + "` is an array, and reductions of arrays are not translated for GPUs",
                "reduce it in a loop over its elements, or write acc atomic"};
  if (plain_pointer && (device_pointers_.contains(name) || in_clause(r.loops, "deviceptr", name)))
    return add_value(k, element + "* " + name, "(void*)&" + name);
  const std::vector<std::string> extents = row_extents(symbol);
  const std::size_t rank = extents.size() + 1;
  const std::string rows = unique("rows");
  bring(k, symbol, place, r);
  if (symbol.array)
    k.set_up +=
        " xacc_rows " + rows + " = xacc_rows_of_array(&" + symbol.array->c() + ", " + k.place_text + ");";
  else
    k.set_up += " xacc_rows " + rows + " = xacc_rows_of(" + quoted(symbol.name) + ", (const void*)" + there +
                ", " + std::to_string(rank) + ", " + (extents.empty() ? "0" : numbers(extents)) + ", " +
                k.place_text + ");";
  add_value(k, array_parameter(element, name, extents), "&" + rows);
}

// Arrays of known size come along where they are not on the device.
void Emitter::bring(Kernel& k, const Symbol& symbol, Place place, const Region& r) {
  const std::string name(symbol.name);
  const bool sized =
      symbol.array || (!symbol.dims.empty() && !is_pointer_to_rows(symbol) && !symbol.dims[0].empty());
  const AccClause* otherwise = r.acc->find("default");
  const std::string kind = otherwise && !otherwise->arguments.empty() ? otherwise->arguments[0].text : "";
  if (kind == "none" && !r.named.contains(name) && !resident_.contains(name))
    throw Fault{place, "`" + name + "` is in no data clause, as default(none) asks for",
                "name it in one: copy(" + name + ")"};
  if (r.named.contains(name) || !sized) return;
  k.items +=
      (k.item_count++ ? ", " : "") + data_item(symbol, {}, kind == "present" ? "XACC_PRESENT" : "XACC_COPY");
}

}  // namespace tca::xacc
