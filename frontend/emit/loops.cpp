#include <cctype>

#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

// "i+1" is "i" and "+1".
std::pair<std::string, std::string> split_index(const std::string& text) {
  std::size_t end = 0;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  while (end < text.size() && in_word(text[end])) ++end;
  std::size_t rest = end;
  while (rest < text.size() && text[rest] == ' ') ++rest;
  const bool shifted = rest == text.size() || text[rest] == '+' || text[rest] == '-';
  return {shifted ? text.substr(0, end) : "", text.substr(rest)};
}

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
      open += region ? " " + data_open(*acc, directive, *s.scope) : "";
      closing = (region ? " }" : "") + closing;
      compute = compute || region;
      const bool with_loop = acc->name.find("loop") != acc->name.npos;
      if (with_loop) openmp_line = openmp(s, *acc);
    }
    if (pragma != pragmas.back()) replace_pragma(pragma, "");
  }
  open += hoist(s.tokens);
  if (!found.empty() && choices_.local_indices && !inside_loop_) {
    std::set<std::string> indices = loop_variables(s.tokens);
    for (const auto& [index, clip] : found) indices.insert(index);
    count_locally(s.tokens, indices);
  }
  std::set<std::string> seen;
  if (!found.empty()) clip_loops(s, found, seen);
  for (const auto& [index, clip] : found)
    if (!seen.contains(index))
      throw Fault{place, "there is no loop over `" + index + "` behind this",
                  "the loops of a directive are nested, for (i = FIRST; i < END; i++), one in the other"};
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
  if (!d.margin.empty())
    throw Fault{d.margin[0].low.place, "margin is not translated yet", "loop over the two sides one by one"};
  const Template* t = try_template(scope, d.on.name.text);
  const Nodes* nodes = t ? nullptr : &find_nodes(scope, d.on.name);
  const std::size_t dims = t ? t->directive->bounds.size() : nodes->directive->extents.size();
  if (d.on.subscripts.size() != dims)
    throw Fault{d.on.name.place,
                "`" + d.on.name.text + "` has " + std::to_string(dims) + " dimensions, and " +
                    std::to_string(d.on.subscripts.size()) + " subscripts are given",
                "give a loop variable or `*` for each"};
  const std::vector<Width> expand = in_c_order(d.expand, d.on.form);
  std::string text;
  for (std::size_t k = 0; k < dims; ++k) {
    const Subscript& s = d.on.subscripts[k];
    if (s.kind != Subscript::Kind::index) continue;
    const auto [index, offset] = split_index(s.base.text);
    if (index.empty() || !listed(d.indices, index) || std::isdigit(static_cast<unsigned char>(index[0])) != 0)
      throw Fault{s.base.place, "`" + s.base.text + "` is none of the loop's variables",
                  "write a loop variable, with a constant added at most, or `*`"};
    const std::string dim = std::to_string(k);
    const std::string shift = offset.empty() ? "" : " - (0" + offset + ")";
    const std::string own = t ? t->c() + ".dim[" + dim + "]." : "";
    const std::string one = d.on.form == Form::round ? " + 1" : "";
    Clip clip{unique("begin"), ""};
    clip.end = unique("end");
    const Width* width = k < expand.size() ? &expand[k] : nullptr;
    const std::string below = width ? " - (" + width->low.text + ")" : "",
                      above = width ? " + (" + width->high.text + ")" : "";
    if (width && width->marked) clip.low = below, clip.high = above;
    text += " const int64_t " + clip.begin + " = " +
            (t ? own + "begin" : nodes->c() + ".at[" + dim + "]" + one) + shift + below + ", " + clip.end +
            " = " +
            (t ? own + "end" : nodes->c() + ".at[" + dim + "]" + one + " + " + nodes->c() + ".inside") +
            shift + above + ";";
    if (t && t->cyclic(static_cast<int>(k)))
      clip.next = "xacc_next(&" + t->c() + ".dim[" + dim + "], 0" + offset;
    found[index] = clip;
  }
  return text;
}

// Loops over part of a template's dimensions reduce among the nodes along these.
std::string Emitter::loop_reductions(const LoopDirective& d, const Scope& scope, const Directive& directive) {
  Ref whole = d.on;
  for (Subscript& s : whole.subscripts)
    if (s.kind == Subscript::Kind::index) s = {Subscript::Kind::range};
  std::string text;
  for (const ReductionClause& clause : d.reductions)
    text += " " + reduce(clause, on(whole, scope, directive), d.acc, directive, scope);
  return text;
}

void Emitter::clip_loops(const Statement& s, const std::map<std::string, Clip>& clips,
                         std::set<std::string>& seen) {
  if (s.kind == Statement::Kind::loop) {
    const std::size_t first = s.open + 1;
    std::size_t assign = first;
    while (assign < s.first_semicolon && !token(assign).is("=")) ++assign;
    const auto clip = clips.find(std::string(token(assign - 1).text));
    if (clip != clips.end()) {
      clip_loop(s, header_of(s, program_.place(s.tokens.first)), clip->second);
      seen.insert(clip->first);
    }
  }
  for (const auto& child : s.children) clip_loops(*child, clips, seen);
}

Emitter::Header Emitter::header_of(const Statement& loop, Place place) const {
  const Fault fault{place,
                    "a loop that is shared out must count from a first value to a bound, by a constant step",
                    "write it as for (i = FIRST; i < END; i++); <=, > and >=, i--, i += STEP and i -= STEP "
                    "will do as well"};
  Header h;
  std::size_t at = loop.open + 1;
  while (at < loop.first_semicolon && !token(at).is("=")) ++at;
  if (at == loop.first_semicolon) throw fault;
  h.variable = token(at - 1).text;
  h.from = {at + 1, loop.first_semicolon};
  const std::size_t condition = loop.first_semicolon + 1;
  h.relation = token(condition + 1).text;
  h.to = {condition + 2, loop.second_semicolon};
  h.down = h.relation == ">" || h.relation == ">=";
  if (token(condition).text != h.variable || h.to.empty() ||
      (!h.down && h.relation != "<" && h.relation != "<="))
    throw fault;
  const std::size_t step = loop.second_semicolon + 1;
  const bool prefix = token(step).is("++") || token(step).is("--");
  const Token& variable = token(prefix ? step + 1 : step);
  const Token& sign = token(prefix ? step : step + 1);
  if (variable.text != h.variable) throw fault;
  bool down = false;
  if (sign.is("++") || sign.is("--")) {
    down = sign.is("--");
  } else if (sign.is("+=") || sign.is("-=")) {
    down = sign.is("-=");
    h.step = "(" + text_of({step + 2, loop.close}) + ")";
  } else if (sign.is("=") && token(step + 2).text == h.variable &&
             (token(step + 3).is("+") || token(step + 3).is("-"))) {
    down = token(step + 3).is("-");
    h.step = "(" + text_of({step + 4, loop.close}) + ")";
  } else {
    throw fault;
  }
  if (down != h.down) throw fault;
  return h;
}

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

// for (i = FIRST; i < END; i++) goes over what FIRST..END and this rank have in common.
void Emitter::clip_loop(const Statement& loop, const Header& h, const Clip& clip) {
  const auto wrap = [this](Range tokens, const std::string& before, const std::string& behind) {
    edits_.insert(token(tokens.first).begin, before);
    edits_.insert(token(tokens.last - 1).end, behind);
  };
  if (!clip.next.empty()) {
    if (h.down)
      throw Fault{program_.place(loop.tokens.first), "a loop over a cyclic distribution counts upwards",
                  "write it with i++ or i += STEP"};
    const std::string variable(h.variable);
    wrap(h.from, clip.next + ", ", ", " + h.step + ")");
    edits_.replace(token(loop.second_semicolon + 1).begin, token(loop.close - 1).end,
                   variable + " = " + clip.next + ", " + variable + " + " + h.step + ", " + h.step + ")");
    return;
  }
  const bool inclusive = h.relation == "<=" || h.relation == ">=";
  if (!h.down) {
    wrap(h.from, "xacc_first((", ")" + clip.low + ", " + clip.begin + ", " + h.step + ")");
    wrap(h.to, "xacc_min((", ")" + clip.high + ", " + clip.end + (inclusive ? " - 1)" : ")"));
  } else {
    wrap(h.from, "xacc_first_down((", ")" + clip.high + ", " + clip.end + ", " + h.step + ")");
    wrap(h.to, "xacc_max((", ")" + clip.low + ", " + clip.begin + (inclusive ? ")" : " - 1)"));
  }
}

}  // namespace tca::xacc
