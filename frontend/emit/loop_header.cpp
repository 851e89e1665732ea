// A loop's first line: how it counts, and what of it this rank has.
#include "emit/emitter.hpp"

namespace tca::xacc {

// The least value that a loop's variable has: 0 where it is unsigned, and nothing where it is signed. Whether a type that
// the program names is the one or the other, the compiler says.
std::string Emitter::least_of(std::size_t variable) const {
  static const std::set<std::string> known{"short",   "int",      "long",      "char",   "signed",
                                           "const",   "register", "static",    "int8_t", "int16_t",
                                           "int32_t", "int64_t",  "ptrdiff_t", "ssize_t"};
  const Symbol* symbol = program_.uses[variable];
  if (!symbol || symbol->specifiers.empty()) return "";
  bool is_known = true;
  for (std::size_t i = symbol->specifiers.first; i < symbol->specifiers.last; ++i) {
    if (token(i).is("unsigned") || token(i).is("size_t")) return "0";
    is_known = is_known && known.contains(std::string(token(i).text));
  }
  return is_known ? "" : "xacc_least((" + element_type(*symbol) + ")-1 > 1)";
}

void Emitter::clip_loops(const Statement& s, const std::map<std::string, Clip>& clips,
                         std::map<std::string, const Statement*>& seen) {
  if (s.kind == Statement::Kind::loop) {
    const std::size_t first = s.open + 1;
    std::size_t assign = first;
    while (assign < s.first_semicolon && !token(assign).is("=")) ++assign;
    const auto clip = clips.find(std::string(token(assign - 1).text));
    if (clip != clips.end()) {
      clip_loop(s, header_of(s, program_.place(s.tokens.first)), clip->second);
      seen[clip->first] = &s;
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
  h.least = least_of(condition);
  if (h.relation == ">=" && h.least == "0" && text_of(h.to) == "0")
    throw Fault{place,
                "`" + std::string(h.variable) + "` is unsigned and never below 0, so this loop does not end",
                "write it as for (" + std::string(h.variable) + " = COUNT; " + std::string(h.variable) +
                    " > 0; " + std::string(h.variable) + "--), or give it a type with a sign"};
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
  // What this rank has may lie below all that an unsigned variable is, where the loop is to end at once.
  const bool bounded = !h.least.empty();
  const std::string open = bounded ? "xacc_max(" : "", close = bounded ? ", " + h.least + ")" : "";
  bool inclusive = h.relation == "<=" || h.relation == ">=";
  if (!h.down) {
    const bool widened = bounded && inclusive;
    const std::size_t relation = loop.first_semicolon + 2;
    if (widened) edits_.replace(token(relation).begin, token(relation).end, "<");
    inclusive = inclusive && !widened;
    wrap(h.from, "xacc_first((", ")" + clip.low + ", " + clip.begin + ", " + h.step + ")");
    wrap(h.to, open + "xacc_min((",
         ")" + std::string(widened ? " + (int64_t)1" : "") + clip.high + ", " + clip.end +
             (inclusive ? " - 1)" : ")") + close);
  } else {
    wrap(h.from, open + "xacc_first_down((", ")" + clip.high + ", " + clip.end + ", " + h.step + ")" + close);
    wrap(h.to, "xacc_max((", ")" + clip.low + ", " + clip.begin + (inclusive ? ")" : " - 1)"));
  }
}

}  // namespace tca::xacc
