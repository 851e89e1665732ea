#include "apenet/card.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "apenet/calls.hpp"

namespace tca::apenet {
namespace {

// A virtual address is the number of a buffer, from 1, and a byte of it.
constexpr int offset_bits = 40;
constexpr am_vaddr_t offset_mask = (am_vaddr_t{1} << offset_bits) - 1;

constexpr int coordinates = 256;  // along a dimension, which addresses have room for

// A put's two words have slots of their own, by its number. Events are notices in one slot; the target gives the source room
// for further ones in another.
constexpr int events = 255, rooms = 254;
static_assert(2 * most_events <= rooms);
constexpr std::uint32_t received = 0, sent = 1;
constexpr std::uint64_t room_given = most_events / 2;

int slot_of(std::uint64_t number, int word) { return static_cast<int>(number % most_events) * 2 + word; }

// The first word, where it has room: the buffer, counted from 1, and the length of a put to its first byte. 0: there is a
// record.
constexpr int length_bits = 22;

std::uint32_t first_word(const Record& record) {
  const bool fits = (record.vaddr & offset_mask) == 0 && record.bytes >> length_bits == 0;
  return fits ? static_cast<std::uint32_t>((record.vaddr >> offset_bits) << length_bits | record.bytes) : 0;
}

std::size_t tokens_bytes(int ranks) {
  return static_cast<std::size_t>(ranks) * most_buffers * sizeof(RegionToken);
}

std::size_t board_bytes(int ranks) {
  return tokens_bytes(ranks) + static_cast<std::size_t>(ranks) * most_events * sizeof(Record);
}

// The largest divisor of `number` up to `limit`.
unsigned divisor_within(unsigned number, double limit) {
  auto divisor = static_cast<unsigned>(std::floor(limit + 1e-9));
  while (number % divisor != 0) --divisor;
  return divisor;
}

std::int64_t signed_of(std::size_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Card::Card(World& world)
    : world_(world), notices_(world), board_(Region::on_host(world, signed_of(board_bytes(world.size())))) {
  for (const RegionToken& token : world.all_gather(board_.token())) partners_.push_back({token});
}

void Card::topology(unsigned& x, unsigned& y, unsigned& z) const {
  const auto ranks = static_cast<unsigned>(world_.size());
  z = divisor_within(ranks, std::cbrt(ranks));
  y = divisor_within(ranks / z, std::sqrt(ranks / z));
  x = ranks / z / y;
  if (x > coordinates)
    not_done("a torus of {} x {} x {}: addresses have room for {} a side", x, y, z, coordinates);
}

ape_net_address_t Card::address_of(int rank) const {
  unsigned x = 0, y = 0, z = 0;
  topology(x, y, z);
  const auto number = static_cast<unsigned>(rank);
  ape_net_address_t address{};
  address.s.x = static_cast<std::uint8_t>(number % x);
  address.s.y = static_cast<std::uint8_t>(number / x % y);
  address.s.z = static_cast<std::uint8_t>(number / x / y);
  return address;
}

int Card::rank_at(ape_net_address_t address, am_portid_t port) const {
  unsigned x = 0, y = 0, z = 0;
  topology(x, y, z);
  if (port != 0 || address.s.x >= x || address.s.y >= y || address.s.z >= z)
    misused("there is no rank at ({}, {}, {}), port {}; the torus is {} x {} x {} with one port a node",
            address.s.x, address.s.y, address.s.z, port, x, y, z);
  return static_cast<int>(address.s.x + x * (address.s.y + y * address.s.z));
}

std::size_t Card::token_at(int owner, std::size_t buffer) {
  return (static_cast<std::size_t>(owner) * most_buffers + buffer) * sizeof(RegionToken);
}

std::size_t Card::record_at(int source, std::uint64_t number) const {
  return tokens_bytes(world_.size()) +
         (static_cast<std::size_t>(source) * most_events + number % most_events) * sizeof(Record);
}

// Returns once all of them know, since the program tells them the address in its own way.
void Card::tell_others(std::size_t buffer, const RegionToken& token) {
  Post post(world_, "APEnet+ registration");
  const std::size_t at = token_at(rank(), buffer);
  const Layout layout = block(signed_of(sizeof token));
  for (Partner& partner : partners_)
    post.put_untyped(partner.board, signed_of(at), layout, &token, signed_of(sizeof token), layout, 1);
  post.start();
  post.flush();
}

am_vaddr_t Card::add_buffer(void* memory, std::size_t bytes, am_context_t context, int kind) {
  if (memory == nullptr || bytes == 0 || bytes > offset_mask)
    misused("a buffer of {} bytes at {} cannot be", bytes, memory);
  if (kind != AM_PERSISTENT_BUF && kind != AM_STREAMING_BUF) misused("{} is no kind of buffer", kind);
  std::size_t number = 0;
  while (buffers_.contains(number)) ++number;
  if (number == most_buffers)
    not_done("a rank has up to {} buffers at a time; unregister some", most_buffers);
  Region region(world_, memory, signed_of(bytes));
  tell_others(number, region.token());
  buffers_.emplace(number, Buffer{std::move(region), context, kind});
  return (am_vaddr_t{number} + 1) << offset_bits;
}

void Card::drop_buffer(am_vaddr_t vaddr) {
  if (vaddr >> offset_bits == 0 || buffers_.erase((vaddr >> offset_bits) - 1) == 0)
    misused("no buffer is registered at {:#x}", vaddr);
}

bool Card::make_room(int rank, bool blocking) {
  Partner& to = partner(rank);
  const Notice more{rank, rooms, 0};
  while (to.sent == to.room) {
    if (blocking)
      notices_.wait(more);
    else if (!notices_.test(more))
      return false;
    to.room += room_given;
  }
  return true;
}

Post Card::idle_post() {
  if (idle_.empty()) return Post(world_, "am_put");
  Post post = std::move(idle_.back());
  idle_.pop_back();
  return post;
}

bool Card::put(int rank, const Record& record, const void* from, bool blocking, am_context_t context) {
  if (from == nullptr && record.bytes > 0) misused("the source is NULL");
  if (record.vaddr >> offset_bits == 0 || record.vaddr >> offset_bits > most_buffers)
    misused("{:#x} is no address that am_register_buf has given; puts name a buffer", record.vaddr);
  if (!make_room(rank, blocking)) return false;
  RegionToken token;
  std::memcpy(&token, board_.data() + token_at(rank, (record.vaddr >> offset_bits) - 1), sizeof token);
  Partner& to = partner(rank);
  Post post = idle_post();
  const Layout data = block(signed_of(record.bytes)), note = block(signed_of(sizeof record));
  post.put_untyped(token, signed_of(record.vaddr & offset_mask), data, from, signed_of(record.bytes), data,
                   1);
  const std::uint32_t word = first_word(record);
  if (word == 0)
    post.put_untyped(to.board, signed_of(record_at(this->rank(), to.sent)), note, &record,
                     signed_of(sizeof record), note, 1);
  post.notify(rank, slot_of(to.sent, 0), word);
  post.notify(rank, slot_of(to.sent, 1), record.data);
  post.notify(rank, events, received);
  post.notify(this->rank(), events, sent);
  post.start();
  ++to.sent;
  puts_.push_back({std::move(post), {record.data, address_of(rank), 0, record.bytes, record.vaddr, context}});
  return true;
}

Record Card::next_record(int source) {
  Partner& from = partner(source);
  const auto word = [&](int number) { return notices_.test_any(source, slot_of(from.taken, number))->tag; };
  const std::uint32_t first = word(0), data = word(1);
  Record record{am_vaddr_t{first >> length_bits} << offset_bits, first & ((1U << length_bits) - 1), data, 0};
  if (first == 0) std::memcpy(&record, board_.data() + record_at(source, from.taken), sizeof record);
  if (++from.taken % room_given == 0) {
    Post post(world_, "APEnet+ room");
    post.notify(source, rooms, 0);
    post.start();
  }
  return record;
}

void Card::take_received(int source, am_event_t& event) {
  const Record record = next_record(source);
  event.ev_type = AM_TYPE_RECV;
  am_event_recv_t& come = event.ev.ev_recv;
  come = {record.data, address_of(source), 0, nullptr, 0, record.bytes, record.vaddr, 0};
  const auto found = buffers_.find((record.vaddr >> offset_bits) - 1);
  if (found == buffers_.end()) return;  // it was unregistered since
  come.buf = found->second.region.data();
  come.buflen = found->second.region.size();
  come.context = found->second.context;
  if (found->second.kind == AM_STREAMING_BUF) buffers_.erase(found);
}

// A notice says that some put has left; puts to several ranks need not do so in order.
void Card::take_sent(am_event_t& event) {
  auto left = std::ranges::find_if(puts_, [](Put& put) { return put.post.test(); });
  if (left == puts_.end()) {
    left = puts_.begin();
    left->post.wait();
  }
  event.ev_type = AM_TYPE_SENT;
  event.ev.ev_sent = left->event;
  left->post.clear();
  idle_.push_back(std::move(left->post));
  puts_.erase(left);
}

bool Card::take_event(am_event_t& event, std::int64_t within) {
  const auto wait = within < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(within);
  const std::optional<Notice> notice = notices_.wait_any_for(events, wait);
  if (!notice) return false;
  if (notice->source == rank() && notice->tag == sent)
    take_sent(event);
  else
    take_received(notice->source, event);
  return true;
}

}  // namespace tca::apenet
