#include "emit/emitter.hpp"

namespace tca::xacc {

std::string flags_of(bool acc, bool orthogonal) {
  return acc          ? (orthogonal ? "XACC_DEVICE | XACC_ORTHOGONAL" : "XACC_DEVICE")
         : orthogonal ? "XACC_ORTHOGONAL"
                      : "0";
}

namespace {

std::string async_of(const Expr& id) { return id ? "(" + id.text + ")" : "-1"; }

}  // namespace

std::string Emitter::communicate(const Directive& directive, const Scope& scope) {
  if (compute_depth_ > 0)
    throw Fault{directive.place, directive.name + " stands in a compute region",
                "ranks communicate on the host: move it in front of or behind the region"};
  const auto& body = directive.body;
  if (const auto* d = std::get_if<ReflectDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<BarrierDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<ReductionDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<BcastDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<WaitAsyncDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<PostDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<WaitDirective>(&body)) return communicate(*d, directive, scope);
  if (const auto* d = std::get_if<LockDirective>(&body)) return communicate(*d, directive, scope);
  throw Fault{directive.place, "`" + directive.name + "` is not translated yet"};
}

std::string Emitter::communicate(const ReflectDirective& d, const Directive& directive, const Scope& scope) {
  static constexpr const char* calls[] = {"xacc_reflect(&", "xacc_reflect_init(&", "xacc_reflect_do(&",
                                          "xacc_reduce_shadow(&"};
  std::string text = "{";
  for (const Name& name : d.arrays) {
    const Array& array = find_array(scope, name);
    if (!array.shadow)
      throw Fault{name.place, "`" + name.text + "` has no shadow to reflect",
                  "give it one in front of this: #pragma xmp shadow " + name.text + "[1:1]"};
    if (!d.widths.empty() && d.widths.size() != array.rank)
      throw Fault{name.place, "`" + name.text + "` has " + std::to_string(array.rank) + " dimensions, and " +
                                  std::to_string(d.widths.size()) + " widths are given"};
    std::vector<std::string> widths;
    for (const Width& width : d.widths) {
      widths.push_back("(" + width.low.text + ")");
      widths.push_back("(" + width.high.text + ")");
      widths.emplace_back(width.marked ? "1" : "0");
    }
    std::string site = place_of(directive);
    if (d.kind == ReflectDirective::Kind::reflect) text += declare_site(directive, site);
    text += std::string(" ") + calls[static_cast<int>(d.kind)] + array.c();
    if (d.kind != ReflectDirective::Kind::start) text += ", " + (widths.empty() ? "0" : numbers(widths));
    text +=
        ", " + (d.kind == ReflectDirective::Kind::reduce ? type_of("*(" + element_type(*array.symbol) + "*)0")
                                                         : flags_of(d.acc, d.orthogonal));
    if (d.kind != ReflectDirective::Kind::init) text += ", " + async_of(d.async);
    text += ", " + site + ");";
  }
  return text + " }";
}

std::string Emitter::communicate(const BarrierDirective& d, const Directive& directive, const Scope& scope) {
  std::string site;
  const std::string declare = declare_site(directive, site);
  return "{" + declare + " xacc_barrier(" + on(d.on, scope, directive) + ", " + flags_of(d.acc) + ", " +
         site + "); }";
}

// A variable, an array or a section of one that every rank has by itself.
std::string Emitter::local_section(const Ref& ref, const Scope& scope) const {
  const Symbol* symbol = scope.find(ref.name.text);
  if (!symbol) throw Fault{ref.name.place, "`" + ref.name.text + "` is not declared here"};
  if (symbol->array)
    throw Fault{ref.name.place, "`" + ref.name.text + "` is distributed, and sections of it are for gmove"};
  const std::size_t rank = symbol->dims.size();
  if (!ref.subscripts.empty() && ref.subscripts.size() != rank)
    throw Fault{ref.name.place, "`" + ref.name.text + "` has " + std::to_string(rank) + " dimensions, and " +
                                    std::to_string(ref.subscripts.size()) + " subscripts are given"};
  std::string extents, bases, counts, steps;
  for (std::size_t d = 0; d < rank; ++d) {
    const Subscript s = ref.subscripts.empty() ? Subscript{Subscript::Kind::range} : ref.subscripts[d];
    const std::string comma = d ? ", " : "", rest = comma + "xacc_rest";
    extents += comma + "(" + text_of(symbol->dims[d]) + ")";
    bases += s.base ? comma + "(" + s.base.text + ")" : rest;
    counts += s.kind == Subscript::Kind::index ? comma + "1"
              : s.extent                       ? comma + "(" + s.extent.text + ")"
                                               : rest;
    steps += comma + (s.step ? "(" + s.step.text + ")" : "1");
  }
  if (rank == 0) extents = bases = counts = steps = "0";
  const Memory memory = memory_of(*symbol, ref.name.place);
  return "&(const xacc_section){0, (void*)" + memory.address + ", sizeof(" + memory.element + "), " +
         std::to_string(rank) + ", {" + extents + "}, {" + bases + "}, {" + counts + "}, {" + steps + "}}";
}

// An array that is a parameter is a pointer to its first row, and as long as its declaration says.
Emitter::Memory Emitter::memory_of(const Symbol& symbol, Place place) const {
  const std::string name = name_of(symbol);
  Memory memory{"&" + name, "sizeof(" + name + ")", name};
  for (std::size_t d = 0; d < symbol.dims.size(); ++d) memory.element += "[0]";
  if (symbol.array || symbol.kind != Symbol::Kind::parameter || symbol.dims.empty()) return memory;
  if (symbol.dims[0].empty())
    throw Fault{place, "the parameter `" + name + "` does not say how many elements it has",
                "declare it with its size: " + name + "[N]"};
  memory.address = "(void*)" + name;
  memory.bytes = "(" + text_of(symbol.dims[0]) + ") * sizeof(*" + name + ")";
  return memory;
}

std::string Emitter::communicate(const BcastDirective& d, const Directive& directive, const Scope& scope) {
  std::string text = "{" + (d.from_device ? device_check(*d.from_device, directive) : "");
  for (const Ref& variable : d.variables) {
    const Name& name = variable.name;
    const Symbol* symbol = scope.find(name.text);
    if (!symbol) throw Fault{name.place, "`" + name.text + "` is not declared here"};
    const std::string from = d.from ? "(const xacc_on[]){" + on(*d.from, scope, directive) + "}" : "0";
    const std::string among = ", " + from + ", " + on(d.on, scope, directive) + ", " + flags_of(d.acc) + ", ";
    if (!variable.subscripts.empty()) {
      text += " xacc_bcast_section(" + local_section(variable, scope) + among + place_of(directive) + ");";
      continue;
    }
    std::string site;
    text += declare_site(directive, site);
    const Memory memory = memory_of(*symbol, name.place);
    const std::string what = symbol->array
                                 ? symbol->array->c() + ".base, xacc_bytes(&" + symbol->array->c() + ")"
                                 : memory.address + ", " + memory.bytes;
    text += " xacc_bcast(" + what + among + site + ");";
  }
  return text + " }";
}

std::string Emitter::communicate(const WaitAsyncDirective& d, const Directive& directive, const Scope&) {
  std::string text = "{";
  for (const Expr& id : d.ids) text += " xacc_wait_async(" + id.text + ", " + place_of(directive) + ");";
  return text + " }";
}

// Base, count and step of each dimension; nodes of round brackets count from 1.
std::string Emitter::subscripts(const Ref& ref, bool of_nodes) const {
  if (ref.subscripts.empty()) return "0";
  const std::string shift = of_nodes && ref.form == Form::round ? " - 1" : "";
  std::vector<std::string> values;
  for (const Subscript& s : ref.subscripts) {
    const std::string step = s.step ? "(" + s.step.text + ")" : "1";
    if (s.kind == Subscript::Kind::star) {
      values.insert(values.end(), {"xacc_star", "1", "1"});
    } else if (s.kind == Subscript::Kind::index) {
      values.insert(values.end(), {"(" + s.base.text + ")" + shift, "1", "1"});
    } else {
      const std::string base = s.base ? "(" + s.base.text + ")" + shift : "xacc_rest";
      std::string count = s.extent ? "(" + s.extent.text + ")" : "xacc_rest";
      if (s.extent && ref.form == Form::round)
        count = "(" + count + " - (" + (s.base ? s.base.text : "1") + ")) / " + step + " + 1";
      values.insert(values.end(), {base, count, step});
    }
  }
  return numbers(values);
}

std::string Emitter::on(const std::optional<Ref>& ref, const Scope& scope, const Directive& directive) {
  return ref ? on(*ref, scope, directive) : "xacc_on_all()";
}

std::string Emitter::on(const Ref& ref, const Scope& scope, const Directive& directive) {
  if (ref.name.text == "*") return "xacc_on_all()";
  const Template* t = try_template(scope, ref.name.text);
  const Nodes* nodes = t ? nullptr : &find_nodes(scope, ref.name);
  const std::size_t dims = t ? t->directive->bounds.size() : nodes->directive->extents.size();
  if (!ref.subscripts.empty() && ref.subscripts.size() != dims)
    throw Fault{ref.name.place, "`" + ref.name.text + "` has " + std::to_string(dims) + " dimensions, and " +
                                    std::to_string(ref.subscripts.size()) + " subscripts are given"};
  return (t ? "xacc_on_template(&" + t->c() : "xacc_on_nodes(&" + nodes->c()) + ", " + subscripts(ref, !t) +
         ", " + place_of(directive) + ")";
}

}  // namespace tca::xacc
