#include <cctype>

#include "emit/emitter.hpp"

namespace tca::xacc {

std::pair<std::string, std::string> split_index(const std::string& text) {
  std::size_t end = 0;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  while (end < text.size() && in_word(text[end])) ++end;
  std::size_t rest = end;
  while (rest < text.size() && text[rest] == ' ') ++rest;
  const bool shifted = rest == text.size() || text[rest] == '+' || text[rest] == '-';
  return {shifted ? text.substr(0, end) : "", text.substr(rest)};
}

namespace {

bool listed(const std::vector<Name>& names, const std::string& name) {
  for (const Name& n : names)
    if (n.text == name) return true;
  return names.empty();
}

}  // namespace

// All directives about one loop: what this rank has of the templates, the arrays' origins, and OpenMP's line
// come where the last of them stands.
void Emitter::loops(const Statement& s, const std::vector<int>& pragmas) {
  std::string open = "{", closing, openmp_line;
  bool compute = false;
  std::map<std::string, Clip> found;
  Place place;
  for (const int pragma : pragmas) {
    const Directive& directive = *program_.directives[static_cast<std::size_t>(pragma)];
    place = directive.place;
    if (const auto* loop = std::get_if<LoopDirective>(&directive.body)) {
      open += clips(*loop, *s.scope, found);
      if (compute_depth_ == 0)
        closing += loop_reductions(*loop, *s.scope, directive);
      else if (!loop->reductions.empty())
        throw Fault{loop->reductions[0].place, "a reduction between ranks stands in a compute region",
                    "move the directive in front of the region's"};
    } else if (const auto* acc = std::get_if<AccDirective>(&directive.body)) {
      const bool region = acc->name != "loop";
      open += region ? " " + region_open(*acc, directive, *s.scope) : "";
      closing = (region ? " }" : "") + closing;
      compute = compute || region;
      const bool with_loop = acc->name.find("loop") != acc->name.npos;
      if (with_loop && !in_kernel_) openmp_line = openmp(s, *acc);
    }
    if (pragma != pragmas.back()) replace_pragma(pragma, "");
  }
  if (choices_.check && (compute || !inside_loop_)) open += check_scope(compute);
  open += hoist(s.tokens);
  if (!found.empty() && choices_.local_indices && !inside_loop_) {
    std::set<std::string> indices = loop_variables(s.tokens);
    for (const auto& [index, clip] : found) indices.insert(index);
    count_locally(s.tokens, indices);
  }
  std::map<std::string, const Statement*> seen;
  if (!found.empty()) clip_loops(s, found, seen);
  for (const auto& [index, clip] : found)
    if (!seen.contains(index))
      throw Fault{place, "there is no loop over `" + index + "` behind this",
                  "the loops of a directive are nested, for (i = FIRST; i < END; i++), one in the other"};
  leave_inside_out(found, seen);
  if (choices_.check) openmp_line.clear();  // what is checked runs in one thread
  for (const auto& [index, clip] : found)
    if (!clip.next.empty()) openmp_line.clear();  // OpenMP's loops have a constant step
  const Token& last = token(program_.pragma_tokens[static_cast<std::size_t>(pragmas.back())]);
  if (!openmp_line.empty())
    open += "\n" + openmp_line + "\n# " + std::to_string(last.line + 1) + " " + quoted(last.file);
  replace_pragma(pragmas.back(), open);
  const bool shared_before = shared_out_, inside_before = inside_loop_;
  inside_loop_ = inside_loop_ || !found.empty();
  compute_depth_ += compute ? 1 : 0;
  shared_out_ = shared_out_ || openmp_line.find("parallel") != openmp_line.npos;
  for (const auto& child : s.children) statement(*child);
  shared_out_ = shared_before;
  inside_loop_ = inside_before;
  compute_depth_ -= compute ? 1 : 0;
  edits_.insert(token(s.tokens.last - 1).end, closing + " }");
}

// Declares what this rank has of each dimension that a loop goes over.
std::string Emitter::clips(const LoopDirective& d, const Scope& scope, std::map<std::string, Clip>& found) {
  const Template* t = try_template(scope, d.on.name.text);
  const Nodes* nodes = t ? nullptr : &find_nodes(scope, d.on.name);
  const std::size_t dims = t ? t->directive->bounds.size() : nodes->directive->extents.size();
  if (d.on.subscripts.size() != dims)
    throw Fault{d.on.name.place,
                "`" + d.on.name.text + "` has " + std::to_string(dims) + " dimensions, and " +
                    std::to_string(d.on.subscripts.size()) + " subscripts are given",
                "give a loop variable or `*` for each"};
  std::string text;
  for (std::size_t k = 0; k < dims; ++k) {
    const Subscript& s = d.on.subscripts[k];
    if (s.kind != Subscript::Kind::index) continue;
    const auto [index, offset] = split_index(s.base.text);
    if (index.empty() || std::isdigit(static_cast<unsigned char>(index[0])) != 0)
      throw Fault{s.base.place, "`" + s.base.text + "` is none of the loop's variables",
                  "write a loop variable, with a constant added at most, or `*`"};
    if (!listed(d.indices, index)) continue;  // the directive says nothing about that loop
    const std::string dim = std::to_string(k), shift = offset.empty() ? "" : " - (0" + offset + ")";
    const std::string one = d.on.form == Form::round ? " + 1" : "";
    const std::string own = t ? t->c() + ".dim[" + dim + "]." : nodes->c() + ".at[" + dim + "]" + one;
    Clip clip{t ? own + "begin" + shift : own + shift,
              t ? own + "end" + shift : own + " + " + nodes->c() + ".inside" + shift};
    if (t && t->cyclic(static_cast<int>(k)))
      clip.next = "xacc_next(&" + t->c() + ".dim[" + dim + "], 0" + offset;
    text += widened(d, k, clip);
    found[index] = clip;
  }
  for (const Name& index : d.indices)
    if (!found.contains(index.text))
      throw Fault{index.place, "`" + index.text + "` occurs in no subscript behind `on`",
                  "write it for the template's dimension that its loop goes along"};
  return text;
}

// Declares how far a loop goes along dimension `dim`, and where it leaves out what lies inside of a margin.
std::string Emitter::widened(const LoopDirective& d, std::size_t dim, Clip& clip) {
  const std::vector<Width> expand = in_c_order(d.expand, d.on.form), margin = in_c_order(d.margin, d.on.form);
  if (!expand.empty() && !margin.empty())
    throw Fault{margin[0].low.place, "a loop has either expand or margin", "write two loops"};
  const std::vector<Width>& widths = margin.empty() ? expand : margin;
  const Width* width = dim < widths.size() ? &widths[dim] : nullptr;
  if (width && !clip.next.empty())
    throw Fault{width->low.place, "a cyclic distribution has no neighbours to go on to",
                "leave the clause away, or distribute in blocks"};
  const auto declare = [&](const std::string& stem, std::string& value) {
    const std::string name = unique(stem);
    const std::string text = " const int64_t " + name + " = " + value + ";";
    value = name;
    return text;
  };
  if (!width) return declare("begin", clip.begin) + declare("end", clip.end);
  const bool is_margin = !margin.empty();
  const std::string low = "(" + width->low.text + ")", high = "(" + width->high.text + ")";
  const std::string below = is_margin ? "xacc_max(" + low + ", 0)" : low,
                    above = is_margin ? "xacc_max(" + high + ", 0)" : high;
  std::string text;
  if (is_margin) {
    clip.inside_begin = clip.begin + " - xacc_min(" + low + ", 0)";
    clip.inside_end = clip.end + " + xacc_min(" + high + ", 0)";
    text = declare("inside_begin", clip.inside_begin) + declare("inside_end", clip.inside_end);
  }
  if (width->marked) clip.low = " - " + below, clip.high = " + " + above;
  clip.begin += " - " + below;
  clip.end += " + " + above;
  return text + declare("begin", clip.begin) + declare("end", clip.end);
}

// A margin is what a rank has without what is inside along every dimension.
void Emitter::leave_inside_out(const std::map<std::string, Clip>& clips,
                               const std::map<std::string, const Statement*>& loops) {
  std::string outside;
  const Statement* innermost = nullptr;
  for (const auto& [index, clip] : clips) {
    const Statement* loop = loops.at(index);
    if (!innermost || loop->tokens.first > innermost->tokens.first) innermost = loop;
    if (clip.inside_begin.empty()) continue;
    outside += (outside.empty() ? "" : " || ") + index + " < " + clip.inside_begin + " || " + index +
               " >= " + clip.inside_end;
  }
  if (!outside.empty()) edits_.insert(token(innermost->close).end, " if (" + outside + ")");
}

// Loops over part of a template's dimensions reduce among the nodes along these.
Ref Emitter::nodes_along(const LoopDirective& d) {
  Ref whole = d.on;
  for (Subscript& s : whole.subscripts)
    if (s.kind == Subscript::Kind::index)
      s = {listed(d.indices, split_index(s.base.text).first) ? Subscript::Kind::range
                                                             : Subscript::Kind::star};
  return whole;
}

// All but what a region does itself.
std::string Emitter::loop_reductions(const LoopDirective& d, const Scope& scope, const Directive& directive,
                                     const Region* region) {
  std::string text;
  for (const ReductionClause& clause : d.reductions) {
    if (region && region->over.contains(clause.variables[0].text)) continue;
    text += " " + reduce(clause, on(nodes_along(d), scope, directive), d.acc, directive, scope);
  }
  return text;
}

}  // namespace tca::xacc
