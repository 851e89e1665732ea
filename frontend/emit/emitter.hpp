// Walks through a program and notes what is to be changed, a directive at a time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "emit/edits.hpp"
#include "emit/kernel/kernel.hpp"
#include "emit/translate.hpp"

namespace tca::xacc {

class Emitter {
 public:
  Emitter(const std::string& text, const Program& program, const Objects& objects, const Choices& choices,
          std::vector<Fault>& faults)
      : program_(program),
        objects_(objects),
        choices_(choices),
        faults_(faults),
        text_(text),
        edits_(text),
        launches_(text),
        surroundings_(program, text) {}

  Translated run();

 private:
  // emitter.cpp: the walk.
  void function(const Function& function);
  void statement(const Statement& statement);
  void walk(const std::vector<std::unique_ptr<Statement>>& statements);
  void constructs(const Statement& statement, const Statement* behind);
  void standalone(const Statement& statement);
  std::string start() const;
  void sections_alone(const Statement& statement);
  std::string set_up_at_start() const;
  void agree_with_definitions();
  // What is wrong with one directive does not keep others from being looked at.
  template <class Body>
  void guarded(const Body& body) {
    try {
      body();
    } catch (const Fault& fault) {
      faults_.push_back(fault);
    }
  }

  // declare.cpp: nodes and templates.
  struct Declared {
    std::string variable;   // what is declared
    std::string statement;  // what makes it; of a file's directives at the program's start
  };
  bool declare(int pragma, const Scope& scope);
  Declared declare(const NodesDirective& d, const Scope& scope, const Directive& directive) const;
  Declared declare(const TemplateDirective& d, const Scope& scope, const Directive& directive) const;
  Declared declare(const TemplateFixDirective& d, const Scope& scope, const Directive& directive) const;
  Declared declare(const DistributeDirective& d, const Scope& scope, const Directive& directive) const;
  std::string distribution(const Template& t, const std::vector<Format>& formats,
                           const Directive& directive) const;

  // declare_arrays.cpp
  Declared declare_arrays(int pragma, const Directive& directive) const;
  std::string make_array(const Array& array, const Directive& directive) const;
  void declare_members(const Symbol& variable, const Declaration& declaration, bool file);
  void replace_declaration(const Declaration& declaration, bool file);
  std::string storage(const Symbol& symbol, bool file) const;

  // devices.cpp: which of a node's. Throw Fault where there are none of that name.
  void find_devices(const Name& name) const;
  Declared declare(const DevicesDirective& d, const Directive& directive) const;
  std::string on_device(const AccDirective& acc, const Directive& directive) const;
  std::string device_check(const Ref& ref, const Directive& directive) const;

  // communicate.cpp, reduce.cpp: what ranks do together. Each returns statements.
  std::string communicate(const Directive& directive, const Scope& scope);
  std::string communicate(const ReflectDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const BarrierDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const ReductionDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const BcastDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const WaitAsyncDirective& d, const Directive& directive, const Scope& scope);
  struct Memory {
    std::string address, bytes, element;
  };
  std::string local_section(const Ref& ref, const Scope& scope) const;
  std::string reduce_with_places(const ReductionClause& clause, std::size_t variable, const Symbol& symbol,
                                 const std::string& on, const Directive& directive, const Scope& scope);
  Memory memory_of(const Symbol& symbol, Place place) const;
  std::string reduce(const ReductionClause& clause, const std::string& on, bool acc,
                     const Directive& directive, const Scope& scope);
  std::string subscripts(const Ref& ref, bool of_nodes) const;
  std::string on(const std::optional<Ref>& ref, const Scope& scope, const Directive& directive);
  std::string on(const Ref& ref, const Scope& scope, const Directive& directive);

  // work.cpp: tasks and gmove.
  struct Subscripted {
    std::vector<Range> parts;  // between colons; one where there is none
  };
  std::string task_open(const TaskDirective& d, const Directive& directive, const Scope& scope);
  void gmove(const Statement& statement, const GmoveDirective& d, const Directive& directive);
  std::string section(Range tokens, Place place, const std::string& what);
  void share(const Symbol& symbol, const Directive& directive);
  std::string extent_of(const Symbol& symbol, std::size_t dim, const Subscripted& s, Place place) const;

  // array.cpp: assignments of sections.
  struct Subscripts {
    std::vector<Subscripted> all;
    std::size_t end = 0;
  };
  struct ArrayLoop {
    std::string index, base, step;
  };
  Subscripts subscripts_behind(std::size_t name, std::size_t last) const;
  std::string part_of(const Subscripted& s, std::size_t part, const std::string& otherwise) const;
  std::string element_of(const Subscripted& s, const ArrayLoop& loop) const;
  std::string with_indices(Range tokens, const std::vector<ArrayLoop>& loops, Place place) const;
  std::string slot_of(const Array& array, std::size_t dim, const std::string& index) const;
  std::string section_loop(const Symbol& symbol, std::size_t d, const Subscripted& s, const ArrayLoop& loop,
                           Place place) const;
  bool assigns_section(const Statement& statement) const;
  void array_assignment(const Statement& statement, const Directive& directive);
  void assign_sections(const Statement& statement, Place place);

  // loops.cpp: loops over templates, and compute regions. loop_header.cpp: their first lines.
  struct Header {
    std::string_view variable;
    Range from, to;
    std::string_view relation;
    std::string step = "1";
    bool down = false;
    std::string least = {};  // of its variable; none where that has a sign
  };
  struct Clip {
    std::string begin, end;                          // what this rank has, in the loop variable's own numbers
    std::string low = {}, high = {};                 // how far the loop goes beyond its bounds
    std::string next = {};                           // of a cyclic distribution: `xacc_next(&SPLIT, OFFSET`
    std::string inside_begin = {}, inside_end = {};  // what a margin leaves out
  };
  struct Region;
  void loops(const Statement& statement, const std::vector<int>& pragmas);
  std::string clips(const LoopDirective& d, const Scope& scope, std::map<std::string, Clip>& found);
  static Ref nodes_along(const LoopDirective& d);
  std::string loop_reductions(const LoopDirective& d, const Scope& scope, const Directive& directive,
                              const Region* region = nullptr);
  std::string widened(const LoopDirective& d, std::size_t dim, Clip& clip);
  void leave_inside_out(const std::map<std::string, Clip>& clips,
                        const std::map<std::string, const Statement*>& loops);
  void clip_loops(const Statement& statement, const std::map<std::string, Clip>& clips,
                  std::map<std::string, const Statement*>& seen);
  void clip_loop(const Statement& loop, const Header& header, const Clip& clip);
  Header header_of(const Statement& loop, Place place) const;
  std::string least_of(std::size_t variable) const;
  std::string hoist(Range tokens);

  // local_indices.cpp
  std::set<std::string> loop_variables(Range tokens) const;
  void count_locally(Range tokens, const std::set<std::string>& indices);

  // compute.cpp: OpenACC's loops as OpenMP's.
  std::string openmp(const Statement& statement, const AccDirective& acc);
  std::string private_scalars(const Statement& statement, const AccDirective& acc) const;
  bool is_innermost(const Statement& loop, int levels) const;

  // kernel/region.cpp: compute regions for GPUs.
  struct Region {
    const AccDirective* acc = nullptr;
    const Directive* directive = nullptr;
    std::map<std::string, Clip> clips = {};
    std::vector<const AccDirective*> loops =
        {};                            // what is said of the loops, the region's directive included
    std::set<std::string> named = {};  // in its clauses
    std::string open = {};             // declares what this rank has, where the directives do not
    // How the region itself reduces a variable among ranks, and what a xacc_result says of it.
    struct Over {
      std::string operation, result;
    };
    std::map<std::string, Over> over = {};
    std::string joined = {};  // says whether the statement behind was done by the last block
  };
  bool becomes_kernel(const std::vector<int>& pragmas) const;
  void region(const Statement& statement, const std::vector<int>& pragmas, const Statement* behind);
  void kernels_of_block(const Statement& block, const Region& region);
  void make_kernel(const Statement& s, Region& region, bool shared);
  // kernel/join.cpp: a statement for one thread that the last block of the region in front of it does.
  const Statement* joined_by(const Region& region, const Statement* behind);
  void join(Kernel& k, const Statement& statement);
  std::string waits_of(const AccDirective& acc, const Directive& directive) const;

  // kernel/loops.cpp: which loops threads share out, and what becomes of them.
  std::vector<const Statement*> shared_loops(const Statement& s,
                                             std::vector<const AccDirective*>& said) const;
  bool is_cyclic(const LoopDirective& d, const Scope& scope) const;
  struct SharedLoop {
    Header header;
    const Clip* clip;    // where blocks of it are the rank's
    std::string behind;  // its first value
  };
  SharedLoop share_loop(const Statement& loop, std::size_t axis, const Region& r);
  void share_out(const Statement& s, const std::vector<const Statement*>& loops, const Region& region,
                 Kernel& k);
  void clip_region(const Statement& s, const Region& region, Place place);
  std::string trips_of(const Statement& region, const Header& h, const Clip* clip) const;
  bool is_index(const Statement& region, const Symbol& symbol) const;

  // kernel/reductions.cpp
  bool reduce_in_region(Region& region, const ReductionClause& clause, const std::string& on, bool acc,
                        const Directive& directive, const Scope& scope);
  void reduce_behind(Region& region, const Statement* behind);
  void capture_reduction(Kernel& k, const Symbol& symbol, const std::string& plain,
                         const std::string& operation, const std::string& rows, const Region& region);

  // kernel/values.cpp: what kernels see of variables.
  void capture(Kernel& k, const Statement& s, const Region& region);
  void capture(Kernel& k, const Symbol& symbol, Place place, const Region& region);
  void capture_scalar(Kernel& k, const Symbol& symbol, const Region& region);
  void capture_memory(Kernel& k, const Symbol& symbol, Place place, const Region& region);
  void bring(Kernel& k, const Symbol& symbol, Place place, const Region& region);
  static void add_value(Kernel& k, const std::string& parameter, const std::string& value);
  bool is_whole(const Array& array, std::size_t dim) const;
  std::vector<std::string> row_extents(const Symbol& symbol) const;
  bool is_pointer_to_rows(const Symbol& symbol) const;

  // kernel/warp.cpp: a warp for each iteration of a loop that has loops for vectors.
  const AccDirective* vector_loop(const Statement& s) const;
  const Symbol* changed_by(const Statement& s) const;
  bool changes_own(const Statement& assignment, const Statement& region, const Region& r) const;
  std::vector<const Statement*> vector_loops(const Statement& loop, const Region& r) const;
  void store_once(const Statement& loop, const Statement& region, const Region& r);
  void reduce_over_warp(const Statement& loop, const Region& r);

  // kernel/atomic.cpp
  std::string atomic_update(Range tokens, bool after, Place place) const;
  void require_unslotted(const Statement& s, const Directive& directive) const;
  void atomic(const Statement& s, const AccDirective& acc, const Directive& directive);

  // kernel/text.cpp
  std::string kernel_text(Kernel& k);
  std::string last_text(const Kernel& k) const;
  std::string launch_text(const Kernel& k);
  Translated finish_kernels();

  // data.cpp: data regions and updates.
  std::string data_item(const Symbol& symbol, const std::vector<Subscript>& subscripts,
                        const std::string& kind) const;
  std::string data_items(const AccDirective& acc, const Scope& scope, int* count);
  std::string data_open(const AccDirective& acc, const Directive& directive, const Scope& scope);
  std::string region_open(const AccDirective& acc, const Directive& directive, const Scope& scope);
  std::string declare_data(const AccDirective& acc, const Directive& directive, const Scope& scope);
  std::string use_device(const AccDirective& acc, const Directive& directive, const Scope& scope);
  std::string wait_for_queues(const AccDirective& acc, const Directive& directive) const;
  std::string acc_standalone(const AccDirective& acc, const Directive& directive, const Scope& scope);

  // coarray.cpp: coarrays are pointers to memory that other images reach; a reference to an image's is a call.
  struct CoReference {
    std::size_t name = 0, colon = 0, end = 0;  // NAME[...] : [IMAGE]...
  };
  std::string communicate(const PostDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const WaitDirective& d, const Directive& directive, const Scope& scope);
  std::string communicate(const LockDirective& d, const Directive& directive, const Scope& scope);
  void replace_coarray(const Symbol& symbol, bool file);
  void rewrite_coarrays();
  std::size_t rewrite_reference(const CoReference& reference);
  std::string image_of(const CoReference& reference);
  std::optional<CoReference> reference_at(std::size_t name) const;
  bool reference_within(Range tokens) const;
  bool is_element(const CoReference& reference) const;
  std::string element_of_image(const CoReference& reference);
  std::string with_references(Range value);
  std::string source_of(Range value, const Symbol& type);
  std::size_t begin_of_target(std::size_t assign) const;
  std::string co_place(std::size_t at) const;

  // check.cpp: what -fcheck looks at.
  void find_device_variables();
  bool is_watched(std::size_t token) const;
  std::string access_of(std::size_t name, std::size_t end) const;
  std::string access_place(std::size_t name, std::size_t end) const;
  void check_element(std::size_t name, const Subscripts& subscripts);
  void check_variable(std::size_t name);
  std::string check_scope(bool compute);

  // names.cpp: what stands for distributed arrays in expressions.
  void rewrite_names();
  void rewrite_name(std::size_t token);
  void rewrite_subscripts(std::size_t token, const Subscripts& subscripts);
  void check_order(std::size_t at, const Array& array) const;
  void rewrite_descriptor(std::size_t token, const Scope& scope);
  bool hoisted(std::size_t token, const Symbol* symbol) const;
  bool is_free(std::size_t token) const;
  std::string element_type(const Symbol& symbol) const;
  std::string pointer_type(const Array& array, const std::string& declarator) const;

  // What all of them use.
  const Token& token(std::size_t index) const { return program_.tokens[index]; }
  // As it stands, with the names of coarrays replaced.
  std::string text_of(Range tokens) const;
  static std::string name_of(const Symbol& symbol);
  std::string place_of(const Directive& directive) const;
  // Declares what a directive keeps from one time to the next; `site` becomes its address.
  std::string declare_site(const Directive& directive, std::string& site);
  void replace_pragma(int pragma, std::string what);
  std::string unique(const std::string& stem) { return "xacc_" + stem + std::to_string(next_++); }
  void warn(Fault fault) { warnings_.push_back(std::move(fault)); }

  const Program& program_;
  const Objects& objects_;
  const Choices& choices_;
  std::vector<Fault>& faults_;
  std::vector<Fault> warnings_;
  std::string_view text_;
  Edits edits_;
  Edits launches_;  // of the host's text alone
  std::deque<Kernel> kernels_;
  KernelSurroundings surroundings_;
  const Statement* behind_ = nullptr;  // what stands behind the next statement
  std::set<int> done_;                 // directives that regions in front of them do
  std::map<const Directive*, std::string>
      joined_;  // what regions in front may do, and what says whether they have
  bool in_kernel_ = false;
  std::set<std::string> device_pointers_;  // of data regions around
  std::string set_up_;                     // what a program does before its main
  std::string data_set_up_;                // and behind that, when all memory is there
  std::string share_set_up_;
  std::set<const Array*> shared_;
  int task_depth_ = 0;  // tasks around
  std::vector<std::pair<Range, std::set<const Symbol*>>> hoisted_;
  std::set<std::string> resident_;     // in the data regions around
  std::set<const Symbol*> on_device_;  // that data clauses name, with -fcheck
  int compute_depth_ = 0;              // compute regions around
  bool inside_loop_ = false;           // whether a loop around is shared out among ranks
  bool shared_out_ = false;            // whether a loop around is one of OpenMP's
  int next_ = 1;
};

// "i+1" is "i" and "+1"; there is no index where it is no variable with a constant.
std::pair<std::string, std::string> split_index(const std::string& text);

// Numbers as they stand in C: an array's compound literal.
std::string numbers(const std::vector<std::string>& values);
std::string quoted(std::string_view text);
// Bits of `flags`, as text.
std::string flags_of(bool acc, bool orthogonal = false);
std::string queue_of(const AccDirective& acc);
// The pointer to a coarray's memory.
std::string coarray_address(const std::string& name);
// The number of a value's type, found by the compiler.
std::string type_of(const std::string& value);
// The xacc_operation of a reduction.
std::string operation_of(const ReductionClause& clause);

}  // namespace tca::xacc
