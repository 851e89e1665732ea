// Which loops of a region threads share out, and what becomes of them in the kernel.
#include <algorithm>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

// The loop that a loop consists of, if there is nothing else in it.
const Statement* only_loop(const Statement& loop) {
  const Statement* s = loop.children[0].get();
  while (s->kind == Statement::Kind::block && s->children.size() == 1) s = s->children[0].get();
  return s->kind == Statement::Kind::loop ? s : nullptr;
}

int levels_of(const AccDirective& acc) {
  const AccClause* tile = acc.find("tile");
  if (tile) return static_cast<int>(tile->arguments.size());
  const AccClause* collapse = acc.find("collapse");
  return collapse && !collapse->arguments.empty() ? std::atoi(collapse->arguments[0].text.c_str()) : 1;
}

}  // namespace

// The loops, each in the other, that threads share out: those of `collapse`, and those in them that are said to be
// shared out too. `loops` gets what is said about them.
std::vector<const Statement*> Emitter::shared_loops(const Statement& s,
                                                    std::vector<const AccDirective*>& said) const {
  std::vector<const Statement*> loops{&s};
  int levels = 1;
  for (const AccDirective* acc : said) levels = std::max(levels, levels_of(*acc));
  for (;;) {
    for (; levels > 1; --levels) {
      const Statement* inner = only_loop(*loops.back());
      if (!inner)
        throw Fault{program_.place(s.tokens.first),
                    "there are fewer loops directly in each other than collapse says",
                    "leave collapse away, or move what stands between them into the innermost"};
      loops.push_back(inner);
    }
    const Statement* inner = only_loop(*loops.back());
    const AccDirective* more = nullptr;
    bool cyclic = false;
    for (const int pragma : inner ? inner->constructs : std::vector<int>{}) {
      const auto& directive = program_.directives[static_cast<std::size_t>(pragma)];
      if (const AccDirective* acc = acc_of(directive)) more = acc;
      if (const auto* loop = std::get_if<LoopDirective>(&directive->body))
        cyclic = cyclic || is_cyclic(*loop, *inner->scope);
    }
    if (!more || more->find("seq") || cyclic) return loops;
    said.push_back(more);
    loops.push_back(inner);
    levels = levels_of(*more);
  }
}

bool Emitter::is_cyclic(const LoopDirective& d, const Scope& scope) const {
  const Template* t = try_template(scope, d.on.name.text);
  bool cyclic = false;
  for (std::size_t k = 0; t && k < d.on.subscripts.size(); ++k)
    cyclic = cyclic || t->cyclic(static_cast<int>(k));
  return cyclic;
}

// What this rank has of the loops over templates.
void Emitter::clip_region(const Statement& s, const Region& r, Place place) {
  if (r.clips.empty()) return;
  if (choices_.local_indices && !inside_loop_) {
    std::set<std::string> indices = loop_variables(s.tokens);
    for (const auto& [index, clip] : r.clips) indices.insert(index);
    count_locally(s.tokens, indices);
  }
  std::map<std::string, const Statement*> seen;
  clip_loops(s, r.clips, seen);
  for (const auto& [index, clip] : r.clips)
    if (!seen.contains(index))
      throw Fault{place, "there is no loop over `" + index + "` behind this",
                  "the loops of a directive are nested, for (i = FIRST; i < END; i++), one in the other"};
  leave_inside_out(r.clips, seen);
}

// A loop begins at the thread's iteration along an axis of the grid, and goes on by as many as there are threads.
Emitter::SharedLoop Emitter::share_loop(const Statement& loop, std::size_t axis, const Region& r) {
  const Header h = header_of(loop, program_.place(loop.tokens.first));
  const std::string number = "<" + std::to_string(axis) + ">", variable(h.variable);
  const auto clip = r.clips.find(variable);
  const bool cyclic = clip != r.clips.end() && !clip->second.next.empty();
  const std::string skip =
      cyclic ? "xacc_skip(" + clip->second.next.substr(clip->second.next.find('(') + 1) + ", " : "";
  const std::string step = h.down ? "-" + h.step : h.step;
  edits_.insert(token(h.from.first).begin, cyclic ? skip : "xacc_start" + number + "(");
  edits_.replace(token(loop.second_semicolon + 1).begin, token(loop.close - 1).end,
                 cyclic ? variable + " = " + skip + variable + " + " + step + ", " + step + ", xacc_threads" +
                              number + "() - 1)"
                        : variable + " += xacc_stride" + number + "(" + step + ")");
  // An unsigned variable that is counted beyond 0 is above where it began.
  const Token& semicolon = token(loop.second_semicolon);
  if (h.down)
    edits_.replace(semicolon.begin, semicolon.end, " && " + variable + " <= (" + text_of(h.from) + ");");
  return {h, clip == r.clips.end() || cyclic ? nullptr : &clip->second,
          ", " + step + (cyclic ? ", xacc_thread" + number + "())" : ")")};
}

// What changes in the kernel: the last loops become the axes of the grid, behind a warp's threads where there are loops for
// them.
void Emitter::share_out(const Statement& s, const std::vector<const Statement*>& loops, const Region& r,
                        Kernel& k) {
  const std::vector<const Statement*> vectors =
      loops.empty() ? std::vector<const Statement*>{} : vector_loops(*loops.back(), r);
  const std::size_t inner = vectors.empty() ? 0 : 1,
                    first = loops.size() + inner > 3 ? loops.size() + inner - 3 : 0;
  std::vector<SharedLoop> shared;
  for (std::size_t l = first; l < loops.size(); ++l) {
    const std::size_t axis = loops.size() - 1 - l + inner;
    shared.push_back(share_loop(*loops[l], axis, r));
    k.trips[axis] = trips_of(s, shared.back().header, shared.back().clip);
  }
  for (const Statement* loop : vectors) {
    shared.push_back(share_loop(*loop, 0, r));
    reduce_over_warp(*loop, r);
  }
  if (!vectors.empty()) {
    store_once(*loops.back(), s, r);
    k.trips[0] = "32";
    if (k.vector != "0") k.vector = "xacc_max(32, " + k.vector + ")";
  }
  clip_region(s, r, k.place);
  const bool inside_before = inside_loop_;
  inside_loop_ = inside_loop_ || !r.clips.empty();
  for (const auto& child : s.children) statement(*child);
  inside_loop_ = inside_before;
  for (const SharedLoop& loop : shared) edits_.insert(token(loop.header.from.last - 1).end, loop.behind);
}

// How often a loop goes round, where the host knows it: it may depend on loops around it.
std::string Emitter::trips_of(const Statement& region, const Header& h, const Clip* clip) const {
  for (const Range bound : {h.from, h.to})
    for (std::size_t i = bound.first; i < bound.last; ++i) {
      const Symbol* symbol = program_.uses[i];
      const bool inside =
          symbol && symbol->token >= region.tokens.first && symbol->token < region.tokens.last;
      const bool array = symbol && (symbol->array || !symbol->dims.empty() || symbol->pointers > 0);
      if (inside || array || (symbol && is_index(region, *symbol))) return "-1";
    }
  std::string from = "(" + text_of(h.from) + ")", to = "(" + text_of(h.to) + ")";
  const bool inclusive = h.relation == "<=" || h.relation == ">=";
  if (h.down) std::swap(from, to);
  if (!h.down && inclusive) to += " + 1";
  if (h.down) to += " + 1", from += inclusive ? "" : " + 1";
  if (clip) {
    from = "xacc_max(" + from + clip->low + ", " + clip->begin + ")";
    to = "xacc_min(" + to + clip->high + ", " + clip->end + ")";
  }
  return "xacc_trips(" + from + ", " + to + ", " + h.step + ")";
}

// Whether a variable from outside is set by a loop of the region.
bool Emitter::is_index(const Statement& region, const Symbol& symbol) const {
  for (std::size_t i = region.tokens.first; i < region.tokens.last; ++i)
    if (program_.uses[i] == &symbol && token(i - 1).is("(") && token(i - 2).is("for") && token(i + 1).is("="))
      return true;
  return false;
}

}  // namespace tca::xacc
