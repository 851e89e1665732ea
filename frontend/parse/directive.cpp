#include "parse/directive.hpp"

#include <algorithm>

#include "parse/table.hpp"

namespace tca::xacc {
namespace {

struct Grammar {
  std::string_view name;
  DirectiveBody (*parse)(Cursor&);
  std::string_view grammar;
};

constexpr Grammar directives[] = {
    {"nodes", parse_nodes, "xmp nodes NAME[SIZE|*]... [= NODES[...]]"},
    {"template", parse_template, "xmp template NAME[SIZE|:]..."},
    {"template_fix", parse_template_fix, "xmp template_fix [DISTRIBUTION]... NAME[SIZE]..."},
    {"distribute", parse_distribute,
     "xmp distribute TEMPLATE[*|block|block(n)|cyclic|cyclic(n)|gblock(sizes)]... onto NODES"},
    {"align", parse_align, "xmp align ARRAY[i|*|:]... with TEMPLATE[i|i+OFFSET|*|:]..."},
    {"shadow", parse_shadow, "xmp shadow ARRAY[WIDTH|LOW:HIGH|*]..."},
    {"coarray", parse_coarray, "xmp coarray VARIABLE, ... : [SIZE]...[*]"},
    {"image", parse_image, "xmp image(NODES)"},
    {"static_desc", parse_static_desc, "xmp static_desc [::] NAME, ..."},
    {"loop", parse_loop,
     "xmp loop [(i, ...)] on TEMPLATE[i]... [expand(WIDTH, ...)] [margin(WIDTH, ...)] "
     "[reduction(OP:VARIABLE, ...)] [acc]"},
    {"array", parse_array, "xmp array on TEMPLATE[...]"},
    {"task", parse_task, "xmp task on NODES[...]|TEMPLATE[...] [nocomm]"},
    {"tasks", parse_tasks, "xmp tasks [nocomm]"},
    {"reflect", parse_reflect,
     "xmp reflect (ARRAY, ...) [width([/periodic/]LOW:HIGH, ...)] [orthogonal] [async(ID)] [acc]"},
    {"reflect_init", parse_reflect_init,
     "xmp reflect_init (ARRAY, ...) [width([/periodic/]LOW:HIGH, ...)] [orthogonal] [acc]"},
    {"reflect_do", parse_reflect_do, "xmp reflect_do (ARRAY, ...) [async(ID)] [acc]"},
    {"reduce_shadow", parse_reduce_shadow,
     "xmp reduce_shadow (ARRAY, ...) [width(LOW:HIGH, ...)] [orthogonal] [async(ID)] [acc]"},
    {"gmove", parse_gmove, "xmp gmove [in|out] [async(ID)] [acc[(ARRAY)]]"},
    {"barrier", parse_barrier, "xmp barrier [on NODES|TEMPLATE] [acc]"},
    {"reduction", parse_reduction_directive,
     "xmp reduction (OP:VARIABLE, ...) [on NODES|TEMPLATE] [async(ID)] [acc]"},
    {"bcast", parse_bcast,
     "xmp bcast (VARIABLE, ...) [from NODES|TEMPLATE] [from_device DEVICE] [on NODES|TEMPLATE] [async(ID)] "
     "[acc]"},
    {"wait_async", parse_wait_async, "xmp wait_async (ID, ...) [on NODES|TEMPLATE]"},
    {"post", parse_post, "xmp post (NODES[...], TAG)"},
    {"wait", parse_wait, "xmp wait [(NODES[...] [, TAG])]"},
    {"lock", parse_lock, "xmp lock (OBJECT)"},
    {"unlock", parse_unlock, "xmp unlock (OBJECT)"},
};

Directive parse_xmp(Cursor& at) {
  const Name name = at.name("the name of a directive");
  for (const Grammar& known : directives) {
    if (known.name != name.text) continue;
    at.set_grammar(known.grammar);
    Directive d{name.text, name.place, known.parse(at)};
    if (!at.done()) at.fail("`" + std::string(at.peek().text) + "` is left over at the end of the directive");
    return d;
  }
  std::vector<std::string_view> all;
  for (const Grammar& known : directives) all.push_back(known.name);
  at.fail(name.place, "`" + name.text + "` is no directive of XcalableMP; " + nearest(name.text, all));
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t least = word.size() / 3 + 2;
  for (const std::string_view one : known)
    if (const std::size_t d = distance(word, one); d < least) best = one, least = d;
  if (!best.empty()) return "did you mean `" + std::string(best) + "`?";
  std::string all = "there are";
  for (const std::string_view one : known) all += (&one == &known.front() ? " " : ", ") + std::string(one);
  return all;
}

bool Directive::is_construct() const {
  if (const auto* acc = std::get_if<AccDirective>(&body)) {
    const std::string_view what = acc->name;
    return what == "data" || what == "host_data" || what.find("loop") != what.npos || what == "parallel" ||
           what == "kernels" || what == "serial" || what == "atomic";
  }
  return std::holds_alternative<LoopDirective>(body) || std::holds_alternative<ArrayDirective>(body) ||
         std::holds_alternative<TaskDirective>(body) || std::holds_alternative<TasksDirective>(body) ||
         std::holds_alternative<GmoveDirective>(body);
}

std::optional<Directive> parse_directive(const std::string& text, Place line, Files& files) {
  Cursor at(text, line, files);
  if (at.accept("xmp")) return parse_xmp(at);
  if (!at.accept("acc")) return {};
  const Place place = at.place();
  if (at.accept("devices")) {
    at.set_grammar("acc devices NAME[*|COUNT] [= TYPE|DEVICES[FIRST:COUNT]]");
    Directive devices{"acc devices", place, parse_devices(at)};
    if (!at.done()) at.fail("`" + std::string(at.peek().text) + "` is left over at the end of the directive");
    return devices;
  }
  AccDirective acc = parse_acc(at);
  std::string name = "acc " + acc.name;
  return Directive{std::move(name), place, std::move(acc)};
}

}  // namespace tca::xacc
