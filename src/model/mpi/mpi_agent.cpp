#include "model/mpi/mpi_agent.hpp"

#include <algorithm>

namespace tca::net {

Mpi::State::State(des::Simulator& simulator, const Rank& at, std::uint32_t rank)
    : place(at),
      processor(simulator, {"the processor of rank", rank}, 1),
      to_gpu(simulator, {"the copies into the GPU of rank", rank}, 1),
      from_gpu(simulator, {"the copies out of the GPU of rank", rank}, 1) {}

Mpi::Message::Message(des::Simulator& simulator, std::uint32_t sender, std::uint32_t to,
                      std::uint32_t its_tag, Side begins)
    : from(sender),
      tag(its_tag),
      first(begins),
      announced(simulator, {"an MPI message, sender.receiver", from, to}),
      cleared(simulator, {"a receive to be posted, sender.receiver", from, to}),
      landed(simulator, {"the data of an MPI message, sender.receiver", from, to}) {}

Mpi::Mpi(Network& network, const HostKind& host, const MpiLibrary& library, const std::vector<Rank>& ranks)
    : network_(network), host_(host), library_(library) {
  std::uint32_t number = 0;
  for (const Rank& rank : ranks) ranks_.emplace_back(network.simulator(), rank, number++);
}

// Returns the oldest message that the other side has begun, or a new one.
Mpi::Shared Mpi::meet(std::uint32_t from, std::uint32_t to, std::uint32_t tag, Side side) {
  std::vector<Shared>& begun = ranks_[to].begun;
  const auto meets = [&](const Shared& message) {
    return message->from == from && message->tag == tag && message->first != side;
  };
  const auto found = std::ranges::find_if(begun, meets);
  if (found == begun.end()) {
    return begun.emplace_back(std::make_shared<Message>(network_.simulator(), from, to, tag, side));
  }
  Shared message = std::move(*found);
  begun.erase(found);
  return message;
}

des::Task Mpi::work(std::uint32_t rank, des::Time time) {
  des::Semaphore& processor = ranks_[rank].processor;
  co_await processor.acquire();
  co_await network_.simulator().sleep(time);
  processor.release();
}

std::uint32_t Mpi::rails_of(std::uint64_t bytes) const {
  return bytes >= static_cast<std::uint64_t>(library_.split_from)
             ? static_cast<std::uint32_t>(std::min<std::uint64_t>(library_.rails.size(), bytes))
             : 1;
}

// Unsplit messages use the rails of the sender's adapter in turn.
std::uint32_t Mpi::next_rail(std::uint32_t rank) {
  State& state = ranks_[rank];
  return state.place.rail + state.turns++ % library_.rails_in_turn;
}

void Mpi::control(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, des::Counter& arrived) {
  network_.send(
      {.from = ranks_[from].place.host,
       .to = ranks_[to].place.host,
       .interconnect = interconnect(next_rail(from)),
       .bytes = static_cast<std::uint32_t>(bytes + static_cast<std::uint64_t>(library_.control_bytes)),
       .arrived = &arrived});
}

// Carries data over the rails, in equal shares of at least one byte.
des::Task Mpi::carry(Endpoint from, Endpoint to, std::uint64_t bytes, std::uint32_t first_rail,
                     des::Counter& landed) {
  const std::uint32_t rails = rails_of(bytes);
  des::Group group(network_.simulator(), {"the rails of an MPI message"});
  for (std::uint32_t rail = 0; rail < rails; ++rail) {
    Transfer share;
    share.from = from;
    share.to = to;
    share.interconnect = interconnect(first_rail + rail);
    share.rows.bytes = bytes / rails + (rail < bytes % rails ? 1 : 0);
    share.packet_bytes = library_.packet_bytes;
    share.request_bytes = library_.request_bytes;
    share.window = library_.requests;
    share.arrived = &landed;
    group.spawn(network_.transfer(share), {"rail", rail});
  }
  co_await group.done();
}

// Copies with the GPU's copy engine of that direction.
des::Task Mpi::copy(std::uint32_t rank, std::uint64_t bytes, bool into_gpu, des::Time start) {
  des::Semaphore& engine = into_gpu ? ranks_[rank].to_gpu : ranks_[rank].from_gpu;
  const double rate = into_gpu ? host_.to_gpu_bytes_per_s : host_.from_gpu_bytes_per_s;
  co_await engine.acquire();
  co_await network_.simulator().sleep(start + copy_time(bytes, rate));
  engine.release();
}

bool Mpi::reads_staged(std::uint32_t rank, std::uint64_t bytes) const {
  return in_gpu(rank) && bytes > static_cast<std::uint64_t>(library_.read_direct_limit);
}

bool Mpi::writes_staged(std::uint32_t rank, std::uint64_t bytes) const {
  return in_gpu(rank) && bytes > static_cast<std::uint64_t>(library_.write_direct_limit);
}

// Returns how many bytes are copied, sent and copied again at a time.
std::uint64_t Mpi::block_of(std::uint64_t bytes) const {
  const bool whole = choose_way(library_, static_cast<std::int64_t>(bytes)) != MpiWay::pipelined;
  return whole ? bytes : static_cast<std::uint64_t>(library_.block);
}

des::Task Mpi::send_staged(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message) {
  const Rank& sender = ranks_[from].place;
  const Rank& receiver = ranks_[to].place;
  const bool reads = reads_staged(from, bytes);
  const Endpoint source = reads ? sender.host : sender.memory;
  const Endpoint target = writes_staged(to, bytes) ? receiver.host : receiver.memory;
  const std::uint64_t block = block_of(bytes);
  des::Group blocks(network_.simulator(), {"the blocks of an MPI message"});
  for (std::uint64_t done = 0; done < bytes; done += block) {
    const std::uint64_t size = std::min(block, bytes - done);
    const des::Time start = done == 0 ? library_.stage + host_.copy_start : 0;
    if (reads) {
      des::Task out = copy(from, size, false, start);
      co_await out;
    }
    blocks.spawn(carry(source, target, size, next_rail(from), message.landed), {"a block from rank", from});
  }
  co_await blocks.done();
}

des::Task Mpi::receive_staged(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message) {
  const bool writes = writes_staged(to, bytes);
  const bool inlined = way_of(from, bytes) == MpiWay::inlined;
  const std::uint64_t block = block_of(bytes);
  std::uint64_t parts = 0;
  for (std::uint64_t done = 0; done < bytes; done += block) {
    const std::uint64_t size = std::min(block, bytes - done);
    parts += inlined ? 1 : rails_of(size);
    co_await message.landed.reached(parts);
    if (!writes) continue;
    const des::Time start = done == 0 ? library_.stage + host_.copy_start : 0;
    des::Task in = copy(to, size, true, start);
    co_await in;
  }
}

// Sends into the receiver's buffer. The data passes through a buffer of the sender's if the adapter does
// not read the GPU.
des::Task Mpi::send_eager(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message) {
  const Rank& sender = ranks_[from].place;
  const bool staged = reads_staged(from, bytes);
  if (staged) {
    des::Task out = copy(from, bytes, false, host_.copy_start);
    co_await out;
  } else if (!in_gpu(from)) {
    des::Task out = work(from, eager_copy(bytes));
    co_await out;
  }
  Transfer data;
  data.from = staged ? sender.host : sender.memory;
  data.to = ranks_[to].place.host;
  data.interconnect = interconnect(next_rail(from));
  data.rows.bytes = bytes;
  data.packet_bytes = library_.packet_bytes;
  data.request_bytes = library_.request_bytes;
  data.window = library_.requests;
  data.arrived = &message.announced;
  des::Task left = network_.transfer(data);
  co_await left;
}

// Moves data from the receiver's buffer into its memory: with the processor or, into a GPU above
// write_direct_limit, with a copy.
des::Task Mpi::receive_eager(std::uint32_t to, std::uint64_t bytes) {
  if (writes_staged(to, bytes)) {
    des::Task in = copy(to, bytes, true, host_.copy_start);
    co_await in;
  } else {
    des::Task stored =
        work(to, in_gpu(to) ? copy_time(bytes, host_.store_to_gpu_bytes_per_s) : eager_copy(bytes));
    co_await stored;
  }
}

bool Mpi::in_gpu(std::uint32_t rank) const { return ranks_[rank].place.memory != ranks_[rank].place.host; }

MpiWay Mpi::way_of(std::uint32_t from, std::uint64_t bytes) const {
  return choose_way(library_, static_cast<std::int64_t>(bytes), in_gpu(from));
}

des::Time Mpi::eager_copy(std::uint64_t bytes) const {
  return library_.eager_copy_bytes_per_s == 0 ? 0 : copy_time(bytes, library_.eager_copy_bytes_per_s);
}

des::Task Mpi::send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag) {
  const Shared shared = meet(from, to, tag, Side::sender);
  Message& message = *shared;
  const MpiWay way = way_of(from, bytes);
  des::Time more = in_gpu(from) ? library_.gpu : 0;
  if (in_gpu(from) && way != MpiWay::inlined) more += library_.read_start;
  des::Task called = work(from, library_.send + more);
  co_await called;
  if (way == MpiWay::inlined) {
    control(from, to, bytes, message.announced);
  } else if (way == MpiWay::eager) {
    des::Task data = send_eager(from, to, bytes, message);
    co_await data;
  } else {
    control(from, to, 0, message.announced);
    co_await message.cleared.reached(1);
    des::Task noticed = work(from, host_.poll);
    co_await noticed;
    des::Task data = send_staged(from, to, bytes, message);
    co_await data;
  }
}

des::Task Mpi::receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag) {
  const Shared shared = meet(from, to, tag, Side::receiver);
  Message& message = *shared;
  co_await message.announced.reached(1);
  const des::Time more = in_gpu(to) ? library_.gpu : 0;
  des::Task called = work(to, host_.poll + library_.receive + more);
  co_await called;
  const MpiWay way = way_of(from, bytes);
  if (way == MpiWay::eager) {
    des::Task stored = receive_eager(to, bytes);
    co_await stored;
  } else if (way != MpiWay::inlined) {
    control(to, from, 0, message.cleared);
    des::Task data = receive_staged(from, to, bytes, message);
    co_await data;
    des::Task noticed = work(to, host_.poll);
    co_await noticed;
  }
}

des::Task Mpi::put(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag) {
  const Shared shared = meet(from, to, tag, Side::sender);
  Message& message = *shared;
  const Rank& sender = ranks_[from].place;
  const Rank& receiver = ranks_[to].place;
  co_await message.cleared.reached(1);
  const bool inlined = way_of(from, bytes) == MpiWay::inlined;
  des::Time more = in_gpu(from) ? library_.gpu : 0;
  if (in_gpu(from) && !inlined) more += library_.read_start;
  des::Task called = work(from, host_.poll + library_.send + more);
  co_await called;
  if (inlined) {
    network_.send(
        {.from = sender.host,
         .to = receiver.memory,
         .interconnect = interconnect(next_rail(from)),
         .bytes = static_cast<std::uint32_t>(bytes + static_cast<std::uint64_t>(library_.control_bytes)),
         .arrived = &message.landed});
  } else {
    des::Task data = send_staged(from, to, bytes, message);
    co_await data;
  }
  control(from, to, 0, message.announced);
}

des::Task Mpi::expose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag) {
  const Shared shared = meet(from, to, tag, Side::receiver);
  Message& message = *shared;
  des::Task posted = work(to, library_.send);
  co_await posted;
  control(to, from, 0, message.cleared);
  des::Task data = receive_staged(from, to, bytes, message);
  co_await data;
  co_await message.announced.reached(1);
  des::Task noticed = work(to, host_.poll + library_.receive);
  co_await noticed;
}

}  // namespace tca::net
