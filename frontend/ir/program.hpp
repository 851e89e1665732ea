// A translation unit as far as directives need it: what is declared where, which statements there are, and
// what each name stands for. Expressions stay text.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lex/token.hpp"
#include "parse/directive.hpp"

namespace tca::xacc {

// Tokens from `first` up to `last`, which is none of them.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  bool empty() const { return first >= last; }
};

struct Scope;
struct Array;
struct Nodes;
struct Template;

struct Symbol {
  enum class Kind { variable, parameter, function, type } kind = Kind::variable;
  std::string_view name = {};
  std::size_t token = 0;
  Scope* scope = nullptr;
  Range specifiers = {};
  Range declarator = {};  // with what it is initialised with
  Range initial = {};
  std::vector<Range> dims = {};    // what stands in each bracket
  std::vector<Range> codims = {};  // of a coarray
  Range parameters = {};           // of a function, within its brackets
  int pointers = 0;                // stars in front of the name, those of `(*a)[n]` included
  bool is_extern = false;
  bool is_static = false;
  Array* array = nullptr;             // where it is distributed
  std::string_view member = {};       // TAG.NAME, where it is the member of a variable
  std::vector<Symbol*> members = {};  // of a variable: those that are distributed
  bool coarray = false;               // whether every image has one that the others reach
  std::vector<std::string> codim_sizes = {};

  // Its name as C has it: `c_a` of the member `c.a`.
  std::string identifier() const {
    std::string text(name);
    if (const std::size_t dot = text.find('.'); dot != text.npos) text[dot] = '_';
    return text;
  }
};

// A member of a structure that a directive distributes.
struct Member {
  std::string tag, name;
  Range specifiers = {};
  std::vector<Range> dims = {};  // empty: the structure has no such array
};

struct Declaration {
  Range tokens = {};
  Range specifiers = {};
  std::vector<Symbol*> symbols = {};
};

struct Scope {
  Scope* parent = nullptr;
  bool is_file = false;
  std::map<std::string_view, Symbol*> symbols = {};
  std::map<std::string, Nodes*> nodes = {};
  std::map<std::string, Template*> templates = {};

  Symbol* find(std::string_view name) const {
    for (const Scope* s = this; s; s = s->parent)
      if (const auto at = s->symbols.find(name); at != s->symbols.end()) return at->second;
    return nullptr;
  }
};

struct Statement {
  enum class Kind { block, loop, other_loop, branch, declaration, directive, simple } kind = Kind::simple;
  Range tokens = {};
  std::vector<int> constructs = {};  // numbers of the pragmas in front of it that say something about it
  int directive = -1;                // the number of the pragma that is this statement
  Scope* scope = nullptr;            // in which it stands
  Declaration* declaration = nullptr;
  // Of a `for`: where its brackets and semicolons are.
  std::size_t open = 0, first_semicolon = 0, second_semicolon = 0, close = 0;
  std::vector<std::unique_ptr<Statement>> children = {};
};

struct Function {
  Symbol* symbol = nullptr;
  Scope* parameters = nullptr;
  std::unique_ptr<Statement> body = {};
};

struct Program {
  std::vector<Token> tokens = {};
  std::vector<std::size_t> pragma_tokens = {};
  std::vector<std::optional<Directive>> directives = {};  // by the number of the pragma; none: foreign
  std::vector<Scope*> directive_scopes = {};
  std::vector<Symbol*> uses = {};                  // by token: what the name in it stands for
  std::map<std::size_t, Scope*> descriptors = {};  // by token: in which scope a xmp_desc_of stands
  std::vector<Function> functions = {};
  std::vector<Declaration*> file_declarations = {};
  Scope* file = nullptr;
  std::vector<Member> members = {};
  std::deque<std::string> kept = {};  // names that stand nowhere in the text

  std::deque<Symbol> all_symbols = {};
  std::deque<Scope> all_scopes = {};
  std::deque<Declaration> all_declarations = {};

  Place place(std::size_t token) const { return {tokens[token].file, tokens[token].line, 0}; }
};

// Finds declarations, statements and uses. `directives` are those of the pragmas in `tokens`. Throws Fault.
Program analyse(std::vector<Token> tokens, std::vector<std::optional<Directive>> directives);

}  // namespace tca::xacc
