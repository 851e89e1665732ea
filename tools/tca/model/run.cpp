#include "model/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>

#include "base/fail.hpp"
#include "base/text/spelling.hpp"
#include "himeno/cli/size.hpp"
#include "model/grid.hpp"
#include "model/picture.hpp"

namespace tca::tool {

namespace {

// No viewer opens timelines and pictures of more ranks than these.
constexpr std::uint32_t most_drawn = 1024;
// By default every packet is modelled up to this number of ranks, as in the scorecard. That takes seconds.
constexpr std::uint32_t most_by_packets = 64;

std::string choose_fidelity(const std::string& asked, std::uint32_t ranks) {
  if (asked != "auto") return asked;
  return std::string(to_string(ranks <= most_by_packets ? net::Fidelity::tlp : net::Fidelity::train));
}

void check_numbers(const ModelOptions& options, std::uint32_t ranks) {
  const bool faces = exchanges_faces(options.program);
  if (options.iterations < 1 || options.iterations > 1'000'000)
    base::fail(Errc::invalid_argument, "--iterations {}: 1 to 1000000 are possible", options.iterations);
  if (!faces && !is_loop(options.program) && (options.bytes < 1 || options.bytes > (std::int64_t{1} << 32)))
    base::fail(Errc::invalid_argument, "--bytes {}: 1 to 4294967296 are possible", options.bytes);
  if (options.element < 0 || options.element > 64)
    base::fail(Errc::invalid_argument, "--element {}: a number has 1 to 64 bytes", options.element);
  if (options.program == "halo" && (options.extent < 1 || options.extent > 65536))
    base::fail(Errc::invalid_argument, "--extent {}: 1 to 65536 are possible", options.extent);
  if (options.program == "pingpong" && ranks < 2)
    base::fail(Errc::invalid_argument, "a ping-pong needs 2 ranks");
  if (ranks > most_drawn && !(options.trace.empty() && options.links.empty()))
    base::fail(Errc::invalid_argument, "{} ranks: timelines and pictures are of {} at most", ranks,
               most_drawn);
}

// Returns the algorithm of a collective.
std::string run_messages(Stage& stage, const ModelOptions& options, Scheme scheme) {
  const auto bytes = static_cast<std::uint64_t>(options.bytes);
  const std::map<std::string_view, CollectiveKind> collectives{{"bcast", CollectiveKind::broadcast},
                                                               {"allgather", CollectiveKind::all_gather},
                                                               {"allreduce", CollectiveKind::all_reduce}};
  const auto kind = collectives.find(options.program);
  if (kind != collectives.end())
    return run_collective(stage, {scheme, kind->second, bytes, options.algorithm});
  if (options.program != "pingpong")
    base::fail(Errc::invalid_argument,
               "there is no program `{}`; there are himeno, halo, cg, qcd, fft, pingpong, bcast, allgather, "
               "allreduce",
               options.program);
  run_pingpong(stage, scheme, bytes, static_cast<std::uint64_t>(options.iterations));
  return {};
}

// Returns the bytes that all ranks together send in a pass.
std::uint64_t run_loop(Stage& stage, const LoopPlan& plan, Scheme scheme, std::uint64_t passes) {
  Loop loop(stage, scheme);
  plan.lay_down(loop);
  loop.run(passes);
  return loop.bytes();
}

// `part` is 0.5 for a ping-pong, in which a message goes one way in half an iteration.
void add_times(const std::vector<des::Time>& ends, double part, ModelResult& result) {
  des::Time before = 0;
  for (const des::Time end : ends) {
    result.samples_us.push_back(des::to_us(end - before) * part);
    before = end;
  }
  result.mean_us = des::to_us(before) * part / static_cast<double>(ends.size());
}

void add_costs(const Ledger& ledger, double iterations, ModelResult& result) {
  for (std::size_t i = 0; i < costs; ++i) {
    const auto cost = static_cast<Cost>(i);
    des::Time sum = 0, least = des::never, most = 0;
    for (std::uint32_t rank = 0; rank < ledger.ranks(); ++rank) {
      const des::Time spent = ledger.spent(rank, cost);
      sum += spent;
      least = std::min(least, spent);
      most = std::max(most, spent);
    }
    result.spent[i] = {cost, des::to_us(sum) / iterations / ledger.ranks(), des::to_us(least) / iterations,
                       des::to_us(most) / iterations};
  }
  des::Time moving = 0;
  for (std::uint32_t rank = 0; rank < ledger.ranks(); ++rank) moving += ledger.moving(rank);
  result.moving_us = des::to_us(moving) / iterations / ledger.ranks();
}

// Returns one entry for each link within a node, taken over all nodes, and one for all cables of each
// interconnect.
std::vector<WireUse> wires_of(net::Network& network, double iterations, des::Time end) {
  const net::Plan& plan = network.plan();
  const net::LinkId locals = plan.local_links(), inside = locals * network.nodes();
  std::vector<WireUse> wires(locals + plan.trunks().size());
  std::vector<des::Time> most(wires.size()), sum(wires.size());
  std::vector<net::LinkId> busiest(wires.size());
  std::size_t trunk = 0;
  for (net::LinkId link = 0; link < plan.links(); ++link) {
    while (link >= inside && trunk + 1 < plan.trunks().size() && link >= plan.trunks()[trunk + 1].first)
      ++trunk;
    const std::size_t kind = link < inside ? link % locals : locals + trunk;
    const des::Time busy = network.traffic().use(link).busy;
    if (busy == 0) continue;
    ++wires[kind].links;
    sum[kind] += busy;
    if (busy <= most[kind]) continue;
    most[kind] = busy;
    busiest[kind] = link;
  }
  for (std::size_t kind = 0; kind < wires.size(); ++kind) {
    if (wires[kind].links == 0) continue;
    wires[kind].busiest = plan.link_name(busiest[kind]);
    const std::string& name = wires[kind].busiest;
    wires[kind].name = kind < locals ? name.substr(name.find(": ") + 2)
                                     : network.machine().interconnects[kind - locals].name + " cables";
    wires[kind].busy_us = des::to_us(sum[kind]) / iterations / static_cast<double>(wires[kind].links);
    wires[kind].share = static_cast<double>(most[kind]) / static_cast<double>(end);
  }
  std::erase_if(wires, [](const WireUse& wire) { return wire.links == 0; });
  return wires;
}

// Returns the three of `keys` nearest to `key`, from the same table of the machine file if it has any.
std::vector<std::string> nearest_keys(const std::string& key, std::vector<std::string> keys) {
  const std::string table = key.substr(0, key.find('/') + 1);
  const auto elsewhere = [&](const std::string& other) { return !other.starts_with(table); };
  if (!std::ranges::all_of(keys, elsewhere)) std::erase_if(keys, elsewhere);
  std::ranges::stable_sort(keys, {}, [&](const std::string& other) { return base::distance(key, other); });
  keys.resize(std::min<std::size_t>(keys.size(), 3));
  return keys;
}

}  // namespace

net::Machine read_model_machine(const ModelOptions& options) {
  net::Machine machine = net::read_machine(options.machine, options.overrides);
  std::vector<std::string> keys;
  for (const net::MachineNumber& number : machine.numbers) keys.push_back(number.key);
  for (const auto& [key, value] : options.overrides) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const auto near = base::nearest(key, keys);
    base::fail(Errc::invalid_argument, "{} has no number `{}`; {}", machine.name, key,
               near ? fmt::format("did you mean `{}`?", *near)
                    : fmt::format("the nearest are {}", fmt::join(nearest_keys(key, keys), ", ")));
  }
  return machine;
}

ModelResult run_model(const ModelOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const net::Machine machine = read_model_machine(options);
  ModelResult result{.title = machine.title};
  result.ranks = count_ranks(machine, options);
  result.fidelity = choose_fidelity(options.fidelity, result.ranks);
  check_numbers(options, result.ranks);
  const Scheme scheme = find_scheme(machine, options, result.ranks);
  result.scheme = options.scheme.empty() ? schemes_of(machine).front() : options.scheme;
  if (!options.library.empty() && !takes_mpi(options.program, result.scheme))
    base::fail(Errc::invalid_argument, "--mpi {}: the scheme direct takes no MPI; choose another by --scheme",
               options.library);
  if (!options.library.empty() || scheme != Scheme::direct) (void)net::find_mpi(machine, options.library);

  const bool faces = exchanges_faces(options.program);
  const bool loops = is_loop(options.program);
  Exchange exchange;
  LoopPlan loop;
  if (faces) exchange = make_exchange(machine, options, result.ranks);
  if (loops) loop = plan_loop(options, result.ranks);
  exchange.scheme = scheme;
  if (faces) result.grid = describe(exchange.grid);
  if (loops) result.grid = describe(loop.grid);
  result.bytes = faces ? bytes_of(exchange) : static_cast<std::uint64_t>(options.bytes);
  if (options.program == "halo") result.bytes /= result.ranks;  // all ranks send the same
  result.n = options.program == "halo" ? options.extent
             : faces                   ? parse_himeno_size(options.size.empty() ? "M" : options.size)[0]
             : loops                   ? loop.n
                                       : options.bytes;

  Stage stage(machine, {.places = place_ranks(machine, result.ranks,
                                              faces            ? exchange.grid
                                              : loop.in_bricks ? loop.grid
                                                               : std::vector<std::uint32_t>{},
                                              options.gpu),
                        .fidelity = net::find_fidelity(result.fidelity, "--fidelity"),
                        .library = options.library,
                        .keeps_spans = !options.trace.empty()});
  if (faces)
    run_exchange(stage, exchange);
  else if (loops)
    result.bytes = run_loop(stage, loop, scheme, static_cast<std::uint64_t>(options.iterations));
  else
    result.algorithm = run_messages(stage, options, scheme);

  const Ledger& ledger = stage.ledger();
  add_times(ledger.iterations(), options.program == "pingpong" ? 0.5 : 1, result);
  const auto iterations = static_cast<double>(ledger.iterations().size());
  add_costs(ledger, iterations, result);
  result.wires = wires_of(stage.network(), iterations, stage.simulator().now());
  result.events = stage.simulator().events();
  if (!options.trace.empty()) ledger.write_trace(options.trace);
  if (!options.links.empty()) draw_links(stage.network(), stage.simulator().now(), options.links);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace tca::tool
