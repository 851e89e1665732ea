// A compute region that becomes a kernel, and what the host has in its place.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "emit/edits.hpp"
#include "ir/program.hpp"

namespace tca::xacc {

struct Kernel {
  std::string name;
  Range tokens;                 // of the region's statement
  Place place;                  // of its directive
  std::string place_text;       // the same in C
  Edits edits;                  // that the host's text has not
  std::string parameters = {};  // behind the first
  std::string before = {};      // what stands in front of the region's own text, and behind it
  std::string behind = {};
  // Of reductions: in every block, and in the one that comes last, with other ranks and for the host.
  std::string leave = {}, finish = {}, over = {}, tell = {};
  std::string open = {};     // what the host knows of this rank's part
  std::string set_up = {};   // what it declares
  std::string values = {};   // its pointers to the parameters
  std::string results = {};  // where it wants the reductions
  std::string items = {};    // arrays that come along by themselves
  std::array<std::string, 3> trips = {"1", "1", "1"};
  std::string gangs = "0", vector = "0", queue = {};
  int reductions = 0, item_count = 0;
  // A statement that the last block does as well, with what it names, and the host's variable that says whether it has.
  Range last = {};
  std::string last_before = {}, joined = {};
  std::string unless = {};                   // such a variable: then there is nothing left to launch
  std::string condition = {}, hoisted = {};  // of `if`: otherwise the host does it, with these pointers
};

// What a pragma says, if it is one of OpenACC's.
const AccDirective* acc_of(const std::optional<Directive>& directive);
// The operation of a reduction clause that names a variable; empty where there is none.
std::string reduction_of(const std::vector<const AccDirective*>& loops, std::string_view name);
// Whether a text has numbers alone.
bool is_constant(std::string_view text);
bool in_clause(const std::vector<const AccDirective*>& loops, std::string_view clause, std::string_view name);

// The functions, types and constants of a file that its kernels need, in the order of the file.
class KernelSurroundings {
 public:
  explicit KernelSurroundings(const Program& program, std::string_view text)
      : program_(program), text_(text) {}

  // What is named in these tokens, and in what that needs. Throws Fault for what no kernel can have.
  void need(Range tokens);
  std::string source() const;

 private:
  void need_word(std::size_t token);
  void need_function(const Symbol& symbol, std::size_t token);
  void need_constant(const Symbol& symbol, std::size_t token);
  void need_types();
  std::vector<std::string> names_of(const Declaration& declaration) const;
  std::string type_source(const Declaration& declaration) const;
  std::string function_source(const Function& function) const;
  std::string head_of(const Function& function) const;
  std::string marker(std::size_t token) const;

  const Program& program_;
  std::string_view text_;
  std::set<std::string, std::less<>> words_;
  std::set<const Function*> functions_;
  std::set<const Symbol*> constants_;
  std::set<const Declaration*> types_;
};

}  // namespace tca::xacc
