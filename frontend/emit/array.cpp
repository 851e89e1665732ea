// `array`: an assignment of sections becomes loops over what this rank owns of its left side.
#include "emit/emitter.hpp"

namespace tca::xacc {

// What stands in the brackets behind a name, and where they end.
Emitter::Subscripts Emitter::subscripts_behind(std::size_t name, std::size_t last) const {
  Subscripts result;
  std::size_t at = name + 1;
  while (at < last && token(at).is("[")) {
    Subscripted s;
    s.parts.push_back({at + 1, at + 1});
    int depth = 1;
    for (++at; at < last; ++at) {
      depth += token(at).is("[") || token(at).is("(") ? 1 : token(at).is("]") || token(at).is(")") ? -1 : 0;
      if (depth == 0) break;
      if (depth == 1 && token(at).is(":"))
        s.parts.push_back({at + 1, at + 1});
      else
        s.parts.back().last = at + 1;
    }
    ++at;
    result.all.push_back(s);
  }
  result.end = at;
  return result;
}

std::string Emitter::part_of(const Subscripted& s, std::size_t part, const std::string& otherwise) const {
  return part < s.parts.size() && !s.parts[part].empty() ? "(" + text_of(s.parts[part]) + ")" : otherwise;
}

// The element of a section of the right side that belongs to the loop's index of the left one.
std::string Emitter::element_of(const Subscripted& s, const ArrayLoop& loop) const {
  const std::string base = part_of(s, 0, "0"), step = part_of(s, 2, "1");
  if (base == loop.base && step == loop.step) return loop.index;
  const std::string count =
      "(" + loop.index + " - " + loop.base + ")" + (loop.step == "1" ? "" : " / " + loop.step);
  return base + " + " + count + (step == "1" ? "" : " * " + step);
}

std::string Emitter::with_indices(Range tokens, const std::vector<ArrayLoop>& loops, Place place) const {
  std::string text;
  for (std::size_t i = tokens.first; i < tokens.last;) {
    text += (text.empty() ? "" : " ") + std::string(token(i).text);
    const bool named = token(i).kind == TokenKind::word && token(i + 1).is("[");
    if (!named) {
      ++i;
      continue;
    }
    const Subscripts subscripts = subscripts_behind(i, tokens.last);
    std::size_t loop = 0;
    for (const Subscripted& s : subscripts.all) {
      const bool section = s.parts.size() > 1;
      if (section && loop == loops.size())
        throw Fault{place, "a section on the right has more dimensions than the one on the left"};
      text += "[" + (section ? element_of(s, loops[loop++]) : with_indices(s.parts[0], loops, place)) + "]";
    }
    if (loop > 0 && loop != loops.size())
      throw Fault{place, "a section on the right has fewer dimensions than the one on the left"};
    i = subscripts.end;
  }
  return text;
}

void Emitter::array_assignment(const Statement& s, const Directive& directive) {
  const std::size_t name = s.tokens.first;
  const Symbol* symbol = program_.uses[name];
  const Fault fault{directive.place,
                    "array says something about an assignment to a section of a distributed array, and there "
                    "is none behind it",
                    "write it as A[:] = EXPRESSION;"};
  if (!symbol || !symbol->array) throw fault;
  const Array& array = *symbol->array;
  const Subscripts left = subscripts_behind(name, s.tokens.last);
  if (left.all.size() != array.rank) throw fault;
  std::vector<ArrayLoop> loops;
  std::string text = "{" + hoist(s.tokens);
  for (std::size_t d = 0; d < array.rank; ++d) {
    const Subscripted& subscript = left.all[d];
    const int t = array.template_dims[d];
    if (array.with->cyclic(t))
      throw Fault{directive.place, "`array` is not translated for cyclic distributions yet",
                  "write a loop with #pragma xmp loop"};
    if (subscript.parts.size() < 2) continue;
    const ArrayLoop loop{unique("index"), part_of(subscript, 0, "0"), part_of(subscript, 2, "1")};
    const std::string own = t < 0 ? "" : array.with->c() + ".dim[" + std::to_string(t) + "].",
                      shift = " - (" + array.offsets[d] + ")";
    const std::string whole =
        t < 0 ? "(" + (symbol->dims.size() == array.rank ? text_of(symbol->dims[d]) : std::string("0")) + ")"
              : own + "end" + shift;
    const std::string count = part_of(subscript, 1, "");
    const std::string end = count.empty() ? whole : loop.base + " + " + count + " * " + loop.step;
    text += " for (int64_t " + loop.index + " = " +
            (t < 0 ? loop.base
                   : "xacc_first(" + loop.base + ", " + own + "begin" + shift + ", " + loop.step + ")") +
            "; " + loop.index + " < " + (t < 0 ? end : "xacc_min(" + end + ", " + whole + ")") + "; " +
            loop.index + " += " + loop.step + ")";
    loops.push_back(loop);
  }
  if (loops.empty()) throw fault;
  edits_.replace(token(s.tokens.first).begin, token(s.tokens.last - 1).end,
                 text + " " + with_indices({name, s.tokens.last}, loops, directive.place) + " }");
}

}  // namespace tca::xacc
