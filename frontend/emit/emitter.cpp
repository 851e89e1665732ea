#include "emit/emitter.hpp"

#include <utility>

namespace tca::xacc {

std::string numbers(const std::vector<std::string>& values) {
  std::string list = "(const int64_t[]){";
  for (std::size_t i = 0; i < values.size(); ++i) list += (i ? ", " : "") + values[i];
  return list + "}";
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string Emitter::text_of(Range tokens) const {
  std::string text;
  for (std::size_t i = tokens.first; i < tokens.last; ++i) {
    if (i > tokens.first && token(i).begin > token(i - 1).end) text += ' ';
    const Symbol* symbol = program_.uses[i];
    text += symbol && (symbol->coarray || symbol->array) ? name_of(*symbol) : std::string(token(i).text);
  }
  return text;
}

std::string Emitter::name_of(const Symbol& symbol) {
  const std::string name = symbol.identifier();
  if (!symbol.member.empty()) return "xacc_member_" + name + "_";
  return symbol.coarray ? "(*" + coarray_address(name) + ")" : name;
}

namespace {

std::string place_values(const Directive& directive) {
  return "{" + quoted(directive.place.file) + ", " + std::to_string(directive.place.line) + ", " +
         quoted(directive.name) + "}";
}

}  // namespace

std::string Emitter::place_of(const Directive& directive) const {
  return "&(const xacc_place)" + place_values(directive);
}

std::string Emitter::declare_site(const Directive& directive, std::string& site) {
  const std::string name = unique("site");
  site = "&" + name;
  return " static xacc_site " + name + " = {" + place_values(directive) + ", 0};";
}

void Emitter::replace_pragma(int pragma, std::string what) {
  const Token& line = token(program_.pragma_tokens[static_cast<std::size_t>(pragma)]);
  edits_.replace(line.begin, line.end, std::move(what));
}

Translated Emitter::run() {
  for (std::size_t i = 0; i < program_.directives.size(); ++i) {
    const Scope* scope = program_.directive_scopes[i];
    if (!program_.directives[i] || !scope || !scope->is_file) continue;
    guarded([&] {
      const int pragma = static_cast<int>(i);
      if (program_.directives[i]->is_construct())
        throw Fault{program_.directives[i]->place,
                    program_.directives[i]->name + " stands outside of any function"};
      const Directive& directive = *program_.directives[i];
      const auto* acc = std::get_if<AccDirective>(&directive.body);
      if (!declare(pragma, *scope))
        replace_pragma(pragma, acc ? acc_standalone(*acc, directive, *scope) : "");
    });
  }
  for (const Declaration* declaration : program_.file_declarations)
    guarded([&] { replace_declaration(*declaration, true); });
  agree_with_definitions();
  for (const Function& f : program_.functions) function(f);
  if (choices_.check) find_device_variables();
  rewrite_coarrays();
  guarded([&] { rewrite_names(); });
  Translated translated = finish_kernels();
  translated.text += set_up_at_start();
  translated.warnings = std::move(warnings_);
  return translated;
}

std::string Emitter::set_up_at_start() const {
  std::string text;
  if (!kernels_.empty())
    text =
        "\n# 1 \"<compute regions>\"\n__attribute__((constructor)) static void xacc_register_gpu(void) { "
        "xacc_use_gpu(); }\n";
  if (set_up_.empty() && data_set_up_.empty()) return text;
  return text + "\n# 1 \"<directives outside of functions>\"\nstatic void xacc_set_up(void) {" + set_up_ +
         share_set_up_ + data_set_up_ +
         "}\n__attribute__((constructor)) static void xacc_register_set_up(void) { "
         "xacc_register(xacc_set_up); }\n";
}

// Programs for lenient compilers have prototypes with other parameters than the definition. These are right.
void Emitter::agree_with_definitions() {
  for (const Function& f : program_.functions) {
    const std::string parameters = text_of(f.symbol->parameters);
    for (const Declaration* declaration : program_.file_declarations)
      for (const Symbol* symbol : declaration->symbols) {
        if (symbol->kind != Symbol::Kind::function || symbol->name != f.symbol->name ||
            symbol->parameters.empty())
          continue;
        if (token(symbol->token).system || text_of(symbol->parameters) == parameters) continue;
        edits_.replace(token(symbol->parameters.first).begin, token(symbol->parameters.last - 1).end,
                       parameters);
      }
  }
}

std::string Emitter::start() const {
  return std::string(
             choices_.check
                 ? " xacc_checked(); int xacc_main __attribute__((cleanup(xacc_end_of_main), unused)) = 0;"
                 : "") +
         " xacc_start();" + (choices_.explain ? " xacc_explain();" : "");
}

void Emitter::function(const Function& function) {
  // What a void main leaves behind would be the program's exit code.
  const Range type = function.symbol->specifiers;
  if (function.symbol->name == "main" && type.last == type.first + 1 && token(type.first).is("void"))
    edits_.replace(token(type.first).begin, token(type.first).end, "int");
  if (function.symbol->name == "main") edits_.insert(token(function.body->tokens.first).end, start());
  const std::set<std::string> resident = resident_;  // for the whole file
  walk(function.body->children);
  resident_ = resident;
}

void Emitter::statement(const Statement& s) {
  const Statement* const behind = std::exchange(behind_, nullptr);
  if (s.kind == Statement::Kind::directive) return guarded([&] { standalone(s); });
  if (s.declaration) guarded([&] { replace_declaration(*s.declaration, false); });
  if (!s.constructs.empty()) return constructs(s, behind);
  if (assigns_section(s)) return guarded([&] { sections_alone(s); });
  walk(s.children);
}

void Emitter::walk(const std::vector<std::unique_ptr<Statement>>& statements) {
  for (std::size_t i = 0; i < statements.size(); ++i) {
    behind_ = i + 1 < statements.size() ? statements[i + 1].get() : nullptr;
    statement(*statements[i]);
  }
}

void Emitter::sections_alone(const Statement& s) {
  const std::size_t name = s.tokens.first;
  const Place place = program_.place(name);
  if (program_.uses[name]->array)
    throw Fault{
        place, "sections of the distributed array `" + std::string(token(name).text) + "` are assigned here",
        "say how: #pragma xmp array on TEMPLATE[:] for what each rank owns, #pragma xmp gmove for any "
        "sections"};
  assign_sections(s, place);
}

void Emitter::standalone(const Statement& s) {
  const Directive& directive = *program_.directives[static_cast<std::size_t>(s.directive)];
  if (done_.contains(s.directive)) return replace_pragma(s.directive, ";");
  if (const auto* acc = std::get_if<AccDirective>(&directive.body))
    replace_pragma(s.directive, acc_standalone(*acc, directive, *s.scope));
  else if (!declare(s.directive, *s.scope))
    replace_pragma(s.directive, communicate(directive, *s.scope));
}

// Everything that is said about one statement. Loops of XcalableMP and of OpenACC come together at the last
// line, so that their order does not matter.
void Emitter::constructs(const Statement& s, const Statement* behind) {
  std::vector<int> loop_pragmas;
  std::set<std::string> resident = resident_, pointers = device_pointers_;
  const int task_depth = task_depth_;
  bool replaced = false;
  std::string closing;
  for (const int pragma : s.constructs) {
    guarded([&] {
      const Directive& directive = *program_.directives[static_cast<std::size_t>(pragma)];
      const auto* acc = std::get_if<AccDirective>(&directive.body);
      if (const auto* t = std::get_if<TaskDirective>(&directive.body)) {
        replace_pragma(pragma, task_open(*t, directive, *s.scope));
        closing += " }";
        ++task_depth_;
      } else if (const auto* g = std::get_if<GmoveDirective>(&directive.body)) {
        replace_pragma(pragma, "");
        gmove(s, *g, directive);
        replaced = true;
      } else if (acc && (acc->name == "data" || acc->name == "host_data")) {
        const bool addresses = acc->name == "host_data" && choices_.gpu;
        replace_pragma(
            pragma, addresses ? use_device(*acc, directive, *s.scope) : data_open(*acc, directive, *s.scope));
        closing += " }";
      } else if (std::holds_alternative<TasksDirective>(directive.body)) {
        replace_pragma(pragma, "");
      } else if (acc && acc->name == "atomic" && in_kernel_) {
        replace_pragma(pragma, "");
        atomic(s, *acc, directive);
        replaced = true;
      } else if (acc && acc->name == "atomic") {
        replace_pragma(pragma, choices_.check
                                   ? ""
                                   : "#pragma omp atomic" +
                                         (acc->clauses.empty() ? "" : " " + acc->clauses[0].name.text));
      } else if (std::holds_alternative<ArrayDirective>(directive.body)) {
        replace_pragma(pragma, "");
        array_assignment(s, directive);
        replaced = true;
      } else {
        loop_pragmas.push_back(pragma);
      }
    });
  }
  if (loop_pragmas.size() < s.constructs.size()) behind = nullptr;  // of a task or a data region
  if (!loop_pragmas.empty())
    guarded([&] { becomes_kernel(loop_pragmas) ? region(s, loop_pragmas, behind) : loops(s, loop_pragmas); });
  else if (!replaced)
    walk(s.children);
  edits_.insert(token(s.tokens.last - 1).end, closing);
  resident_ = std::move(resident);
  device_pointers_ = std::move(pointers);
  task_depth_ = task_depth;
}

Translated translate(const std::string& text, const Program& program, const Objects& objects,
                     const Choices& choices, std::vector<Fault>& faults) {
  return Emitter(text, program, objects, choices, faults).run();
}

}  // namespace tca::xacc
