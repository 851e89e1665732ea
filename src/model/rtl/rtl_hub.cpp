#include "model/rtl/rtl_hub.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/fail.hpp"

namespace tca::rtl {

using net::Descriptor;
using net::DmaChain;
using net::Endpoint;

namespace {

constexpr std::uint64_t share = memory_bytes / channels;  // of a channel
constexpr std::uint64_t value_mask = (std::uint64_t{1} << 56) - 1;

// The bytes that a shape covers on one side, starting with its first one.
struct Extent {
  std::int64_t begin, end;
};
Extent extent(const base::Shape& shape, std::int64_t base::Shape::Loop::*pitch) {
  Extent all{0, static_cast<std::int64_t>(shape.run)};
  for (std::size_t i = 0; i < shape.loop_count; ++i) {
    const std::int64_t reach = static_cast<std::int64_t>(shape.loops[i].count - 1) * (shape.loops[i].*pitch);
    (reach < 0 ? all.begin : all.end) += reach;
  }
  return all;
}

std::string_view in_words(std::uint64_t cause) {
  switch (cause) {
    case 1:
      return "its doorbell was rung while it was busy";
    case 2:
      return "a descriptor has a length that cannot be";
    case 3:
      return "a descriptor has an address that is outside of the map, or no cable leads there";
    case 4:
      return "a descriptor is where none can be fetched";
    case 5:
      return "a memory answered a read by 'unsupported request': nothing is at that address";
    case 6:
      return "a memory aborted a read";
    case 7:
      return "a read brought poisoned data";
    case 8:
      return "a read was answered by another length";
    case 9:
      return "a read was not answered in time";
  }
  return "for an unknown cause";
}

}  // namespace

RtlHub::RtlHub(net::Network& network, std::uint32_t interconnect, std::uint32_t host)
    : simulator_(network.simulator()), hubs_(network, interconnect, host) {}

RtlHub::Channel& RtlHub::channel(std::uint32_t node, std::uint32_t number) {
  return channels_.try_emplace({node, number}, simulator_, node, number).first->second;
}

void RtlHub::start(std::uint32_t node, std::uint32_t channel, const DmaChain& chain) {
  if (channel >= channels)
    base::fail(Errc::invalid_argument,
               "node {} was to start a chain on DMA channel {}; it has channels 0 to {}", node, channel,
               channels - 1);
  simulator_.spawn(carry(node, channel, chain), {"DMA channel", node, channel}, des::AgentKind::worker);
}

des::Task RtlHub::carry(std::uint32_t node, std::uint32_t number, const DmaChain& chain) {
  Channel& own = channel(node, number);
  co_await own.turn.acquire();
  runs_.emplace_front(simulator_, node, number, chain);
  const auto run = runs_.begin();
  run->value = ++own.runs;
  make_table(*run);
  ring(*run, place(*run));
  co_await run->done.reached(1);
  own.turn.release();
  if (run->cause != 0) fail(*run);
  co_await run->flags.reached(run->expected);
  for (const Run::Opened& opened : run->opened) co_await hubs_.landed(opened.node, opened.target);
  close(*run);
  runs_.erase(run);
}

void RtlHub::make_table(Run& run) {
  for (const Descriptor& descriptor : run.chain.descriptors) {
    add_data(run, descriptor);
    if (descriptor.arrived != nullptr) expect_flag(run, descriptor.to.node, *descriptor.arrived);
    const bool last = &descriptor == &run.chain.descriptors.back();
    if (descriptor.sent != nullptr && !last) expect_flag(run, run.node, *descriptor.sent);
  }
  expect_end(run);
}

void RtlHub::add_data(Run& run, const Descriptor& descriptor) {
  const auto address = [&](Endpoint at, std::uint64_t offset) {
    return address_of(hubs_.number(at.node), hubs_.target(at), offset);
  };
  if (const net::Bytes& bytes = descriptor.bytes) {
    const Extent to = extent(*bytes.shape, &base::Shape::Loop::to_pitch),
                 from = extent(*bytes.shape, &base::Shape::Loop::from_pitch);
    const auto begin = [&](Endpoint at, std::byte* memory, const Extent& of) {
      const auto size = static_cast<std::uint64_t>(of.end - of.begin);
      return open(run, at, memory + of.begin, size, bytes.closed) - static_cast<std::uint64_t>(of.begin);
    };
    add_copy(run.table, *bytes.shape, address(descriptor.to, begin(descriptor.to, bytes.to, to)),
             address(descriptor.from, begin(descriptor.from, const_cast<std::byte*>(bytes.from), from)));
    return;
  }
  const net::Rows& rows = descriptor.rows;
  const auto pitch = static_cast<std::int64_t>(rows.bytes);
  base::Shape shape{.run = rows.bytes, .loop_count = 1, .loops = {{{rows.count, pitch, pitch}}}};
  if (rows.count == 1) shape.loop_count = 0;
  if (rows.total() > Apertures::nowhere_bytes)
    base::fail(Errc::invalid_argument, run.chain.about, "fidelity rtl: a put of {} bytes; at most {} can be",
               rows.total(), Apertures::nowhere_bytes);
  add_copy(run.table, shape, address(descriptor.to, 0), address(descriptor.from, 0));
}

std::uint64_t RtlHub::open(Run& run, Endpoint at, std::byte* memory, std::uint64_t bytes,
                           const std::shared_ptr<const bool>& closed) {
  const Target target = hubs_.target(at);
  const std::uint64_t offset = hubs_.memory(at.node).apertures(target).open(memory, bytes, closed.get());
  run.opened.push_back({at.node, target, offset, closed});
  return offset;
}

// The box of a flag depends only on its place in the table, so a chain's table stays the same.
void RtlHub::expect_flag(Run& run, std::uint32_t node, des::Counter& counter) {
  Mailboxes& boxes = hubs_.memory(node).mailboxes;
  const auto index = static_cast<std::uint32_t>(run.expected++);
  const std::uint64_t box = boxes.fixed(hubs_.number(run.node), run.channel, index);
  boxes.expect(box, &run, [&run, &counter](std::uint64_t value) {
    if (value != run.value)
      base::fail(Errc::device_failed, run.chain.about,
                 "fidelity rtl: a flag of node {} carries {} where {} was due", run.node, value, run.value);
    counter.add();
    run.flags.add();
  });
  run.told.push_back(node);
  add_flag(run.table, address_of(hubs_.number(node), Target::host, box));
}

// The word at the end of a chain also reports its last descriptor.
void RtlHub::expect_end(Run& run) {
  Mailboxes& boxes = hubs_.memory(run.node).mailboxes;
  run.told.push_back(run.node);
  boxes.expect(hubs_.done_box(run.node, run.channel), &run, [&run](std::uint64_t value) {
    run.cause = value >> 56;
    des::Counter* const sent = run.chain.descriptors.back().sent;
    if (run.cause == 0 && (value & value_mask) == run.value && sent != nullptr) sent->add();
    run.done.add();
  });
}

// Returns the address of the run's table. One that has been placed before stays in the hub's memory until
// others need its room; one that never fits is fetched by the hub from the host's memory.
std::uint64_t RtlHub::place(Run& run) {
  Channel& own = channel(run.node, run.channel);
  if (const auto known = own.tables.find(run.table); known != own.tables.end()) return known->second;
  const std::uint64_t bytes = run.table.size() * entry_bytes;
  const auto hub = [&](std::uint64_t offset) {
    return address_of(hubs_.number(run.node), Target::hub, offset);
  };
  if (bytes > share) {
    own.outside.resize(run.table.size());
    auto* const memory = reinterpret_cast<std::byte*>(own.outside.data());
    const std::uint64_t address = address_of(hubs_.number(run.node), Target::host,
                                             open(run, hubs_.host(run.node), memory, bytes, nullptr));
    std::ranges::transform(linked(run.table, address), own.outside.begin(),
                           [](const Entry& entry) { return Channel::Line{entry}; });
    return address;
  }
  if (own.used + bytes > share) {
    own.tables.clear();
    own.used = 0;
  }
  const std::uint64_t address = hub(at::memory + share * run.channel + own.used);
  own.used += bytes;
  own.tables[run.table] = address;
  const Table table = linked(run.table, address);
  for (std::size_t i = 0; i < table.size(); ++i)
    hubs_.store(run.node, address + i * entry_bytes, std::as_bytes(std::span(table[i])));
  return address;
}

void RtlHub::ring(const Run& run, std::uint64_t table) {
  const std::array<std::uint64_t, 2> words{table, run.value};
  hubs_.store(run.node, address_of(hubs_.number(run.node), Target::hub, at::channel(run.channel) + at::chain),
              std::as_bytes(std::span(words)));
}

void RtlHub::close(Run& run) {
  for (const Run::Opened& opened : run.opened)
    hubs_.memory(opened.node).apertures(opened.target).close(opened.offset, opened.closed.get());
  for (const std::uint32_t node : run.told) hubs_.memory(node).mailboxes.forget(&run);
}

void RtlHub::store(std::uint32_t node, Endpoint to, std::uint32_t bytes, des::Counter* arrived) {
  const std::array<std::byte, most_payload> zeros{};
  const auto host = [&](std::uint64_t offset) {
    return address_of(hubs_.number(to.node), Target::host, offset);
  };
  for (; bytes > most_payload; bytes -= most_payload) hubs_.store(node, host(0), zeros);
  const std::uint64_t box = hubs_.memory(to.node).mailboxes.open([arrived](std::uint64_t) {
    if (arrived != nullptr) arrived->add();
  });
  hubs_.store(node, host(box), std::span(zeros).first(bytes));
}

// The channel can be used again; what was under way has ended.
void RtlHub::fail(const Run& run) {
  const std::array<std::uint32_t, 1> clear{2};
  hubs_.store(run.node,
              address_of(hubs_.number(run.node), Target::hub, at::channel(run.channel) + at::status),
              std::as_bytes(std::span(clear)));
  const ErrorFields about = run.chain.about;
  const std::uint32_t node = run.node, number = run.channel;
  const std::string_view why = in_words(run.cause);
  const auto found = std::ranges::find_if(runs_, [&](const Run& other) { return &other == &run; });
  close(*found);
  runs_.erase(found);
  const std::string whose = about.rank ? fmt::format("chain '{}', step {} of rank {}: ", about.chain,
                                                     about.step.value_or(0), *about.rank)
                                       : std::string{};
  base::fail(Errc::device_failed, about,
             "{}channel {} of the hub in node {} stopped: {}; start the world afresh", whose, number, node,
             why);
}

}  // namespace tca::rtl
