#include "put_exchange.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "measure/agree.hpp"
#include "measure/touching.hpp"
#include "tca/tca.hpp"

namespace tca::bench {

namespace {

template <class Work>
void for_each_run(const PutShape& shape, Work work) {
  for (std::size_t plane = 0; plane < shape.planes; ++plane)
    for (std::size_t i = 0; i < shape.runs; ++i) work(plane * shape.plane_pitch + i * shape.pitch);
}

// Computes each value that is sent anew, as an application does.
void write_runs(std::byte* at, const PutShape& shape, unsigned value) {
  const std::uint64_t word = 0x0101010101010101U * (value & 0xffU);
  for_each_run(shape, [&](std::size_t offset) {
    if (shape.run == sizeof word) {
      std::memcpy(at + offset, &word, sizeof word);
    } else {
      std::memset(at + offset, static_cast<int>(value & 0xffU), shape.run);
    }
  });
}

// Reads each value that has arrived, as an application does.
std::uint64_t sum_runs(const std::byte* at, const PutShape& shape) {
  std::uint64_t sum = 0;
  for_each_run(shape, [&](std::size_t offset) { sum += sum_of({at + offset, shape.run}); });
  return sum;
}

// The part of a step that a rank does itself.
class OwnPart {
 public:
  OwnPart(PutField& field, const PutPoint& point)
      : field_(field), shape_(point.shape), faces_(PutField::faces(point)) {}

  void write() {
    ++field_.value;
    for (const auto& face : faces_) write_runs(field_.data() + face.sent, shape_, field_.value);
  }
  std::uint64_t sum_of(std::size_t PutField::Face::*side) const {
    std::uint64_t sum = 0;
    for (const auto& face : faces_) sum += sum_runs(field_.data() + face.*side, shape_);
    return sum;
  }

 private:
  PutField& field_;
  PutShape shape_;
  std::vector<PutField::Face> faces_;
};

class NoPut final : public Stepped {
 public:
  NoPut(PutField& field, const PutPoint& point) : own_part_(field, point) {}

  void step() override {
    own_part_.write();
    sum_ += own_part_.sum_of(&PutField::Face::arrived);
  }

  bool right(World&) override { return true; }

 private:
  OwnPart own_part_;
  std::uint64_t sum_ = 0;  // keeps the compiler from dropping the reads
};

class ChainPut final : public Stepped {
 public:
  ChainPut(World& world, PutField& field, const PutPoint& point, const Channel& channel)
      : own_part_(field, point),
        chain_(world.chain("tune " + channel.name(), {.channel = channel.name()})),
        takes_part_((world.rank() ^ point.across) < world.size()) {
    fabric = channel.fabric;
    protocol = channel.protocol;
    const int partner = world.rank() ^ point.across;
    if (takes_part_) {
      for (const PutField::Face& face : PutField::faces(point))
        chain_.put(field.window().on(partner).at(face.arrived), field.window().at(face.sent),
                   layout_of(point.shape));
      chain_.expect(partner);
    }
    chain_.commit();
  }

  void step() override {
    own_part_.write();
    chain_.start();
    chain_.wait();
    sum_ = own_part_.sum_of(&PutField::Face::arrived);
  }

  // Does one more step, whose value no other channel has sent.
  bool right(World& world) override {
    step();
    const bool mine = !takes_part_ || sum_ == own_part_.sum_of(&PutField::Face::sent);
    return all_say(world, mine);
  }

 private:
  OwnPart own_part_;
  Chain chain_;
  bool takes_part_;
  std::uint64_t sum_ = 0;
};

}  // namespace

Layout layout_of(const PutShape& shape) {
  if (shape.planes > 1)
    return subarray({shape.planes, shape.plane_pitch / shape.pitch, shape.pitch}, {0, 0, 0},
                    {shape.planes, shape.runs, shape.run});
  return shape.runs == 1 ? block(shape.run) : block_stride(shape.runs, shape.run, shape.pitch);
}

std::string to_string(const PutShape& shape) {
  if (shape.planes > 1)
    return fmt::format("{} x {} x {} / {} / {}", shape.planes, shape.runs, shape.run, shape.pitch,
                       shape.plane_pitch);
  return shape.runs == 1 ? fmt::format("{} bytes", shape.run)
                         : fmt::format("{} x {} / {}", shape.runs, shape.run, shape.pitch);
}

std::string to_string(const PutPoint& point) {
  return to_string(point.shape) + (point.puts == 1 ? ", alone" : "");
}

bool is_open(World& world, PutField& field, const PutPoint& point, const Channel& channel) {
  try {
    const ChainPut tried(world, field, point, channel);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::refused) throw;
    return false;  // on every rank alike
  }
}

std::vector<std::unique_ptr<Stepped>> put_exchanges(World& world, PutField& field, const PutPoint& point,
                                                    const std::vector<Channel>& channels) {
  std::vector<std::unique_ptr<Stepped>> all;
  all.push_back(std::make_unique<NoPut>(field, point));
  for (const Channel& channel : channels)
    all.push_back(std::make_unique<ChainPut>(world, field, point, channel));
  return all;
}

}  // namespace tca::bench
