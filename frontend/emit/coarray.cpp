// Coarrays: a declaration makes a pointer to memory that the other images reach, and NAME[...]:[IMAGE] is a
// put in front of an assignment, and a get behind one or anywhere else.
#include "emit/emitter.hpp"

namespace tca::xacc {

std::string coarray_address(const std::string& name) { return "xacc_coarray_" + name + "_"; }

std::string Emitter::co_place(std::size_t at) const {
  return "&(const xacc_place){" + quoted(token(at).file) + ", " + std::to_string(token(at).line) + ", " +
         quoted("coarray " + std::string(token(at).text)) + "}";
}

void Emitter::replace_coarray(const Symbol& symbol, bool file) {
  const std::string name(symbol.name), pointer = coarray_address(name);
  if (symbol.array)
    throw Fault{program_.place(symbol.token), "`" + name + "` is a coarray, and distributed as well"};
  if (!file && !symbol.is_static && !symbol.is_extern)
    throw Fault{program_.place(symbol.token), "the coarray `" + name + "` goes with its block",
                "other images reach it at any time: declare it static, or outside of functions"};
  if (!symbol.initial.empty() && !symbol.dims.empty())
    throw Fault{program_.place(symbol.token), "an array that is a coarray cannot be initialised here",
                "set its elements when the program begins"};
  edits_.replace(token(symbol.token).begin, token(symbol.token).end, "(*" + pointer + ")");
  for (const Range dim : symbol.dims) {  // without `restrict`, which only parameters have
    std::size_t open = dim.first;
    while (!token(open - 1).is("[")) --open;
    if (open < dim.first) edits_.replace(token(open).begin, token(dim.first - 1).end, "");
  }
  if (!symbol.codims.empty()) {
    std::size_t colon = symbol.codims.front().first;
    while (!token(colon).is(":")) --colon;
    edits_.replace(token(colon).begin, token(symbol.codims.back().last).end, "");
  }
  if (!symbol.initial.empty())
    edits_.replace(token(symbol.initial.first - 1).begin, token(symbol.initial.last - 1).end, "");
  if (symbol.is_extern) return;
  const std::string make = " xacc_coarray_make((void**)&" + pointer + ", " + quoted(name) + ", sizeof(*" +
                           pointer + "), " + co_place(symbol.token) + ");";
  const std::string initial =
      symbol.initial.empty() ? "" : " *" + pointer + " = " + text_of(symbol.initial) + ";";
  if (file) {
    set_up_ += make + initial;
    return;
  }
  std::size_t end = symbol.declarator.last;
  while (!token(end).is(";")) ++end;
  edits_.insert(token(end).end, initial.empty() ? make : " if (!" + pointer + ") {" + make + initial + " }");
}

// The first codimension goes fastest, so that the last may be open.
std::string Emitter::image_of(const CoReference& r) {
  const Symbol& symbol = *program_.uses[r.name];
  std::vector<std::string> sizes = symbol.codim_sizes;
  for (const Range codim : symbol.codims) sizes.push_back(text_of(codim));
  const Subscripts images = subscripts_behind(r.colon, r.end);
  if (images.all.size() != sizes.size())
    throw Fault{program_.place(r.name),
                "the coarray `" + std::string(symbol.name) + "` has " + std::to_string(sizes.size()) +
                    " codimensions, and " + std::to_string(images.all.size()) + " are given",
                "give one image for each: " + std::string(symbol.name) + ":[IMAGE]"};
  std::string image;
  for (std::size_t d = images.all.size(); d-- > 0;) {
    const std::string one = "(" + text_of(images.all[d].parts[0]) + ")";
    image = image.empty() ? one : "(" + one + " + (" + sizes[d] + ") * " + image + ")";
  }
  return image;
}

std::size_t Emitter::begin_of_target(std::size_t assign) const {
  std::size_t at = assign;
  for (int depth = 0; at > 0; --at) {
    const Token& t = token(at - 1);
    if (t.is(")") || t.is("]")) ++depth;
    const bool ends = t.is(";") || t.is("{") || t.is("}") || t.is(")") || t.is("(") || t.is(":") ||
                      t.is("else") || t.is("do") || t.kind == TokenKind::pragma;
    if (ends && (depth == 0 || (depth == 1 && t.is(")")))) break;
    if (t.is("(") || t.is("[")) --depth;
  }
  return at;
}

std::optional<Emitter::CoReference> Emitter::reference_at(std::size_t name) const {
  const Symbol* symbol = program_.uses[name];
  if (!symbol || !symbol->coarray || symbol->token == name) return std::nullopt;
  const std::size_t last = program_.tokens.size() - 1, colon = subscripts_behind(name, last).end;
  if (!token(colon).is(":") || !token(colon + 1).is("[")) return std::nullopt;
  return CoReference{name, colon, subscripts_behind(colon, last).end};
}

bool Emitter::reference_within(Range tokens) const {
  for (std::size_t i = tokens.first; i < tokens.last; ++i)
    if (reference_at(i)) return true;
  return false;
}

bool Emitter::is_element(const CoReference& r) const {
  const Subscripts subscripts = subscripts_behind(r.name, r.colon);
  bool one = subscripts.all.size() == program_.uses[r.name]->dims.size();
  for (const Subscripted& s : subscripts.all) one = one && s.parts.size() == 1;
  return one;
}

std::string Emitter::element_of_image(const CoReference& r) {
  const Symbol& symbol = *program_.uses[r.name];
  if (!is_element(r))
    throw Fault{program_.place(r.name), "a section of another image is assigned, as a whole, to a section",
                "write it as TO[...] = FROM[...]:[IMAGE];"};
  std::string element = name_of(symbol);
  for (std::size_t d = 0; d < symbol.dims.size(); ++d) element += "[0]";
  return "(*(const __typeof__(" + element + ")*)xacc_coarray_element(" +
         section({r.name, r.colon}, program_.place(r.name), "what lies at an image") + ", " + image_of(r) +
         ", " + co_place(r.name) + "))";
}

std::string Emitter::with_references(Range value) {
  std::string text;
  for (std::size_t i = value.first; i < value.last;) {
    const auto reference = reference_at(i);
    text += (text.empty() ? "" : " ") + (reference ? element_of_image(*reference) : text_of({i, i + 1}));
    i = reference ? reference->end : i + 1;
  }
  return text;
}

// A variable or a section, or else a value that is put into memory first.
std::string Emitter::source_of(Range value, const Symbol& type) {
  const Symbol* symbol = program_.uses[value.first];
  const bool plain = symbol && symbol->kind != Symbol::Kind::function && !symbol->pointers &&
                     subscripts_behind(value.first, value.last).end == value.last;
  if (plain) return section(value, program_.place(value.first), "what is put");
  std::string element = name_of(type);
  for (std::size_t d = 0; d < type.dims.size(); ++d) element += "[0]";
  return "&(const xacc_section){0, (void*)&(const __typeof__(" + element + ")[]){" + with_references(value) +
         "}, sizeof(" + element + "), 0, {0}, {0}, {0}, {0}}";
}

// Returns where to go on.
std::size_t Emitter::rewrite_reference(const CoReference& r) {
  const Symbol& symbol = *program_.uses[r.name];
  const Range local{r.name, r.colon};
  const std::string remote = section(local, program_.place(r.name), "what lies at an image");
  const std::string tail = ", " + image_of(r) + ", ";
  std::size_t semicolon = r.end;
  while (semicolon + 1 < program_.tokens.size() && !token(semicolon).is(";")) ++semicolon;
  if (token(r.end).is("=")) {
    edits_.replace(token(r.name).begin, token(semicolon).begin,
                   "xacc_coarray_put(" + remote + tail + source_of({r.end + 1, semicolon}, symbol) + ", " +
                       co_place(r.name) + ")");
    return semicolon;
  }
  const bool whole = token(r.name - 1).is("=") && r.end == semicolon;
  const std::size_t first = whole ? begin_of_target(r.name - 1) : r.name;
  const Symbol* target = whole ? program_.uses[first] : nullptr;
  const bool plain = target && subscripts_behind(first, r.name - 1).end == r.name - 1;
  if (!plain || (is_element(r) && target->dims.empty())) {
    edits_.replace(token(r.name).begin, token(r.end - 1).end, element_of_image(r));
    return r.end;
  }
  edits_.replace(token(first).begin, token(semicolon).begin,
                 "xacc_coarray_get(" + section({first, r.name - 1}, program_.place(first), "the target") +
                     ", " + remote + tail + co_place(r.name) + ")");
  return semicolon;
}

void Emitter::rewrite_coarrays() {
  for (std::size_t i = 0; i + 1 < program_.tokens.size(); ++i) {
    if (const auto reference = reference_at(i)) guarded([&] { i = rewrite_reference(*reference); });
  }
}

std::string Emitter::communicate(const PostDirective& d, const Directive& directive, const Scope& scope) {
  return "xacc_post(" + on(d.to, scope, directive) + ", (" + d.tag.text + "), " + place_of(directive) + ");";
}

std::string Emitter::communicate(const WaitDirective& d, const Directive& directive, const Scope& scope) {
  return "xacc_wait_post(" + (d.from ? "(const xacc_on[]){" + on(*d.from, scope, directive) + "}" : "0") +
         ", " + (d.tag ? "(" + d.tag.text + ")" : "-1") + ", " + place_of(directive) + ");";
}

std::string Emitter::communicate(const LockDirective& d, const Directive& directive, const Scope& scope) {
  const std::string& text = d.object.text;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, text.find_first_of(":[ "));
  const Symbol* symbol = scope.find(name);
  if (!symbol || !symbol->coarray)
    throw Fault{d.object.place, "`" + name + "` is no coarray of locks",
                "declare it as xmp_lock_t " + name + ":[*];"};
  std::string image = "-1";
  if (colon != text.npos)
    image = "(" + text.substr(text.find('[', colon) + 1, text.rfind(']') - text.find('[', colon) - 1) + ")";
  const std::string subscripts = text.substr(name.size(), colon == text.npos ? colon : colon - name.size());
  return std::string(d.lock ? "xacc_lock(" : "xacc_unlock(") + "&" + name_of(*symbol) + subscripts + ", " +
         image + ", " + place_of(directive) + ");";
}

}  // namespace tca::xacc
