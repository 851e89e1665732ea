#include "fabric/mpi/compile.hpp"

#include <algorithm>
#include <climits>
#include <map>

#include "base/fail.hpp"
#include "control/mpi/mpi_control.hpp"
#include "fabric/mpi/memory.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view making_requests = "making a chain's requests";

// The kinds of message of a chain from one rank to another. Each has a separate tag, since MPI_Startall may
// start them in any order.
enum Kind : int {
  with_datatype,
  with_packed,
  with_counted,
  bare,
  confirmation,
  invitation,
  with_staged,
  stamp,
  kinds
};

using Puts = std::vector<const fabric::Put*>;

Puts carried_by(const Puts& puts, Protocol protocol) {
  Puts selected;
  for (const fabric::Put* put : puts)
    if (!put->length && goes_by(*put, protocol)) selected.push_back(put);
  return selected;
}

Puts counted_among(const Puts& puts) {
  Puts selected;
  for (const fabric::Put* put : puts)
    if (put->length) selected.push_back(put);
  return selected;
}

class Compiler {
 public:
  Compiler(MPI_Comm comm, int first_tag) : comm_(comm), first_tag_(first_tag) {}

  // Adds everything that comes from a partner (Side::to) or is sent to it (Side::from). `answered`:
  // something is also sent in the other direction.
  void add(int partner, const Puts& puts, bool answered, Side side) {
    const Puts typed = carried_by(puts, datatype), dense = carried_by(puts, packed),
               counted = counted_among(puts);
    if (!typed.empty())
      add_message(partner, with_datatype, scattered(pieces(typed, side), side), side, nullptr);
    if (!dense.empty()) add_packed(partner, with_packed, dense, side);
    if (!counted.empty()) add_packed(partner, with_counted, counted, side);
    if (!carried_by(puts, rma).empty())
      invite(partner, side);
    else if (typed.empty() && dense.empty() && counted.empty())
      add_message(partner, bare, mpi::dense(nullptr, 0), side, nullptr);
    if (!answered) confirm(partner, side);
  }

  // Adds a message of a stage. Its chunks are sent and received in order, so they can share a tag.
  void add_staged(int partner, std::size_t message, const fabric::Stage::Chunks& chunks, Side side) {
    for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
      Operation& operation = add_message(
          partner, with_staged, mpi::dense(chunks[chunk].data(), chunks[chunk].size()), side, nullptr);
      operation.message = message;
      operation.chunk = chunk;
    }
  }

  // Adds the confirmations, with which the receiver's start tells the sender.
  void confirm(int partner, Side side) {
    const int tag = first_tag_ + confirmation;
    if (side == Side::to) {
      operations_.confirming.push_back({.short_send = ShortSend{.tag = tag}, .partner = partner});
      return;
    }
    for (auto& of_parity : operations_.confirmations) {
      Operation awaited{.partner = partner, .receives = true};
      check(MPI_Recv_init(nullptr, 0, MPI_BYTE, partner, tag, comm_, awaited.request.out()), making_requests);
      of_parity.push_back(std::move(awaited));
    }
  }

  Operations take() { return std::move(operations_); }

 private:
  static std::vector<Piece> pieces(const Puts& puts, Side side) {
    std::vector<Piece> all;
    for (const fabric::Put* put : puts) {
      fabric::Memory* memory = side == Side::to ? put->to_memory : put->from_memory;
      all.push_back({memory->data() + (side == Side::to ? put->to_offset : put->from_offset), put->shape});
    }
    return all;
  }

  void add_packed(int partner, Kind kind, const Puts& puts, Side side) {
    auto packing = std::make_unique<Packing>();
    packing->pieces = pieces(puts, side);
    std::size_t bytes = 0;
    for (const Piece& piece : packing->pieces) bytes += piece.shape->bytes();
    if (kind == with_counted) {
      for (const fabric::Put* put : puts) packing->lengths.push_back(put->length);
      bytes += puts.size() * sizeof(std::uint64_t);
      if (bytes > INT_MAX) {
        base::fail(Errc::refused,
                   "counted puts of {} bytes in all between this rank and rank {}; a message of MPI takes "
                   "{}, so put them in several chains, or in further steps of a shorter one (tca/rounds.hpp)",
                   bytes, partner, INT_MAX);
      }
    }
    packing->dense = std::make_unique_for_overwrite<std::byte[]>(bytes);
    const std::byte* address = packing->dense.get();
    add_message(partner, kind, mpi::dense(address, bytes), side, std::move(packing));
  }

  Operation& add_message(int partner, Kind kind, const Content& content, Side side,
                         std::unique_ptr<Packing> packing) {
    Operation operation{.partner = partner, .receives = side == Side::to, .packing = std::move(packing)};
    const std::uint64_t bytes = bytes_of(content);
    operation.traced = bytes > 0;
    const bool in_a_row = content.type.get() == MPI_BYTE;
    operation.is_long = bytes >= long_message;
    auto* address = const_cast<void*>(content.address);
    // The length of a persistent request is fixed.
    const bool anew = bytes <= longest_short_send || kind == with_counted;
    if (!operation.receives && in_a_row && anew) {
      operation.short_send = {address, static_cast<int>(bytes), first_tag_ + kind};
    } else if (operation.receives) {
      check(MPI_Recv_init(address, content.count, content.type.get(), partner, first_tag_ + kind, comm_,
                          operation.request.out()),
            making_requests);
    } else {
      check(MPI_Send_init(address, content.count, content.type.get(), partner, first_tag_ + kind, comm_,
                          operation.request.out()),
            making_requests);
    }
    return (operation.receives ? operations_.receives : operations_.sends).emplace_back(std::move(operation));
  }

  // Adds the invitation, with which a target of one-sided puts tells their origin that it may send them.
  void invite(int partner, Side side) {
    Operation word{.partner = partner, .receives = side == Side::from, .invites = true};
    const int tag = first_tag_ + invitation;
    if (word.receives)
      check(MPI_Recv_init(nullptr, 0, MPI_BYTE, partner, tag, comm_, word.request.out()), making_requests);
    else
      check(MPI_Send_init(nullptr, 0, MPI_BYTE, partner, tag, comm_, word.request.out()), making_requests);
    operations_.receives.push_back(std::move(word));
  }

  MPI_Comm comm_;
  int first_tag_;
  Operations operations_;
};

struct Partner {
  int rank;
  Puts in, out;
};

// Returns the puts from and to each partner. Every rank begins with the partner after itself, so that not
// all ranks send to the same one first.
std::vector<Partner> by_partner(const fabric::ChainSpec& share) {
  std::map<int, Partner> partners;
  for (const fabric::Put& put : share.incoming) partners[put.from].in.push_back(&put);
  for (const fabric::Put& put : share.outgoing) partners[put.to].out.push_back(&put);
  std::vector<Partner> in_turn;
  for (auto& [rank, partner] : partners)
    in_turn.push_back({rank, std::move(partner.in), std::move(partner.out)});
  if (partners.empty()) return in_turn;
  const int own = share.outgoing.empty() ? share.incoming.front().to : share.outgoing.front().from;
  std::rotate(in_turn.begin(), std::ranges::upper_bound(in_turn, own, {}, &Partner::rank), in_turn.end());
  return in_turn;
}

}  // namespace

// The limit is queried on MPI_COMM_WORLD, because Open MPI reports it for other communicators only if they
// are copies of that one.
int first_tag(std::uint32_t number, std::string_view chain) {
  void* bound = nullptr;
  int given = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &given);
  const int last = given ? *static_cast<int*>(bound) : 32767;
  const std::int64_t tag = Tag::first_of_chains + std::int64_t{number} * kinds;
  if (tag + kinds - 1 <= last) return static_cast<int>(tag);
  base::fail(Errc::refused,
             "chain '{}': this world has had {} windows and chains, and MPI has tags for no more; make them "
             "once and use them often",
             chain, number);
}

int stamp_tag(int first_tag) { return first_tag + stamp; }

Operations compile(const fabric::ChainSpec& share, int first_tag, MPI_Comm comm) {
  Compiler compiler(comm, first_tag);
  for (const auto& [partner, in, out] : by_partner(share)) {
    if (!in.empty()) compiler.add(partner, in, !out.empty(), Side::to);
    if (!out.empty()) compiler.add(partner, out, !in.empty(), Side::from);
  }
  return compiler.take();
}

std::vector<fabric::StagedMessage> staged_messages(const fabric::ChainSpec& share) {
  std::vector<fabric::StagedMessage> messages;
  const auto add = [&](int partner, const Puts& puts, bool outgoing) {
    if (puts.empty()) return;
    fabric::StagedMessage& message = messages.emplace_back();
    message.partner = partner;
    message.outgoing = outgoing;
    for (const fabric::Put* put : puts) {
      if (put->shape == nullptr) continue;
      message.pieces.push_back(
          {outgoing ? put->from_memory->data() + put->from_offset : put->to_memory->data() + put->to_offset,
           put->shape});
    }
  };
  for (const auto& [partner, in, out] : by_partner(share)) {
    add(partner, in, false);
    add(partner, out, true);
  }
  return messages;
}

Operations compile(std::span<const fabric::StagedMessage> messages, const fabric::Stage& stage, int first_tag,
                   MPI_Comm comm) {
  Compiler compiler(comm, first_tag);
  const auto is_answered = [&](const fabric::StagedMessage& message) {
    return std::any_of(messages.begin(), messages.end(), [&](const fabric::StagedMessage& other) {
      return other.partner == message.partner && other.outgoing != message.outgoing;
    });
  };
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const Side side = messages[m].outgoing ? Side::from : Side::to;
    compiler.add_staged(messages[m].partner, m, stage.chunks(m), side);
    if (!is_answered(messages[m])) compiler.confirm(messages[m].partner, side);
  }
  return compiler.take();
}

}  // namespace tca::mpi
