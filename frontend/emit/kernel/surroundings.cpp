// What a kernel needs of its file: types, functions that it calls, and constants that these use.
#include <algorithm>
#include <array>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

bool is_storage(std::string_view word) {
  static constexpr std::array<std::string_view, 9> words{
      "static", "extern", "register", "auto", "inline", "__inline", "__inline__", "_Noreturn", "noreturn"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_qualifier(std::string_view word) {
  static constexpr std::array<std::string_view, 6> words{"restrict", "__restrict", "__restrict__",
                                                         "static",   "const",      "volatile"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Words of C++ that C programs have as names.
constexpr std::array<std::string_view, 36> words_of_cpp{
    "alignas",   "and",      "asm",    "bitand",   "bitor",  "bool",     "catch",     "class",   "concept",
    "constexpr", "decltype", "delete", "explicit", "export", "false",    "friend",    "mutable", "namespace",
    "new",       "noexcept", "not",    "operator", "or",     "private",  "protected", "public",  "requires",
    "template",  "this",     "throw",  "true",     "try",    "typename", "using",     "virtual", "xor"};

bool is_plain_word(std::string_view word) { return word != "bool" && word != "true" && word != "false"; }

}  // namespace

std::string KernelSurroundings::marker(std::size_t token) const {
  const Token& t = program_.tokens[token];
  return "\n#line " + std::to_string(t.line) + " " + quoted(t.file) + "\n";
}

void KernelSurroundings::need(Range tokens) {
  for (std::size_t i = tokens.first; i < tokens.last; ++i)
    if (program_.tokens[i].kind == TokenKind::word) need_word(i);
  need_types();
}

void KernelSurroundings::need_word(std::size_t token) {
  words_.emplace(program_.tokens[token].text);
  const Symbol* symbol = program_.uses[token];
  if (symbol && symbol->kind == Symbol::Kind::function && symbol->token != token)
    need_function(*symbol, token);
}

void KernelSurroundings::need_function(const Symbol& symbol, std::size_t token) {
  const auto at = std::find_if(program_.functions.begin(), program_.functions.end(),
                               [&](const Function& f) { return f.symbol->name == symbol.name; });
  if (at == program_.functions.end()) {
    if (program_.tokens[symbol.token].system)
      return;  // of the C library's, which CUDA has, or says that it has not
    throw Fault{
        program_.place(token),
        "`" + std::string(symbol.name) + "` is called in a compute region, and defined in another file",
        "define it in this one, static if others have it too"};
  }
  if (program_.tokens[at->symbol->token].system || !functions_.insert(&*at).second) return;
  const Range all{at->symbol->specifiers.first, at->body->tokens.last};
  for (std::size_t i = at->body->tokens.first; i < all.last; ++i) {
    const Symbol* used = program_.uses[i];
    const bool global = used && used->kind == Symbol::Kind::variable && used->scope && used->scope->is_file;
    if (global) need_constant(*used, i);
    const int pragma = program_.tokens[i].pragma;
    const auto* directive = pragma >= 0 && program_.directives[static_cast<std::size_t>(pragma)]
                                ? &*program_.directives[static_cast<std::size_t>(pragma)]
                                : nullptr;
    const auto* acc = directive ? std::get_if<AccDirective>(&directive->body) : nullptr;
    if (acc && acc->name == "atomic")
      throw Fault{directive->place,
                  "acc atomic stands in `" + std::string(symbol.name) + "`, which a compute region calls",
                  "write the update in the region itself, or reduce what it adds up"};
    if (directive && !acc)
      throw Fault{
          directive->place,
          directive->name + " stands in `" + std::string(symbol.name) + "`, which a compute region calls",
          "ranks communicate on the host, and share out loops in front of the region"};
  }
  for (std::size_t i = all.first; i < all.last; ++i)
    if (program_.tokens[i].kind == TokenKind::word) need_word(i);
}

void KernelSurroundings::need_constant(const Symbol& symbol, std::size_t token) {
  bool constant = false;
  for (std::size_t i = symbol.specifiers.first; i < symbol.specifiers.last; ++i)
    constant = constant || program_.tokens[i].is("const");
  if (!constant || symbol.initial.empty() || symbol.array || symbol.coarray)
    throw Fault{program_.place(token),
                "the global variable `" + std::string(symbol.name) +
                    "` is used by a function that a compute region calls, where only the host's is known",
                "give it to the function as a parameter"};
  constants_.insert(&symbol);
  for (std::size_t i = symbol.specifiers.first; i < symbol.declarator.last; ++i)
    if (program_.tokens[i].kind == TokenKind::word) words_.emplace(program_.tokens[i].text);
}

// Tags, names of types, and constants of enumerations.
std::vector<std::string> KernelSurroundings::names_of(const Declaration& declaration) const {
  std::vector<std::string> names;
  const auto& tokens = program_.tokens;
  bool enumeration = false;
  int depth = 0;
  for (std::size_t i = declaration.specifiers.first; i < declaration.specifiers.last; ++i) {
    const Token& t = tokens[i];
    depth += t.is("{") ? 1 : t.is("}") ? -1 : 0;
    const bool tag = t.is("struct") || t.is("union") || t.is("enum");
    if (depth == 0) enumeration = t.is("enum") || (enumeration && !t.is("struct") && !t.is("union"));
    if (tag && depth == 0 && tokens[i + 1].kind == TokenKind::word && tokens[i + 2].is("{"))
      names.emplace_back(tokens[i + 1].text);
    if (enumeration && depth == 1 && t.kind == TokenKind::word &&
        (tokens[i - 1].is("{") || tokens[i - 1].is(",")))
      names.emplace_back(t.text);
  }
  for (const Symbol* symbol : declaration.symbols)
    if (symbol->kind == Symbol::Kind::type) names.emplace_back(symbol->name);
  return names;
}

void KernelSurroundings::need_types() {
  for (bool more = true; more;) {
    more = false;
    for (const Declaration* declaration : program_.file_declarations) {
      if (types_.contains(declaration) || program_.tokens[declaration->tokens.first].system) continue;
      const std::vector<std::string> names = names_of(*declaration);
      if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return words_.contains(n); }))
        continue;
      more = types_.insert(declaration).second;
      for (std::size_t i = declaration->tokens.first; i < declaration->tokens.last; ++i)
        if (program_.tokens[i].kind == TokenKind::word) words_.emplace(program_.tokens[i].text);
    }
  }
}

std::string KernelSurroundings::type_source(const Declaration& declaration) const {
  const bool alias = !declaration.symbols.empty() && declaration.symbols[0]->kind == Symbol::Kind::type;
  const Range range = alias ? declaration.tokens : declaration.specifiers;
  std::string text = marker(range.first);
  for (std::size_t i = range.first; i < range.last; ++i)
    if (!is_storage(program_.tokens[i].text)) text += std::string(program_.tokens[i].text) + " ";
  return text + (alias ? "" : ";");
}

// Without what C++ does not have in the brackets of a parameter, as in `double x[restrict n]`.
std::string KernelSurroundings::head_of(const Function& function) const {
  std::string text = "static __device__ ";
  int depth = 0;
  for (std::size_t i = function.symbol->specifiers.first; i < function.body->tokens.first; ++i) {
    const Token& t = program_.tokens[i];
    depth += t.is("[") ? 1 : t.is("]") ? -1 : 0;
    if (is_storage(t.text) || t.kind == TokenKind::pragma || (depth > 0 && is_qualifier(t.text))) continue;
    text += std::string(t.text) + " ";
  }
  return text;
}

std::string KernelSurroundings::function_source(const Function& function) const {
  const Range body = function.body->tokens;
  const auto& tokens = program_.tokens;
  Edits edits(text_);
  for (std::size_t i = body.first; i < body.last; ++i)
    if (tokens[i].kind == TokenKind::pragma) edits.replace(tokens[i].begin, tokens[i].end, "");
  return marker(function.symbol->specifiers.first) + head_of(function) + marker(body.first) +
         edits.apply(tokens[body.first].begin, tokens[body.last - 1].end);
}

std::string KernelSurroundings::source() const {
  std::string text;
  for (const std::string_view word : words_of_cpp)
    if (is_plain_word(word) && words_.contains(word))
      text += "#define " + std::string(word) + " xacc_word_" + std::string(word) + "\n";
  for (const Declaration* declaration : program_.file_declarations)
    if (types_.contains(declaration)) text += type_source(*declaration);
  for (const Declaration* declaration : program_.file_declarations)
    for (const Symbol* symbol : declaration->symbols) {
      if (!constants_.contains(symbol)) continue;
      text += marker(symbol->token) + "static __device__ ";
      for (std::size_t i = symbol->specifiers.first; i < symbol->specifiers.last; ++i)
        if (!is_storage(program_.tokens[i].text)) text += std::string(program_.tokens[i].text) + " ";
      for (std::size_t i = symbol->declarator.first; i < symbol->declarator.last; ++i)
        text += std::string(program_.tokens[i].text) + " ";
      text += ";";
    }
  for (const Function* f : functions_) text += marker(f->symbol->specifiers.first) + head_of(*f) + ";";
  for (const Function& f : program_.functions)
    if (functions_.contains(&f)) text += function_source(f);
  return text;
}

}  // namespace tca::xacc
