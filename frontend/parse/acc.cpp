// OpenACC: each directive with the clauses that it may have.
#include <algorithm>

#include "parse/table.hpp"

namespace tca::xacc {
namespace {

struct AccGrammar {
  std::string_view name;
  std::string_view clauses;  // between spaces
};

constexpr std::string_view data_clauses =
    " copy copyin copyout create present deviceptr pcopy pcopyin pcopyout pcreate"
    " present_or_copy present_or_copyin present_or_copyout present_or_create"
    " no_create attach default if async wait on_device layout ";
constexpr std::string_view compute_clauses =
    " num_gangs num_workers vector_length private firstprivate reduction self ";
constexpr std::string_view loop_clauses =
    " gang worker vector seq auto independent collapse tile private reduction layout ";

// Longer names first.
constexpr AccGrammar acc_directives[] = {
    {"enter data",
     " copyin create attach pcopyin pcreate present_or_copyin present_or_create if async wait on_device "},
    {"exit data", " copyout delete detach finalize if async wait on_device "},
    {"data", ""},
    {"parallel loop", ""},
    {"kernels loop", ""},
    {"serial loop", ""},
    {"parallel", ""},
    {"kernels", ""},
    {"serial", ""},
    {"loop", ""},
    {"update", " host self device if async wait if_present on_device "},
    {"host_data", " use_device if if_present "},
    {"declare",
     " copy copyin copyout create present deviceptr device_resident link pcopy pcopyin pcopyout pcreate"
     " present_or_copy present_or_copyin present_or_copyout present_or_create on_device layout shadow "},
    {"wait", " async if on_device "},
    {"barrier_device", " on_device "},
    {"cache", ""},
    {"routine", " gang worker vector seq bind nohost device_type "},
    {"atomic", " read write update capture "},
    {"init", " device_type device_num "},
    {"shutdown", " device_type device_num "},
    {"set", " default_async device_num device_type if "},
};
constexpr std::string_view numbers =
    " num_gangs num_workers vector_length collapse async wait if gang worker vector tile"
    " default self bind device_type device_num default_async ";

bool in(std::string_view list, std::string_view name) {
  return !name.empty() && list.find(" " + std::string(name) + " ") != list.npos;
}

bool has_word(std::string_view name, std::string_view word) {
  return in(" " + std::string(name) + " ", word);
}

std::string clauses_of(const AccGrammar& directive) {
  std::string clauses(directive.clauses);
  const bool compute = has_word(directive.name, "parallel") || has_word(directive.name, "kernels") ||
                       has_word(directive.name, "serial");
  if (directive.name == "data" || compute) clauses += data_clauses;
  if (compute) clauses += compute_clauses;
  if (has_word(directive.name, "loop")) clauses += loop_clauses;
  return clauses;
}

std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    if (end > begin) all.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

void parse_arguments(Cursor& at, AccClause& clause) {
  if (!at.accept("(")) return;
  if (clause.name.text == "reduction") {
    const ReductionClause r = parse_reduction(at);
    clause.operation = r.operation;
    for (const Name& name : r.variables) clause.variables.push_back({name});
  } else if (clause.name.text == "layout") {
    parse_layout(at, clause);
  } else if (clause.name.text == "shadow") {
    parse_device_shadow(at, clause);
  } else if (in(numbers, clause.name.text)) {
    do {
      Expr value = at.expression(",:");
      if (at.accept(":")) {
        clause.operation = value.text;
        value = at.expression(",");
      }
      clause.arguments.push_back(value);
    } while (at.accept(","));
  } else {
    do clause.variables.push_back(parse_ref(at, "a variable"));
    while (at.accept(","));
  }
  at.expect(")");
}

const AccGrammar& parse_name(Cursor& at) {
  for (const AccGrammar& known : acc_directives) {
    const auto parts = words(known.name);
    bool fits = true;
    for (std::size_t i = 0; i < parts.size(); ++i) fits = fits && at.peek(i).is(parts[i]);
    if (!fits) continue;
    for (const std::string_view part : parts) at.expect(part);
    return known;
  }
  std::vector<std::string_view> all{"devices"};
  for (const AccGrammar& known : acc_directives) all.push_back(known.name);
  const Name name = at.name("the name of a directive");
  at.fail(name.place, "`" + name.text + "` is no directive of OpenACC; " + nearest(name.text, all));
}

}  // namespace

AccDirective parse_acc(Cursor& at) {
  const AccGrammar& known = parse_name(at);
  AccDirective d{std::string(known.name)};
  if (at.at("(") && (d.name == "wait" || d.name == "cache" || d.name == "routine")) {
    at.expect("(");
    do d.arguments.push_back(at.expression(","));
    while (at.accept(","));
    at.expect(")");
  }
  const std::string clauses = clauses_of(known);
  while (!at.done()) {
    at.accept(",");
    AccClause clause{at.name("a clause")};
    if (!in(clauses, clause.name.text))
      at.fail(clause.name.place, "`" + clause.name.text + "` is no clause of acc " + d.name + "; " +
                                     nearest(clause.name.text, words(clauses)));
    parse_arguments(at, clause);
    d.clauses.push_back(std::move(clause));
  }
  return d;
}

}  // namespace tca::xacc
