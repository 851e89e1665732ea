#include "parse/parts.hpp"

#include <algorithm>
#include <array>

namespace tca::xacc {

Subscript parse_subscript(Cursor& at) {
  if (at.at("*") && (at.peek(1).is("]") || at.peek(1).is(")") || at.peek(1).is(","))) {
    at.expect("*");
    return {Subscript::Kind::star};
  }
  Subscript s;
  s.base = at.expression(",:");
  if (at.accept(":")) {
    s.kind = Subscript::Kind::range;
    s.extent = at.expression(",:");
    if (at.accept(":")) s.step = at.expression(",");
  } else if (!s.base) {
    at.fail("a subscript is missing");
  }
  return s;
}

Ref parse_ref(Cursor& at, std::string_view what) {
  Ref ref;
  if (at.at("*")) {
    ref.name = {"*", at.place()};
    at.expect("*");
    return ref;
  }
  ref.name = at.name(what);
  bool found = false;
  std::vector<Subscript> subscripts;
  ref.form = at.list(&found, [&](Form) { subscripts.push_back(parse_subscript(at)); });
  ref.subscripts = in_c_order(std::move(subscripts), ref.form);
  return ref;
}

std::vector<Name> parse_names(Cursor& at, std::string_view what) {
  std::vector<Name> names;
  do {
    names.push_back(at.name(what));
    if (at.accept(".")) names.back().text += "." + at.name("a member").text;
  } while (at.accept(","));
  return names;
}

std::vector<Name> parse_names_in_brackets(Cursor& at, std::string_view what) {
  at.expect("(");
  std::vector<Name> names = parse_names(at, what);
  at.expect(")");
  return names;
}

Width parse_width(Cursor& at, std::string_view mark) {
  Width width;
  if (at.accept("/")) {
    at.expect(mark);
    at.expect("/");
    width.marked = true;
  }
  if (at.at("*") && (at.peek(1).is("]") || at.peek(1).is(")") || at.peek(1).is(","))) {
    at.expect("*");
    width.full = true;
    return width;
  }
  width.low = at.expression(",:");
  if (!width.low) at.fail("a width is missing");
  width.high = at.accept(":") ? at.expression(",") : width.low;
  if (!width.high) at.fail("the width above is missing");
  return width;
}

namespace {

Format parse_format(Cursor& at) {
  Format format;
  format.place = at.place();
  if (at.accept("*")) return format;
  const Name word = at.name("a distribution (*, block, cyclic or gblock)");
  if (word.text == "block")
    format.kind = Format::Kind::block;
  else if (word.text == "cyclic")
    format.kind = Format::Kind::cyclic;
  else if (word.text == "gblock")
    format.kind = Format::Kind::gblock;
  else
    at.fail(word.place, "`" + word.text + "` is no distribution: there are *, block, cyclic and gblock");
  if (at.accept("(")) {
    format.argument = at.expression("");
    at.expect(")");
  } else if (format.kind == Format::Kind::gblock) {
    at.fail("gblock needs an array with the size of each block, or *");
  }
  return format;
}

Bound parse_bound(Cursor& at) {
  Bound bound;
  if ((at.at("*") || at.at(":")) && (at.peek(1).is("]") || at.peek(1).is(")") || at.peek(1).is(","))) {
    at.expect(at.peek().text);
    return bound;
  }
  bound.extent = at.expression(",:");
  if (at.accept(":")) {
    bound.low = bound.extent;
    bound.extent = at.expression(",");
  }
  if (!bound.extent) at.fail("a size is missing");
  return bound;
}

}  // namespace

std::vector<Format> parse_formats(Cursor& at, Form* form) {
  std::vector<Format> formats;
  bool found = false;
  *form = at.list(&found, [&](Form) { formats.push_back(parse_format(at)); });
  if (!found) at.fail("a distribution for each dimension is missing, such as [block]");
  return in_c_order(std::move(formats), *form);
}

std::vector<Bound> parse_bounds(Cursor& at, Form* form) {
  std::vector<Bound> bounds;
  bool found = false;
  *form = at.list(&found, [&](Form) { bounds.push_back(parse_bound(at)); });
  if (!found) at.fail("a size for each dimension is missing, such as [4] or (4)");
  return in_c_order(std::move(bounds), *form);
}

ReductionClause parse_reduction(Cursor& at) {
  static constexpr std::array<std::string_view, 14> known{
      "+", "*", "-", "&", "|", "^", "&&", "||", "max", "min", "firstmax", "firstmin", "lastmax", "lastmin"};
  ReductionClause clause;
  clause.place = at.place();
  clause.operation = std::string(at.peek().text);
  std::transform(clause.operation.begin(), clause.operation.end(), clause.operation.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (std::find(known.begin(), known.end(), clause.operation) == known.end())
    at.fail("`" + std::string(at.peek().text) +
            "` is no reduction: there are + * - & | ^ && || max min firstmax firstmin lastmax lastmin");
  at.expect(at.peek().text);
  at.expect(":");
  do {
    clause.variables.push_back(at.name("a variable"));
    clause.locations.emplace_back();
    if (!at.accept("/")) continue;
    do clause.locations.back().push_back(parse_ref(at, "a variable for the location"));
    while (at.accept(","));
    at.expect("/");
  } while (at.accept(","));
  return clause;
}

bool accept_async(Cursor& at, Expr& id) {
  if (!at.accept("async")) return false;
  at.expect("(");
  id = at.expression("");
  if (!id) at.fail("async needs a number, by which wait_async finds it");
  at.expect(")");
  return true;
}

bool accept_ref(Cursor& at, std::string_view word, std::optional<Ref>& ref) {
  if (!at.accept(word)) return false;
  ref = parse_ref(at, "nodes or a template");
  return true;
}

bool accept_flag(Cursor& at, std::string_view word, bool& flag) {
  if (!at.accept(word)) return false;
  flag = true;
  return true;
}

}  // namespace tca::xacc
