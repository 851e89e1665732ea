#include "fabric/cuda/cuda_fabric.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/fail.hpp"
#include "fabric/cuda/device.hpp"
#include "fabric/cuda/memory.hpp"
#include "fabric/cuda/plan.hpp"
#include "fabric/cuda/program.hpp"
#include "fabric/cuda/team.hpp"

namespace tca::cuda {

namespace {

constexpr std::array<std::string_view, 3> protocol_names{"ll", "direct", "copy_engine"};

// Read by CUDA when a process first uses it. Kernels that wait for each other must not share a hardware queue, and a
// kernel must not be loaded while another waits for it to run.
void prepare_environment(bool threads) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (threads) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  });
}

struct OwnStream {
  cudaStream_t stream = nullptr;
  OwnStream() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream"); }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { cudaStreamDestroy(stream); }
};

class CudaFabric final : public fabric::Fabric {
 public:
  CudaFabric(fabric::Control& control, const Settings& settings)
      : control_(control),
        device_(choose_device(settings.device, control.rank())),
        exported_(!settings.threads),
        devices_(meet(control, device_)),
        inbox_(control, device_.number, exported_, setup_.stream),
        engine_(inbox_, copier_, control.rank(), static_cast<unsigned>(settings.engine_blocks)),
        runner_{inbox_,         engine_,
                steps_.stream,  attempts_.stream,
                copies_.stream, device_.early_launch,
                block_limit(),  [this] { check(); }} {
    load_kernels();
  }

  ~CudaFabric() override;

  std::string_view name() const override { return "cuda"; }
  std::span<const std::string_view> protocols() const override { return protocol_names; }
  bool reaches(int) const override { return true; }
  bool has_streams() const override { return true; }
  std::string device_name() const override {
    return fmt::format("{} ({}), GPU {}", device_.name, device_.bus_id, device_.number);
  }

  bool accepts(int protocol, const base::Shape& shape) const override {
    if (protocol == copy_engine) return fits_copy_engine(shape);
    // Lines need four times their data, two buffers of lines half full, for as long as the chain lives.
    return protocol != ll || shape.bytes() * 4 <= inbox_.largest() / 4;
  }

  std::unique_ptr<fabric::Memory> expose(std::size_t bytes, std::byte* existing,
                                         std::string_view window) override;
  std::unique_ptr<fabric::Program> compile(const fabric::Share& share) override;
  std::unique_ptr<fabric::Team> make_team(std::string_view team, std::size_t max_values,
                                          std::chrono::milliseconds time_limit) override;
  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override;
  void trace_to(base::Trace*) override {}
  void progress() override {
    for (CudaProgram* program : runner_.attempting) program->attempt();
  }
  void check() override;
  void rest() override;

 private:
  // All ranks of a GPU together fill it at most once.
  unsigned block_limit() const {
    const auto same = [&](const DeviceInfo& other) { return std::strcmp(other.bus_id, device_.bus_id) == 0; };
    constexpr unsigned blocks = 128;
    return std::max(1u,
                    blocks / static_cast<unsigned>(std::count_if(devices_.begin(), devices_.end(), same)));
  }

  fabric::Control& control_;
  DeviceInfo device_;
  bool exported_;
  std::vector<DeviceInfo> devices_;  // by rank
  OwnStream setup_;                  // never waits for another rank, unlike the others
  OwnStream steps_, attempts_, copies_;
  HostCopier copier_{setup_.stream};
  Inbox inbox_;
  Engine engine_;
  Runner runner_;
  Word last_id_ = 0;
};

CudaFabric::~CudaFabric() { rest(); }

// Whatever still waits gives up within a millisecond; then nothing touches the memory that goes.
void CudaFabric::rest() {
  const OnDevice here(device_.number);
  device::store_relaxed(&inbox_.abort(), 1);
  engine_.park();
  for (const OwnStream* own : {&setup_, &steps_, &attempts_, &copies_}) cudaStreamSynchronize(own->stream);
}

std::unique_ptr<fabric::Memory> CudaFabric::expose(std::size_t bytes, std::byte* existing,
                                                   std::string_view window) {
  // What allocates may wait for the GPU to come to rest.
  if (engine_.is_idle()) engine_.park();
  auto parts = share_regions(control_, device_.number, window, [&](Token& token) {
    if (bytes == 0) return Region();
    return existing != nullptr ? adopt(device_.number, existing, bytes, exported_, token)
                               : allocate(device_.number, bytes, exported_, setup_.stream, token);
  });
  return std::make_unique<CudaMemory>(std::move(parts), control_.rank(), copier_, engine_);
}

std::unique_ptr<fabric::Program> CudaFabric::compile(const fabric::Share& share) {
  const Word id = ++last_id_;
  return std::make_unique<CudaProgram>(runner_, std::string(share.name),
                                       cuda::compile(share, id, control_, inbox_, setup_.stream, copier_));
}

std::unique_ptr<fabric::Team> CudaFabric::make_team(std::string_view team, std::size_t max_values,
                                                    std::chrono::milliseconds time_limit) {
  const Word id = ++last_id_;
  return cuda::make_team(team, max_values, time_limit, id, control_, inbox_, setup_.stream);
}

void CudaFabric::put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
                         std::span<const std::byte> value) {
  copier_.write(address(&memory, rank, offset), value);
}

void CudaFabric::check() {
  cuda::check(cudaPeekAtLastError(), fmt::format("rank {}", control_.rank()));
  const Word chain = device::load_relaxed(&inbox_.gave_up());
  if (chain == 0) return;
  const auto found = runner_.programs.find(chain);
  const std::string name = found == runner_.programs.end() ? "a destroyed one" : found->second->name();
  const CudaProgram::Late late =
      found == runner_.programs.end() ? CudaProgram::Late{} : found->second->late();
  control_.trouble = fmt::format("it waited too long for rank {} in step {} of chain '{}'",
                                 fmt::join(late.ranks, ", "), late.step, name);
  base::fail(Errc::timed_out,
             "rank {} waited too long on its GPU in step {} of chain '{}' for rank {}, which has not "
             "signalled; has every "
             "partner started this step? (time limit: WorldOptions, ChainOptions or OPENTCA_TIME_LIMIT)",
             control_.rank(), late.step, name, fmt::join(late.ranks, ", "));
}

}  // namespace

std::unique_ptr<fabric::Fabric> make_fabric(fabric::Control& control, const Settings& settings) {
  prepare_environment(settings.threads);
  return std::make_unique<CudaFabric>(control, settings);
}

}  // namespace tca::cuda
