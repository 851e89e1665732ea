#include "gpu/puts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/call.hpp"
#include "gpu/kernels/put_kernels.hpp"
#include "gpu/started.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

// The number of steps so far, in GPU memory. It is the same on every rank, since all take the same steps.
using StepCount = std::shared_ptr<Buffer<unsigned>>;

// A step of the tuner; a contender adds the exchange.
struct Puts : Contender {
  Puts(PutField& field, const PutPoint& point, bool receives, StepCount steps)
      : takes_part(receives), count(std::move(steps)) {
    const auto faces = PutField::faces(point);
    memory.data = field.data();
    memory.shape = point.shape;
    memory.puts = point.puts;
    memory.step = *count;
    std::copy(faces.begin(), faces.end(), memory.faces);
  }

  std::uint64_t wrong(World& world, Stream stream, unsigned /*round*/) override {
    world.barrier();
    run(granule, stream);
    finish(stream);
    world.check();
    if (!takes_part) return 0;
    const Buffer<unsigned long long> found(1);
    check_arrived(memory, found, stream);
    finish(stream);
    unsigned long long wrong = 0;
    copy(&wrong, found, sizeof wrong, "counting wrong values");
    return wrong;
  }

  PutMemory memory;
  bool takes_part;
  StepCount count;
};

class NoPut final : public Started<Puts> {
 public:
  NoPut(PutField& field, const PutPoint& point, const StepCount& count, const Way& way)
      : Started(way, field, point, false, count) {}

 private:
  void on_stream(cudaStream_t stream) override {
    write_sent(memory, stream);
    read_arrived(memory, stream);
  }
};

class ChainPut final : public Started<Puts> {
 public:
  ChainPut(World& world, PutField& field, const PutPoint& point, const Channel& channel,
           const StepCount& count, const Way& way)
      : Started(way, field, point, (world.rank() ^ point.across) < world.size(), count),
        chain_(world.chain("tune " + channel.name(), {.channel = channel.name()})),
        paced_(way.start == "host") {
    fabric = channel.fabric;
    protocol = channel.protocol;
    if (takes_part) {
      const int partner = world.rank() ^ point.across;
      for (const PutField::Face& face : PutField::faces(point))
        chain_.put(field.window().on(partner).at(face.arrived), field.window().at(face.sent),
                   layout_of(point.shape));
      chain_.expect(partner);
    }
    chain_.commit();
  }

 private:
  void on_stream(cudaStream_t stream) override {
    write_sent(memory, stream);
    chain_.run(stream);
    read_arrived(memory, stream);
    if (paced_) finish(stream);
  }

  Chain chain_;
  // Waits after each step, since no launch may stand behind a kernel that waits for a rank on the same GPU.
  bool paced_;
};

}  // namespace

Contenders put_exchanges(World& world, PutField& field, const PutPoint& point,
                         const std::vector<Channel>& channels) {
  Way way;
  way.start = world.ranks_share_devices() ? "host" : "graph";
  const auto count = std::make_shared<Buffer<unsigned>>(1);
  Contenders all;
  all.push_back(std::make_unique<NoPut>(field, point, count, way));
  for (const Channel& channel : channels)
    all.push_back(std::make_unique<ChainPut>(world, field, point, channel, count, way));
  return all;
}

}  // namespace tca::bench::gpu
