#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

std::string braced(const std::string& expression) { return "(" + expression + ")"; }

// Low and size of each dimension; a size of -1 is fixed later.
std::string bounds_of(const std::vector<Bound>& bounds, Form form) {
  std::vector<std::string> values;
  for (const Bound& bound : bounds) {
    const std::string low = bound.low ? braced(bound.low.text) : form == Form::round ? "1" : "0";
    values.push_back(low);
    if (!bound.extent)
      values.emplace_back("-1");
    else
      values.push_back(bound.low && form == Form::round ? braced(bound.extent.text) + " - " + low + " + 1"
                                                        : braced(bound.extent.text));
  }
  return numbers(values);
}

}  // namespace

bool Emitter::declare(int pragma, const Scope& scope) {
  const Directive& directive = *program_.directives[static_cast<std::size_t>(pragma)];
  Declared made;
  const auto& body = directive.body;
  if (const auto* nodes = std::get_if<NodesDirective>(&body))
    made = declare(*nodes, scope, directive);
  else if (const auto* t = std::get_if<TemplateDirective>(&body))
    made = declare(*t, scope, directive);
  else if (const auto* fix = std::get_if<TemplateFixDirective>(&body))
    made = declare(*fix, scope, directive);
  else if (const auto* d = std::get_if<DistributeDirective>(&body))
    made = declare(*d, scope, directive);
  else if (const auto* devices = std::get_if<DevicesDirective>(&body))
    made = declare(*devices, directive);
  else if (std::holds_alternative<AlignDirective>(body) || std::holds_alternative<ShadowDirective>(body))
    made = declare_arrays(pragma, directive);
  else if (!std::holds_alternative<StaticDescDirective>(body) &&
           !std::holds_alternative<CoarrayDirective>(body))
    return false;
  if (scope.is_file)
    set_up_ += " " + made.statement;
  else
    made.variable += (made.variable.empty() ? "" : " ") + made.statement;
  replace_pragma(pragma, (scope.is_file && !made.variable.empty() ? "static " : "") + made.variable);
  return true;
}

Emitter::Declared Emitter::declare(const NodesDirective& d, const Scope& scope,
                                   const Directive& directive) const {
  const Nodes& nodes = find_nodes(scope, d.name);
  std::vector<std::string> sizes;
  for (const Bound& bound : d.extents)
    sizes.push_back(bound.extent ? braced(bound.extent.text) : "xacc_rest");
  const std::string head = "&" + nodes.c() + ", " + quoted(nodes.name) + ", " + std::to_string(sizes.size()) +
                           ", " + numbers(sizes);
  const std::string part = nodes.of ? ", &" + nodes.of->c() + ", " + subscripts(*d.of, true) : "";
  return {"xacc_nodes " + nodes.c() + ";", (nodes.of ? "xacc_nodes_part(" : "xacc_nodes_make(") + head +
                                               part + ", " + place_of(directive) + ");"};
}

Emitter::Declared Emitter::declare(const TemplateDirective& d, const Scope& scope,
                                   const Directive& directive) const {
  const Template& t = find_template(scope, d.name);
  return {"xacc_template " + t.c() + ";",
          "xacc_template_make(&" + t.c() + ", " + quoted(t.name) + ", " + std::to_string(d.bounds.size()) +
              ", " + bounds_of(d.bounds, d.form) + ", " + place_of(directive) + ");"};
}

Emitter::Declared Emitter::declare(const TemplateFixDirective& d, const Scope& scope,
                                   const Directive& directive) const {
  const Template& t = find_template(scope, d.name);
  if (!d.bounds.empty() && d.bounds.size() != t.directive->bounds.size())
    throw Fault{d.name.place, "template `" + t.name + "` has another number of dimensions"};
  std::string text = d.bounds.empty() ? ""
                                      : "xacc_template_fix(&" + t.c() + ", " + bounds_of(d.bounds, d.form) +
                                            ", " + place_of(directive) + ");";
  if (d.formats.empty()) return {"", text};
  if (!t.onto)
    throw Fault{d.name.place, "template `" + t.name + "` is not distributed yet",
                "put #pragma xmp distribute in front of this"};
  return {"", text + " " + distribution(t, d.formats, directive)};
}

Emitter::Declared Emitter::declare(const DistributeDirective& d, const Scope& scope,
                                   const Directive& directive) const {
  const Template& t = find_template(scope, d.name);
  if (!t.onto) return {};  // what is wrong with it has been said
  return {"", distribution(t, d.formats, directive)};
}

std::string Emitter::distribution(const Template& t, const std::vector<Format>& given,
                                  const Directive& directive) const {
  std::vector<std::string> formats;
  std::string sizes;
  bool listed = false;
  for (const Format& format : given) {
    static constexpr const char* names[] = {"XACC_NONE", "XACC_BLOCK", "XACC_CYCLIC", "XACC_GBLOCK"};
    const bool list = format.kind == Format::Kind::gblock;
    const bool open = list && format.argument.text == "*";  // template_fix will say
    formats.emplace_back(names[static_cast<int>(format.kind)]);
    formats.push_back(format.argument && !list ? braced(format.argument.text) : "0");
    sizes += (sizes.empty() ? "" : ", ") + (list && !open ? format.argument.text : std::string("0"));
    listed = listed || list;
  }
  return "xacc_distribute(&" + t.c() + ", &" + t.onto->c() + ", " + numbers(formats) + ", " +
         (listed ? "(const int* const[]){" + sizes + "}" : "0") + ", " + place_of(directive) + ");";
}

}  // namespace tca::xacc
