// What directives consist of: names and expressions with their places, nothing resolved. Both bracket forms become one.
// Dimensions are in the order of C, those of round brackets reversed; `Form` is kept where it says how a number counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lex/place.hpp"

namespace tca::xacc {

struct Name {
  std::string text = {};
  Place place = {};
};

// Text of C, to be evaluated where the directive stands; empty where there is none.
struct Expr {
  std::string text = {};
  Place place = {};
  explicit operator bool() const { return !text.empty(); }
};

// Square brackets count from 0 and give lengths, round ones name first and last; nodes count from 1 in the
// latter.
enum class Form { square, round };

// Reverses what was in round brackets.
template <class T>
std::vector<T> in_c_order(std::vector<T> items, Form form) {
  return form == Form::round ? std::vector<T>(items.rbegin(), items.rend()) : items;
}

struct Subscript {
  enum class Kind { index, range, star } kind = Kind::index;
  Expr base = {};    // of a range: empty for its beginning
  Expr extent = {};  // of a range: length or last, by the form; empty for the rest
  Expr step = {};
};

// Nodes, a template or a section of them, or a section of an array; without subscripts it is the whole.
struct Ref {
  Name name;  // "*": the nodes that execute
  Form form = Form::square;
  std::vector<Subscript> subscripts = {};
};

struct Bound {
  Expr low = {};     // where it is given
  Expr extent = {};  // length or last; empty where it is left open, `*` or `:`
};

struct Format {
  enum class Kind { none, block, cyclic, gblock } kind = Kind::none;
  Expr argument = {};
  Place place = {};
};

struct Width {
  Expr low = {};
  Expr high = {};
  bool marked = false;  // /periodic/ or /unbound/
  bool full = false;    // a shadow of `*`
};

struct ReductionClause {
  std::string operation;
  std::vector<Name> variables;
  std::vector<std::vector<Ref>> locations = {};  // of each variable: what goes with it, /a, b[0:n]/
  Place place = {};
};

}  // namespace tca::xacc
