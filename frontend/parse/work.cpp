// The directives that share out work and that communicate.
#include "parse/table.hpp"

namespace tca::xacc {
namespace {

std::vector<Width> parse_widths(Cursor& at, std::string_view mark) {
  std::vector<Width> widths;
  at.expect("(");
  do widths.push_back(parse_width(at, mark));
  while (at.accept(","));
  at.expect(")");
  return widths;
}

ReductionClause parse_reduction_in_brackets(Cursor& at) {
  at.expect("(");
  ReductionClause clause = parse_reduction(at);
  at.expect(")");
  return clause;
}

}  // namespace

DirectiveBody parse_loop(Cursor& at) {
  LoopDirective d;
  if (!at.at("on")) {
    bool found = false;
    const Form form = at.list(&found, [&](Form) { d.indices.push_back(at.name("a loop variable")); });
    d.indices = in_c_order(std::move(d.indices), form);
  }
  at.expect("on");
  d.on = parse_ref(at, "a template or nodes");
  parse_clauses(at, [&] {
    if (at.accept("expand")) return d.expand = parse_widths(at, "unbound"), true;
    if (at.accept("margin")) return d.margin = parse_widths(at, "unbound"), true;
    if (at.accept("reduction")) return d.reductions.push_back(parse_reduction_in_brackets(at)), true;
    return accept_flag(at, "acc", d.acc);
  });
  return d;
}

DirectiveBody parse_array(Cursor& at) {
  at.expect("on");
  return ArrayDirective{parse_ref(at, "a template")};
}

DirectiveBody parse_task(Cursor& at) {
  TaskDirective d;
  at.expect("on");
  d.on = parse_ref(at, "nodes or a template");
  parse_clauses(at, [&] { return accept_flag(at, "nocomm", d.nocomm); });
  return d;
}

DirectiveBody parse_tasks(Cursor& at) {
  TasksDirective d;
  parse_clauses(at, [&] { return accept_flag(at, "nocomm", d.nocomm); });
  return d;
}

DirectiveBody parse_reflect(Cursor& at) {
  ReflectDirective d;
  d.arrays = parse_names_in_brackets(at, "the name of an array");
  parse_clauses(at, [&] {
    if (at.accept("width")) return d.widths = parse_widths(at, "periodic"), true;
    return accept_flag(at, "orthogonal", d.orthogonal) || accept_flag(at, "acc", d.acc) ||
           accept_async(at, d.async);
  });
  return d;
}

DirectiveBody parse_reflect_init(Cursor& at) {
  auto d = std::get<ReflectDirective>(parse_reflect(at));
  if (d.async) at.fail(d.async.place, "reflect_init starts nothing that could be asynchronous");
  d.kind = ReflectDirective::Kind::init;
  return d;
}

DirectiveBody parse_reflect_do(Cursor& at) {
  auto d = std::get<ReflectDirective>(parse_reflect(at));
  if (!d.widths.empty())
    at.fail(d.widths[0].low.place,
            "reflect_do exchanges what reflect_init says, and has no widths of its own");
  d.kind = ReflectDirective::Kind::start;
  return d;
}

DirectiveBody parse_reduce_shadow(Cursor& at) {
  auto d = std::get<ReflectDirective>(parse_reflect(at));
  d.kind = ReflectDirective::Kind::reduce;
  return d;
}

DirectiveBody parse_gmove(Cursor& at) {
  GmoveDirective d;
  parse_clauses(at, [&] {
    if (at.accept("in")) return d.kind = GmoveDirective::Kind::in, true;
    if (at.accept("out")) return d.kind = GmoveDirective::Kind::out, true;
    if (!at.accept("acc")) return accept_async(at, d.async);
    d.acc = true;
    if (at.at("(")) d.on_device = parse_names_in_brackets(at, "the name of an array");
    return true;
  });
  return d;
}

DirectiveBody parse_barrier(Cursor& at) {
  BarrierDirective d;
  parse_clauses(at, [&] { return accept_ref(at, "on", d.on) || accept_flag(at, "acc", d.acc); });
  return d;
}

DirectiveBody parse_reduction_directive(Cursor& at) {
  ReductionDirective d;
  d.what = parse_reduction_in_brackets(at);
  parse_clauses(at, [&] {
    return accept_ref(at, "on", d.on) || accept_flag(at, "acc", d.acc) || accept_async(at, d.async);
  });
  return d;
}

DirectiveBody parse_bcast(Cursor& at) {
  BcastDirective d;
  at.expect("(");
  do d.variables.push_back(parse_ref(at, "a variable"));
  while (at.accept(","));
  at.expect(")");
  parse_clauses(at, [&] {
    return accept_ref(at, "from", d.from) || accept_ref(at, "from_device", d.from_device) ||
           accept_ref(at, "on", d.on) || accept_flag(at, "acc", d.acc) || accept_async(at, d.async);
  });
  return d;
}

DirectiveBody parse_wait_async(Cursor& at) {
  WaitAsyncDirective d;
  at.expect("(");
  do d.ids.push_back(at.expression(","));
  while (at.accept(","));
  at.expect(")");
  bool acc = false;
  parse_clauses(at, [&] { return accept_ref(at, "on", d.on) || accept_flag(at, "acc", acc); });
  return d;
}

DirectiveBody parse_post(Cursor& at) {
  PostDirective d;
  at.expect("(");
  d.to = parse_ref(at, "nodes");
  at.expect(",");
  d.tag = at.expression("");
  at.expect(")");
  return d;
}

DirectiveBody parse_wait(Cursor& at) {
  WaitDirective d;
  if (!at.accept("(")) return d;
  d.from = parse_ref(at, "nodes");
  if (at.accept(",")) d.tag = at.expression("");
  at.expect(")");
  return d;
}

namespace {

DirectiveBody parse_locking(Cursor& at, bool lock) {
  LockDirective d{lock};
  at.expect("(");
  d.object = at.expression("");
  at.expect(")");
  return d;
}

}  // namespace

DirectiveBody parse_lock(Cursor& at) { return parse_locking(at, true); }
DirectiveBody parse_unlock(Cursor& at) { return parse_locking(at, false); }

}  // namespace tca::xacc
