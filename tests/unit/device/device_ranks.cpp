#include "device_ranks.hpp"

#include <algorithm>

#include "seed.hpp"

namespace tca::test {

namespace {

constexpr std::byte untouched{0xee};
constexpr Word chunk_bytes = device::words_per_chunk * sizeof(Word);

std::byte* bytes_of(const std::vector<device::Packet>& memory) {
  return reinterpret_cast<std::byte*>(const_cast<device::Packet*>(memory.data()));
}

// Returns pitches that leave a gap of one atom behind each loop.
device::Pitches pitches_of(const DevicePut& put, Word atom) {
  device::Pitches pitches;
  std::int64_t extent = put.run_bytes;
  for (std::size_t d = 0; d < put.counts.size(); ++d) {
    pitches.pitch[d] = extent + atom;
    extent += pitches.pitch[d] * (put.counts[d] - 1);
  }
  return pitches;
}

// Returns the place of each byte of a put. The first atom of the memory is a gap, too.
std::vector<std::size_t> places_of(const DevicePut& put, const device::Pitches& pitches, Word atom) {
  const auto count = [&](std::size_t d) { return d < put.counts.size() ? put.counts[d] : 1; };
  std::vector<std::size_t> places;
  for (Word i = 0; i < count(2); ++i) {
    for (Word j = 0; j < count(1); ++j) {
      for (Word k = 0; k < count(0); ++k) {
        for (Word byte = 0; byte < put.run_bytes; ++byte) {
          const std::int64_t at = atom + k * pitches.pitch[0] + j * pitches.pitch[1] + i * pitches.pitch[2];
          places.push_back(static_cast<std::size_t>(at) + byte);
        }
      }
    }
  }
  return places;
}

std::vector<device::Packet> memory_for(const std::vector<std::size_t>& places) {
  const std::size_t bytes = places.empty() ? 1 : places.back() + 1 + sizeof(device::Packet);
  std::vector<device::Packet> memory(bytes / sizeof(device::Packet) + 1);
  std::fill_n(bytes_of(memory), memory.size() * sizeof(device::Packet), untouched);
  return memory;
}

}  // namespace

DevicePut random_device_put(std::mt19937& random, int from, int to, Carrier carrier) {
  const Word largest = carrier == Carrier::packets ? 3 : 4;
  DevicePut put{.from = from, .to = to, .carrier = carrier};
  put.from_atom = Word{1} << random_in(random, 0, largest);
  put.to_atom = Word{1} << random_in(random, 0, largest);
  put.run_bytes = std::max(put.from_atom, put.to_atom) * random_in(random, 1, 9);
  for (Word d = random_in(random, 0, device::max_loops); d > 0; --d) {
    put.counts.push_back(random_in(random, 1, 4));
  }
  put.segments = random_in(random, 1, 4);
  return put;
}

PutMemory::PutMemory(const DevicePut& what, unsigned number, Word first_step) : put(what), number_(number) {
  if (put.carrier == Carrier::signal) put.run_bytes = 0;
  if (put.carrier == Carrier::stores) put.from_atom = put.to_atom = std::min(put.from_atom, put.to_atom);
  from_pitches_ = pitches_of(put, put.from_atom);
  to_pitches_ = pitches_of(put, put.to_atom);
  from_at_ = places_of(put, from_pitches_, put.from_atom);
  to_at_ = places_of(put, to_pitches_, put.to_atom);
  bytes_ = static_cast<Word>(from_at_.size());
  // As at commit, no segment begins behind the last atom.
  if (put.carrier == Carrier::stores) put.segments = (bytes_ + unit_bytes() - 1) / unit_bytes();
  source_ = memory_for(from_at_);
  target_ = memory_for(to_at_);
  if (put.carrier == Carrier::packets) {
    packets_.resize(2 * device::buffer_pitch(packet_count()), device::Packet{0, 0});
    acks_.resize(units(), first_step);
  } else {
    arrived_.resize(units(), first_step);
  }
}

Word PutMemory::units() const {
  return put.carrier == Carrier::packets ? (bytes_ + chunk_bytes - 1) / chunk_bytes : put.segments;
}

Word PutMemory::word_count() const { return static_cast<Word>((bytes_ + sizeof(Word) - 1) / sizeof(Word)); }
Word PutMemory::packet_count() const { return device::packets_of_words(word_count()); }

Word PutMemory::unit_bytes() const {
  if (put.carrier == Carrier::packets) return chunk_bytes;
  return (bytes_ / put.from_atom + put.segments - 1) / put.segments * put.from_atom;
}

device::Loops PutMemory::loops(Word atom) const {
  device::Loops loops{
      device::Divisor::of(put.run_bytes / atom), {}, static_cast<Word>(put.counts.size()), bytes_ / atom};
  for (std::size_t d = 0; d + 1 < put.counts.size(); ++d)
    loops.counts[d] = device::Divisor::of(put.counts[d]);
  return loops;
}

device::LlPut PutMemory::packets(bool sending) const {
  const Word behind_gap = sending ? put.from_atom : put.to_atom;
  const Word atom = std::min<Word>(behind_gap, sizeof(Word));
  return {loops(atom),
          sending ? from_pitches_ : to_pitches_,
          bytes_of(sending ? source_ : target_) + behind_gap,
          packets_.data(),
          acks_.data(),
          atom,
          word_count(),
          packet_count(),
          units(),
          static_cast<Word>(sending ? put.to : put.from)};
}

device::Stores PutMemory::stores() const {
  device::Stores stores;
  stores.arrived = arrived_.data();
  stores.end_segment = units();
  stores.link = static_cast<Word>(put.to);
  if (put.carrier == Carrier::signal) return stores;
  stores.loops = loops(put.from_atom);
  stores.from_pitches = from_pitches_;
  stores.to_pitches = to_pitches_;
  stores.from = bytes_of(source_) + put.from_atom;
  stores.to = bytes_of(target_) + put.to_atom;
  stores.atom_bytes = put.from_atom;
  stores.segment_atoms = unit_bytes() / put.from_atom;
  return stores;
}

device::Arrivals PutMemory::arrivals() const {
  return {arrived_.data(), units(), static_cast<Word>(put.from)};
}

// Returns a value that differs from those of the neighbouring steps, whatever the byte.
std::byte PutMemory::value(Word byte, Word step) const {
  return static_cast<std::byte>(step * 37 + byte * 11 + (byte >> 8) * 5 + number_ * 71);
}

void PutMemory::fill(Word unit, Word step, Word lane, Word lanes) {
  std::byte* memory = bytes_of(source_);
  const Word end = std::min(bytes_, (unit + 1) * unit_bytes());
  for (Word byte = unit * unit_bytes() + lane; byte < end; byte += lanes) {
    memory[from_at_[byte]] = value(byte, step);
  }
}

std::string PutMemory::wrong_byte(Word unit, Word step, Word lane, Word lanes) const {
  const std::byte* memory = bytes_of(target_);
  const Word end = std::min(bytes_, (unit + 1) * unit_bytes());
  for (Word byte = unit * unit_bytes() + lane; byte < end; byte += lanes) {
    if (memory[to_at_[byte]] == value(byte, step)) continue;
    for (Word other = step - 4; other != step + 5; ++other) {
      if (memory[to_at_[byte]] != value(byte, other)) continue;
      return "put " + std::to_string(number_) + ", unit " + std::to_string(unit) + ", byte " +
             std::to_string(byte) + " is of step " + std::to_string(other) + ", not " + std::to_string(step);
    }
    return "put " + std::to_string(number_) + ", byte " + std::to_string(byte) + " is of no step near " +
           std::to_string(step);
  }
  return {};
}

bool PutMemory::gaps_are_untouched() const {
  std::vector<bool> written(target_.size() * sizeof(device::Packet));
  for (const std::size_t at : to_at_) written[at] = true;
  for (std::size_t at = 0; at < written.size(); ++at) {
    if (!written[at] && bytes_of(target_)[at] != untouched) return false;
  }
  return true;
}

DeviceRanks::DeviceRanks(int ranks, const std::vector<DevicePut>& puts, Word first_step, double limit_s)
    : ranks_(static_cast<std::size_t>(ranks)) {
  for (DeviceRank& rank : ranks_) rank.ready.assign(ranks_.size(), first_step);
  for (const DevicePut& put : puts) {
    puts_.push_back(std::make_unique<PutMemory>(put, static_cast<unsigned>(puts_.size()), first_step));
    add(*puts_.back());
  }
  link_up(first_step, limit_s);
}

namespace {

// Appends an item and numbers its units behind those of the items before it. Returns its first number.
template <class Item>
Word append(std::vector<Item>& items, Item item, Word Item::*end) {
  const Word first = items.empty() ? 0 : items.back().*end;
  item.*end += first;
  items.push_back(item);
  return first;
}

template <class Item>
void fill(device::Table<Item>& table, const std::vector<Item>& items) {
  constexpr std::size_t inlined = device::Table<Item>::inlined;
  table.count = static_cast<Word>(items.size());
  std::copy_n(items.begin(), std::min(items.size(), inlined), table.items);
  if (items.size() > inlined) table.more = items.data() + inlined;
}

}  // namespace

void DeviceRanks::add(PutMemory& memory) {
  DeviceRank& from = (*this)[memory.put.from];
  DeviceRank& to = (*this)[memory.put.to];
  Word first_out = 0, first_in = 0;
  if (memory.put.carrier == Carrier::packets) {
    first_out = append(from.ll_out, memory.packets(true), &device::LlPut::end_chunk);
    first_in = append(to.ll_in, memory.packets(false), &device::LlPut::end_chunk);
  } else {
    device::Stores stores = memory.stores();
    if (memory.put.carrier == Carrier::stores) {
      Word* ready = &from.ready[static_cast<std::size_t>(memory.put.to)];
      stores.ready = ready;
      const auto same = [ready](const device::Ready& other) { return other.flag == ready; };
      if (std::none_of(to.readies.begin(), to.readies.end(), same)) to.readies.push_back({ready});
    }
    first_out = append(from.stores, stores, &device::Stores::end_segment);
    first_in = append(to.arrivals, memory.arrivals(), &device::Arrivals::end_segment);
  }
  for (Word unit = 0; unit < memory.units(); ++unit) {
    from.units_out.push_back({&memory, unit, first_out + unit});
    to.units_in.push_back({&memory, unit, first_in + unit});
  }
}

void DeviceRanks::link_up(Word first_step, double limit_s) {
  for (DeviceRank& rank : ranks_) {
    DeviceChain& chain = rank.chain;
    fill(chain.ll_out, rank.ll_out);
    fill(chain.ll_in, rank.ll_in);
    fill(chain.stores, rank.stores);
    fill(chain.arrivals, rank.arrivals);
    fill(chain.readies, rank.readies);
    if (!rank.ll_out.empty()) chain.chunks_out = rank.ll_out.back().end_chunk;
    if (!rank.ll_in.empty()) chain.chunks_in = rank.ll_in.back().end_chunk;
    if (!rank.stores.empty()) chain.segments_out = rank.stores.back().end_segment;
    if (!rank.arrivals.empty()) chain.segments_in = rank.arrivals.back().end_segment;
    rank.posted = first_step;
    rank.waiting.assign(ranks_.size(), first_step);
    rank.gone.assign(ranks_.size(), 0);
    chain.count = &rank.count;
    chain.posted = &rank.posted;
    chain.limits = {&rank.abort,
                    &rank.gave_up,
                    rank.waiting.data(),
                    static_cast<std::uint64_t>(limit_s * 1e9),
                    chain_number,
                    rank.gone.data(),
                    nullptr,
                    &rank.over};
  }
}

void DeviceRanks::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = what;
  for (DeviceRank& rank : ranks_) device::store_relaxed(&rank.abort, 1);
}

}  // namespace tca::test
