// What XcalableACC adds to OpenACC: devices, and how arrays lie on several of a node.
#include "parse/table.hpp"

namespace tca::xacc {

DirectiveBody parse_devices(Cursor& at) {
  DevicesDirective d;
  d.name = at.name("the name of the devices");
  const std::vector<Bound> bounds = parse_bounds(at, &d.form);
  if (bounds.size() != 1) at.fail(d.name.place, "devices have one dimension");
  d.count = bounds[0].extent;
  if (at.accept("=")) d.of = parse_ref(at, "a type of devices, or devices of which these are a part");
  return d;
}

// layout([*][block]) of a declaration, layout(a[i][*]) of a loop.
void parse_layout(Cursor& at, AccClause& clause) {
  Form form{};
  if (at.at("[") || at.at("("))
    clause.dims = parse_formats(at, &form).size();
  else
    clause.variables.push_back(parse_ref(at, "an array"));
}

// shadow([1:1][0])
void parse_device_shadow(Cursor& at, AccClause& clause) {
  bool found = false;
  at.list(&found, [&](Form) {
    parse_width(at, "");
    ++clause.dims;
  });
  if (!found) at.fail("a width for each dimension is missing, such as [1:1]");
}

}  // namespace tca::xacc
