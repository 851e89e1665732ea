// Finds what directives have declared, or says what there is.
#include "ir/objects.hpp"

namespace tca::xacc {
namespace {

template <class T>
T* look_up(const Scope& scope, const std::string& name, std::map<std::string, T*> Scope::*names) {
  for (const Scope* s = &scope; s; s = s->parent)
    if (const auto at = (s->*names).find(name); at != (s->*names).end()) return at->second;
  return nullptr;
}

template <class T>
std::string declared(const Scope& scope, std::map<std::string, T*> Scope::*names, const std::string& what) {
  std::string all;
  for (const Scope* s = &scope; s; s = s->parent)
    for (const auto& [name, object] : s->*names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "declare it in front of this: #pragma xmp " + what : "there are " + all;
}

}  // namespace

Nodes* try_nodes(const Scope& scope, const std::string& name) { return look_up(scope, name, &Scope::nodes); }
Template* try_template(const Scope& scope, const std::string& name) {
  return look_up(scope, name, &Scope::templates);
}

Nodes& find_nodes(const Scope& scope, const Name& name) {
  if (Nodes* found = try_nodes(scope, name.text)) return *found;
  throw Fault{name.place, "there are no nodes `" + name.text + "`",
              declared(scope, &Scope::nodes, "nodes " + name.text + "[*]")};
}

Template& find_template(const Scope& scope, const Name& name) {
  if (Template* found = try_template(scope, name.text)) return *found;
  throw Fault{name.place, "there is no template `" + name.text + "`",
              declared(scope, &Scope::templates, "template " + name.text + "[N]")};
}

Array& find_array(const Scope& scope, const Name& name) {
  const Symbol* symbol = scope.find(name.text);
  if (symbol && symbol->array) return *symbol->array;
  throw Fault{
      name.place,
      symbol ? "`" + name.text + "` is no distributed array" : "`" + name.text + "` is not declared here",
      "distribute it in front of this: #pragma xmp align " + name.text + "[i] with TEMPLATE[i]"};
}

}  // namespace tca::xacc
