// Subscripts that count from this rank's part, as other compilers have it.
#include "emit/emitter.hpp"

namespace tca::xacc {

// The variables of the loops within a range that directives share out.
std::set<std::string> Emitter::loop_variables(Range tokens) const {
  std::set<std::string> indices;
  for (std::size_t i = tokens.first; i < tokens.last; ++i) {
    if (token(i).kind != TokenKind::pragma) continue;
    const auto& directive = program_.directives[static_cast<std::size_t>(token(i).pragma)];
    const auto* loop = directive ? std::get_if<LoopDirective>(&directive->body) : nullptr;
    if (!loop) continue;
    for (const Subscript& s : loop->on.subscripts)
      if (s.kind == Subscript::Kind::index) indices.insert(split_index(s.base.text).first);
  }
  return indices;
}

// A subscript of a distributed dimension that has none of the variables of loops that are shared out, of this
// one or of those within it, counts from this rank's part.
void Emitter::count_locally(Range tokens, const std::set<std::string>& indices) {
  for (std::size_t i = tokens.first; i < tokens.last; ++i) {
    const Symbol* symbol = program_.uses[i];
    if (!symbol || !symbol->array || !hoisted(i, symbol)) continue;
    const Array& array = *symbol->array;
    std::size_t at = i + 1;
    for (std::size_t d = 0; d < array.rank && token(at).is("["); ++d) {
      const std::size_t first = ++at;
      bool counts = false;
      for (int depth = 1; at < tokens.last; ++at) {
        depth += token(at).is("[") ? 1 : token(at).is("]") ? -1 : 0;
        if (depth == 0) break;
        counts = counts || indices.contains(std::string(token(at).text));
      }
      const int t = array.template_dims[d];
      if (counts || t < 0 || array.slotted(d) || array.full(d) ||
          array.with->node_dims[static_cast<std::size_t>(t)] < 0) {
        ++at;
        continue;
      }
      Place place = program_.place(i);
      warn({place,
            "the subscript `" + text_of({first, at}) + "` of `" + std::string(symbol->name) +
                "` has none of the loop's variables: it counts from this rank's part",
            "-findex=global makes it count from the array's beginning"});
      edits_.insert(token(first).begin, "(");
      edits_.insert(token(at - 1).end, ") + " + array.with->c() + ".dim[" + std::to_string(t) +
                                           "].begin - (" + array.offsets[d] + ")");
      ++at;
    }
  }
}

}  // namespace tca::xacc
