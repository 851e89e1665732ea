// `tca info`: shows what this host offers and what OpenTCA would use of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/environment.hpp"
#include "boot/bring_up.hpp"
#include "boot/over_mpi.hpp"
#include "cli/gpus.hpp"
#include "cli/launch/launch.hpp"
#include "cli/machine.hpp"
#include "cli/options/numbers.hpp"
#include "cli/output/build_info.hpp"
#include "cli/subcommand.hpp"
#include "core/world/world_state.hpp"
#include "route/choose.hpp"
#include "route/hardware.hpp"
#include "route/tuning.hpp"
#include "tca/tca.hpp"

namespace tca::tool {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  std::optional<int> ranks;  // default: as many as there are cores
  bool json = false;
};

struct Fabric {
  std::string name;
  bool usable;
  std::string says;  // what it is and how to start it, or why it cannot be used
};

// Brings up a world of one thread on the fabric, without a launcher. What the fabric does not accept of the
// environment counts as a reason against it.
Fabric try_fabric(const char* name, const std::string& what_is_ready) {
  try {
    World::run_threads(1, [](World&) {}, {.fabric = name});
    return {name, true, what_is_ready};
  } catch (const Error& error) {
    return {name, false, error.what()};
  }
}

Fabric find_cuda(const Gpus& gpus) {
  if (!boot::built_with_cuda())
    return {"cuda", false,
            gpus.names.empty()
                ? "there is no GPU, and this tca was built without CUDA"
                : "this tca was built without CUDA; with NVIDIA's toolkit: make build CUDA=ON"};
  if (gpus.names.empty()) return {"cuda", false, "there is no GPU: " + gpus.why_none};
  return try_fabric("cuda", "a rank for each GPU; tca run --fabric cuda -n N -- PROGRAM");
}

// MPI itself is not started for this, since mpirun does that.
Fabric find_mpi() {
  if (!boot::built_with_mpi())
    return {"mpi", false,
            "this tca was built without MPI; install libopenmpi-dev and openmpi-bin and build again"};
  return {"mpi", true,
          "ranks of one or several hosts; mpirun -n N PROGRAM (with shared memory within each: shm+mpi)"};
}

std::vector<Fabric> find_fabrics(const Gpus& gpus) {
  return {try_fabric("shm", "ranks of this host; tca run -n N -- PROGRAM"), find_cuda(gpus), find_mpi(),
          try_fabric("sim", "modelled machines; tca model, tca bench --fabric sim, World::run_threads")};
}

std::string size_in_words(std::int64_t bytes) {
  const std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string count_of(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string cores_in_words(const Machine& machine) {
  std::string text = count_of(machine.cores, "core", "cores");
  if (machine.cpus != machine.cores) text += fmt::format(", {} hardware threads", machine.cpus);
  if (machine.cpus_online > machine.cpus) text += fmt::format(" (of {} online)", machine.cpus_online);
  if (machine.packages > 0) text += ", " + count_of(machine.packages, "package", "packages");
  if (machine.numa_nodes > 0) text += ", " + count_of(machine.numa_nodes, "NUMA node", "NUMA nodes");
  return text;
}

std::string caches_in_words(const Machine& machine) {
  std::string text;
  for (const Cache& cache : machine.caches)
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", cache.name,
                        cache.count > 1 ? fmt::format("{} x ", cache.count) : "", size_in_words(cache.bytes));
  return text.empty() ? "not known" : text;
}

std::string memory_in_words(const Machine& machine) {
  std::string text =
      fmt::format("{}, {} available", size_in_words(machine.memory), size_in_words(machine.memory_available));
  if (machine.memory_limit > 0 && machine.memory_limit < machine.memory)
    text += fmt::format(", limited to {} here", size_in_words(machine.memory_limit));
  return text;
}

// The world that would come up if its program left all choices to the environment.
struct Plan {
  std::string fabric;   // empty when the environment asks for a fabric that does not exist
  std::string problem;  // why no world would come up
  int sub_cluster = 0;  // ranks; 0: all of a host
  std::string channel;  // forced for every put; empty: chosen for each
};

// Returns what keeps a world from coming up on this fabric or, for a combination, on the fabric within
// sub-clusters. Empty if nothing does.
std::string problem_of(const std::string& fabric, const std::vector<Fabric>& tried) {
  const auto part = std::ranges::find(tried, fabric.substr(0, fabric.find('+')), &Fabric::name);
  return part == tried.end() || part->usable ? "" : part->says;
}

// Refuses what a commit would refuse, as far as this is known without starting MPI.
void check_channel(const Plan& plan) {
  if (plan.channel.empty() || boot::needs_mpi(plan.fabric)) return;
  base::Shape byte;
  byte.run = 1;
  World::run_threads(1,
                     [&](World& world) {
                       const core::WorldState& state = core::WorldState::of(world);
                       route::choose(state.fabrics(), state.costs(), {.target = 0, .shape = byte},
                                     plan.channel);
                     },
                     {.fabric = plan.fabric});
}

Plan find_plan(const std::vector<Fabric>& tried) {
  Plan plan;
  try {
    plan.channel = route::effective_override({});
    plan.sub_cluster = boot::asked_sub_cluster();
    plan.fabric = boot::fabric_name({}, boot::default_fabric());
    plan.problem = problem_of(plan.fabric, tried);
    if (plan.problem.empty()) boot::check_environment(plan.fabric);
    if (plan.problem.empty()) check_channel(plan);
  } catch (const Error& error) {
    plan.problem = error.what();
  }
  return plan;
}

Placement placement_of(const Plan& plan, int ranks) {
  if (plan.fabric == "sim") return {};
  return boot::needs_mpi(plan.fabric) ? place_under_mpirun(Bind::automatic, ranks).placement
                                      : place(Bind::automatic, ranks, look_at_host());
}

std::string ranks_in_words(const Plan& plan, int ranks) {
  if (plan.fabric == "sim") return "threads of one process";
  return fmt::format("processes of {}, {}", boot::needs_mpi(plan.fabric) ? "mpirun" : "tca run",
                     placement_of(plan, ranks).describe());
}

std::string mpi_in_words() {
  return boot::built_with_mpi() ? fmt::format("{}, which this tca was built with", boot::mpi_library())
                                : "not built in";
}

std::string launchers_in_words() {
  std::vector<std::string> there{"tca run"}, missing;
  for (const char* name : {"mpirun", "srun"}) {
    const std::string path = find_program(name);
    if (path.empty())
      missing.emplace_back(name);
    else
      there.push_back(fmt::format("{} ({})", name, path));
  }
  std::string text = fmt::format("{}", fmt::join(there, ", "));
  return missing.empty() ? text : fmt::format("{}; no {}", text, fmt::join(missing, ", no "));
}

// Equal GPUs are counted.
std::string gpus_in_words(const Gpus& gpus) {
  if (gpus.names.empty()) return "none: " + gpus.why_none;
  std::map<std::string, int> counts;
  for (const std::string& name : gpus.names) ++counts[name];
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} x {}", count, name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The table by which a world on `fabric` would choose, as far as its file tells.
std::string table_in_words(const std::string& fabric) {
  if (const char* said = base::variable("OPENTCA_TUNING")) return fmt::format("OPENTCA_TUNING={}", said);
  const std::filesystem::path path = route::tuning_path(route::hardware(), fabric);
  std::error_code unreadable;
  if (!path.empty() && std::filesystem::exists(path, unreadable)) return path.string();
  return "built-in costs; tca tune measures this machine in half a minute";
}

void row(const char* label, const std::string& text) { fmt::print("  {:<15} {}\n", label, text); }

void print_variables() {
  fmt::print("\nEnvironment\n");
  for (const base::Variable& variable : base::variables) {
    const char* value = std::getenv(variable.name.data());
    fmt::print("  {:<24} {:<9} {}\n", variable.name, value ? value : "-", base::describe(variable));
  }
}

void print_machine(const Machine& machine, const Gpus& gpus) {
  fmt::print("\nThis machine\n");
  row("processor", machine.cpu);
  row("", cores_in_words(machine));
  row("caches", caches_in_words(machine));
  row("memory", memory_in_words(machine));
  row("shared memory",
      fmt::format("as far as memory goes under tca run; under mpirun {} of {} in /dev/shm",
                  size_in_words(machine.named_shared_available), size_in_words(machine.named_shared)));
  row("GPUs", gpus_in_words(gpus));
  row("MPI", mpi_in_words());
  row("launchers", launchers_in_words());
  if (!built_with_hwloc()) row("topology", "hwloc is not in this build (package libhwloc-dev)");
}

void print_plan(const Plan& plan, int ranks) {
  fmt::print("\nWith {} here\n", count_of(ranks, "rank", "ranks"));
  row("fabric", plan.fabric.empty() ? plan.problem : plan.fabric);
  if (plan.sub_cluster > 0)
    row("sub-clusters", fmt::format("of {}", count_of(plan.sub_cluster, "rank", "ranks")));
  row("channels", plan.channel.empty() ? "chosen for each put at commit; see tca explain"
                                       : fmt::format("{} for every put", plan.channel));
  if (plan.problem.empty())
    row("ranks", ranks_in_words(plan, ranks));
  else if (!plan.fabric.empty())
    row("problem", plan.problem);
  if (plan.problem.empty() && plan.fabric != "sim") row("costs", table_in_words(plan.fabric));
}

void print_text(const Machine& machine, const Gpus& gpus, int ranks) {
  fmt::print("OpenTCA {}, commit {}, {} {}\n", library_version(), build_commit(), build_compiler(),
             build_type());
  print_machine(machine, gpus);
  fmt::print("\nFabrics that can be used here\n");
  const std::vector<Fabric> fabrics = find_fabrics(gpus);
  for (const Fabric& fabric : fabrics)
    row(fabric.name.c_str(), fmt::format("{}  {}", fabric.usable ? "yes" : "no ", fabric.says));
  print_plan(find_plan(fabrics), ranks);
  print_variables();
}

Json machine_json(const Machine& machine) {
  Json caches = Json::array();
  for (const Cache& cache : machine.caches)
    caches.push_back({{"name", cache.name}, {"bytes", cache.bytes}, {"count", cache.count}});
  return {{"cpu", machine.cpu},
          {"packages", machine.packages},
          {"numa_nodes", machine.numa_nodes},
          {"cores", machine.cores},
          {"cpus", machine.cpus},
          {"cpus_online", machine.cpus_online},
          {"caches", caches},
          {"memory_bytes", machine.memory},
          {"memory_available_bytes", machine.memory_available},
          {"memory_limit_bytes", machine.memory_limit},
          {"dev_shm_bytes", machine.named_shared},
          {"dev_shm_available_bytes", machine.named_shared_available}};
}

void print_json(const Machine& machine, const Gpus& gpus, int ranks) {
  Json json{{"version", library_version()},
            {"commit", build_commit()},
            {"compiler", build_compiler()},
            {"build", build_type()},
            {"hwloc", built_with_hwloc()}};
  json["machine"] = machine_json(machine);
  json["gpus"] = {{"names", gpus.names}, {"why_none", gpus.why_none}};
  const std::vector<Fabric> fabrics = find_fabrics(gpus);
  for (const Fabric& fabric : fabrics)
    json["fabrics"][fabric.name] = {{"usable", fabric.usable}, {"says", fabric.says}};
  json["mpi"] = {
      {"built", boot::built_with_mpi()}, {"mpirun", find_program("mpirun")}, {"srun", find_program("srun")}};
  const Plan plan = find_plan(fabrics);
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  json["plan"] = {{"ranks", ranks},
                  {"fabric", or_null(plan.fabric)},
                  {"problem", or_null(plan.problem)},
                  {"sub_cluster", plan.sub_cluster > 0 ? Json(plan.sub_cluster) : Json(nullptr)},
                  {"channel", or_null(plan.channel)},
                  {"bound", placement_of(plan, ranks).binds()}};
  for (const base::Variable& variable : base::variables) {
    const char* value = std::getenv(variable.name.data());
    json["environment"][std::string(variable.name)] = value ? Json(value) : Json(nullptr);
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

int info(const InfoOptions& options) {
  const Machine machine = this_machine();
  const int ranks = options.ranks.value_or(machine.cores);
  const Gpus gpus = find_gpus();
  if (options.json)
    print_json(machine, gpus, ranks);
  else
    print_text(machine, gpus, ranks);
  return 0;
}

}  // namespace

void add_info(Subcommands& tca) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App& app = tca.add("info", "Says what this machine offers and what OpenTCA would use",
                          "tca info --ranks 16", [options] { return info(*options); });
  app.add_option("-n,--ranks", options->ranks,
                 "Number of ranks to plan a world for; one per core when not given")
      ->check(between(1, max_ranks));
  app.add_flag("--json", options->json, "Print one JSON object");
}

}  // namespace tca::tool
