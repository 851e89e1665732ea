// The interface through which an iteration gets what it needs from other ranks. OpenTCA and MPI implement it
// with the same messages, so that the two can be compared in one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cg/partition.hpp"
#include "shared/channels.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::cg {

enum class Message {
  gather,     // whole rows: the vector's parts of all ranks
  spmv,       // blocks: sums of rows, along a row of the grid
  transpose,  // blocks: those sums, across the diagonal
  dot         // scalars
};
inline constexpr std::array messages{Message::gather, Message::spmv, Message::transpose, Message::dot};
// "GATHER", "SPMV", "EXCH" and "DOT"; the last three are called so in publications about the benchmark.
std::string_view name_of(Message message);

// What the matrix is multiplied with and what comes of it, where other ranks may write.
struct Vectors {
  Window<double> operand;  // as long as the block has columns, and with whole rows as `largest` of every rank
  Window<double> product;  // as long as the block has rows: what it contributes to the result
  Window<double> result;   // this rank's part; with whole rows the same window as `product`

  double* own_operand(const Share& share) const {
    return operand.data() + (share.own.begin - share.columns.begin);
  }
};

// Collective.
Vectors make_vectors(World& world, const Share& share);

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Before a product: completes the operand, of which every rank has written its own part.
  virtual void gather() {}
  // After it: adds up the product along a row of the grid, and then makes a result of it.
  virtual void add_up() {}
  virtual void transpose() {}
  // Replaces values, 1 or up to 4 of them, by their sums over the vector's parts.
  virtual void sum(std::span<double> values) = 0;

  virtual std::string explain(Message message) const = 0;  // how it travels, a line for each put
};

// Whether ranks that are divided as this one send such messages.
bool is_sent(Message message, const Share& share);

// Returns the bytes that a rank sends in a product's message of this kind, and for `dot` the bytes of a
// scalar.
std::int64_t bytes_of(Message message, const Share& share, int ranks);

// Collective. Throws Error{refused} where a channel does not reach those that a message goes to.
std::unique_ptr<Exchange> direct_exchange(World& world, const Share& share, const Vectors& vectors,
                                          const apps::Channels& channels = {});

// Makes an exchange that sends the same by MPI: MPI_Allgather, persistent requests and MPI_Allreduce. It
// initialises MPI and finalises it at the end, so a process can make only one. Returns null when this was
// built without MPI. Throws Error{invalid_argument} when MPI's ranks are not the world's.
std::unique_ptr<Exchange> mpi_exchange(World& world, const Share& share, const Vectors& vectors);

}  // namespace tca::cg
