// acc atomic in a kernel: the assignment becomes a call that repeats it until nobody has come in between.
#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

bool same_text(const std::string& a, const std::string& b) {
  const auto without_blanks = [](std::string text) {
    std::erase(text, ' ');
    return text;
  };
  return without_blanks(a) == without_blanks(b);
}

}  // namespace

// x op= e, x = x op e, x++ and ++x as a call that returns what x was, or, with `after`, what it has become.
std::string Emitter::atomic_update(Range tokens, bool after, Place place) const {
  const std::string call = after ? "xacc_atomic_after(&(" : "xacc_atomic(&(";
  const auto with = [&](const std::string& target, const std::string& value) {
    return call + target + "), [&](auto xacc_old) { return " + value + "; })";
  };
  const Token &first = token(tokens.first), &last = token(tokens.last - 1);
  for (const std::string_view step : {"++", "--"}) {
    const std::string value = std::string("xacc_old ") + step[0] + " 1";
    if (first.is(step)) return with(text_of({tokens.first + 1, tokens.last}), value);
    if (last.is(step)) return with(text_of({tokens.first, tokens.last - 1}), value);
  }
  int depth = 0;
  for (std::size_t i = tokens.first; i < tokens.last; ++i) {
    const Token& t = token(i);
    depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
    const bool assigns = t.kind == TokenKind::punctuation && t.text.ends_with("=") && !t.is("==") &&
                         !t.is("<=") && !t.is(">=") && !t.is("!=");
    if (depth > 0 || !assigns) continue;
    const std::string target = text_of({tokens.first, i}), value = text_of({i + 1, tokens.last});
    if (!t.is("="))
      return with(target,
                  "xacc_old " + std::string(t.text.substr(0, t.text.size() - 1)) + " (" + value + ")");
    const std::size_t length = i - tokens.first, behind = i + 1 + length;
    if (behind < tokens.last && same_text(text_of({i + 1, behind}), target))
      return with(target, "xacc_old " + text_of({behind, tokens.last}));
    if (i + 1 + length < tokens.last && same_text(text_of({tokens.last - length, tokens.last}), target))
      return with(target, text_of({i + 1, tokens.last - length}) + " xacc_old");
    break;
  }
  throw Fault{place, "acc atomic stands in front of what is no update of one variable",
              "write x += e;, x = x + e;, x++; or v = x++;"};
}

// The call takes the expression as it stands, and so not with the places that cyclic dimensions give to elements.
void Emitter::require_unslotted(const Statement& s, const Directive& directive) const {
  for (std::size_t i = s.tokens.first; i < s.tokens.last; ++i) {
    const Symbol* used = program_.uses[i];
    const Array* array = used ? used->array : nullptr;
    for (std::size_t d = 0; array && d < array->rank; ++d)
      if (array->slotted(d))
        throw Fault{directive.place,
                    "acc atomic on `" + std::string(used->name) +
                        "`, which is distributed cyclically, is for --acc cpu",
                    "distribute it in blocks, or add up into an array that every rank has"};
  }
}

// Reads and writes of one element are whole anyway.
void Emitter::atomic(const Statement& s, const AccDirective& acc, const Directive& directive) {
  const std::string kind = acc.clauses.empty() ? "update" : acc.clauses[0].name.text;
  if (kind == "read" || kind == "write") return;
  require_unslotted(s, directive);
  std::vector<Range> parts;
  if (s.kind == Statement::Kind::block)
    for (const auto& child : s.children) parts.push_back({child->tokens.first, child->tokens.last - 1});
  else
    parts.push_back({s.tokens.first, s.tokens.last - 1});
  const auto assignment = [&](Range r) {
    std::size_t at = r.first;
    while (at < r.last && !token(at).is("=")) ++at;
    return at;
  };
  std::string text;
  if (kind == "update" && parts.size() == 1) {
    text = atomic_update(parts[0], false, directive.place);
  } else if (parts.size() == 1) {  // v = x++, v = ++x, v = x += e
    const std::size_t at = assignment(parts[0]);
    const Range update{at + 1, parts[0].last};
    const bool before = token(update.last - 1).is("++") || token(update.last - 1).is("--");
    text = text_of({parts[0].first, at}) + " = " + atomic_update(update, !before, directive.place);
  } else if (parts.size() == 2) {  // { v = x; x += e; } and the other way round
    const std::size_t first = assignment(parts[0]), second = assignment(parts[1]);
    const bool reads_first = first < parts[0].last &&
                             same_text(text_of({first + 1, parts[0].last}),
                                       text_of({parts[1].first, parts[1].first + parts[0].last - first - 1}));
    const Range read = parts[reads_first ? 0 : 1];
    text = text_of({read.first, reads_first ? first : second}) + " = " +
           atomic_update(parts[reads_first ? 1 : 0], !reads_first, directive.place);
  } else {
    throw Fault{directive.place, "acc atomic capture has one assignment, or two in braces"};
  }
  edits_.replace(token(s.tokens.first).begin, token(s.tokens.last - 1).end, text + ";");
}

}  // namespace tca::xacc
