// The copy engine by hand: cudaMemcpyAsync into another rank's memory, without a signal to that rank. It
// shows the best that a large put can reach.
#include "gpu/call.hpp"
#include "gpu/peers/peers.hpp"

namespace tca::bench::gpu {

namespace {

class CopyPut final : public Messages {
 public:
  CopyPut(World& world, const Rows& layout) : Messages(layout, false), data_(layout.padded()) {
    fabric = "copy";
    protocol = layout.rows == 1 ? "cudaMemcpyAsync" : "cudaMemcpy2DAsync";
    peer = "copy";
    start = "host";
    guarded = false;
    in = out = data_;
    cudaIpcMemHandle_t mine{};
    cuda_ok(cudaIpcGetMemHandle(&mine, data_), "sharing memory with another process");
    const std::vector<cudaIpcMemHandle_t> all = world.all_gather(mine);
    if (world.rank() == 0)
      cuda_ok(cudaIpcOpenMemHandle(&there_, all[1], cudaIpcMemLazyEnablePeerAccess),
              "mapping rank 1's memory");
  }
  ~CopyPut() override {
    if (there_ != nullptr) cudaIpcCloseMemHandle(there_);
  }

  void run(int steps, Stream stream) override {
    steps_done += static_cast<std::uint32_t>(steps);
    for (int i = 0; i < steps && there_ != nullptr; ++i) {
      write(stream);
      cuda_ok(rows.rows == 1 ? cudaMemcpyAsync(there_, out, rows.row, cudaMemcpyDefault, stream)
                             : cudaMemcpy2DAsync(there_, rows.pitch, out, rows.pitch, rows.row, rows.rows,
                                                 cudaMemcpyDefault, stream),
              "copying to another GPU");
      read(stream);
    }
  }

 private:
  Buffer<std::byte> data_;
  void* there_ = nullptr;
};

class Copy final : public Peer {
 public:
  explicit Copy(World& world) : world_(world) { name = "copy"; }
  Contenders put(const Rows& rows) override { return one(std::make_unique<CopyPut>(world_, rows)); }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Peer> open_copy(World& world) { return std::make_unique<Copy>(world); }

}  // namespace tca::bench::gpu
