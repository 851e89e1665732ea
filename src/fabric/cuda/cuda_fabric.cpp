#include "fabric/cuda/cuda_fabric.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/fail.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/cuda/collective/collective.hpp"
#include "fabric/cuda/collective/collective_plan.hpp"
#include "fabric/cuda/collective/fold.hpp"
#include "fabric/cuda/collective/team.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "fabric/cuda/compile/produced.hpp"
#include "fabric/cuda/device.hpp"
#include "fabric/cuda/launch/own_stream.hpp"
#include "fabric/cuda/memory/memory.hpp"
#include "fabric/cuda/memory/stager.hpp"
#include "fabric/cuda/post/poster.hpp"
#include "fabric/cuda/program.hpp"
#include "fabric/cuda/watch.hpp"

namespace tca::cuda {

namespace {

constexpr std::array<std::string_view, 3> protocol_names{"ll", "direct", "copy_engine"};

// Sets variables that CUDA reads when a process first uses it. Kernels that wait for each other must not
// share one of CUDA's connections, and a kernel must not be loaded while another waits for it to run. If
// ranks are threads of one process, these settings override those of the environment.
void prepare_environment(bool threads) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (threads) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", threads ? 1 : 0);
  });
}

class CudaFabric final : public fabric::Fabric, public fabric::Pricing, public fabric::Accelerator {
 public:
  CudaFabric(control::Control& control, control::Places places, const Settings& settings)
      : control_(control),
        places_(std::move(places)),
        device_(choose_device(control, settings.device, places_)),
        exported_(!settings.threads),
        devices_(meet(control, places_, device_)),
        inbox_(control, places_, device_.number, exported_, setup_.stream),
        poster_(control, places_,
                {inbox_, copier_, setup_.stream, device_.number, exported_, block_limit(), throttle(),
                 [this] { check(); }}),
        engine_(inbox_, copier_, device_.number, static_cast<unsigned>(settings.engine_blocks)),
        runner_{inbox_,  engine_,       steps_.stream, attempts_.stream,
                copies_, block_limit(), throttle(),    [this] { check(); }},
        collectives_{inbox_,
                     collective_starts_.stream,
                     collective_waits_.stream,
                     setup_.stream,
                     common_block_limit(),
                     throttle(),
                     [this] { check(); }},
        folds_{inbox_, copier_, setup_.stream, block_limit()},
        stages_{inbox_, copier_, setup_.stream, staging_.stream, block_limit(), device_.number},
        stager_(
            stages_, [this] { return ++last_id_; }, staged_writes_.stream) {
    load_kernels();
    load_collective_kernels();
  }

  ~CudaFabric() override;

  std::string_view name() const override { return "cuda"; }
  std::span<const std::string_view> protocols() const override { return protocol_names; }
  bool reaches(int rank) const override { return places_.same_sub_cluster(control_.rank(), rank); }
  std::optional<fabric::Device> device() const override {
    return fabric::Device{fmt::format("{} ({}), GPU {}", device_.name, device_.bus_id, device_.number),
                          static_cast<int>(ranks_on(device_))};
  }
  fabric::Accelerator* accelerator() override { return this; }
  fabric::Stager& stager() override { return stager_; }
  fabric::Poster* poster() override { return &poster_; }

  const fabric::Pricing& pricing() const override { return *this; }
  std::uint64_t room_for(int protocol, const base::Shape& shape) const override {
    return protocol == ll ? packet_bytes(shape.bytes()) : shape.bytes();
  }
  bool accepts(int protocol, const base::Shape& shape, fabric::RoomUsed used) const override {
    if (protocol == copy_engine) return fits_copy_engine(shape);
    return protocol != ll || used.to_rank + packet_bytes(shape.bytes()) <=
                                 room_for_packets(inbox_.largest_everywhere(), other_ranks_reached());
  }

  // A copy engine is told how much it moves when the host makes its calls, before the lengths are known.
  bool carries_counted(int protocol) const override { return protocol != copy_engine; }
  bool carries_produced() const override { return true; }
  bool times_messages() const override { return true; }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override;
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override;
  std::unique_ptr<fabric::Team> make_team(std::string_view team, std::size_t max_values,
                                          std::size_t max_blocks, std::chrono::milliseconds time_limit,
                                          const control::Members& members) override;
  std::vector<fabric::CollectiveWay> collective_ways(const fabric::CollectiveSpec& kind) const override {
    return cuda::collective_ways(kind);
  }
  std::unique_ptr<fabric::Collective> make_collective(const fabric::CollectiveTask& task) override;
  std::unique_ptr<fabric::Fold> make_fold(const fabric::FoldTask& task) override {
    return std::make_unique<CudaFold>(folds_, task);
  }
  std::unique_ptr<fabric::Fold> make_cell_fold(fabric::Reduction reduction,
                                               const DeviceFold& cells) override {
    return std::make_unique<CudaCellFold>(folds_, reduction, cells);
  }
  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override;
  void progress() override {
    for (CudaProgram* program : runner_.attempting) program->attempt();
  }
  void check() override;
  void quiesce() override;

 private:
  TimeoutReport who_is_late(Word id) const;
  void check_grid(Word id) const;
  void check_refusal();
  void check_mistake();
  std::string describe_target(const device::Refusal& put) const;

  // Returns how many ranks may send to this rank, and likewise to any other that it reaches.
  std::uint64_t other_ranks_reached() const {
    std::uint64_t others = 0;
    for (int rank = 0; rank < control_.size(); ++rank) others += rank != control_.rank() && reaches(rank);
    return others;
  }

  unsigned ranks_on(const DeviceInfo& device) const {
    const auto same = [&](const DeviceInfo& other) {
      return other.host == device.host && std::strcmp(other.bus_id, device.bus_id) == 0;
    };
    return static_cast<unsigned>(std::count_if(devices_.begin(), devices_.end(), same));
  }

  // Processes take turns on a GPU (without CUDA's MPS), whereas kernels of threads run side by side.
  LaunchThrottle throttle() const { return LaunchThrottle(!exported_ && ranks_on(device_) > 1); }

  // The limit ensures that all ranks of a GPU together fill it at most once.
  unsigned block_limit(const DeviceInfo& device) const {
    constexpr unsigned blocks = 128;
    return std::max(1u, blocks / ranks_on(device));
  }
  unsigned block_limit() const { return block_limit(device_); }

  // Returns the lowest limit of any rank.
  unsigned common_block_limit() const {
    unsigned least = block_limit();
    for (const DeviceInfo& device : devices_) least = std::min(least, block_limit(device));
    return least;
  }

  control::Control& control_;
  control::Places places_;
  DeviceInfo device_;
  bool exported_;
  std::vector<DeviceInfo> devices_;  // by rank
  OwnStream setup_{Work::finite}, attempts_{Work::finite}, staging_{Work::finite};
  OwnStream staged_writes_{Work::finite};
  OwnStream steps_{Work::waits};
  ChainStreams copies_;
  OwnStream collective_starts_{Work::waits}, collective_waits_{Work::waits};
  HostCopier copier_{setup_.stream};
  Inbox inbox_;
  CudaPoster poster_;
  Watch watch_{control_, inbox_.gone()};
  Engine engine_;
  Runner runner_;
  Teams teams_;
  CollectiveRunner collectives_;
  FoldRunner folds_;
  StageRunner stages_;
  CudaStager stager_;
  std::map<Word, std::string> windows_;  // their names, including those of destroyed windows
  Word last_id_ = 0;                     // of a chain, a team, a collective, a stage or a window
};

CudaFabric::~CudaFabric() { quiesce(); }

// Makes whatever still waits give up within milliseconds. Then nothing of the fabric's touches the memory
// that is freed next.
void CudaFabric::quiesce() {
  const OnDevice here(device_.number);
  device::store_relaxed(&inbox_.abort(), 1);
  engine_.stop();
  for (const OwnStream* own :
       {&setup_, &steps_, &attempts_, &staging_, &staged_writes_, &collective_starts_, &collective_waits_})
    cudaStreamSynchronize(own->stream);
  copies_.synchronize();
  poster_.synchronize();
}

std::unique_ptr<fabric::Memory> CudaFabric::expose(const fabric::WindowSpec& window) {
  auto parts = share_regions(window.members, places_, device_.number, window.title, [&](Token& token) {
    if (window.bytes == 0) return Region();
    if (window.on_host) return allocate_on_host(window.bytes, exported_, token);
    return window.existing != nullptr
               ? adopt(device_.number, window.existing, window.bytes, exported_, token)
               : allocate(device_.number, window.bytes, exported_, setup_.stream, token);
  });
  const Word id = ++last_id_;
  windows_[id] = window.title;
  return std::make_unique<CudaMemory>(std::move(parts), control_.rank(), id, window.on_host, inbox_, copier_);
}

std::unique_ptr<fabric::Offer> CudaFabric::offer(const fabric::ChainSpec& share) {
  const auto finish = [this, name = share.name](std::unique_ptr<Compiled> compiled) {
    return std::make_unique<CudaProgram>(runner_, std::string(name), std::move(compiled));
  };
  return cuda::offer(share, ++last_id_, control_, inbox_, setup_.stream, copier_, finish);
}

std::unique_ptr<fabric::Team> CudaFabric::make_team(std::string_view team, std::size_t max_values,
                                                    std::size_t max_blocks,
                                                    std::chrono::milliseconds time_limit,
                                                    const control::Members& members) {
  for (const int rank : members.ranks()) {
    if (reaches(rank)) continue;
    base::fail(Errc::invalid_argument,
               "team '{}': kernels of rank {} do not reach rank {}, which is in another sub-cluster; use "
               "tca/coll.hpp for what all ranks do together",
               team, control_.rank(), rank);
  }
  const Word id = ++last_id_;
  return cuda::make_team(teams_, std::string(team), max_values, max_blocks, time_limit, id, members, inbox_,
                         setup_.stream, throttle());
}

std::unique_ptr<fabric::Collective> CudaFabric::make_collective(const fabric::CollectiveTask& task) {
  const Word id = ++last_id_;
  return std::make_unique<CudaCollective>(collectives_, task, id);
}

void CudaFabric::put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
                         std::span<const std::byte> value) {
  copier_.write(address(&memory, rank, offset), value);
}

void CudaFabric::check() {
  cuda::check(cudaPeekAtLastError(), fmt::format("rank {}", control_.rank()));
  check_refusal();
  check_mistake();
  engine_.check_launches();
  poster_.check();
  const Word id = device::load_relaxed(&inbox_.gave_up());
  if (id == 0) return;
  check_grid(id);
  const TimeoutReport late = who_is_late(id);
  for (const int rank : late.ranks) {
    if (const std::optional<control::Loss> loss = control_.lost(rank))
      control_.fail_lost(rank, *loss, fmt::format("waiting for it on its GPU in {}", late.what),
                         late.about());
  }
  ErrorFields about = late.about();
  about.rank = control_.rank();
  control_.trouble = {fmt::format("it waited too long for {} in {}", late.whom(), late.what)};
  base::fail(Errc::timed_out, std::move(about),
             "rank {} waited too long on its GPU in {} for {}; has every partner started this step? (time "
             "limit: WorldOptions, ChainOptions or OPENTCA_TIME_LIMIT)",
             control_.rank(), late.what,
             late.ranks.empty() ? late.whom() : late.whom() + ", which has not signalled");
}

TimeoutReport CudaFabric::who_is_late(Word id) const {
  if (id == CudaPoster::waits_id) return poster_.late();
  if (const auto team = teams_.find(id); team != teams_.end()) return team->second->late();
  const auto& collectives = collectives_.collectives;
  if (const auto one = collectives.find(id); one != collectives.end()) return one->second->late();
  if (const auto one = stages_.stages.find(id); one != stages_.stages.end()) return one->second->late();
  const auto found = runner_.programs.find(id);
  if (found == runner_.programs.end()) return {"a chain, team or collective that is destroyed", {}};
  const LatestWait late = found->second->late();
  return TimeoutReport::of_chain(found->second->name(), late.step, late.ranks);
}

// Throws if a team's grid had more blocks than there is room for.
void CudaFabric::check_grid(Word id) const {
  const auto found = teams_.find(id);
  if (found == teams_.end() || found->second->excess_blocks() == 0) return;
  const CudaTeam& team = *found->second;
  control_.trouble = {fmt::format("its kernel had too many blocks for team '{}'", team.name())};
  base::fail(
      Errc::invalid_argument, {.rank = control_.rank()},
      "rank {}: a kernel of {} blocks sums by team '{}', which was made for {}; World::team takes the most "
      "blocks of any grid",
      control_.rank(), team.excess_blocks(), team.name(), team.view.max_blocks);
}

void CudaFabric::check_refusal() {
  const device::Refusal& put = inbox_.refusal();
  const Word window = device::load_acquire(&put.window);
  if (window == 0) return;
  const std::string name = windows_.at(window);
  control_.trouble = {fmt::format("its kernel put outside {} on rank {}", name, put.rank)};
  base::fail(
      Errc::invalid_argument, {.rank = control_.rank()},
      "rank {}: a kernel wanted to put {} elements from element {} on into {} on rank {}, {}; nothing of "
      "that put was stored. Window::size_on and a BlockWindow's size_on tell what fits",
      control_.rank(), put.count, put.offset, name, put.rank, describe_target(put));
}

void CudaFabric::check_mistake() {
  const device::Mistake& mistake = inbox_.mistake();
  const Word chain = device::load_acquire(&mistake.chain);
  if (chain == 0) return;
  const auto found = runner_.programs.find(chain);
  const bool known = found != runner_.programs.end();
  const std::string name =
      known ? fmt::format("chain '{}'", found->second->name()) : "a chain that is destroyed";
  const int partner = known ? found->second->partner(mistake.link) : -1;
  const std::string what = describe(mistake, control_.rank(), partner, name);
  ErrorFields about{.rank = control_.rank(), .chain = known ? found->second->name() : ""};
  about.step = mistake.step;
  control_.trouble = {what};
  if (mistake.kind == device::Mistake::not_come) {
    if (partner >= 0) about.missing = {partner};
    base::fail(Errc::timed_out, std::move(about), "rank {}: {}", control_.rank(), what);
  }
  base::fail(Errc::invalid_argument, std::move(about), "rank {}: {}", control_.rank(), what);
}

std::string CudaFabric::describe_target(const device::Refusal& put) const {
  if (put.rank >= static_cast<Word>(control_.size()))
    return fmt::format("and there are only {} ranks", control_.size());
  if (!reaches(static_cast<int>(put.rank))) return "whose sub-cluster kernels do not reach";
  return fmt::format("which has {} elements", put.held);
}

}  // namespace

std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, control::Places places,
                                            const Settings& settings) {
  prepare_environment(settings.threads);
  return std::make_unique<CudaFabric>(control, std::move(places), settings);
}

}  // namespace tca::cuda
