// A TimedProgram is an MpiProgram that reports its arrivals. Ahead of its messages each rank sends a stamp,
// in a separate message. Ranks of a host share a clock; between others PartnerClock says when the sender
// began.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/arrivals.hpp"
#include "fabric/mpi/handle.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/partner_clock.hpp"

namespace tca::mpi {

class TimedProgram final : public fabric::Program {
 public:
  // `hosts`: by rank, the host that it is on.
  TimedProgram(std::unique_ptr<MpiProgram> program, const fabric::ChainSpec& share, MPI_Comm comm, int tag,
               const std::vector<int>& hosts);
  ~TimedProgram() override;

  void start() override;
  bool test() override;
  bool yields() const override { return program_->yields(); }
  std::vector<int> missing() const override;
  std::optional<fabric::Guard> guard() const override { return program_->guard(); }
  bool is_empty() const override { return program_->is_empty(); }
  void cancel() override { program_->cancel(); }
  bool end() override;

 private:
  // A rank that sends to this one, or receives from it.
  struct Partner {
    int rank = 0;
    bool sends = false, gets = false, shares_clock = false;
    // In the current step.
    bool stamp_is_due = false, message_is_due = false, stamp_was_looked_for = false, there_at_once = false;
    std::int64_t seen = 0, stamp_seen = 0;
    fabric::PartnerClock clock = {};
  };

  // What MPI may still read and write after the program is destroyed.
  struct Stamps {
    std::vector<fabric::Stamp> in, out;  // by partner
  };

  void look_for_stamps();
  void look_for_messages();
  void tell_of(Partner& partner, const fabric::Stamp& stamp);
  bool has_open_requests() const;

  std::unique_ptr<MpiProgram> program_;
  fabric::Arrivals& arrivals_;
  MPI_Comm comm_;
  int tag_;
  std::vector<Partner> partners_;
  std::unique_ptr<Stamps> stamps_;
  Requests requests_;  // by partner: the receive and the send of its stamps
  std::vector<int> through_;
  std::uint32_t step_ = 0;
  bool ended_ = false;
  std::int64_t started_ = 0, started_before_ = 0, looked_ = 0;
  std::uint64_t looks_ = 0;  // in the current step
  std::vector<char> open_;   // by request
};

}  // namespace tca::mpi
