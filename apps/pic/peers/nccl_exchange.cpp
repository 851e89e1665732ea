// The exchange on GPUs by NCCL, for comparison. No other file of the application calls NCCL.
#include "pic/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <map>
#include <vector>

#include "pic/peers/nccl_pack.hpp"
#include "pic/sides.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::pic {

namespace {

using namespace apps;

// What of an array goes to each neighbour and comes from it: first in a buffer what goes, then what comes.
class Crossing {
 public:
  // Ghosts of the array's cells are sent, or the cells of which others have ghosts.
  Crossing(World& world, const Domain& domain, GhostWidth widths, bool sends_ghosts) {
    std::map<int, Cells> out, in;
    each_side(domain, world.rank(), [&](const Side& side, int neighbour) {
      each_cell(domain, box_of(domain, side, widths, sends_ghosts),
                [&](std::int64_t at) { out[neighbour].push_back(static_cast<std::int32_t>(at)); });
      // The neighbour sends in the order of its sides, which are the opposites of these.
      Cells box;
      each_cell(domain, box_of(domain, side, widths, !sends_ghosts),
                [&](std::int64_t at) { box.push_back(static_cast<std::int32_t>(at)); });
      Cells& from = in[neighbour];
      from.insert(from.begin(), box.begin(), box.end());
    });
    append(out, sends, packed_);
    append(in, receives, unpacked_);
  }

  struct Message {
    int rank;
    std::int32_t begin;
    std::size_t count;
  };
  std::vector<Message> sends, receives;
  std::int32_t size = 0;  // of the buffer

  Nodes packed() const { return packed_->nodes(); }
  Nodes unpacked() const { return unpacked_->nodes(); }

 private:
  using Cells = std::vector<std::int32_t>;

  // All that go, or all that come.
  struct List {
    List(const Cells& cells, std::int32_t first) : index(cells), begin(first) {}
    Nodes nodes() const { return {index.data(), begin, static_cast<unsigned>(index.size())}; }
    DeviceArray<std::int32_t> index;
    std::int32_t begin;  // in the buffer
  };

  // Appends to the buffer a message of each neighbour's cells.
  void append(const std::map<int, Cells>& cells, std::vector<Message>& messages, std::optional<List>& list) {
    const std::int32_t begin = size;
    Cells all;
    for (const auto& [neighbour, of_neighbour] : cells) {
      messages.push_back({neighbour, size, of_neighbour.size()});
      all.insert(all.end(), of_neighbour.begin(), of_neighbour.end());
      size += static_cast<std::int32_t>(of_neighbour.size());
    }
    list.emplace(all, begin);
  }

  std::optional<List> packed_, unpacked_;
};

template <class Number>
class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, const Exchanged<Number>& what, const Queues& queues, cudaStream_t stream)
      : GpuExchange(stream),
        what_(what),
        queues_(queues),
        comm_(world),
        field_(world, what.domain, field_ghosts, false),
        flow_(world, what.domain, flow_ghosts, true),
        field_buffer_(static_cast<std::size_t>(field_.size)),
        flow_buffer_(static_cast<std::size_t>(flow_.size)) {
    for (std::size_t k = 0; k < what.domain.neighbours().size(); ++k) {
      ends_.to[k].length = sent_.data() + k;
      ends_.to[k].capacity = static_cast<device::Word>(what.room);
      ends_.from[k].length = come_.data() + k;
    }
    // NCCL connects at the first call, which should not happen during the capture of a graph. The flow is cleared before it is
    // used, ghosts of E stay what they are, and nobody travels.
    start_flow();
    start_field();
    travel(stream);
    cuda_ok(cudaStreamSynchronize(stream), "connecting NCCL");
  }

  void start_flow() override {
    cuda_ok(launch_pack(flow_.packed(), what_.flow.data(), flow_buffer_.data(), stream_), "packing");
    cross(flow_, flow_buffer_);
    cuda_ok(launch_add(flow_.unpacked(), flow_buffer_.data(), what_.flow.data(), stream_), "adding");
  }
  void wait_flow() override {}
  void start_field() override {
    cuda_ok(launch_pack(field_.packed(), what_.e.data(), field_buffer_.data(), stream_), "packing");
    cross(field_, field_buffer_);
    cuda_ok(launch_unpack(field_.unpacked(), field_buffer_.data(), what_.e.data(), stream_), "unpacking");
  }
  void wait_field() override {}

  void travel(cudaStream_t stream) override {
    const std::vector<int>& neighbours = what_.domain.neighbours();
    const auto room = static_cast<std::size_t>(what_.room);
    nccl_ok(ncclGroupStart(), "exchanging particles");
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      send(sent_.data() + k, sizeof(device::Word), neighbours[k], stream);
      send(queues_.out.data() + k * room, room * sizeof(Traveller), neighbours[k], stream);
      receive(come_.data() + k, sizeof(device::Word), neighbours[k], stream);
      receive(queues_.in.data() + k * room, room * sizeof(Traveller), neighbours[k], stream);
    }
    nccl_ok(ncclGroupEnd(), "exchanging particles");
  }
  const QueueEnds& ends() const override { return ends_; }

  std::array<std::int64_t, 3> bytes() const override {
    const auto of = [](const Crossing& crossing) {
      std::size_t sum = 0;
      for (const auto& message : crossing.sends) sum += message.count * sizeof(Vec<Number>);
      return static_cast<std::int64_t>(sum);
    };
    const auto neighbours = static_cast<std::int64_t>(what_.domain.neighbours().size());
    return {of(flow_), of(field_), neighbours * what_.room * static_cast<std::int64_t>(sizeof(Traveller))};
  }
  std::string explain(std::size_t) const override {
    return "one group of sends and receives, packed and unpacked";
  }

 private:
  void send(const void* from, std::size_t bytes, int rank, cudaStream_t stream) {
    nccl_ok(ncclSend(from, bytes, ncclChar, rank, comm_.get(), stream), "sending");
  }
  void receive(void* into, std::size_t bytes, int rank, cudaStream_t stream) {
    nccl_ok(ncclRecv(into, bytes, ncclChar, rank, comm_.get(), stream), "receiving");
  }
  template <class T>
  void cross(const Crossing& crossing, const DeviceArray<T>& buffer) {
    nccl_ok(ncclGroupStart(), "exchanging nodes");
    for (const auto& message : crossing.sends)
      send(buffer.data() + message.begin, message.count * sizeof(T), message.rank, stream_);
    for (const auto& message : crossing.receives)
      receive(buffer.data() + message.begin, message.count * sizeof(T), message.rank, stream_);
    nccl_ok(ncclGroupEnd(), "exchanging nodes");
  }

  Exchanged<Number> what_;
  const Queues& queues_;
  NcclCommunicator comm_;
  Crossing field_, flow_;
  DeviceArray<Vec<double>> field_buffer_;
  DeviceArray<Vec<Number>> flow_buffer_;
  DeviceArray<device::Word> sent_{most_neighbours}, come_{most_neighbours};
  QueueEnds ends_{};
};

}  // namespace

template <class Number>
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Exchanged<Number>& what, const Queues& queues,
                                           cudaStream_t stream) {
  return std::make_unique<NcclExchange<Number>>(world, what, queues, stream);
}

}  // namespace tca::pic

#else

namespace tca::pic {

template <class Number>
std::unique_ptr<GpuExchange> nccl_exchange(World&, const Exchanged<Number>&, const Queues&, cudaStream_t) {
  return nullptr;
}

}  // namespace tca::pic

#endif

namespace tca::pic {

template std::unique_ptr<GpuExchange> nccl_exchange(World&, const Exchanged<double>&, const Queues&,
                                                    cudaStream_t);
template std::unique_ptr<GpuExchange> nccl_exchange(World&, const Exchanged<std::int64_t>&, const Queues&,
                                                    cudaStream_t);

}  // namespace tca::pic
