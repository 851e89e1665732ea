// An assignment of sections becomes loops: with `array` over what this rank owns of the left side, and without a
// directive, of arrays that are not distributed, over all of it.
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
    text += (text.empty() ? "" : " ") + text_of({i, i + 1});
    const bool named = token(i).kind == TokenKind::word && token(i + 1).is("[");
    if (!named) {
      ++i;
      continue;
    }
    const Array* array = program_.uses[i] ? program_.uses[i]->array : nullptr;
    const Subscripts subscripts = subscripts_behind(i, tokens.last);
    std::size_t loop = 0;
    for (std::size_t d = 0; d < subscripts.all.size(); ++d) {
      const Subscripted& s = subscripts.all[d];
      const bool section = s.parts.size() > 1;
      if (section && loop == loops.size())
        throw Fault{place, "a section on the right has more dimensions than the one on the left"};
      const std::string index =
          section ? element_of(s, loops[loop++]) : with_indices(s.parts[0], loops, place);
      text += "[" + (array && d < array->rank && array->slotted(d) ? slot_of(*array, d, index) : index) + "]";
    }
    if (loop > 0 && loop != loops.size())
      throw Fault{place, "a section on the right has fewer dimensions than the one on the left"};
    i = subscripts.end;
  }
  return text;
}

std::string Emitter::slot_of(const Array& array, std::size_t dim, const std::string& index) const {
  return "xacc_slot(&" + array.with->c() + ".dim[" + std::to_string(array.template_dims[dim]) + "], " +
         array.offsets[dim] + " + (" + index + "))";
}

// The loop over a section of dimension `d`, as far as this rank owns it.
std::string Emitter::section_loop(const Symbol& symbol, std::size_t d, const Subscripted& s,
                                  const ArrayLoop& loop, Place place) const {
  const Array* array = symbol.array;
  const int t = array ? array->template_dims[d] : -1;
  const std::string own = t < 0 ? "" : array->with->c() + ".dim[" + std::to_string(t) + "]",
                    count = part_of(s, 1, ""),
                    end = count.empty() ? "" : loop.base + " + " + count + " * " + loop.step;
  const std::string head = " for (int64_t " + loop.index + " = ";
  if (t < 0) {
    const std::size_t rank =
        array ? array->rank : symbol.dims.size() + static_cast<std::size_t>(symbol.pointers);
    const std::size_t pointers = rank - symbol.dims.size();
    if (count.empty() && d < pointers)
      throw Fault{place, "`" + std::string(symbol.name) + "` is a pointer, whose elements are not counted",
                  "say how many there are, such as " + std::string(symbol.name) + "[0:N]"};
    return head + loop.base + "; " + loop.index + " < " +
           (count.empty() ? "(" + text_of(symbol.dims[d - pointers]) + ")" : end) + "; " + loop.index +
           " += " + loop.step + ")";
  }
  const std::string shift = " - (" + array->offsets[d] + ")", whole = own + ".end" + shift;
  const std::string until = "; " + loop.index + " < " +
                            (end.empty() ? whole : "xacc_min(" + end + ", " + whole + ")") + "; " +
                            loop.index;
  if (array->with->cyclic(t)) {
    const std::string next = "xacc_next(&" + own + ", " + array->offsets[d] + ", ";
    return head + next + loop.base + ", " + loop.step + ")" + until + " = " + next + loop.index + " + " +
           loop.step + ", " + loop.step + "))";
  }
  return head + "xacc_first(" + loop.base + ", " + own + ".begin" + shift + ", " + loop.step + ")" + until +
         " += " + loop.step + ")";
}

// Whether a statement assigns to a section: NAME[...:...] = ...
bool Emitter::assigns_section(const Statement& s) const {
  const Symbol* symbol = s.tokens.empty() ? nullptr : program_.uses[s.tokens.first];
  if (s.kind != Statement::Kind::simple || !symbol || symbol->kind == Symbol::Kind::function) return false;
  const Subscripts left = subscripts_behind(s.tokens.first, s.tokens.last);
  bool section = false;
  for (const Subscripted& subscript : left.all) section = section || subscript.parts.size() > 1;
  return section && token(left.end).is("=") && !reference_within(s.tokens);
}

void Emitter::array_assignment(const Statement& s, const Directive& directive) {
  const Symbol* symbol = program_.uses[s.tokens.first];
  if (!assigns_section(s) || !symbol->array)
    throw Fault{directive.place,
                "array says something about an assignment to a section of a distributed array, and there "
                "is none behind it",
                "write it as A[:] = EXPRESSION;"};
  assign_sections(s, directive.place);
}

void Emitter::assign_sections(const Statement& s, Place place) {
  const std::size_t name = s.tokens.first;
  const Symbol& symbol = *program_.uses[name];
  const Subscripts left = subscripts_behind(name, s.tokens.last);
  const std::size_t rank =
      symbol.array ? symbol.array->rank : symbol.dims.size() + static_cast<std::size_t>(symbol.pointers);
  if (left.all.size() != rank)
    throw Fault{place, "`" + std::string(symbol.name) + "` has " + std::to_string(rank) +
                           " dimensions, and " + std::to_string(left.all.size()) + " subscripts are given"};
  std::vector<ArrayLoop> loops;
  std::string text = "{" + hoist(s.tokens);
  for (std::size_t d = 0; d < left.all.size(); ++d) {
    if (left.all[d].parts.size() < 2) continue;
    loops.push_back({unique("index"), part_of(left.all[d], 0, "0"), part_of(left.all[d], 2, "1")});
    text += section_loop(symbol, d, left.all[d], loops.back(), place);
  }
  edits_.replace(token(s.tokens.first).begin, token(s.tokens.last - 1).end,
                 text + " " + with_indices({name, s.tokens.last}, loops, place) + " }");
}

}  // namespace tca::xacc
