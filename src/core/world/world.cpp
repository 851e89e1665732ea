#include "tca/world.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "base/system/whole_file.hpp"
#include "core/chain/chain_state.hpp"
#include "core/world/run_threads.hpp"
#include "core/world/team_state.hpp"
#include "core/world/window_state.hpp"
#include "core/world/world_state.hpp"
#include "tca/version.hpp"

namespace tca {

namespace {

WorldOptions with_environment(WorldOptions options, std::string_view default_fabric) {
  const boot::Environment environment = boot::read_environment();
  options.time_limit =
      core::checked_limit(environment.time_limit.value_or(options.time_limit), "option time_limit");
  options.progress_thread = environment.progress_thread.value_or(options.progress_thread);
  options.check_steps = environment.check_steps.value_or(options.check_steps);
  options.timing = environment.timing.value_or(options.timing);
  options.reroute = environment.reroute.value_or(options.reroute);
  options.fabric = boot::fabric_name(options.fabric, default_fabric);
  if (options.fabric != "sim") {
    const char* const set = options.faults.empty() ? base::set_variable("OPENTCA_FAULTS") : nullptr;
    if (set != nullptr) options.faults = set;
    core::read_paths(options.faults, set != nullptr ? "OPENTCA_FAULTS" : "option faults");
  }
  if (options.device < -1 || options.engine_blocks < 0) {
    base::fail(Errc::invalid_argument,
               "options device {} and engine_blocks {} cannot be; -1 leaves the device to the library, "
               "0 blocks are no engine",
               options.device, options.engine_blocks);
  }
  return options;
}

// If a rank asks for something impossible, it comes up far enough to tell the others.
boot::Asked asked(const WorldOptions& options, const std::string& default_fabric) {
  try {
    return {with_environment(options, default_fabric), {}};
  } catch (const Error& error) {
    return {{.fabric = default_fabric}, error};
  }
}

}  // namespace

World::World(std::shared_ptr<core::WorldState> state)
    : state_(std::move(state)), rank_(state_->rank()), size_(state_->size()) {}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

World::~World() {
  if (state_ != nullptr && std::uncaught_exceptions() > 0) state_->control().leave(state_->control().trouble);
}

World World::init(const WorldOptions& options) {
  const boot::Asked effective = asked(options, boot::default_fabric());
  World world(std::make_shared<core::WorldState>(boot::bring_up_process(effective), effective.options));
  boot::warn_of_environment(world.rank());
  return world;
}

World World::join(int rank, int size, const std::string& key, const WorldOptions& options) {
  const boot::LaunchInfo launch = boot::launch_by_key(rank, size, key);
  const boot::Asked effective = asked(options, "shm");
  World world(
      std::make_shared<core::WorldState>(boot::bring_up_joined(launch, effective), effective.options));
  if (rank == 0) base::warn_of_unknown_variables();
  return world;
}

World World::from_mpi_handle(const void* comm, std::size_t bytes, const char* header,
                             const WorldOptions& options) {
  const boot::Asked effective = asked(options, "shm+mpi");
  World world(std::make_shared<core::WorldState>(boot::bring_up_communicator(comm, bytes, header, effective),
                                                 effective.options));
  boot::warn_of_environment(world.rank());
  return world;
}

void World::run_threads(int ranks, const std::function<void(World&)>& body, const WorldOptions& options) {
  const WorldOptions effective = with_environment(options, "shm");
  base::warn_of_unknown_variables();
  const boot::ThreadConnections threads(ranks, effective);
  core::run_threads(
      ranks, [&](int rank) { return threads.bring_up(rank, effective); }, body, effective, threads.fibers());
}

World World::group(std::span<const int> ranks) { return World(state().make_group(ranks)); }

World World::split(int color, int key) {
  struct Wish {
    int color, key;
  };
  const std::vector<Wish> all = state().control().all_gather_value(Wish{color, key}, "World::split");
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank)
    if (all[static_cast<std::size_t>(rank)].color == color) ranks.push_back(rank);
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return all[static_cast<std::size_t>(rank)].key; });
  return group(ranks);
}

raw::Window World::view(const raw::Window& window) const {
  return core::WindowState::handle(state().view(core::WindowState::of(window)));
}

std::vector<int> World::sub_cluster_of_ranks() const {
  const std::span<const int> all = state().sub_cluster_of_ranks();
  return {all.begin(), all.end()};
}

std::vector<KnownFault> World::known_faults() const { return state().known_faults(); }

Chain World::chain(std::string name, ChainOptions options) {
  return Chain(
      std::make_unique<core::ChainState>(state().shared_from_this(), std::move(name), std::move(options)));
}

Team World::team(std::string name, Count max_values, Count max_blocks) {
  state().control().do_together(fmt::format("creation of team '{}'", name), [&] {
    if (max_values.value() < 1)
      base::fail(Errc::invalid_argument, "team '{}': {} values; a team needs at least one", name,
                 max_values.value());
    if (max_blocks.value() < 0)
      base::fail(Errc::invalid_argument, "team '{}': {} blocks; a grid has none or more", name,
                 max_blocks.value());
  });
  return Team(std::make_unique<core::TeamState>(state_, std::move(name),
                                                static_cast<std::size_t>(max_values.value()),
                                                static_cast<std::size_t>(max_blocks.value())));
}

void World::barrier() { state().control().barrier("World::barrier"); }

void World::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  const base::Blob bytes(mine.begin(), mine.end());
  const auto ranks = static_cast<std::size_t>(size());
  const bool has_room = all.size() == mine.size() * ranks;
  std::size_t first = 0;
  const auto take = [&](std::size_t rank, std::span<const std::byte> theirs) {
    if (rank == 0) first = theirs.size();
    if (theirs.size() != first) {
      base::fail(Errc::refused,
                 "World::all_gather: rank 0 gives {} bytes, rank {} {}; every rank must give a value of the "
                 "same type",
                 first, rank, theirs.size());
    }
    if (has_room && first == mine.size())
      std::ranges::copy(theirs, all.begin() + static_cast<std::ptrdiff_t>(rank * first));
  };
  state().control().all_gather_each(bytes, "World::all_gather", take);
  if (!has_room) {
    base::fail(Errc::invalid_argument,
               "World::all_gather: {} bytes of each of {} ranks are given room for {} in all", mine.size(),
               ranks, all.size());
  }
}

void World::compute(double bytes, double flops) {
  if (!(bytes >= 0) || !(flops >= 0))
    base::fail(Errc::invalid_argument, "World::compute: {} bytes and {} operations; both must be 0 or more",
               bytes, flops);
  if (fabric::ComputeModel* model = state().fabrics().front()->compute_model()) model->compute(bytes, flops);
}

std::chrono::duration<double> World::now() const { return state().control().now(); }

void World::progress() { state().progress(); }

void World::check() { state().check(); }

void World::write_trace(const std::string& path) {
  control::Control& control = state().control();
  const std::vector<base::Blob> all = control.make_together("World::write_trace", [&] {
    if (const base::Trace* mine = state().trace()) return mine->encode();
    base::fail(Errc::invalid_argument,
               "World::write_trace: nothing was recorded; make the world with its option trace");
  });
  control.do_together("World::write_trace", [&] {
    if (rank() != 0) return;
    if (const int error = base::write_whole(path, base::Trace::chrome_json(all))) {
      base::fail(Errc::invalid_argument, "World::write_trace: '{}' cannot be written: {}", path,
                 std::strerror(error));
    }
  });
}

void World::trace_span(std::string name, std::chrono::duration<double> begin,
                       std::chrono::duration<double> end) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  if (base::Trace* trace = state().trace())
    trace->span(std::move(name), {}, Microseconds(begin).count(), Microseconds(end).count());
}

std::string World::describe() const {
  std::string fabrics;
  for (const auto& fabric : state().fabrics())
    fabrics += (fabrics.empty() ? "" : ", ") + std::string(fabric->name());
  if (const std::string device = device_name(); !device.empty()) fabrics += " on " + device;
  return fmt::format("OpenTCA {}: rank {} of {} ({}), fabric {}", library_version(), rank(), size(),
                     state().launcher(), fabrics);
}

std::string World::device_name() const {
  const std::optional<fabric::Device> device = state().device();
  return device ? device->name : std::string();
}

bool World::ranks_share_devices() {
  const std::vector<int> sharing = all_gather(ranks_on_device());
  return std::any_of(sharing.begin(), sharing.end(), [](int ranks) { return ranks > 1; });
}

int World::ranks_on_device() const {
  const std::optional<fabric::Device> device = state().device();
  return device ? device->ranks : 0;
}

}  // namespace tca
