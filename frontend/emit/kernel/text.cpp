// The text of kernels, and what the host does in their place.
#include "emit/emitter.hpp"
#include "emit/kernel/kernel.hpp"

namespace tca::xacc {
namespace {

// Names that a text has of templates or nodes, which the kernel gets by value.
std::set<std::string> objects_in(const std::string& text, std::string_view prefix) {
  std::set<std::string> names;
  for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1)) {
    std::size_t end = at;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    names.insert(text.substr(at, end - at));
  }
  return names;
}

// The compiler is told how many threads a block has, unless that only shows when the program runs.
std::string most_threads(const Kernel& k) {
  const std::string_view vector = k.vector == "0" ? "xacc_usual_threads" : std::string_view(k.vector);
  return k.vector == "0" || is_constant(vector) ? "XACC_THREADS(" + std::string(vector) + ") " : "";
}

}  // namespace

std::string Emitter::kernel_text(Kernel& k) {
  const Token& first = token(k.tokens.first);
  const std::string body = k.edits.apply(first.begin, token(k.tokens.last - 1).end, &edits_);
  for (const std::string& name : objects_in(body, "xacc_template_"))
    add_value(k, "const xacc_template " + name, "(void*)&" + name);
  for (const std::string& name : objects_in(body, "xacc_nodes_"))
    add_value(k, "const xacc_nodes " + name, "(void*)&" + name);
  surroundings_.need(k.tokens);
  surroundings_.need(k.last);
  const std::string meeting = k.reductions == 0 ? "void*"
                              : k.over.empty()  ? "const __grid_constant__ xacc_meeting xacc_meet"
                                                : "const __grid_constant__ xacc_meeting_of_ranks xacc_meet";
  std::string text = "\nstatic __global__ void " + most_threads(k) + k.name + "_body(" + meeting +
                     k.parameters + ") {\ntca::wait_for_previous_kernel();";
  if (k.reductions > 0)
    text += "constexpr int xacc_reductions = " + std::to_string(k.reductions) +
            "; void* const xacc_scratch = xacc_meet.scratch;";
  text += k.before + "\n#line " + std::to_string(first.line) + " " + quoted(first.file) + "\n" + body + "\n";
  if (k.reductions > 0) {
    text += k.leave + " if (xacc_comes_last(xacc_scratch)) {" + k.finish;
    if (!k.over.empty())
      text += " if (xacc_meet.team.size > 1) { tca::BlockTeam xacc_team(xacc_meet.team);" + k.over + " }";
    text += k.tell + last_text(k) + " }\n";
  }
  return text + "}\nextern \"C\" const void* const " + k.name + " = reinterpret_cast<const void*>(&" +
         k.name + "_body);\n";
}

// What the last block does behind its sums.
std::string Emitter::last_text(const Kernel& k) const {
  if (k.last.empty()) return "";
  const Token& first = token(k.last.first);
  return " if (xacc_meet.goes_on && xacc_thread_of_block() == 0) {" + k.last_before + "\n#line " +
         std::to_string(first.line) + " " + quoted(first.file) + "\n" +
         k.edits.apply(first.begin, token(k.last.last - 1).end, &edits_) + "\n}";
}

std::string Emitter::launch_text(const Kernel& k) {
  std::string text = "{" + k.open + " extern const void* const " + k.name + ";";
  if (k.item_count > 0)
    text += " xacc_data " + unique("data") +
            " __attribute__((cleanup(xacc_data_leave), unused)) = xacc_data_enter((const xacc_item[]){" +
            k.items + "}, " + std::to_string(k.item_count) + ", " + k.queue + ", " + k.place_text + ");";
  text += k.set_up + " " + (k.joined.empty() ? "" : k.joined + " = ") + "xacc_run(&(const xacc_launch){" +
          k.name + ", {" + k.trips[0] + ", " + k.trips[1] + ", " + k.trips[2] + "}, " + k.gangs + ", " +
          k.vector + ", " + std::to_string(k.reductions) + ", " +
          (k.reductions ? "(const xacc_result[]){" + k.results + "}" : "0") + ", " + k.queue + ", " +
          k.place_text + "}, (void*[]){0" + k.values + "}); }";
  return text;
}

// The kernels of a file, and the host's text with launches in their places.
Translated Emitter::finish_kernels() {
  std::string kernels;
  Edits launches(text_);
  for (Kernel& k : kernels_)
    guarded([&] {
      kernels += kernel_text(k);
      const std::size_t begin = token(k.tokens.first).begin, end = token(k.tokens.last - 1).end;
      if (k.condition.empty())
        launches.replace(
            begin, end,
            (k.unless.empty() ? "" : "if (" + k.unless + ") " + k.unless + " = 0; else ") + launch_text(k));
      else
        launches.insert(begin,
                        "if (" + k.condition + ") " + launch_text(k) + " else {" + k.open + k.hoisted + " ");
    });
  launches.append(launches_);
  const std::string host = launches.apply(0, text_.size(), &edits_);
  if (kernels.empty()) return {host, "", {}};
  return {
      host,
      "#pragma nv_diag_suppress 177, 550\n#include \"tca/xacc/kernel.cuh\"\n#define restrict __restrict__\n"
      "#define _Bool bool\n" +
          surroundings_.source() + kernels,
      {}};
}

}  // namespace tca::xacc
