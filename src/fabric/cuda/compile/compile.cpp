#include "fabric/cuda/compile/compile.hpp"

#include <algorithm>
#include <map>

#include "base/fail.hpp"
#include "fabric/cuda/compile/counted.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "fabric/cuda/compile/produced.hpp"
#include "fabric/cuda/compile/tables.hpp"
#include "fabric/cuda/memory/memory.hpp"

namespace tca::cuda {

namespace {

using base::Shape;

// A put between two ranks, or a part of one that is too large to number.
struct Piece {
  const fabric::Put* put;
  Shape shape;  // zero bytes for a bare signal
  std::uint64_t to_offset, from_offset;
  // The offset of its packets or signals in the receiver's inbox, or of its acknowledgements in the sender's.
  std::uint64_t inbox_offset = 0;
};

std::vector<Piece> pieces_of(std::span<const fabric::Put> puts) {
  std::vector<Piece> pieces;
  for (const fabric::Put& put : puts) {
    if (put.elements) continue;  // see ProducedPuts
    if (put.shape == nullptr) {
      pieces.push_back({&put, {}, 0, 0});
      continue;
    }
    if (put.length) {  // in one piece, which has a single length
      pieces.push_back({&put, *put.shape, put.to_offset, put.from_offset});
      continue;
    }
    for (const base::Part& part : parts_of(*put.shape, put.protocol)) {
      pieces.push_back({&put, part.shape, put.to_offset + static_cast<std::uint64_t>(part.to_shift),
                        put.from_offset + static_cast<std::uint64_t>(part.from_shift)});
    }
  }
  return pieces;
}

bool is_ll(const Piece& piece) { return piece.put->shape != nullptr && piece.put->protocol == ll; }
// Only a store into its final place can arrive too early.
bool needs_ready(const Piece& piece) { return piece.put->shape != nullptr && piece.put->protocol != ll; }
Word chunks(const Piece& piece) {
  const std::uint64_t bytes = piece.shape.bytes();
  return piece.put->length ? counted_chunks_of(bytes) : chunks_of(bytes);
}
Word packets_in(const Piece& piece) {
  const std::uint64_t bytes = piece.shape.bytes();
  return piece.put->length ? counted_packets_of(bytes) : device::packets_of_words(words_of(bytes));
}
// The bytes that its packets occupy: two buffers.
std::uint64_t room_of_packets(const Piece& piece) {
  return std::uint64_t{2} * sizeof(device::Packet) * device::buffer_pitch(packets_in(piece));
}
Word segments(const Piece& piece) { return segments_of(piece.shape.bytes()); }

class CudaOffer final : public fabric::Offer {
 public:
  CudaOffer(const fabric::ChainSpec& share, Word id, control::Control& control, Inbox& inbox,
            cudaStream_t stream, HostCopier& copier, Finish finish)
      : share_(share),
        control_(control),
        inbox_(inbox),
        stream_(stream),
        copier_(copier),
        finish_(std::move(finish)),
        id_(id),
        counted_(share),
        out_(pieces_of(share.outgoing)),
        in_(pieces_of(share.incoming)),
        produced_(share),
        timed_(share),
        compiled_(std::make_unique<Compiled>(inbox)) {
    for (const Piece& piece : out_) links_.emplace(piece.put->to, 0);
    for (const Piece& piece : in_) links_.emplace(piece.put->from, 0);
    for (const int partner : produced_.partners()) links_.emplace(partner, 0);
    for (auto& [partner, link] : links_) {
      link = static_cast<Word>(compiled_->partners.size());
      compiled_->partners.push_back(partner);
    }
  }

  // The room has been cleared by the time the others learn of it.
  base::Blob to_others() override {
    const std::map<int, Taken> all = take_room();
    base::Writer writer;
    writer.put(inbox_.largest());
    for (const auto& [partner, room] : all) {
      writer.put(partner).put(room.arriving.size()).put(room.acks.size()).put(room.ready);
      for (const std::uint64_t offset : room.arriving) writer.put(offset);
      for (const std::uint64_t offset : room.acks) writer.put(offset);
      produced_.tell(writer, partner);
      counted_.tell(writer, partner);
      timed_.tell(writer, partner);
    }
    check(cudaStreamSynchronize(stream_), "clearing signals");
    return writer.blob();
  }

  // All ranks have to know how much room the fullest inbox has.
  bool concerns_all() const override { return true; }

  std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) override {
    std::size_t least = Inbox::capacity;
    for (const int rank : share_.members.ranks()) {
      base::Reader reader(offers.at(rank));
      least = std::min(least, reader.get<std::size_t>());
      while (!reader.done()) read_room(reader, rank);
    }
    inbox_.hear_of_others(least);
    std::unique_ptr<fabric::Program> program;
    share_.members.control().do_together(fmt::format("commit of chain '{}'", share_.name), [&] {
      build();
      program = finish_(std::move(compiled_));
    });
    return program;
  }

 private:
  void build() {
    std::vector<device::LlPut> ll_out, ll_in;
    for (const Piece& piece : out_) {
      if (is_ll(piece)) ll_out.push_back(packets(piece, Side::from));
    }
    for (const Piece& piece : in_) {
      if (is_ll(piece)) ll_in.push_back(packets(piece, Side::to));
    }
    DeviceProducedChain& chain = compiled_->chain;
    chain.chunks_out = count_up(ll_out, &device::LlPut::end_chunk);
    chain.chunks_in = count_up(ll_in, &device::LlPut::end_chunk);
    std::vector<device::Stores> stores = all_stores();
    std::vector<device::Arrivals> arrivals = all_arrivals();
    chain.segments_out = count_up(stores, &device::Stores::end_segment);
    chain.segments_in = count_up(arrivals, &device::Arrivals::end_segment);
    const auto is_counted = [](const auto& put) { return put.length != nullptr; };
    chain.counts = std::ranges::any_of(ll_out, is_counted) || std::ranges::any_of(ll_in, is_counted) ||
                           std::ranges::any_of(stores, is_counted)
                       ? 1
                       : 0;
    const auto fill = [&](auto& table, const auto& items) {
      fill_table(table, items, inbox_, compiled_->room, copier_);
    };
    fill(chain.ll_out, ll_out);
    fill(chain.ll_in, ll_in);
    fill(chain.stores, stores);
    fill(chain.arrivals, arrivals);
    fill(chain.readies, readies_);
    set_up_counters(chain, id_, compiled_->partners, share_.time_limit, inbox_, compiled_->room);
    produced_.build(chain, links_, compiled_->room, inbox_, copier_);
    counted_.build(links_);
    static_cast<Lengths&>(compiled_->lengths) = counted_.lengths();
    compiled_->lengths.times =
        timed_.build(links_, chain.steps, compiled_->room, inbox_, copier_, compiled_->times);
    if (compiled_->times) compiled_->timed = DeviceTimedChain{chain, compiled_->lengths.times};
    compiled_->sent_lengths = counted_.sent();
    compiled_->lands_on_host = std::ranges::any_of(share_.incoming, [](const fabric::Put& put) {
      return put.shape != nullptr && static_cast<const CudaMemory*>(put.to_memory)->is_on_host();
    });
    compiled_->done = compiled_->room.take_words(1);
    compiled_->engine_done = compiled_->room.take_words(1);
    compiled_->outcome = compiled_->room.take_words(1);
    check(cudaStreamSynchronize(stream_), "committing a chain");
  }

  int me() const { return control_.rank(); }

  // The offsets of what this rank takes from its own inbox for one partner, in an order that both know.
  struct Taken {
    std::vector<std::uint64_t> arriving;  // by incoming piece: its packets or its signals
    std::vector<std::uint64_t> acks;      // by outgoing piece that uses ll
    std::uint64_t ready = 0;              // of the word for the partner's permission; 0 if none is needed
  };

  std::map<int, Taken> take_room() {
    std::map<int, Taken> all;
    for (Piece& piece : in_) {
      const std::size_t bytes = is_ll(piece) ? room_of_packets(piece) : sizeof(Word) * segments(piece);
      piece.inbox_offset = compiled_->room.take(bytes);
      all[piece.put->from].arriving.push_back(piece.inbox_offset);
    }
    for (Piece& piece : out_) {
      Taken& taken = all[piece.put->to];
      if (is_ll(piece)) {
        piece.inbox_offset = compiled_->room.take(sizeof(Word) * chunks(piece));
        taken.acks.push_back(piece.inbox_offset);
      } else if (share_.guarded && needs_ready(piece) && taken.ready == 0) {
        taken.ready = compiled_->room.take(sizeof(Word));
      }
    }
    produced_.take_room(compiled_->room, inbox_, copier_, id_);
    counted_.take_room(compiled_->room, inbox_, copier_, id_);
    timed_.take_room(compiled_->room);
    for (const int partner : produced_.partners()) all.try_emplace(partner);
    for (const auto& [partner, taken] : all) my_ready_[partner] = taken.ready;
    return all;
  }

  void read_room(base::Reader& reader, int rank) {
    const int partner = reader.get<int>();
    Taken taken;
    taken.arriving.resize(reader.get<std::size_t>());
    taken.acks.resize(reader.get<std::size_t>());
    taken.ready = reader.get<std::uint64_t>();
    for (std::uint64_t& offset : taken.arriving) offset = reader.get<std::uint64_t>();
    for (std::uint64_t& offset : taken.acks) offset = reader.get<std::uint64_t>();
    produced_.hear(reader, rank, partner == me());
    counted_.hear(reader, rank, partner == me());
    timed_.hear(reader, rank, partner == me());
    if (partner != me()) return;
    // The partner waits to be told when this rank is done reading.
    if (taken.ready != 0) readies_.push_back({inbox_.at<Word>(rank, taken.ready)});
    theirs_[rank] = std::move(taken);
  }

  device::LlPut packets(const Piece& piece, Side side) {
    const bool sending = side == Side::from;
    const int partner = sending ? piece.put->to : piece.put->from;
    const Taken& taken = theirs_.at(partner);
    device::LlPut packets;
    packets.memory = sending ? address(piece.put->from_memory, me(), piece.from_offset)
                             : address(piece.put->to_memory, me(), piece.to_offset);
    packets.atom_bytes =
        atom_bytes(piece.shape, side, reinterpret_cast<std::uintptr_t>(packets.memory), sizeof(Word));
    if (piece.put->length) {
      packets.element_bytes = piece.put->length.element_bytes;
      packets.length = counted_.length(*piece.put);
    }
    packets.loops = loops_of(piece.shape, packets.atom_bytes);
    packets.pitches = pitches_of(piece.shape, side);
    packets.word_count = words_of(piece.shape.bytes());
    packets.packet_count = packets_in(piece);
    packets.end_chunk = chunks(piece);
    packets.link = links_.at(partner);
    if (sending) {
      packets.packets = inbox_.at<device::Packet>(partner, taken.arriving.at(index_at_target(piece)));
      packets.acks = inbox_.own<Word>(piece.inbox_offset);
    } else {
      packets.packets = inbox_.own<device::Packet>(piece.inbox_offset);
      packets.acks = inbox_.at<Word>(partner, taken.acks.at(next_ack_from_[partner]++));
    }
    return packets;
  }

  // Both ends number the pieces between them in the order in which the sender declared them.
  std::size_t index_at_target(const Piece& piece) const {
    std::size_t index = 0;
    for (const Piece& other : out_) {
      if (&other == &piece) break;
      index += other.put->to == piece.put->to;
    }
    return index;
  }

  std::vector<device::Stores> all_stores() {
    std::vector<device::Stores> all;
    for (const Piece& piece : out_) {
      if (is_ll(piece)) continue;
      const int partner = piece.put->to;
      device::Stores stores;
      stores.end_segment = segments(piece);  // one for a bare signal
      if (needs_ready(piece)) stores = described(piece);
      stores.link = links_.at(partner);
      stores.arrived = inbox_.at<Word>(partner, theirs_.at(partner).arriving.at(index_at_target(piece)));
      all.push_back(stores);
    }
    return all;
  }

  device::Stores described(const Piece& piece) {
    device::Stores stores =
        stores_of(piece.shape, address(piece.put->to_memory, piece.put->to, piece.to_offset),
                  address(piece.put->from_memory, me(), piece.from_offset));
    if (share_.guarded) stores.ready = inbox_.own<Word>(my_ready_.at(piece.put->to));
    if (piece.put->length) {
      stores.element_bytes = piece.put->length.element_bytes;
      stores.length = counted_.length(*piece.put);
      stores.length_there = counted_.length_there(*piece.put, inbox_);
    }
    if (piece.put->protocol == copy_engine) {
      stores.by_copy_engine = true;
      compiled_->waits_for_permission |= share_.guarded;
      add_copies(stores, piece.shape);
    } else {
      compiled_->stored_segments += segments(piece);
      compiled_->narrowest_atom = std::min(compiled_->narrowest_atom, stores.atom_bytes);
    }
    return stores;
  }

  void add_copies(const device::Stores& stores, const Shape& shape) {
    PitchedCopy copy{stores.to, stores.from, shape.run, shape.run, shape.run, 1};
    if (shape.loop_count > 0) {
      copy.to_pitch = static_cast<std::size_t>(shape.loops[0].to_pitch);
      copy.from_pitch = static_cast<std::size_t>(shape.loops[0].from_pitch);
      copy.rows = shape.loops[0].count;
    }
    const auto count = [&](std::uint64_t loop) {
      return static_cast<std::int64_t>(shape.loop_count > loop ? shape.loops[loop].count : 1);
    };
    for (std::int64_t outer = 0; outer < count(2); ++outer) {
      for (std::int64_t inner = 0; inner < count(1); ++inner) {
        PitchedCopy next = copy;
        next.to += inner * shape.loops[1].to_pitch + outer * shape.loops[2].to_pitch;
        next.from += inner * shape.loops[1].from_pitch + outer * shape.loops[2].from_pitch;
        compiled_->copies.push_back(next);
      }
    }
  }

  std::vector<device::Arrivals> all_arrivals() {
    std::vector<device::Arrivals> all;
    for (const Piece& piece : in_) {
      if (!is_ll(piece))
        all.push_back({inbox_.own<Word>(piece.inbox_offset), segments(piece), links_.at(piece.put->from)});
    }
    return all;
  }

  fabric::ChainSpec share_;
  control::Control& control_;
  Inbox& inbox_;
  cudaStream_t stream_;
  HostCopier& copier_;
  Finish finish_;
  Word id_;
  CountedPuts counted_;
  std::vector<Piece> out_, in_;
  ProducedPuts produced_;
  TimedLinks timed_;
  std::unique_ptr<Compiled> compiled_;
  std::map<int, Word> links_;  // by partner
  std::map<int, Taken> theirs_;
  std::map<int, std::uint64_t> my_ready_;
  std::map<int, std::size_t> next_ack_from_;
  std::vector<device::Ready> readies_;
};

}  // namespace

bool fits_copy_engine(const base::Shape& shape) {
  constexpr std::uint64_t most_copies = 8, widest_pitch = std::uint64_t{1} << 31;
  std::uint64_t copies = 1;
  for (std::uint64_t i = 1; i < shape.loop_count; ++i) copies *= shape.loops[i].count;
  const base::Shape::Loop& rows = shape.loops[0];
  const auto pitched = [&](std::int64_t pitch) {
    return pitch >= static_cast<std::int64_t>(shape.run) && pitch < static_cast<std::int64_t>(widest_pitch);
  };
  return copies <= most_copies &&
         (shape.loop_count == 0 || (pitched(rows.to_pitch) && pitched(rows.from_pitch)));
}

std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share, Word id, control::Control& control,
                                     Inbox& inbox, cudaStream_t stream, HostCopier& copier, Finish finish) {
  return std::make_unique<CudaOffer>(share, id, control, inbox, stream, copier, std::move(finish));
}

Grid grid_for(Word chunks, Word segments, unsigned limit) {
  Grid grid;
  const unsigned warps = grid.threads / 32;
  const unsigned blocks = std::max({(chunks + warps - 1) / warps, segments, 1u});
  grid.blocks = std::min({blocks, limit, static_cast<unsigned>(device::max_parts)});
  return grid;
}

}  // namespace tca::cuda
