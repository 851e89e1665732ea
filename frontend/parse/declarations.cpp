// The directives that declare: nodes, templates, distributions, arrays.
#include "parse/table.hpp"

namespace tca::xacc {

DirectiveBody parse_nodes(Cursor& at) {
  NodesDirective d;
  d.name = at.name("the name of the nodes");
  d.extents = parse_bounds(at, &d.form);
  if (at.accept("=")) d.of = parse_ref(at, "the nodes of which these are a part");
  return d;
}

DirectiveBody parse_template(Cursor& at) {
  TemplateDirective d;
  d.name = at.name("the name of the template");
  d.bounds = parse_bounds(at, &d.form);
  return d;
}

DirectiveBody parse_template_fix(Cursor& at) {
  TemplateFixDirective d;
  if (at.at("(") || at.at("[")) d.formats = parse_formats(at, &d.form);
  d.name = at.name("the name of the template");
  if (!at.done()) d.bounds = parse_bounds(at, &d.form);
  return d;
}

DirectiveBody parse_distribute(Cursor& at) {
  DistributeDirective d;
  Form form{};
  d.name = at.name("the name of the template");
  d.formats = parse_formats(at, &form);
  at.expect("onto");
  d.onto = at.name("the name of nodes");
  return d;
}

namespace {

AlignSubscript parse_align_subscript(Cursor& at) {
  if (at.accept("*")) return {AlignSubscript::Kind::star};
  if (at.accept(":")) return {AlignSubscript::Kind::colon};
  AlignSubscript s;
  s.index = at.name("a variable, `*` or `:`");
  if (at.at("+") || at.at("-")) s.offset = at.expression(",");
  return s;
}

std::vector<AlignSubscript> parse_align_subscripts(Cursor& at) {
  std::vector<AlignSubscript> all;
  bool found = false;
  const Form form = at.list(&found, [&](Form) { all.push_back(parse_align_subscript(at)); });
  if (!found) at.fail("a variable for each dimension is missing, such as [i][j]");
  return in_c_order(std::move(all), form);
}

}  // namespace

DirectiveBody parse_align(Cursor& at) {
  AlignDirective d;
  const bool names_behind = at.at("[") || at.at("(");
  if (!names_behind) d.arrays = parse_names(at, "the name of an array");
  d.source = parse_align_subscripts(at);
  at.expect("with");
  d.with = at.name("the name of a template");
  d.target = parse_align_subscripts(at);
  if (names_behind) {
    at.expect(":");
    at.expect(":");
    d.arrays = parse_names(at, "the name of an array");
  }
  return d;
}

DirectiveBody parse_shadow(Cursor& at) {
  ShadowDirective d;
  const bool names_behind = at.at("[") || at.at("(");
  if (!names_behind) d.arrays = parse_names(at, "the name of an array");
  bool found = false;
  const Form form = at.list(&found, [&](Form) { d.widths.push_back(parse_width(at, "")); });
  if (!found) at.fail("a width for each dimension is missing, such as [1:1]");
  d.widths = in_c_order(std::move(d.widths), form);
  if (names_behind) {
    at.expect(":");
    at.expect(":");
    d.arrays = parse_names(at, "the name of an array");
  }
  return d;
}

DirectiveBody parse_coarray(Cursor& at) {
  CoarrayDirective d;
  d.variables = parse_names(at, "a variable");
  at.expect(":");
  bool found = false;
  at.list(&found, [&](Form) {
    d.codimensions.push_back(at.expression(","));
    if (!d.codimensions.back()) at.fail("a size or `*` is missing");
  });
  return d;
}

DirectiveBody parse_static_desc(Cursor& at) {
  if (at.accept(":")) at.expect(":");
  return StaticDescDirective{parse_names(at, "a name")};
}

DirectiveBody parse_image(Cursor& at) {
  at.expect("(");
  ImageDirective d{at.name("the name of nodes")};
  at.expect(")");
  return d;
}

}  // namespace tca::xacc
