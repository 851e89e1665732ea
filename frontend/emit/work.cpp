#include <algorithm>

#include "emit/emitter.hpp"

namespace tca::xacc {

std::string Emitter::task_open(const TaskDirective& d, const Directive& directive, const Scope& scope) {
  const std::string name = unique("task");
  return "{ xacc_task " + name + " __attribute__((cleanup(xacc_task_leave))) = xacc_task_enter(" +
         on(d.on, scope, directive) + ", " + place_of(directive) + "); if (" + name + ".inside)";
}

void Emitter::gmove(const Statement& s, const GmoveDirective& d, const Directive& directive) {
  std::size_t assign = s.tokens.first;
  while (assign < s.tokens.last && !token(assign).is("=")) ++assign;
  if (assign == s.tokens.last)
    throw Fault{directive.place, "gmove moves what the assignment behind it says, and there is none",
                "write it as TO[...] = FROM[...];"};
  const std::string to = section({s.tokens.first, assign}, directive.place, "each side of a gmove");
  const std::string from = section({assign + 1, s.tokens.last - 1}, directive.place, "each side of a gmove");
  const auto on_device = [&](std::size_t name) {
    return d.acc &&
           (d.on_device.empty() || std::any_of(d.on_device.begin(), d.on_device.end(),
                                               [&](const Name& n) { return n.text == token(name).text; }));
  };
  const bool to_there = on_device(s.tokens.first), from_there = on_device(assign + 1);
  std::string flags = to_there && from_there ? "XACC_DEVICE"
                      : to_there             ? "XACC_TO_DEVICE"
                      : from_there           ? "XACC_FROM_DEVICE"
                                             : "0";
  if (d.kind != GmoveDirective::Kind::collective) {
    const bool in = d.kind == GmoveDirective::Kind::in;
    flags += in ? " | XACC_IN" : " | XACC_OUT";
    share(*program_.uses[in ? assign + 1 : s.tokens.first], directive);
  }
  std::string site;
  const std::string declare = declare_site(directive, site);
  edits_.replace(token(s.tokens.first).begin, token(s.tokens.last - 1).end,
                 "{" + declare + " xacc_gmove(" + to + ", " + from + ", " + flags + ", " + site + "); }");
}

// Arrays that some ranks read or write while others do something else are given to them when the program begins.
void Emitter::share(const Symbol& symbol, const Directive& directive) {
  const Array* array = symbol.array;
  if (!task_depth_ || !array || !symbol.scope->is_file || symbol.is_extern ||
      array->storage != Array::Storage::own || !shared_.insert(array).second)
    return;
  share_set_up_ += " xacc_array_share(&" + array->c() + ", " + place_of(directive) + ");";
}

// What a pointer points to reaches as far as its section does.
std::string Emitter::extent_of(const Symbol& symbol, std::size_t dim, const Subscripted& s,
                               Place place) const {
  const auto pointers = static_cast<std::size_t>(symbol.pointers);
  if (pointers > 1)
    throw Fault{place, "`" + name_of(symbol) + "` is a pointer to pointers, whose elements lie anywhere",
                "use an array, or a pointer to one"};
  if (dim >= pointers) return "(" + text_of(symbol.dims[dim - pointers]) + ")";
  const std::string base = part_of(s, 0, "0"), count = s.parts.size() == 1 ? "1" : part_of(s, 1, "");
  if (count.empty())
    throw Fault{place, "`" + name_of(symbol) + "` is a pointer, whose elements are not counted",
                "say how many there are, such as " + name_of(symbol) + "[0:N]"};
  return base + " + " + count + " * " + part_of(s, 2, "1");
}

std::string Emitter::section(Range tokens, Place from, const std::string& role) {
  const Place place = program_.place(tokens.first);
  const Symbol* symbol = tokens.empty() ? nullptr : program_.uses[tokens.first];
  if (!symbol)
    throw Fault{from, role + " is a variable, an array or a section of one",
                "write it as TO[...] = FROM[...];"};
  Subscripts subscripts = subscripts_behind(tokens.first, tokens.last);
  if (subscripts.end != tokens.last)
    throw Fault{place, role + " is a variable, an array or a section of one"};
  const auto pointers = static_cast<std::size_t>(symbol->array ? 0 : symbol->pointers);
  const std::size_t rank = symbol->array ? symbol->array->rank : symbol->dims.size() + pointers;
  if (subscripts.all.empty() && pointers == 0)
    subscripts.all.resize(rank, Subscripted{{{}, {}}});  // the whole
  if (subscripts.all.size() != rank)
    throw Fault{place, "`" + std::string(symbol->name) + "` has " + std::to_string(rank) +
                           " dimensions, and " + std::to_string(subscripts.all.size()) +
                           " subscripts are given"};
  std::string extents, bases, counts, steps;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string comma = d ? ", " : "";
    const Subscripted& s = subscripts.all[d];
    extents += comma + (symbol->array ? "0" : extent_of(*symbol, d, s, place));
    bases += comma + part_of(s, 0, "xacc_rest");
    counts += comma + (s.parts.size() == 1 ? "1" : part_of(s, 1, "xacc_rest"));
    steps += comma + part_of(s, 2, "1");
  }
  if (rank == 0) extents = bases = counts = steps = "0";
  Memory memory = memory_of(*symbol, place);
  if (pointers) {
    memory.address = name_of(*symbol);
    for (std::size_t i = 0; i < pointers; ++i) memory.element += "[0]";
  }
  const std::string what = symbol->array
                               ? "&" + symbol->array->c() + ", 0, sizeof(" + element_type(*symbol) + ")"
                               : "0, (void*)" + memory.address + ", sizeof(" + memory.element + ")";
  return "&(const xacc_section){" + what + ", " + std::to_string(rank) + ", {" + extents + "}, {" + bases +
         "}, {" + counts + "}, {" + steps + "}}";
}

}  // namespace tca::xacc
