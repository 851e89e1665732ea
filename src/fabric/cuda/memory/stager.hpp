// Moves bytes between windows and a stage, for messages that another fabric carries. A stage is pinned host
// memory or memory of the GPU.
//
// Both directions are built like `direct` puts. A gather stores into the stage and raises a word in host
// memory for each segment. A scatter may store once the other fabric's thread has raised a word there. So
// the chains' own kernels run both, in graphs too.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/cuda/kernels.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/memory/pinned_memory.hpp"
#include "fabric/cuda/timeout_report.hpp"
#include "fabric/staging.hpp"

namespace tca::cuda {

class CudaStage;

// A stage's memory.
class StageRoom {
 public:
  StageRoom(std::size_t bytes, fabric::StageMemory memory);
  StageRoom(const StageRoom&) = delete;
  ~StageRoom();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  fabric::StageMemory memory() const { return memory_; }
  // Leaves the memory allocated when this object is destroyed.
  void keep();

 private:
  std::size_t bytes_;
  fabric::StageMemory memory_;
  std::unique_ptr<PinnedMemory> host_;
  std::byte* data_ = nullptr;
};

// The memory of destroyed stages, which is reused for others. Freeing it would wait for everything that the
// GPU is doing: perhaps for a kernel that waits for a partner, which waits for this rank in the very call
// that releases the stage.
class StageRooms {
 public:
  std::unique_ptr<StageRoom> take(std::size_t bytes, fabric::StageMemory memory);
  void give_back(std::unique_ptr<StageRoom> room) { free_.push_back(std::move(room)); }

 private:
  std::vector<std::unique_ptr<StageRoom>> free_;
};

// The resources that a rank's stages share.
struct StageRunner {
  Inbox& inbox;
  HostCopier& copier;
  cudaStream_t setup;
  cudaStream_t stream;  // the host's own gathers and scatters run here; none of them has to wait
  unsigned block_limit;
  int device;
  std::map<Word, CudaStage*> stages = {};  // by id
  StageRooms rooms = {};
};

class CudaStage final : public fabric::Stage {
 public:
  // `id` is not 0.
  CudaStage(StageRunner& runner, Word id, std::string chain, std::span<const fabric::StagedMessage> messages,
            fabric::StageMemory memory, std::chrono::milliseconds time_limit);
  ~CudaStage() override;

  const Chunks& chunks(std::size_t message) const override { return messages_[message].bytes; }

  void gather_on(Stream stream) override;
  void scatter_on(Stream stream) override;
  void gather() override { gather_on(runner_.stream); }
  void scatter() override;
  bool scattered() const override;

  std::uint32_t begun() const override { return device::load_acquire(begun_); }
  bool gathered(std::size_t message, std::size_t chunk, std::uint32_t step) const override;
  void mark_received(std::size_t message, std::size_t chunk, std::uint32_t step) override;
  void mark_sent(std::uint32_t step) override { device::store_release(may_gather_, step + 1); }
  void keep_memory() override { dense_->keep(); }
  bool all_received(std::size_t message, std::uint32_t step) const override;
  bool all_sent(std::uint32_t step) const override {
    return device::reached(device::load_acquire(may_gather_), step + 1);
  }

  TimeoutReport late() const;

 private:
  struct Part;
  struct Message {
    bool outgoing;
    Word link;
    Chunks bytes;
    std::vector<std::span<Word>> words;  // by chunk: raised by its gather, or permission for its scatter
  };

  std::vector<Part> lay_out(std::span<const fabric::StagedMessage> messages, fabric::StageMemory where);
  void build(std::span<const fabric::StagedMessage> messages, const std::vector<Part>& parts);
  Grid grid(const DeviceChain& chain, unsigned blocks) const;
  Word* take_word() { return room_.take_words(1); }
  bool receives() const { return scatter_.segments_out + scatter_.segments_in > 0; }

  StageRunner& runner_;
  Word id_;
  std::string name_;
  Room room_;
  std::vector<int> partners_;  // by link
  std::vector<Message> messages_;
  std::unique_ptr<StageRoom> dense_;
  // Whether data written by a network card may become visible later than a word that the host writes
  // afterwards.
  bool comes_late_;
  DeviceChain gather_, scatter_;
  // Pinned words: the last step that has begun, the last that may be gathered, and the ticket of the host's
  // last finished scatter.
  Word *begun_, *may_gather_, *done_;
  Word ticket_ = 0;  // of the host's last scatter
};

class CudaStager final : public fabric::Stager {
 public:
  // `take_id` returns a different number for every stage.
  CudaStager(StageRunner& runner, std::function<Word()> take_id, cudaStream_t writes)
      : runner_(runner), take_id_(std::move(take_id)), copier_(writes) {}

  std::unique_ptr<fabric::Stage> make_stage(std::string chain,
                                            std::span<const fabric::StagedMessage> messages,
                                            fabric::StageMemory memory,
                                            std::chrono::milliseconds time_limit) override {
    const OnDevice here(runner_.device);
    return std::make_unique<CudaStage>(runner_, take_id_(), std::move(chain), messages, memory, time_limit);
  }
  void bind_thread() override { check(cudaSetDevice(runner_.device), "binding a thread to the rank's GPU"); }
  bool can_be_carried(const Carry& carry) override;
  void gather(std::byte* row, const std::byte* from, const base::Shape& shape) override;
  void scatter(std::byte* to, const std::byte* row, const base::Shape& shape) override;
  void write(std::byte* to, std::span<const std::byte> from) override {
    const OnDevice here(runner_.device);
    copier_.write(to, from);
  }

 private:
  void copy(std::byte* to, const std::byte* from, const base::Shape& shape);

  StageRunner& runner_;
  std::function<Word()> take_id_;
  HostCopier copier_;
};

}  // namespace tca::cuda
