// What directives have in common: references, widths, formats and the clauses of communication.
#pragma once

#include "parse/cursor.hpp"

namespace tca::xacc {

Ref parse_ref(Cursor& at, std::string_view what);
Subscript parse_subscript(Cursor& at);
std::vector<Name> parse_names(Cursor& at, std::string_view what);  // a, b, c.d
std::vector<Name> parse_names_in_brackets(Cursor& at, std::string_view what);
Width parse_width(Cursor& at, std::string_view mark);
std::vector<Format> parse_formats(Cursor& at, Form* form);
std::vector<Bound> parse_bounds(Cursor& at, Form* form);
// `+: a, b` up to the bracket that closes.
ReductionClause parse_reduction(Cursor& at);

// Tries each clause that `parse` knows until the directive is over; it returns false for others. `profile` is for the
// tools of another compiler.
template <class Parse>
void parse_clauses(Cursor& at, Parse parse) {
  while (!at.done()) {
    at.accept(",");
    if (!at.accept("profile") && !parse()) at.fail("`" + std::string(at.peek().text) + "` is no clause of this directive");
  }
}

// `async(id)`
bool accept_async(Cursor& at, Expr& id);
// `on REF` and `from REF`
bool accept_ref(Cursor& at, std::string_view word, std::optional<Ref>& ref);
bool accept_flag(Cursor& at, std::string_view word, bool& flag);

}  // namespace tca::xacc
