// What directives declare, with names resolved and their rules checked: nodes, templates and distributed
// arrays.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace tca::xacc {

struct Nodes {
  std::string name;
  const NodesDirective* directive = nullptr;
  Nodes* of = nullptr;
  bool file = false;                                      // declared outside of functions
  std::string c() const { return "xacc_nodes_" + name; }  // its variable in the translated program
};

struct Template {
  std::string name;
  const TemplateDirective* directive = nullptr;
  const DistributeDirective* distribute = nullptr;
  Nodes* onto = nullptr;
  std::vector<int> node_dims = {};  // of each dimension: -1 where it is not distributed
  bool file = false;
  bool cyclic(int dim) const {
    return dim >= 0 && distribute &&
           distribute->formats[static_cast<std::size_t>(dim)].kind == Format::Kind::cyclic;
  }
  std::string c() const { return "xacc_template_" + name; }
};

struct Array {
  enum class Storage { own, allocated, given };
  Symbol* symbol = nullptr;
  Template* with = nullptr;
  const AlignDirective* align = nullptr;
  const ShadowDirective* shadow = nullptr;
  Storage storage = Storage::own;
  std::size_t rank = 0;                 // dimensions
  std::vector<int> template_dims = {};  // -1: on none
  std::vector<std::string> offsets = {};
  int pragma = -1;       // the first that declares it
  int last_pragma = -1;  // and the last, where it is made
  // Whether a rank has all of a dimension in its memory, or every so many of its elements, one behind the other.
  bool full(std::size_t dim) const { return shadow && shadow->widths[dim].full; }
  bool slotted(std::size_t dim) const { return with->cyclic(template_dims[dim]) && !full(dim); }
  std::string c() const { return "xacc_array_" + symbol->identifier(); }
};

struct Objects {
  std::deque<Nodes> nodes = {};
  std::deque<Template> templates = {};
  std::deque<Array> arrays = {};
};

// Resolves the declaring directives of a program in order, and leaves objects in its scopes and symbols. What
// is wrong is added to `faults`; the directives concerned are then as if they were not there.
Objects resolve(Program& program, std::vector<Fault>& faults);

// Finds what is declared; throw Fault, with what there is.
Nodes& find_nodes(const Scope& scope, const Name& name);
Template& find_template(const Scope& scope, const Name& name);
Array& find_array(const Scope& scope, const Name& name);
Nodes* try_nodes(const Scope& scope, const std::string& name);
Template* try_template(const Scope& scope, const std::string& name);

}  // namespace tca::xacc
