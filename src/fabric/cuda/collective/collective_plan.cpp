#include "fabric/cuda/collective/collective_plan.hpp"

#include <algorithm>

namespace tca::cuda {

namespace {

using device::CollectiveMoves;
using fabric::CollectiveSpec;

// The most data that a rank receives as packets. They need room for four times their data as long as the
// collective lives.
constexpr std::uint64_t most_packet_bytes = std::uint64_t{2} << 20;

// The least data that a broadcast's root must save per further rank for relays to be worth an extra trip.
constexpr std::uint64_t least_relayed_bytes = std::uint64_t{256} << 10;

// The time of a kernel in a graph, with one trip for packets or three for flags, loads and stores, and the
// rate at which a GPU sends. Packets are half data and are stored one by one, and the more ranks send them, the
// longer it takes to look for each. Relays take another trip. The figures are those of two H100s
// (bench/results/2026-11-26-gpu-2xh100.jsonl) and four H200s (2026-11-22-gpu-4xh200.jsonl), less what kernels have
// become shorter by since, on one H200 that two processes share (2026-11-29-gpu-h200-shared.jsonl).
constexpr double packets_us = 1.7, relay_us = 0.9, moves_us = 6.6;
constexpr double packets_bytes_per_us = 270e3, moves_bytes_per_us = 377e3;
// For a broadcast with relays: as over two GPUs, since there too each packet has one sender.
constexpr double relayed_bytes_per_us = 400e3;

constexpr std::uint64_t wide = 16;  // bytes that a thread moves at a time

Word to_word(std::uint64_t value) { return static_cast<Word>(value); }

// One rank's part of bytes divided among several. Parts begin at multiples of 16 bytes.
struct Slice {
  std::uint64_t begin, bytes;
};
Slice slice_of(std::uint64_t bytes, int part, int parts) {
  const auto begin_of = [&](int i) {
    return i == parts
               ? bytes
               : bytes / wide * static_cast<std::uint64_t>(i) / static_cast<std::uint64_t>(parts) * wide;
  };
  return {begin_of(part), begin_of(part + 1) - begin_of(part)};
}

// Returns the number of bytes that a rank moves, counting a fan once.
std::uint64_t bytes_of_move(const CollectiveSpec& spec) {
  const auto ranks = static_cast<std::uint64_t>(spec.ranks);
  if (spec.kind == CollectiveKind::all_reduce) return spec.block_bytes / ranks + wide;
  if (spec.kind == CollectiveKind::broadcast)
    return spec.block_bytes / std::max<std::uint64_t>(ranks - 1, 1) + wide;
  if (spec.kind == CollectiveKind::all_to_all) return spec.block_bytes * ranks;
  return spec.block_bytes;
}

bool relays(const CollectiveSpec& spec) {
  if (spec.kind != CollectiveKind::broadcast || !spec.in_place || spec.ranks < 3) return false;
  const auto receivers = static_cast<std::uint64_t>(spec.ranks - 1);
  return spec.block_bytes * (receivers - 1) >= least_relayed_bytes &&
         spec.block_bytes >= receivers * device::CollectivePackets::relayed_together * device::piece_bytes;
}

std::uint64_t packet_bytes_received(const CollectiveSpec& spec) {
  if (spec.kind == CollectiveKind::broadcast) return spec.block_bytes;
  return spec.block_bytes * static_cast<std::uint64_t>(spec.ranks);
}

double by_packets_us(const CollectiveSpec& spec) {
  const double bytes = static_cast<double>(spec.block_bytes);
  if (relays(spec)) return packets_us + relay_us + 2 * bytes / relayed_bytes_per_us;
  return packets_us + bytes * (spec.ranks - 1) * spec.ranks / packets_bytes_per_us;
}

double bytes_sent(const CollectiveSpec& spec) {
  const double ranks = spec.ranks, bytes = static_cast<double>(spec.block_bytes);
  if (spec.kind == CollectiveKind::broadcast) return bytes;
  if (spec.kind == CollectiveKind::all_reduce) return 2 * bytes * (ranks - 1) / ranks;
  return bytes * (ranks - 1);
}

// Returns the largest power of two, up to `most`, that divides all values.
Word common_atom(Word most, std::initializer_list<std::uint64_t> values) {
  std::uint64_t all = most;
  for (const std::uint64_t value : values) all |= value;
  return to_word(all & (~all + 1));
}

std::uint64_t number(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address); }

class MovesPlan {
 public:
  MovesPlan(const CollectiveSpec& spec, const CollectivePlace& place)
      : spec_(spec), place_(place), me_(static_cast<std::uint64_t>(place.rank)) {
    moves_.rank = to_word(me_);
    moves_.size = static_cast<Word>(spec.ranks);
    moves_.moves_data = spec.kind != CollectiveKind::barrier;
  }

  CollectiveMoves run() {
    const std::uint64_t block = spec_.block_bytes;
    switch (spec_.kind) {
      case CollectiveKind::barrier:
        break;
      case CollectiveKind::broadcast:
        broadcast();
        break;
      case CollectiveKind::all_gather:
        fan(block);
        add_source(place_.input);
        add_targets(me_ * block, spec_.in_place ? place_.rank : -1);
        break;
      case CollectiveKind::all_reduce: {
        const Slice slice = slice_of(block, place_.rank, spec_.ranks);
        fan(slice.bytes);
        for (std::byte* input : place_.inputs) add_source(input + slice.begin);
        add_targets(slice.begin, -1);
        break;
      }
      case CollectiveKind::reduce_scatter:
        fan(block);
        for (std::byte* input : place_.inputs) add_source(input + me_ * block);
        add_target(place_.outputs[me_] + (spec_.in_place ? me_ * block : 0));
        break;
      case CollectiveKind::all_to_all:
        all_to_all();
        break;
    }
    set_atom();
    return moves_;
  }

 private:
  int next(int i) const { return (place_.rank + i) % spec_.ranks; }
  std::byte* output(int rank, std::uint64_t at) const {
    return place_.outputs[static_cast<std::size_t>(rank)] + at;
  }

  void fan(std::uint64_t bytes) {
    moves_.way = CollectiveMoves::Way::fan;
    moves_.bytes[0] = bytes;
  }
  void add_source(std::byte* from) { moves_.from[moves_.sources++] = from; }
  void add_target(std::byte* to) { moves_.to[moves_.targets++] = to; }
  // Begins with the next rank, so that no target is the first of all ranks.
  void add_targets(std::uint64_t at, int but) {
    for (int i = 1; i <= spec_.ranks; ++i)
      if (next(i) != but) add_target(output(next(i), at));
  }
  void add_pair(std::byte* from, std::byte* to, std::uint64_t bytes) {
    moves_.bytes[moves_.targets] = bytes;
    add_source(from);
    add_target(to);
  }

  void broadcast() {
    if (place_.rank == spec_.root) return;
    const int relay = (place_.rank - spec_.root - 1 + spec_.ranks) % spec_.ranks;
    const Slice slice = slice_of(spec_.block_bytes, relay, spec_.ranks - 1);
    fan(slice.bytes);
    add_source(place_.inputs[static_cast<std::size_t>(spec_.root)] + slice.begin);
    add_targets(slice.begin, spec_.root);
  }

  // If input and output are the same memory, two blocks are swapped: one of the two ranks moves the first
  // half, the other the second.
  void all_to_all() {
    const std::uint64_t block = spec_.block_bytes, half = block / (2 * wide) * wide;
    moves_.way = spec_.in_place ? CollectiveMoves::Way::swaps : CollectiveMoves::Way::pairs;
    for (int i = 1; i < spec_.ranks; ++i) {
      const int other = next(i);
      const std::uint64_t begin = spec_.in_place && place_.rank > other ? half : 0;
      const std::uint64_t end = spec_.in_place && place_.rank < other ? half : block;
      add_pair(place_.input + static_cast<std::uint64_t>(other) * block + begin,
               output(other, me_ * block + begin), end - begin);
    }
    if (!spec_.in_place) add_pair(place_.input + me_ * block, output(place_.rank, me_ * block), block);
  }

  void set_atom() {
    moves_.atom_bytes = to_word(wide);
    for (Word i = 0; i < moves_.sources; ++i)
      moves_.atom_bytes = common_atom(moves_.atom_bytes, {number(moves_.from[i])});
    for (Word i = 0; i < moves_.targets; ++i)
      moves_.atom_bytes = common_atom(moves_.atom_bytes, {number(moves_.to[i])});
  }

  const CollectiveSpec& spec_;
  const CollectivePlace& place_;
  std::uint64_t me_;
  CollectiveMoves moves_;
};

}  // namespace

std::vector<fabric::CollectiveWay> collective_ways(const CollectiveSpec& spec) {
  if (spec.ranks > static_cast<int>(device::max_ranks)) return {};
  std::vector<fabric::CollectiveWay> ways;
  const double by_moves = moves_us + bytes_sent(spec) / moves_bytes_per_us;
  ways.push_back({kernel_direct, spec.kind == CollectiveKind::barrier ? packets_us : by_moves});
  if (spec.kind == CollectiveKind::barrier || packet_bytes_received(spec) > most_packet_bytes) return ways;
  const double by_packets = by_packets_us(spec);
  ways.insert(by_packets < by_moves ? ways.begin() : ways.end(), {kernel_ll, by_packets});
  return ways;
}

// One packet per thread, if there are enough threads: one after another, each would wait for a trip to the
// L2. A thread that sends the same to all ranks, or combines what arrives from them, has the packets of
// all. Few packets are spread over many blocks.
CollectiveGrid packets_grid(const CollectiveSpec& spec, unsigned limit) {
  constexpr unsigned warp = 32, most_if_few = 256, most_threads = 1024;
  const bool of_all = spec.kind == CollectiveKind::broadcast || spec.kind == CollectiveKind::all_reduce;
  const auto packets =
      static_cast<unsigned>((spec.block_bytes + device::piece_bytes - 1) / device::piece_bytes *
                            (of_all ? 1 : static_cast<unsigned>(spec.ranks)));
  const auto warps_of = [](unsigned threads) { return (threads + warp - 1) / warp * warp; };
  const unsigned threads = std::clamp(warps_of((packets + limit - 1) / limit),
                                      std::clamp(warps_of(packets), warp, most_if_few), most_threads);
  return {std::clamp((packets + threads - 1) / threads, 1u, limit), threads};
}

CollectiveGrid moves_grid(const CollectiveSpec& spec, unsigned limit) {
  if (spec.kind == CollectiveKind::barrier) return {};
  constexpr unsigned threads = 512;
  const std::uint64_t bytes_a_block = threads * wide;
  const std::uint64_t blocks = (bytes_of_move(spec) + bytes_a_block - 1) / bytes_a_block;
  return {static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, limit)), threads};
}

device::CollectivePackets plan_packets(const CollectiveSpec& spec, const CollectivePlace& place) {
  const auto me = static_cast<std::uint64_t>(place.rank);
  const std::uint64_t block = spec.block_bytes;
  const bool gathers = spec.kind == CollectiveKind::all_gather || spec.kind == CollectiveKind::all_to_all;
  const bool scatters =
      spec.kind == CollectiveKind::reduce_scatter || spec.kind == CollectiveKind::all_to_all;
  device::CollectivePackets packets;
  packets.rank = to_word(me);
  packets.size = static_cast<Word>(spec.ranks);
  packets.root = static_cast<Word>(spec.root);
  packets.bytes = to_word(block);
  packets.keeps_own = spec.in_place;
  packets.relays = relays(spec);
  packets.input = place.input;
  packets.output = place.outputs[me];
  if (spec.kind == CollectiveKind::reduce_scatter && spec.in_place) packets.output += me * block;
  if (scatters) packets.input_pitch = block;
  if (gathers) packets.output_pitch = block;
  packets.atom_bytes = common_atom(8, {block, number(packets.input), number(packets.output)});
  return packets;
}

device::CollectiveMoves plan_moves(const CollectiveSpec& spec, const CollectivePlace& place) {
  return MovesPlan(spec, place).run();
}

}  // namespace tca::cuda
