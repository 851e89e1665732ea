// Compute regions for GPUs: a region's loops become a kernel, in which they stand as before, except that threads
// share out their iterations, and a launch takes their place on the host.
#include <algorithm>

#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

bool has_word(const std::string& name, std::string_view word) {
  return (" " + name + " ").find(" " + std::string(word) + " ") != name.npos;
}

std::string argument_of(const std::vector<const AccDirective*>& loops,
                        std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    for (const AccDirective* loop : loops)
      if (const AccClause* clause = loop->find(name); clause && !clause->arguments.empty())
        return "(" + clause->arguments[0].text + ")";
  return "0";
}

}  // namespace

const AccDirective* acc_of(const std::optional<Directive>& directive) {
  return directive ? std::get_if<AccDirective>(&directive->body) : nullptr;
}

bool Emitter::becomes_kernel(const std::vector<int>& pragmas) const {
  return choices_.gpu && compute_depth_ == 0 && std::any_of(pragmas.begin(), pragmas.end(), [&](int pragma) {
           const AccDirective* acc = acc_of(program_.directives[static_cast<std::size_t>(pragma)]);
           return acc && acc->name != "loop";
         });
}

// Everything that is said about the statement of a compute region.
void Emitter::region(const Statement& s, const std::vector<int>& pragmas, const Statement* behind) {
  std::string open = "{", closing;
  Region r;
  std::vector<std::pair<const LoopDirective*, const Directive*>> among_ranks;
  for (const int pragma : pragmas) {
    const Directive& directive = *program_.directives[static_cast<std::size_t>(pragma)];
    if (const auto* loop = std::get_if<LoopDirective>(&directive.body)) {
      open += clips(*loop, *s.scope, r.clips);
      among_ranks.emplace_back(loop, &directive);
    } else if (const auto* acc = std::get_if<AccDirective>(&directive.body)) {
      r.loops.push_back(acc);
      if (acc->name != "loop") {
        r.acc = acc;
        r.directive = &directive;
        open += " " + region_open(*acc, directive, *s.scope) + waits_of(*acc, directive);
      }
    }
    if (pragma != pragmas.back()) replace_pragma(pragma, "");
  }
  const Statement* const joined = joined_by(r, behind);
  if (joined) {
    r.joined = unique("joined");
    open = "static int " + r.joined + "; " + open;
  }
  replace_pragma(pragmas.back(), open);
  for (const AccClause& clause : r.acc->clauses)
    if (clause.name.text != "layout" && clause.name.text != "on_device")
      for (const Ref& ref : clause.variables) r.named.insert(ref.name.text);
  ++compute_depth_;
  const bool serial = has_word(r.acc->name, "serial");
  for (const auto& [loop, directive] : among_ranks)
    for (const ReductionClause& clause : loop->reductions)
      reduce_in_region(r, clause, on(nodes_along(*loop), *s.scope, *directive), loop->acc, *directive,
                       *s.scope);
  reduce_behind(r, behind);
  if (has_word(r.acc->name, "loop")) {
    make_kernel(s, r, !serial);
    if (joined) join(kernels_.back(), *joined);
  } else if (s.kind == Statement::Kind::block && !serial)
    kernels_of_block(s, r);
  else
    make_kernel(s, r, false);
  --compute_depth_;
  for (const auto& [loop, directive] : among_ranks)
    closing += loop_reductions(*loop, *s.scope, *directive, &r);
  edits_.insert(token(s.tokens.last - 1).end, " }" + closing + " }");
}

// Of a region that is a block, one statement after the other: loops that are said to be shared out, and what one
// thread does.
void Emitter::kernels_of_block(const Statement& block, const Region& region) {
  for (const auto& child : block.children) {
    if (child->kind == Statement::Kind::directive) {
      replace_pragma(child->directive, ";");
      continue;
    }
    if (child->kind == Statement::Kind::declaration)
      throw Fault{program_.place(child->tokens.first),
                  "a variable of its own in a compute region of several statements",
                  "declare it within the loop that uses it, or in front of the region"};
    Region r{region.acc, region.directive, {}, {region.acc}, region.named, ""};
    bool shared = false;
    for (const int pragma : child->constructs) {
      const Directive& directive = *program_.directives[static_cast<std::size_t>(pragma)];
      if (const auto* loop = std::get_if<LoopDirective>(&directive.body))
        r.open += clips(*loop, *child->scope, r.clips);
      if (const auto* acc = std::get_if<AccDirective>(&directive.body)) r.loops.push_back(acc), shared = true;
      replace_pragma(pragma, "");
    }
    make_kernel(*child, r, shared && child->kind == Statement::Kind::loop);
  }
}

void Emitter::make_kernel(const Statement& s, Region& r, bool shared) {
  Kernel& k =
      kernels_.emplace_back(Kernel{"xacc_kernel_" + choices_.unit + "_" + std::to_string(kernels_.size()),
                                   s.tokens, r.directive->place, place_of(*r.directive), Edits(text_)});
  k.queue = queue_of(*r.acc);
  k.joined = r.joined;
  if (const auto joined = joined_.find(r.directive); joined != joined_.end()) k.unless = joined->second;
  k.open = r.open;
  k.hoisted = hoist(s.tokens);
  std::vector<const Statement*> loops;
  if (shared) {
    if (s.kind != Statement::Kind::loop)
      throw Fault{program_.place(s.tokens.first),
                  "acc " + r.acc->name + " stands in front of what is no `for`"};
    const bool seq =
        std::any_of(r.loops.begin(), r.loops.end(), [](const AccDirective* a) { return a->find("seq"); });
    if (!seq) loops = shared_loops(s, r.loops);
  }
  k.gangs = loops.empty() ? "1" : argument_of(r.loops, {"num_gangs", "gang"});
  k.vector = loops.empty() ? "1" : argument_of(r.loops, {"vector_length", "vector"});
  capture(k, s, r);
  std::swap(edits_, k.edits);
  in_kernel_ = true;
  share_out(s, loops, r, k);
  in_kernel_ = false;
  std::swap(edits_, k.edits);
  const AccClause* condition = r.acc->find("if");
  if (!condition || condition->arguments.empty()) return;
  k.condition = condition->arguments[0].text;
  std::swap(edits_, launches_);
  clip_region(s, r, k.place);
  for (const auto& child : s.children) statement(*child);
  edits_.insert(token(s.tokens.last - 1).end, " }");
  std::swap(edits_, launches_);
}

// What a region waits for before it begins.
std::string Emitter::waits_of(const AccDirective& acc, const Directive& directive) const {
  const AccClause* wait = acc.find("wait");
  if (!wait) return "";
  if (wait->arguments.empty()) return " xacc_wait_queues(" + place_of(directive) + ");";
  std::string text;
  for (const Expr& other : wait->arguments)
    text += " xacc_order_queues(" + queue_of(acc) + ", " + other.text + ", " + place_of(directive) + ");";
  return text;
}

}  // namespace tca::xacc
