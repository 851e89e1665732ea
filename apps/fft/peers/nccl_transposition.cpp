// The exchange on GPUs by NCCL, for comparison: packed by kernels into what NCCL sends, and unpacked by others. No other file of
// the application calls NCCL.
#include "fft/gpu/transposition.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include "fft/gpu/kernels.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::fft {

namespace {

using namespace apps;

// What a rank sends another, or has of it: a box of an array, and its place in a buffer.
struct Packet {
  int rank;
  std::int64_t numbers;
  BoxCopy copy;
};

std::int64_t place_in(const Box& whole, const Box& box) {
  return ((box.first[0] - whole.first[0]) * whole.size[1] + box.first[1] - whole.first[1]) * whole.size[2] +
         box.first[2] - whole.first[2];
}

template <class Real>
class NcclTransposition : public StreamTransposition {
 public:
  NcclTransposition(World& world, const Decomposition& decomposition, const Arrays<Real>& arrays,
                    const Hop& hop, Stream stream)
      : StreamTransposition(world, hop, stream),
        comm_(world),
        from_(arrays[hop.from].data()),
        to_(arrays[hop.to].data()),
        from_box_(decomposition.box(hop.from, world.rank())),
        to_box_(decomposition.box(hop.to, world.rank())),
        sent_(static_cast<std::size_t>(from_box_.elements())),
        received_(static_cast<std::size_t>(to_box_.elements())) {
    std::int64_t out = 0, in = 0;
    for (int batch = 0; batch < hop.batches; ++batch) {
      Batch& one = batches_.emplace_back();
      for (const Piece& piece : decomposition.sent(hop, world.rank(), batch)) {
        if (piece.target == world.rank()) {
          one.own = copy_of(piece.box);
          continue;
        }
        one.sent.push_back({piece.target, piece.box.elements(), pack_of(piece.box, out)});
        out += piece.box.elements();
      }
      for (const Piece& piece : decomposition.received(hop, world.rank(), batch)) {
        if (piece.source == world.rank()) continue;
        one.received.push_back({piece.source, piece.box.elements(), unpack_of(piece.box, in)});
        in += piece.box.elements();
      }
    }
  }

 protected:
  void exchange(int batch, Stream stream) override {
    const Batch& one = batches_[static_cast<std::size_t>(batch)];
    for (const Packet& packet : one.sent)
      cuda_ok(launch_copy<Real>(from_, sent_.data(), packet.copy, stream), "packing");
    cuda_ok(launch_copy<Real>(from_, to_, one.own, stream), "copying");
    nccl_ok(ncclGroupStart(), "exchanging");
    for (const Packet& packet : one.sent)
      nccl_ok(ncclSend(sent_.data() + packet.copy.to, reals(packet), type, packet.rank, comm_.get(), stream),
              "sending");
    for (const Packet& packet : one.received)
      nccl_ok(ncclRecv(received_.data() + packet.copy.from, reals(packet), type, packet.rank, comm_.get(),
                       stream),
              "receiving");
    nccl_ok(ncclGroupEnd(), "exchanging");
    for (const Packet& packet : one.received)
      cuda_ok(launch_copy<Real>(received_.data(), to_, packet.copy, stream), "unpacking");
  }

 private:
  static constexpr ncclDataType_t type = sizeof(Real) == sizeof(float) ? ncclFloat : ncclDouble;

  struct Batch {
    std::vector<Packet> sent, received;
    BoxCopy own{};
  };

  static std::size_t reals(const Packet& packet) { return 2 * static_cast<std::size_t>(packet.numbers); }

  // Rows that follow each other in both arrays are copied as one.
  static BoxCopy shaped(BoxCopy copy, const Box& box) {
    const bool follow = copy.from_pitch[1] == box.size[2] && copy.to_pitch[1] == box.size[2];
    copy.size[0] = box.size[0];
    copy.size[1] = follow ? 1 : box.size[1];
    copy.size[2] = follow ? box.size[1] * box.size[2] : box.size[2];
    return copy;
  }
  BoxCopy copy_of(const Box& box) const {
    return shaped({.from = place_in(from_box_, box),
                   .from_pitch = {from_box_.size[1] * from_box_.size[2], from_box_.size[2]},
                   .to = place_in(to_box_, box),
                   .to_pitch = {to_box_.size[1] * to_box_.size[2], to_box_.size[2]}},
                  box);
  }
  BoxCopy pack_of(const Box& box, std::int64_t place) const {
    return shaped({.from = place_in(from_box_, box),
                   .from_pitch = {from_box_.size[1] * from_box_.size[2], from_box_.size[2]},
                   .to = place,
                   .to_pitch = {box.size[1] * box.size[2], box.size[2]}},
                  box);
  }
  BoxCopy unpack_of(const Box& box, std::int64_t place) const {
    return shaped({.from = place,
                   .from_pitch = {box.size[1] * box.size[2], box.size[2]},
                   .to = place_in(to_box_, box),
                   .to_pitch = {to_box_.size[1] * to_box_.size[2], to_box_.size[2]}},
                  box);
  }

  NcclCommunicator comm_;
  std::complex<Real>*from_, *to_;
  Box from_box_, to_box_;
  std::vector<Batch> batches_;
  DeviceArray<std::complex<Real>> sent_, received_;
};

}  // namespace

template <class Real>
std::unique_ptr<Transposition> nccl_transposition(World& world, const Decomposition& decomposition,
                                                  const Arrays<Real>& arrays, const Hop& hop, Stream stream) {
  return std::make_unique<NcclTransposition<Real>>(world, decomposition, arrays, hop, stream);
}

}  // namespace tca::fft

#else

namespace tca::fft {

template <class Real>
std::unique_ptr<Transposition> nccl_transposition(World&, const Decomposition&, const Arrays<Real>&,
                                                  const Hop&, Stream) {
  return nullptr;
}

}  // namespace tca::fft

#endif

namespace tca::fft {

template std::unique_ptr<Transposition> nccl_transposition(World&, const Decomposition&, const Arrays<float>&,
                                                           const Hop&, Stream);
template std::unique_ptr<Transposition> nccl_transposition(World&, const Decomposition&,
                                                           const Arrays<double>&, const Hop&, Stream);

}  // namespace tca::fft
