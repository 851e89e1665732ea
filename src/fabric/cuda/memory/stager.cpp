#include "fabric/cuda/memory/stager.hpp"

#include <algorithm>
#include <cstring>

#include "fabric/cuda/compile/compile.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "fabric/cuda/compile/tables.hpp"

namespace tca::cuda {

namespace {

constexpr std::size_t alignment = 16;  // of the widest atom

std::size_t aligned(std::size_t offset) { return (offset + alignment - 1) / alignment * alignment; }

// Returns the size of a message's chunks. Chunks are large enough that a message costs little compared with
// its bytes, and few enough that kernels find theirs quickly.
std::uint64_t chunk_bytes(std::uint64_t message_bytes) {
  constexpr std::uint64_t least = std::uint64_t{256} << 10, most_chunks = 64;
  return std::max(least, message_bytes / most_chunks);
}

// The numbers of blocks. Stores to the host saturate the link with few blocks, which take the chunks in
// order. Loads from the host take a microsecond and need more blocks: on two H200s 1 MiB took 242 us with
// 16 blocks both ways and 212 us with 64.
constexpr unsigned gather_blocks = 16, scatter_blocks = 64;

// Returns whether a kernel may see a word that the host writes before it sees what a network card wrote to
// the GPU's memory earlier.
bool network_writes_come_late(int device) {
  int supported = 0, ordering = 0;
  check(cudaDeviceGetAttribute(&supported, cudaDevAttrGPUDirectRDMASupported, device),
        "asking for a GPU's ways");
  check(cudaDeviceGetAttribute(&ordering, cudaDevAttrGPUDirectRDMAWritesOrdering, device),
        "asking for a GPU's ways");
  return supported != 0 && ordering < cudaGPUDirectRDMAWritesOrderingOwner;
}

// Returns whether the host can wait until such writes are visible.
bool host_flushes_network_writes(int device) {
  int ways = 0;
  check(cudaDeviceGetAttribute(&ways, cudaDevAttrGPUDirectRDMAFlushWritesOptions, device),
        "asking for a GPU's ways");
  return (ways & cudaFlushGPUDirectRDMAWritesOptionHost) != 0;
}

}  // namespace

StageRoom::StageRoom(std::size_t bytes, fabric::StageMemory memory) : bytes_(bytes), memory_(memory) {
  if (memory == fabric::StageMemory::host) {
    host_ = std::make_unique<PinnedMemory>(bytes);
    data_ = host_->data();
  } else if (bytes > 0) {
    // Every MPI that takes GPU memory supports memory from cudaMalloc.
    check(cudaMalloc(&data_, bytes), "memory for messages on the GPU");
  }
}

StageRoom::~StageRoom() {
  if (!host_) cudaFree(data_);
}

void StageRoom::keep() {
  static_cast<void>(host_.release());
  data_ = nullptr;
}

// Takes the smallest free room that is large enough, unless more than half of it would be wasted.
std::unique_ptr<StageRoom> StageRooms::take(std::size_t bytes, fabric::StageMemory memory) {
  auto best = free_.end();
  for (auto room = free_.begin(); room != free_.end(); ++room) {
    const std::size_t has = (*room)->bytes();
    if ((*room)->memory() != memory || has < bytes || has / 2 > bytes) continue;
    if (best == free_.end() || has < (*best)->bytes()) best = room;
  }
  if (best == free_.end()) return std::make_unique<StageRoom>(bytes, memory);
  std::unique_ptr<StageRoom> taken = std::move(*best);
  free_.erase(best);
  return taken;
}

// A part of a piece of a message, within one of the message's chunks.
struct CudaStage::Part {
  std::size_t message, chunk;
  std::byte* memory;
  std::size_t offset;  // in the stage
  base::Shape shape;
};

CudaStage::CudaStage(StageRunner& runner, Word id, std::string chain,
                     std::span<const fabric::StagedMessage> messages, fabric::StageMemory memory,
                     std::chrono::milliseconds time_limit)
    : runner_(runner),
      id_(id),
      name_(std::move(chain)),
      room_(runner.inbox),
      comes_late_(memory == fabric::StageMemory::accelerator && network_writes_come_late(runner.device)),
      begun_(take_word()),
      may_gather_(take_word()),
      done_(take_word()) {
  device::store_relaxed(may_gather_, 1);
  for (const fabric::StagedMessage& message : messages) partners_.push_back(message.partner);
  std::sort(partners_.begin(), partners_.end());
  partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
  build(messages, lay_out(messages, memory));
  for (DeviceChain* part : {&gather_, &scatter_})
    set_up_counters(*part, id_, partners_, time_limit, runner_.inbox, room_);
  check(cudaStreamSynchronize(runner_.setup), "committing a chain");
  runner_.stages[id_] = this;
}

CudaStage::~CudaStage() {
  runner_.stages.erase(id_);
  if (dense_->data() != nullptr) runner_.rooms.give_back(std::move(dense_));
}

// Decides where every part is placed in the stage, and makes its memory and the messages' chunks.
std::vector<CudaStage::Part> CudaStage::lay_out(std::span<const fabric::StagedMessage> messages,
                                                fabric::StageMemory where) {
  std::vector<Part> parts;
  std::vector<std::vector<std::size_t>> begins(messages.size());  // of chunks
  std::vector<std::size_t> ends;                                  // of messages
  std::size_t end = 0;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    std::uint64_t bytes = 0;
    for (const auto& piece : messages[m].pieces) bytes += piece.shape->bytes();
    const std::uint64_t most = chunk_bytes(bytes);
    for (const auto& piece : messages[m].pieces) {
      for (const base::Part& cut : base::split(*piece.shape, std::min(most, largest_part))) {
        end = aligned(end);
        if (begins[m].empty() || end - begins[m].back() >= most) begins[m].push_back(end);
        std::byte* const memory = piece.memory + (messages[m].outgoing ? cut.from_shift : cut.to_shift);
        parts.push_back({m, begins[m].size() - 1, memory, end, cut.shape});
        end += cut.shape.bytes();
      }
    }
    ends.push_back(end);
  }
  dense_ = runner_.rooms.take(end, where);
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const auto link = std::lower_bound(partners_.begin(), partners_.end(), messages[m].partner);
    Message message{messages[m].outgoing, static_cast<Word>(link - partners_.begin()), {}, {}};
    for (std::size_t c = 0; c < begins[m].size(); ++c) {
      const std::size_t begin = begins[m][c], next = c + 1 < begins[m].size() ? begins[m][c + 1] : ends[m];
      message.bytes.emplace_back(dense_->data() + begin, next - begin);
    }
    if (message.bytes.empty()) message.bytes.emplace_back();
    messages_.push_back(std::move(message));
  }
  return parts;
}

void CudaStage::build(std::span<const fabric::StagedMessage> messages, const std::vector<Part>& parts) {
  std::vector<device::Stores> gathers, scatters;
  std::vector<device::Arrivals> arrivals;
  device::Stores begins;  // a bare signal, which waits for nothing
  begins.arrived = begun_;
  begins.end_segment = 1;
  gathers.push_back(begins);
  auto part = parts.begin();
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    Message& message = messages_[m];
    for (std::size_t c = 0; c < message.bytes.size(); ++c) {
      const auto end =
          std::find_if(part, parts.end(), [&](const Part& p) { return p.message != m || p.chunk != c; });
      std::size_t segments = 0;
      for (auto p = part; p != end; ++p) segments += segments_of(p->shape.bytes());
      const std::size_t count = message.outgoing ? segments : 1;
      Word* word = count > 0 ? room_.take_words(count) : nullptr;
      message.words.emplace_back(word, count);
      for (; part != end; ++part) {
        std::byte* const dense = dense_->data() + part->offset;
        device::Stores stores = message.outgoing
                                    ? stores_of(densified(part->shape, Side::to), dense, part->memory)
                                    : stores_of(densified(part->shape, Side::from), part->memory, dense);
        stores.link = message.link;
        if (message.outgoing) {
          stores.ready = may_gather_;
          stores.arrived = word;
          word += stores.end_segment;
          gathers.push_back(stores);
        } else {
          stores.ready = word;
          stores.source_comes = true;
          // These signals are not read.
          stores.arrived = runner_.inbox.own<Word>(room_.take(stores.end_segment * sizeof(Word)));
          scatters.push_back(stores);
        }
      }
    }
    if (!message.outgoing && messages[m].pieces.empty())
      arrivals.push_back({message.words.front().data(), 1, message.link});
  }
  gather_.segments_out = count_up(gathers, &device::Stores::end_segment);
  scatter_.segments_out = count_up(scatters, &device::Stores::end_segment);
  scatter_.segments_in = count_up(arrivals, &device::Arrivals::end_segment);
  fill_table(gather_.stores, gathers, runner_.inbox, room_, runner_.copier);
  fill_table(scatter_.stores, scatters, runner_.inbox, room_, runner_.copier);
  fill_table(scatter_.arrivals, arrivals, runner_.inbox, room_, runner_.copier);
}

Grid CudaStage::grid(const DeviceChain& chain, unsigned blocks) const {
  return grid_for(0, chain.segments_out, std::min(blocks, runner_.block_limit));
}

void CudaStage::gather_on(Stream stream) {
  launch_exchange(gather_, {}, grid(gather_, gather_blocks), {}, stream);
}

void CudaStage::scatter_on(Stream stream) {
  if (receives()) launch_exchange(scatter_, {}, grid(scatter_, scatter_blocks), {}, stream);
}

void CudaStage::scatter() {
  if (receives())
    launch_exchange(scatter_, {}, grid(scatter_, scatter_blocks), {done_, ++ticket_}, runner_.stream);
}

// Acquire: pairs with the release of the kernel's last block.
bool CudaStage::scattered() const { return device::load_acquire(done_) == ticket_; }

// Acquire: pairs with the kernel's release of what it has stored.
bool CudaStage::gathered(std::size_t message, std::size_t chunk, std::uint32_t step) const {
  const std::span<Word> words = messages_[message].words[chunk];
  return std::all_of(words.begin(), words.end(),
                     [&](const Word& word) { return device::reached(device::load_acquire(&word), step); });
}

// Release: a kernel that sees the word finds the bytes.
void CudaStage::mark_received(std::size_t message, std::size_t chunk, std::uint32_t step) {
  if (comes_late_) {
    const OnDevice here(runner_.device);
    check(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                             cudaFlushGPUDirectRDMAWritesToOwner),
          "waiting for what a network card has written");
  }
  device::store_release(messages_[message].words[chunk].data(), step);
}

bool CudaStage::all_received(std::size_t message, std::uint32_t step) const {
  const auto& words = messages_[message].words;
  return std::all_of(words.begin(), words.end(), [&](const std::span<Word>& word) {
    return device::reached(device::load_acquire(word.data()), step);
  });
}

bool CudaStager::can_be_carried(const Carry& carry) {
  if (network_writes_come_late(runner_.device) && !host_flushes_network_writes(runner_.device)) return false;
  const OnDevice here(runner_.device);
  constexpr std::size_t bytes = 100'000;  // more than an MPI sends without a rendezvous
  const StageRoom from(bytes, fabric::StageMemory::accelerator), to(bytes, fabric::StageMemory::accelerator);
  const std::vector<std::byte> sent(bytes, std::byte{0x5a});
  std::vector<std::byte> come(bytes);
  copier_.write(from.data(), sent);
  copier_.write(to.data(), come);
  carry(to.data(), from.data(), bytes);
  copier_.read(to.data(), come);
  return come == sent;
}

// By copies of rows, on the rank's own stream. One of the sides is contiguous.
void CudaStager::copy(std::byte* to, const std::byte* from, const base::Shape& shape) {
  const base::Shape::Loop rows = shape.loop_count > 0 ? shape.loops[0] : base::Shape::Loop{1, 0, 0};
  const auto count = [&](std::size_t loop) {
    return static_cast<std::int64_t>(loop < shape.loop_count ? shape.loops[loop].count : 1);
  };
  constexpr const char* what = "copying a post between host and GPU";
  const auto fits = [&](std::int64_t pitch) { return pitch >= static_cast<std::int64_t>(shape.run); };
  const bool are_pitched = rows.count > 1 && fits(rows.to_pitch) && fits(rows.from_pitch);
  for (std::int64_t i = 0; i < count(2); ++i)
    for (std::int64_t j = 0; j < count(1); ++j) {
      std::byte* const there = to + i * shape.loops[2].to_pitch + j * shape.loops[1].to_pitch;
      const std::byte* const here = from + i * shape.loops[2].from_pitch + j * shape.loops[1].from_pitch;
      if (are_pitched) {
        check(cudaMemcpy2DAsync(there, static_cast<std::size_t>(rows.to_pitch), here,
                                static_cast<std::size_t>(rows.from_pitch), shape.run, rows.count,
                                cudaMemcpyDefault, runner_.setup),
              what);
        continue;
      }
      for (std::int64_t k = 0; k < count(0); ++k)
        check(cudaMemcpyAsync(there + k * rows.to_pitch, here + k * rows.from_pitch, shape.run,
                              cudaMemcpyDefault, runner_.setup),
              what);
    }
  check(cudaStreamSynchronize(runner_.setup), what);
}

// Both use pinned memory, so that they wait for nothing but their own stream.
void CudaStager::gather(std::byte* row, const std::byte* from, const base::Shape& shape) {
  const OnDevice here(runner_.device);
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, from), "looking at the source of a post");
  if (attributes.type == cudaMemoryTypeUnregistered) {
    base::gather(row, from, shape);
    return;
  }
  std::unique_ptr<StageRoom> room = runner_.rooms.take(shape.bytes(), fabric::StageMemory::host);
  copy(room->data(), from, densified(shape, Side::to));
  std::memcpy(row, room->data(), shape.bytes());
  runner_.rooms.give_back(std::move(room));
}

void CudaStager::scatter(std::byte* to, const std::byte* row, const base::Shape& shape) {
  const OnDevice here(runner_.device);
  std::unique_ptr<StageRoom> room = runner_.rooms.take(shape.bytes(), fabric::StageMemory::host);
  std::memcpy(room->data(), row, shape.bytes());
  copy(to, room->data(), densified(shape, Side::from));
  runner_.rooms.give_back(std::move(room));
}

TimeoutReport CudaStage::late() const {
  LatestWait late;
  for (const DeviceChain* part : {&gather_, &scatter_}) {
    const LatestWait wait = latest_wait(part->limits, partners_.size());
    if (wait.step != 0 && device::reached(wait.step, late.step)) late = wait;
  }
  return {describe_step(late.step, fmt::format("chain '{}'", name_)), late.ranks};
}

}  // namespace tca::cuda
