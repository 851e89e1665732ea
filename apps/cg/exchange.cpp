#include "cg/exchange.hpp"

namespace tca::cg {

std::string_view name_of(Message message) {
  switch (message) {
    case Message::gather:
      return "GATHER";
    case Message::spmv:
      return "SPMV";
    case Message::transpose:
      return "EXCH";
    default:
      return "DOT";
  }
}

Vectors make_vectors(World& world, const Share& share) {
  const int parts = share.whole_rows ? world.size() : 1;
  const auto operand = world.window<double>(share.largest * parts, "operand");
  const auto product = world.window<double>(share.rows.size, "product");
  return {operand, product, share.whole_rows ? product : world.window<double>(share.own.size, "result")};
}

bool is_sent(Message message, const Share& share) {
  return message == Message::dot || (message == Message::gather) == share.whole_rows;
}

std::int64_t bytes_of(Message message, const Share& share, int ranks) {
  constexpr auto scalar = static_cast<std::int64_t>(sizeof(double));
  std::int64_t sums = 0;
  for (const Reduction& reduction : share.reductions) sums += reduction.sent.size;
  switch (message) {
    case Message::gather:
      return share.whole_rows ? (ranks - 1) * share.largest * scalar : 0;
    case Message::spmv:
      return sums * scalar;
    case Message::transpose:
      return share.whole_rows ? 0 : share.summed.size * scalar;
    default:
      return scalar;
  }
}

}  // namespace tca::cg
