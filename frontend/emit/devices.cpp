// Devices of XcalableACC. A rank drives one, so what is said about several holds for that one; what asks for more is
// refused when the program runs, which knows the numbers.
#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

bool is_type(const std::string& name) {
  return name == "nvidia" || name == "host" || name == "default" || name == "not_host";
}

std::string number_of(const Ref& ref) {
  if (ref.subscripts.empty() || !ref.subscripts[0].base) return "0";
  return "(" + ref.subscripts[0].base.text + ")" + (ref.form == Form::round ? " - 1" : "");
}

}  // namespace

void Emitter::find_devices(const Name& name) const {
  std::string known;
  for (const auto& directive : program_.directives) {
    const auto* d = directive ? std::get_if<DevicesDirective>(&directive->body) : nullptr;
    if (!d) continue;
    if (d->name.text == name.text) return;
    known += (known.empty() ? "" : ", ") + d->name.text;
  }
  throw Fault{
      name.place, "there are no devices `" + name.text + "`",
      known.empty() ? "declare them: #pragma acc devices " + name.text + "[*]" : "there are " + known};
}

Emitter::Declared Emitter::declare(const DevicesDirective& d, const Directive& directive) const {
  if (d.of && !is_type(d.of->name.text)) find_devices(d.of->name);
  return {"", "xacc_devices(" + quoted(d.name.text) + ", " + (d.of ? number_of(*d.of) : "0") + ", " +
                  (d.count ? "(" + d.count.text + ")" : "-1") + ", " + place_of(directive) + ");"};
}

// What a directive says of devices is looked at where it is executed.
std::string Emitter::on_device(const AccDirective& acc, const Directive& directive) const {
  std::string text;
  for (const AccClause& clause : acc.clauses) {
    if (clause.name.text == "shadow" && !acc.find("layout"))
      throw Fault{clause.name.place, "shadow says something about a layout, and there is none",
                  "add one: layout([block])"};
    if (clause.name.text != "on_device") continue;
    for (const Ref& ref : clause.variables) text += device_check(ref, directive);
  }
  return text;
}

std::string Emitter::device_check(const Ref& ref, const Directive& directive) const {
  find_devices(ref.name);
  return " xacc_on_device(" + quoted(ref.name.text) + ", " + number_of(ref) + ", " + place_of(directive) +
         ");";
}

}  // namespace tca::xacc
