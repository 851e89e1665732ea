// A TimedProgram is a ShmProgram that reports its arrivals. It is separate, so that chains that are not
// timed pay nothing for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/arrivals.hpp"
#include "fabric/shm/program.hpp"

namespace tca::shm {

// When a rank began its start, for even and for odd steps, in nanoseconds of the clock that the ranks of a
// host share. It is in the receiver's inbox, next to the signal. Relaxed: the signal, which the sender
// stores after it (release) and the receiver sees before it looks here (acquire), orders both.
struct Stamps {
  std::array<std::atomic<std::int64_t>, 2> started;
};

class TimedProgram final : public fabric::Program {
 public:
  // The stamps of a link are null if nothing is sent that way. The program releases this rank's stamps.
  struct Ends {
    Stamps* in = nullptr;
    Stamps* out = nullptr;
  };
  TimedProgram(std::unique_ptr<ShmProgram> program, Inbox& inbox, fabric::Arrivals& arrivals,
               std::vector<Ends> ends)
      : program_(std::move(program)), inbox_(inbox), arrivals_(arrivals), ends_(std::move(ends)) {}
  ~TimedProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override { return program_->missing(); }
  void cancel() override { program_->cancel(); }
  std::optional<fabric::Guard> guard() const override { return program_->guard(); }

 private:
  void tell_of_step();

  std::unique_ptr<ShmProgram> program_;
  Inbox& inbox_;
  fabric::Arrivals& arrivals_;
  std::vector<Ends> ends_;  // by link
  std::uint32_t step_ = 0;
  std::int64_t started_ = 0, looked_ = 0;
  std::uint64_t looks_ = 0;    // in the current step
  std::vector<bool> to_come_;  // by link
};

}  // namespace tca::shm
