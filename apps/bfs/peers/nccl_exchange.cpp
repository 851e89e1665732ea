// The exchange on GPUs by NCCL, for comparison. No other file of the application calls NCCL.
#include "bfs/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <vector>

#include "shared/gpu_call.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::bfs {

namespace {

using namespace apps;

class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, std::span<const Sending> sendings)
      : rank_(world.rank()), comm_(world), sendings_(sendings.begin(), sendings.end()) {
    // NCCL connects at the first call, which should not happen during the capture of a graph.
    const OwnStream stream;
    for (std::size_t which = 0; which < sendings_.size(); ++which) send(which, stream.get());
    stream.synchronize("connecting NCCL");
  }

  void send(std::size_t which, Stream stream) override {
    nccl_ok(ncclGroupStart(), "gathering the frontier");
    for (const auto& [window, count, own] : sendings_[which].parts) {
      const std::size_t bytes = static_cast<std::size_t>(count) * window.element_bytes();
      std::byte* const all = static_cast<std::byte*>(window.data());
      nccl_ok(ncclAllGather(all + static_cast<std::size_t>(rank_) * bytes, all, bytes, ncclChar, comm_.get(),
                            stream),
              "gathering the frontier");
    }
    nccl_ok(ncclGroupEnd(), "gathering the frontier");
  }

  std::string explain(Message) const override {
    return "NCCL: all-gathers of the bitmap and of the numbers\n";
  }

 private:
  int rank_;
  NcclCommunicator comm_;
  std::vector<Sending> sendings_;
};

}  // namespace

std::unique_ptr<GpuExchange> nccl_exchange(World& world, std::span<const Sending> sendings,
                                           const apps::Channels&) {
  return std::make_unique<NcclExchange>(world, sendings);
}

}  // namespace tca::bfs

#else

namespace tca::bfs {

std::unique_ptr<GpuExchange> nccl_exchange(World&, std::span<const Sending>, const apps::Channels&) {
  return nullptr;
}

}  // namespace tca::bfs

#endif
