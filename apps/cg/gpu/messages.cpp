#include "cg/gpu/messages.hpp"

#include <fmt/format.h>

#include <utility>

namespace tca::cg {

BlockMessages::BlockMessages(World& world, const Share& share, const Vectors& vectors,
                             const apps::Channels& channels)
    : row_of_grid(world.group(share.row_of_grid)),
      received(world.window<double>(static_cast<std::int64_t>(share.reductions.size()) * share.summed.size,
                                    "sums")),
      pitch(share.summed.size),
      transpose(world.chain("EXCH", {.channel = channels.of("EXCH")})) {
  for (const Reduction& reduction : share.reductions) {
    const auto which = static_cast<std::int64_t>(reductions.size());
    Chain chain = world.chain(fmt::format("SPMV {}", which), {.channel = channels.of("SPMV")});
    // On the partner the pitch is as long as what this rank sends.
    chain
        .put(received.on(reduction.partner).at(which * reduction.sent.size),
             vectors.product.at(reduction.sent.begin), tca::block(reduction.sent.size))
        .expect(reduction.partner)
        .commit();
    reductions.push_back(std::move(chain));
  }
  transpose
      .put(vectors.result.on(share.transposed), vectors.product.at(share.summed.begin),
           tca::block(share.summed.size))
      .expect(share.transposed)
      .commit();
}

std::string BlockMessages::explain(Message message) const {
  if (message == Message::transpose) return transpose.explain();
  std::string text;
  if (message == Message::spmv)
    for (const Chain& reduction : reductions) text += reduction.explain();
  return text;
}

}  // namespace tca::cg
