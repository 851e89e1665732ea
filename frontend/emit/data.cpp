#include <algorithm>
#include <utility>

#include "emit/emitter.hpp"

namespace tca::xacc {
namespace {

const char* clause_of(std::string_view name) {
  if (name.starts_with("present_or_")) name.remove_prefix(11);
  if (name.size() > 4 && (name.starts_with("pcopy") || name.starts_with("pcreate"))) name.remove_prefix(1);
  if (name == "copy") return "XACC_COPY";
  if (name == "copyin") return "XACC_COPYIN";
  if (name == "copyout") return "XACC_COPYOUT";
  if (name == "create") return "XACC_CREATE";
  if (name == "present") return "XACC_PRESENT";
  if (name == "delete") return "XACC_DELETE";
  if (name == "host" || name == "self") return "XACC_UPDATE_HOST";
  if (name == "device") return "XACC_UPDATE_DEVICE";
  return nullptr;
}

// How many items count: none where an `if` says so.
std::string count_of(const AccDirective& acc, int count) {
  const AccClause* condition = acc.find("if");
  const bool given = condition && !condition->arguments.empty();
  return given ? "(" + condition->arguments[0].text + ") ? " + std::to_string(count) + " : 0"
               : std::to_string(count);
}

}  // namespace

// The queue of an `async` clause.
std::string queue_of(const AccDirective& acc) {
  const AccClause* async = acc.find("async");
  if (!async) return "XACC_SYNC";
  return async->arguments.empty() ? "XACC_NOVAL" : "(" + async->arguments[0].text + ")";
}

// Where a variable's memory is; the variable itself where a section begins further on. A pointer without a section
// is to memory that is there already.
std::string Emitter::data_item(const Symbol& symbol, const std::vector<Subscript>& subscripts,
                               const std::string& kind) const {
  const std::string name = name_of(symbol);
  std::string where = "(void*)&" + name + ", sizeof(" + name + ")";
  if (symbol.array) {
    where = symbol.array->c() + ".base, xacc_bytes(&" + symbol.array->c() + ")";
  } else if (!subscripts.empty()) {  // from its first row on
    const Subscript& s = subscripts[0];
    const std::string base = s.base ? s.base.text : "0";
    const std::string rows = s.kind == Subscript::Kind::index ? "1"
                             : s.extent                       ? s.extent.text
                                        : "sizeof(" + name + ") / sizeof(" + name + "[0])";
    where = "(void*)&" + name + "[" + base + "], (" + rows + ") * sizeof(" + name + "[0]), (void*)" + name;
  } else if (is_pointer_to_rows(symbol)) {
    where = "(void*)" + name + ", 0";
  } else if (symbol.kind == Symbol::Kind::parameter && !symbol.dims.empty() && !symbol.dims[0].empty()) {
    where = "(void*)" + name + ", (" + text_of(symbol.dims[0]) + ") * sizeof(" + name + "[0])";
  } else if (symbol.kind == Symbol::Kind::parameter ? !symbol.dims.empty() || symbol.pointers > 0
                                                    : symbol.dims.empty() && symbol.pointers > 0) {
    where = "(void*)" + name + ", 0";
  }
  return "{" + quoted(symbol.name) + ", " + kind + ", " + where + "}";
}

std::string Emitter::data_items(const AccDirective& acc, const Scope& scope, int* count) {
  std::string list;
  for (const AccClause& clause : acc.clauses) {
    if (clause.name.text == "deviceptr")
      for (const Ref& ref : clause.variables) device_pointers_.insert(ref.name.text);
    const char* kind = clause_of(clause.name.text);
    if (!kind) continue;
    for (const Ref& ref : clause.variables) {
      const Symbol* symbol = scope.find(ref.name.text);
      if (!symbol) throw Fault{ref.name.place, "`" + ref.name.text + "` is not declared here"};
      list += (*count)++ ? ", " : "";
      list += data_item(*symbol, ref.subscripts, kind);
      if (symbol->dims.empty() && !symbol->array && symbol->pointers == 0) resident_.insert(ref.name.text);
    }
  }
  return "(const xacc_item[]){" + list + "}";
}

// Opens a block, in which what the clauses name is on the device; it leaves with the block.
std::string Emitter::data_open(const AccDirective& acc, const Directive& directive, const Scope& scope) {
  int count = 0;
  const std::string items = data_items(acc, scope, &count);
  if (count == 0) return "{" + on_device(acc, directive);
  const std::string name = unique("data");
  return "{" + on_device(acc, directive) + " xacc_data " + name +
         " __attribute__((cleanup(xacc_data_leave), unused)) = xacc_data_enter(" + items + ", " +
         count_of(acc, count) + ", " + queue_of(acc) + ", " + place_of(directive) + ");";
}

// Opens a block for a compute region. Where all clauses only say that something is there, it has nothing to
// leave with.
std::string Emitter::region_open(const AccDirective& acc, const Directive& directive, const Scope& scope) {
  const bool brings = std::any_of(acc.clauses.begin(), acc.clauses.end(), [](const AccClause& clause) {
    return clause_of(clause.name.text) && clause.name.text != "present";
  });
  if (brings || acc.find("if")) return data_open(acc, directive, scope);
  int count = 0;
  const std::string items = data_items(acc, scope, &count);
  std::string text = "{" + on_device(acc, directive), site;
  if (count == 0) return text;
  text += declare_site(directive, site);
  return text + " xacc_present(" + items + ", " + std::to_string(count) + ", " + site + ");";
}

// Within host_data, names stand for memory of the device.
std::string Emitter::use_device(const AccDirective& acc, const Directive& directive, const Scope& scope) {
  std::string text = "{";
  for (const AccClause& clause : acc.clauses)
    for (const Ref& ref : clause.variables) {
      const Symbol* symbol = scope.find(ref.name.text);
      if (!symbol) throw Fault{ref.name.place, "`" + ref.name.text + "` is not declared here"};
      if (symbol->coarray) continue;  // kernels reach what the host has
      if (!symbol->array && symbol->dims.empty() && symbol->pointers == 0)
        throw Fault{ref.name.place,
                    "`" + ref.name.text + "` is no array and no pointer, which use_device is for"};
      const std::string there = unique("there");
      const std::string variable = symbol->array ? symbol->array->c() : ref.name.text;
      const std::string type = symbol->array ? "xacc_array" : "__typeof__(&" + variable + "[0])";
      const std::string call = symbol->array
                                   ? "xacc_array_on_device(&" + variable
                                   : "xacc_device_address(" + quoted(ref.name.text) + ", " + variable;
      text += " " + type + " " + there + " = " + call + ", " + place_of(directive) + "); " + type + " " +
              variable + " __attribute__((unused)) = " + there + ";";
    }
  return text;
}

// What is declared stays on the device as long as its function, or the program.
std::string Emitter::declare_data(const AccDirective& acc, const Directive& directive, const Scope& scope) {
  int count = 0;
  const std::string items = data_items(acc, scope, &count);
  if (count == 0) return ";";
  const std::string call =
      items + ", " + std::to_string(count) + ", XACC_SYNC, " + place_of(directive) + ");";
  if (!scope.is_file)
    return "xacc_data " + unique("data") +
           " __attribute__((cleanup(xacc_data_leave), unused)) = xacc_data_enter(" + call;
  data_set_up_ += " xacc_enter_data(" + call;
  return "";
}

std::string Emitter::acc_standalone(const AccDirective& acc, const Directive& directive, const Scope& scope) {
  std::string begin = on_device(acc, directive);
  if (scope.is_file) data_set_up_ += std::exchange(begin, "");
  if (acc.name == "declare") return begin + declare_data(acc, directive, scope);
  if (acc.name == "barrier_device") return begin + " xacc_barrier_device(" + place_of(directive) + ");";
  const char* call = acc.name == "enter data"  ? "xacc_enter_data("
                     : acc.name == "exit data" ? "xacc_exit_data("
                     : acc.name == "update"    ? "xacc_update("
                                               : nullptr;
  if (choices_.gpu) begin += waits_of(acc, directive);
  if (acc.name == "wait" && choices_.gpu) return begin + wait_for_queues(acc, directive);
  if (!call) return begin + ";";  // cache, routine: nothing to do; nor wait where the device is the host
  std::set<std::string> resident = resident_;
  int count = 0;
  const std::string items = data_items(acc, scope, &count);
  resident_ = std::move(resident);
  if (count == 0) return begin + ";";
  return begin + call + items + ", " + count_of(acc, count) + ", " + queue_of(acc) + ", " +
         place_of(directive) + ");";
}

// The host waits for queues, or with `async` another queue does.
std::string Emitter::wait_for_queues(const AccDirective& acc, const Directive& directive) const {
  if (acc.arguments.empty()) return "xacc_wait_queues(" + place_of(directive) + ");";
  std::string text = "{";
  for (const Expr& queue : acc.arguments)
    text += (acc.find("async") ? " xacc_order_queues(" + queue_of(acc) + ", "
                               : std::string(" xacc_wait_queue(")) +
            "(" + queue.text + "), " + place_of(directive) + ");";
  return text + " }";
}

}  // namespace tca::xacc
