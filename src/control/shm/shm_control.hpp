// The control plane of ranks that meet at a rendezvous in shared memory.
#pragma once

#include <memory>
#include <vector>

#include "control/control.hpp"
#include "control/shm/rendezvous.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

// Thrown by start-up if ranks cannot share memory, but may form a world over MPI.
class Apart : public Error {
 public:
  explicit Apart(const std::string& message) : Error(Errc::incompatible, message) {}
};

// What messages about ranks that have not arrived say: the call with which ranks come up, and why they are
// expected, which ends the message.
struct Expectation {
  std::string call = "World::init";
  std::string_view by = "launch";  // what brings them together
  std::string why = {};
};

class ShmControl final : public control::Control {
 public:
  // Takes seat `rank` of the rendezvous in `memory` and waits until every rank has taken its own. Throws
  // Error{incompatible} if the seat is taken, and on every rank if one of them has another version.
  ShmControl(Mapping memory, int rank, int size, std::chrono::milliseconds time_limit,
             Expectation expectation = {});
  ~ShmControl() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::optional<control::Loss> lost(int rank) override;
  bool is_gone(int rank) const override;
  void leave(const std::optional<control::Trouble>& trouble) override;
  base::Cores cores() const override { return cores_; }
  std::unique_ptr<control::AllGather> begin_among(const control::Subset& subset,
                                                  const base::Blob& mine) override;

 private:
  // Only stores its arguments. Because the other constructor delegates to this one, the destructor runs if
  // the rest of start-up fails, and tells the other ranks.
  ShmControl(Mapping memory, int rank, int size, Expectation expectation);

  void check_call(std::string_view what) override;
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override;
  Delivered deliver(const base::Blob& mine, std::span<const int> readers, const control::Ballot& ballot,
                    std::string_view what) override;
  // If `reads_all`, the rank reads what every rank lays out, otherwise only what those lay out that have
  // mail for it.
  Delivered lay_out_and_read(const base::Blob& mine, std::span<const int> readers, bool reads_all,
                             const control::Ballot& ballot, std::string_view what);
  std::vector<control::Letter> everyone() const;
  void check_rendezvous();
  [[noreturn]] void refuse(const std::string& reason, Header::Refusal how);
  [[noreturn]] void throw_refused(const std::string& reason) const;
  void throw_if_refused();
  void take_seat();
  void find_cores();
  // Waits until every seat has reached `phase`.
  void await_phase(std::uint32_t phase, std::string_view what);
  std::vector<int> not_at(std::uint32_t phase) const;
  std::chrono::nanoseconds nap_after(std::chrono::nanoseconds waited) const;
  void look_around(std::uint32_t phase, std::string_view what);
  void look_for_dead(std::uint32_t phase, std::string_view what);
  void fail_if_lost(int rank, std::uint32_t phase, const std::optional<control::Loss>& loss,
                    std::string_view what);
  control::Loss died(int rank) const;
  [[noreturn]] void give_up(std::uint32_t phase, std::string_view what, std::chrono::nanoseconds waited);

  Mapping memory_;
  Rendezvous rendezvous_;
  int rank_;
  int size_;
  Expectation expectation_;
  std::uint32_t phase_ = 0;
  bool seated_ = false;
  base::Cores cores_ = base::Cores::crowded;  // until every rank has said where it may run
  int ranks_per_core_;
};

}  // namespace tca::shm
