// `tca info`: shows what this host offers and what OpenTCA would use.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/world_state.hpp"
#include "launch/launch.hpp"
#include "machine.hpp"
#include "output/build_info.hpp"
#include "route/bring_up.hpp"
#include "route/choose.hpp"
#include "route/over_mpi.hpp"
#include "subcommand.hpp"
#include "tca/tca.hpp"

namespace tca::tool {
namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
  std::optional<int> ranks;  // default: as many as there are cores
  bool json = false;
};

struct Variable {
  const char* name;
  const char* meaning;
};

constexpr std::array variables{
    Variable{"OPENTCA_TIME_LIMIT", "seconds a blocking call may take (30)"},
    Variable{"OPENTCA_FABRIC",
             "shm, cuda, mpi, shm+mpi, cuda+mpi or sim, where a program does not say (shm)"},
    Variable{"OPENTCA_SUBCLUSTER", "ranks to a sub-cluster, on shm+mpi and cuda+mpi (all of a host)"},
    Variable{"OPENTCA_PROGRESS_THREAD", "1: a thread moves messages on while a rank computes, on mpi"},
    Variable{"OPENTCA_CUDA_AWARE", "on or off: whether MPI is given GPU memory, on cuda+mpi (MPI is asked)"},
    Variable{"OPENTCA_MACHINE", "the modelled machine, on sim, where a program does not say (ha-pacs-tca)"},
    Variable{"OPENTCA_FIDELITY", "tlp, train or flow, on sim, where a program does not say (tlp)"},
    Variable{"OPENTCA_MACHINES", "folders with more machine files, a colon between them"},
    Variable{"OPENTCA_NONTEMPORAL",
             "on or off: whether larger stores on shm go past the caches (both are tried)"},
    Variable{"OPENTCA_ROUTE", "overrides the choice of channels"},
    Variable{"OPENTCA_TUNING", "the tuning table: a file, or off (the one of tca tune)"},
    Variable{"OPENTCA_RANK", "set by tca run: this process's rank"},
    Variable{"OPENTCA_SIZE", "set by tca run: how many ranks"},
    Variable{"OPENTCA_CONTROL", "set by tca run: where the ranks meet"},
};

struct Fabric {
  std::string name;
  bool usable;
  std::string says;
};

// Brings up a world of one thread on the fabric, without a launcher, and reports what the fabric says. That
// includes values in the environment which the fabric does not accept.
Fabric try_fabric(const char* name, const std::function<std::string(World&)>& what_is_ready) {
  Fabric fabric{name, false, {}};
  try {
    World::run_threads(1, [&](World& world) { fabric.says = "ready: " + what_is_ready(world); },
                       {.fabric = name});
    fabric.usable = true;
  } catch (const Error& error) {
    fabric.says = error.what();
  }
  return fabric;
}

// MPI itself is not started for this, since mpirun does that.
Fabric find_mpi() {
  if (!route::built_with_mpi())
    return {"mpi", false, "not in this build (packages libopenmpi-dev and openmpi-bin)"};
  return {
      "mpi", true,
      fmt::format("ready: {}, under mpirun; shm+mpi shares memory within each host", route::mpi_library())};
}

std::vector<Fabric> find_fabrics() {
  return {try_fabric("shm", [](World&) { return "processes and threads of this host"; }),
          try_fabric("cuda", [](World& world) { return world.device_name(); }), find_mpi(),
          try_fabric("sim", [](World&) { return "modelled machines, whose ranks are threads"; })};
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
  std::string route;    // forced for every put; empty: chosen for each
};

// Returns what keeps a world from coming up on this fabric or, for a combination, on the fabric within
// sub-clusters. Empty if nothing does.
std::string problem_of(const std::string& fabric, const std::vector<Fabric>& tried) {
  const auto part = std::ranges::find(tried, fabric.substr(0, fabric.find('+')), &Fabric::name);
  return part == tried.end() || part->usable ? "" : part->says;
}

// Refuses what a commit would refuse, as far as this is known without starting MPI.
void check_route(const Plan& plan) {
  if (plan.route.empty() || route::needs_mpi(plan.fabric)) return;
  base::Shape byte;
  byte.run = 1;
  World::run_threads(1,
                     [&](World& world) {
                       const core::WorldState& state = core::WorldState::of(world);
                       route::choose(state.fabrics(), state.costs(), {.target = 0, .shape = byte},
                                     plan.route);
                     },
                     {.fabric = plan.fabric});
}

Plan find_plan(const std::vector<Fabric>& tried) {
  Plan plan;
  try {
    plan.route = route::effective_override({});
    plan.sub_cluster = route::asked_sub_cluster();
    plan.fabric = route::fabric_name({}, route::default_fabric());
    plan.problem = problem_of(plan.fabric, tried);
    if (plan.problem.empty()) route::check_environment(plan.fabric);
    if (plan.problem.empty()) check_route(plan);
  } catch (const Error& error) {
    plan.problem = error.what();
  }
  return plan;
}

Placement placement_of(const Plan& plan, int ranks) {
  if (plan.fabric == "sim") return {};
  return route::needs_mpi(plan.fabric) ? place_under_mpirun(Bind::automatic, ranks).placement
                                       : place(Bind::automatic, ranks, look_at_host());
}

std::string ranks_in_words(const Plan& plan, int ranks) {
  if (plan.fabric == "sim") return "threads of one process";
  return fmt::format("processes of {}, {}", route::needs_mpi(plan.fabric) ? "mpirun" : "tca run",
                     placement_of(plan, ranks).describe());
}

std::string mpi_in_words() {
  const std::string mpirun = find_program("mpirun");
  return fmt::format("{}; {}", mpirun.empty() ? "no mpirun (package openmpi-bin)" : mpirun,
                     route::built_with_mpi()
                         ? "compiled in, for the fabrics mpi and shm+mpi and for comparisons"
                         : "not compiled in");
}

void row(const char* label, const std::string& text) { fmt::print("  {:<15} {}\n", label, text); }

void print_variables() {
  fmt::print("\nEnvironment\n");
  for (const Variable& variable : variables) {
    const char* value = std::getenv(variable.name);
    fmt::print("  {:<23} {:<9} {}\n", variable.name, value ? value : "-", variable.meaning);
  }
}

void print_text(const Machine& machine, int ranks) {
  fmt::print("OpenTCA {}, commit {}, {} {}\n", library_version(), build_commit(), build_compiler(),
             build_type());
  fmt::print("\nThis host\n");
  row("processor", machine.cpu);
  row("", cores_in_words(machine));
  row("caches", caches_in_words(machine));
  row("memory", memory_in_words(machine));
  row("shared memory",
      fmt::format("as far as memory goes under tca run; under mpirun {} of {} in /dev/shm",
                  size_in_words(machine.named_shared_available), size_in_words(machine.named_shared)));
  row("MPI", mpi_in_words());
  if (!built_with_hwloc()) row("topology", "hwloc is not in this build (package libhwloc-dev)");
  fmt::print("\nFabrics\n");
  const std::vector<Fabric> fabrics = find_fabrics();
  for (const Fabric& fabric : fabrics) row(fabric.name.c_str(), fabric.says);
  fmt::print("\nWith {} here\n", count_of(ranks, "rank", "ranks"));
  const Plan plan = find_plan(fabrics);
  row("fabric", plan.fabric.empty() ? plan.problem : plan.fabric);
  if (plan.sub_cluster > 0)
    row("sub-clusters", fmt::format("of {}", count_of(plan.sub_cluster, "rank", "ranks")));
  row("channels", plan.route.empty() ? "chosen for each put at commit; see tca explain"
                                     : fmt::format("{} for every put", plan.route));
  if (plan.problem.empty())
    row("ranks", ranks_in_words(plan, ranks));
  else if (!plan.fabric.empty())
    row("problem", plan.problem);
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

void print_json(const Machine& machine, int ranks) {
  Json json{{"version", library_version()},
            {"commit", build_commit()},
            {"compiler", build_compiler()},
            {"build", build_type()},
            {"hwloc", built_with_hwloc()}};
  json["machine"] = machine_json(machine);
  const std::vector<Fabric> fabrics = find_fabrics();
  for (const Fabric& fabric : fabrics)
    json["fabrics"][fabric.name] = {{"usable", fabric.usable}, {"says", fabric.says}};
  json["mpi"] = {{"built", route::built_with_mpi()}, {"mpirun", find_program("mpirun")}};
  const Plan plan = find_plan(fabrics);
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  json["plan"] = {{"ranks", ranks},
                  {"fabric", or_null(plan.fabric)},
                  {"problem", or_null(plan.problem)},
                  {"sub_cluster", plan.sub_cluster > 0 ? Json(plan.sub_cluster) : Json(nullptr)},
                  {"route", or_null(plan.route)},
                  {"bound", placement_of(plan, ranks).binds()}};
  for (const Variable& variable : variables) {
    const char* value = std::getenv(variable.name);
    json["environment"][variable.name] = value ? Json(value) : Json(nullptr);
  }
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

int info(const InfoOptions& options) {
  if (options.ranks && (*options.ranks < 1 || *options.ranks > max_ranks))
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks: 1 to {} are possible", *options.ranks, max_ranks));
  const Machine machine = this_machine();
  const int ranks = options.ranks.value_or(machine.cores);
  if (options.json)
    print_json(machine, ranks);
  else
    print_text(machine, ranks);
  return 0;
}

}  // namespace

void add_info(Subcommands& tca) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App& app = tca.add("info", "Says what this machine offers and what OpenTCA would use",
                          "tca info --ranks 16", [options] { return info(*options); });
  app.add_option("-n,--ranks", options->ranks, "What would be used with so many ranks (default: one a core)");
  app.add_flag("--json", options->json, "As one JSON object");
}

}  // namespace tca::tool
