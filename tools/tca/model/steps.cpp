#include "model/steps.hpp"

namespace tca::tool {

Steps::Step& Steps::step(At at) {
  std::vector<Step>& own = steps_[at.rank];
  if (own.size() <= at.step) own.resize(at.step + 1);
  return own[at.step];
}

void Steps::put(At from, At to, const net::Rows& rows, Carrier carrier, std::uint32_t tag) {
  Message message{to.rank, tag, rows.total(), carrier, nullptr};
  if (carrier != Carrier::chain && carrier != Carrier::store) {
    step(from).sends.push_back(message);
    message.other = from.rank;
    step(to).receives.push_back(message);
    return;
  }
  des::Counter& arrived = arrived_.emplace_back(stage_.simulator(), des::Label{"a put to rank", to.rank});
  step(to).arrivals.push_back(&arrived);
  Step& own = step(from);
  if (carrier == Carrier::store) {
    message.arrived = &arrived;
    own.sends.push_back(message);
    return;
  }
  if (!own.chain) own.chain = std::make_unique<Chain>(stage_.simulator(), from.rank);
  // The last put tells when all have left.
  if (!own.chain->puts.empty()) own.chain->puts.back().notifies = false;
  own.chain->puts.push_back({.to = to.rank, .rows = rows, .arrived = &arrived, .notifies = true});
}

net::Mpi& Steps::mpi_of(Carrier carrier) {
  return carrier == Carrier::host_mpi ? stage_.host_mpi() : stage_.mpi();
}

des::Task Steps::send(std::uint32_t rank, const Message& message) {
  net::Mpi& mpi = mpi_of(message.carrier);
  if (message.carrier == Carrier::rma) return mpi.put(rank, message.other, message.bytes, message.tag);
  return mpi.send(rank, message.other, message.bytes, message.tag);
}

des::Task Steps::receive(std::uint32_t rank, const Message& message) {
  net::Mpi& mpi = mpi_of(message.carrier);
  if (message.carrier == Carrier::rma) return mpi.expose(message.other, rank, message.bytes, message.tag);
  return mpi.receive(message.other, rank, message.bytes, message.tag);
}

des::Task Steps::run(At at, std::uint64_t round) {
  if (at.step >= count(at.rank)) co_return;
  Step& own = steps_[at.rank][at.step];
  des::Group messages(stage_.simulator(), {"the messages of rank", at.rank});
  for (const Message& message : own.receives)
    messages.spawn(receive(at.rank, message), {"receive of rank", at.rank});
  for (const Message& message : own.sends) {
    if (message.carrier != Carrier::store) {
      messages.spawn(send(at.rank, message), {"send of rank", at.rank});
      continue;
    }
    des::Task stored =
        stage_.store(at.rank, message.other, static_cast<std::uint32_t>(message.bytes), *message.arrived);
    co_await stored;
  }
  if (own.chain) {
    const auto channel = static_cast<std::uint32_t>(at.step % stage_.channels());
    des::Task started = stage_.start(at.rank, channel, *own.chain);
    co_await started;
  }
  des::Task came = stage_.watch(at.rank, own.arrivals, round);
  co_await came;
  if (own.chain) {
    des::Task left = stage_.watch(at.rank, own.chain->sent, round);
    co_await left;
  }
  if (own.receives.empty() && own.sends.empty()) co_return;
  des::Task finished = stage_.finish(at.rank, messages);
  co_await finished;
}

}  // namespace tca::tool
