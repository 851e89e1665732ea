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

class Resolver {
 public:
  Resolver(Program& program, Objects& objects) : program_(program), objects_(objects) {}

  void resolve(int pragma) {
    const auto index = static_cast<std::size_t>(pragma);
    pragma_ = pragma;
    scope_ = program_.directive_scopes[index];
    if (!scope_) return;  // it stands where no statement can be
    std::visit([this](const auto& d) { declare(d); }, program_.directives[index]->body);
  }

 private:
  void declare(const NodesDirective& d) {
    Nodes& nodes = objects_.nodes.emplace_back(Nodes{d.name.text, &d, nullptr, scope_->is_file});
    if (d.extents.size() > 7) throw Fault{d.name.place, "nodes have up to seven dimensions"};
    if (d.of && d.of->name.text != "*") nodes.of = &find_nodes(*scope_, d.of->name);
    scope_->nodes[d.name.text] = &nodes;
  }

  void declare(const TemplateDirective& d) {
    if (d.bounds.size() > 7) throw Fault{d.name.place, "a template has up to seven dimensions"};
    Template& t = objects_.templates.emplace_back(Template{d.name.text, &d});
    t.file = scope_->is_file;
    scope_->templates[d.name.text] = &t;
  }

  void declare(const DistributeDirective& d) {
    Template& t = find_template(*scope_, d.name);
    Nodes& onto = find_nodes(*scope_, d.onto);
    if (d.formats.size() != t.directive->bounds.size())
      throw Fault{d.name.place,
                  "template `" + t.name + "` has " + std::to_string(t.directive->bounds.size()) +
                      " dimensions, and " + std::to_string(d.formats.size()) + " distributions are given",
                  "give one for each dimension, `*` for those that stay whole"};
    int node_dim = 0;
    std::vector<int> dims;
    for (const Format& format : d.formats)
      dims.push_back(format.kind == Format::Kind::none ? -1 : node_dim++);
    const auto node_dims = static_cast<int>(onto.directive->extents.size());
    if (node_dim != node_dims)
      throw Fault{d.onto.place,
                  std::to_string(node_dim) + " dimensions are distributed, and nodes `" + onto.name +
                      "` have " + std::to_string(node_dims),
                  "as many dimensions must be other than `*` as the nodes have"};
    t.onto = &onto;
    t.distribute = &d;
    t.node_dims = std::move(dims);
  }

  void declare(const AlignDirective& d) {
    for (const Name& name : d.arrays) {
      if (name.text.find('.') == name.text.npos)
        align(d, name, scope_->find(name.text));
      else
        for (Symbol* symbol : members(name)) align(d, name, symbol);
    }
  }

  // What a member, TAG.NAME, is of each variable.
  std::vector<Symbol*> members(const Name& name) {
    std::vector<Symbol*> found;
    for (Symbol& symbol : program_.all_symbols)
      if (symbol.member == name.text) found.push_back(&symbol);
    const std::string tag = name.text.substr(0, name.text.find('.'));
    if (found.empty())
      throw Fault{
          name.place,
          "no variable is a struct " + tag + " with the array `" + name.text.substr(tag.size() + 1) + "`",
          "declare one in this file: struct " + tag + " NAME;"};
    return found;
  }

  void align(const AlignDirective& d, const Name& name, Symbol* symbol) {
    if (!symbol || symbol->kind == Symbol::Kind::type || symbol->kind == Symbol::Kind::function)
      throw Fault{name.place, "`" + name.text + "` is no variable here",
                  "align an array behind its declaration"};
    Template& t = find_template(*scope_, d.with);
    if (!t.distribute)
      throw Fault{d.with.place, "template `" + t.name + "` is not distributed yet",
                  "put #pragma xmp distribute " + t.name + "[block] onto NODES in front of this"};
    Array array{symbol, &t, &d};
    array.rank = d.source.size();
    array.pragma = array.last_pragma = pragma_;
    const std::size_t dims = symbol->dims.size();
    if (symbol->kind == Symbol::Kind::parameter)
      array.storage = Array::Storage::given;
    else if (dims != array.rank)
      array.storage = Array::Storage::allocated;
    if (dims != array.rank && !(dims + 1 == array.rank && symbol->pointers > 0))
      throw Fault{name.place,
                  "`" + name.text + "` has " + std::to_string(dims) + " dimensions, and " +
                      std::to_string(array.rank) + " are aligned",
                  "give a variable, `*` or `:` for each dimension"};
    match(array, d, t);
    objects_.arrays.push_back(std::move(array));
    symbol->array = &objects_.arrays.back();
  }

  // Finds the template's dimension of each of the array's.
  static void match(Array& array, const AlignDirective& d, const Template& t) {
    if (d.target.size() != t.directive->bounds.size())
      throw Fault{d.with.place, "template `" + t.name + "` has " +
                                    std::to_string(t.directive->bounds.size()) + " dimensions, and " +
                                    std::to_string(d.target.size()) + " are given"};
    std::size_t colon = 0;
    for (const AlignSubscript& source : d.source) {
      array.template_dims.push_back(-1);
      array.offsets.emplace_back("0");
      if (source.kind == AlignSubscript::Kind::star) continue;
      for (std::size_t i = source.kind == AlignSubscript::Kind::colon ? colon : 0; i < d.target.size(); ++i) {
        const AlignSubscript& target = d.target[i];
        if (target.kind != source.kind || target.index.text != source.index.text) continue;
        array.template_dims.back() = static_cast<int>(i);
        if (target.offset) array.offsets.back() = "0" + target.offset.text;
        colon = i + 1;
        break;
      }
      if (array.template_dims.back() < 0)
        throw Fault{source.index.place.line > 0 ? source.index.place : d.with.place,
                    "`" + (source.index.text.empty() ? std::string(":") : source.index.text) +
                        "` does not occur behind `with`",
                    "use `*` for a dimension that lies on none of the template's"};
    }
  }

  void declare(const ShadowDirective& d) {
    for (const Name& name : d.arrays) {
      if (name.text.find('.') == name.text.npos)
        shade(d, name, find_array(*scope_, name));
      else
        for (const Symbol* symbol : members(name))
          shade(d, name, find_array(*symbol->scope, {std::string(symbol->name), name.place}));
    }
  }

  void shade(const ShadowDirective& d, const Name& name, Array& array) const {
    if (d.widths.size() != array.rank)
      throw Fault{name.place,
                  "`" + name.text + "` has " + std::to_string(array.rank) + " dimensions, and " +
                      std::to_string(d.widths.size()) + " widths are given",
                  "give a width for each dimension, 0 where there is no shadow"};
    array.shadow = &d;
    array.last_pragma = pragma_;
  }

  void declare(const CoarrayDirective& d) {
    for (const Name& name : d.variables) {
      Symbol* symbol = scope_->find(name.text);
      if (!symbol || symbol->kind != Symbol::Kind::variable)
        throw Fault{name.place, "`" + name.text + "` is no variable here",
                    "make a coarray of it behind its declaration"};
      symbol->coarray = true;
      for (const Expr& size : d.codimensions) symbol->codim_sizes.push_back(size.text);
    }
  }

  void declare(const TemplateFixDirective& d) { find_template(*scope_, d.name); }

  template <class Other>
  void declare(const Other&) {}

  Program& program_;
  Objects& objects_;
  int pragma_ = 0;
  Scope* scope_ = nullptr;
};

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

Objects resolve(Program& program, std::vector<Fault>& faults) {
  Objects objects;
  for (Symbol& symbol : program.all_symbols) symbol.coarray = !symbol.codims.empty();
  Resolver resolver(program, objects);
  for (std::size_t i = 0; i < program.directives.size(); ++i) {
    if (!program.directives[i]) continue;
    try {
      resolver.resolve(static_cast<int>(i));
    } catch (const Fault& fault) {
      faults.push_back(fault);
    }
  }
  return objects;
}

}  // namespace tca::xacc
