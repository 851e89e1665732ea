// A ping-pong between two ranks.
#include "model/program.hpp"

namespace tca::tool {

namespace {

// One side of a ping-pong.
struct Side {
  Side(Stage& stage, std::uint32_t number, std::uint32_t partner)
      : rank(number),
        other(partner),
        chain(stage.simulator(), rank),
        arrived(stage.simulator(), {"a message for rank", rank}) {}
  std::uint32_t rank, other;
  Chain chain;
  des::Counter arrived;
};

des::Task play(Stage& stage, Side& own, bool begins, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const bool sends : {begins, !begins}) {
      if (sends) {
        des::Task started = stage.start(own.rank, 0, own.chain);
        co_await started;
      } else {
        des::Task came = stage.watch(own.rank, own.arrived, round + 1);
        co_await came;
      }
    }
    if (begins) stage.end_iteration(round);
  }
}

des::Task play_mpi(Stage& stage, Side& own, bool begins, std::uint64_t bytes, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const bool sends : {begins, !begins}) {
      des::Group message(stage.simulator(), {"a message of rank", own.rank});
      if (sends)
        message.spawn(stage.mpi().send(own.rank, own.other, bytes), {"send of rank", own.rank});
      else
        message.spawn(stage.mpi().receive(own.other, own.rank, bytes), {"receive of rank", own.rank});
      des::Task done = stage.finish(own.rank, message);
      co_await done;
    }
    if (begins) stage.end_iteration(round);
  }
}

}  // namespace

void run_pingpong(Stage& stage, const Messages& messages) {
  const std::uint32_t last = stage.ranks() - 1;
  Side here(stage, 0, last), there(stage, last, 0);
  const net::Rows rows{.bytes = messages.bytes};
  here.chain.puts = {{.to = last, .rows = rows, .arrived = &there.arrived}};
  there.chain.puts = {{.to = 0, .rows = rows, .arrived = &here.arrived}};
  const bool mpi =
      messages.scheme == Scheme::mpi || (messages.scheme == Scheme::hybrid && !stage.reaches(0, last));
  for (Side* side : {&here, &there}) {
    const bool begins = side == &here;
    if (mpi)
      stage.simulator().spawn(play_mpi(stage, *side, begins, messages.bytes, messages.iterations),
                              {"rank", side->rank});
    else
      stage.simulator().spawn(play(stage, *side, begins, messages.iterations), {"rank", side->rank});
  }
  stage.simulator().run();
}

}  // namespace tca::tool
