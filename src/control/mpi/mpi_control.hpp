// The control plane over MPI. It needs no shared memory, so the ranks may be anywhere.
#pragma once

#include <vector>

#include "control/control.hpp"
#include "control/mpi/call.hpp"
#include "control/mpi/failure_detector.hpp"
#include "control/mpi/session.hpp"

namespace tca::mpi {

// The tags of messages. Those of chains follow.
enum Tag : int {
  set_up,
  set_up_rest,
  immediate,
  immediate_taken,
  never,
  trial,
  of_group,
  of_group_rest,
  post,
  post_answer,
  first_of_chains = 16
};

class MpiControl final : public control::Control {
 public:
  // Collective over the ranks of `program`, from which it makes its own communicator.
  MpiControl(MPI_Comm program, std::chrono::milliseconds time_limit);
  ~MpiControl() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::optional<control::Loss> lost(int rank) override;
  bool is_gone(int rank) const override;
  void leave(const std::optional<control::Trouble>& trouble) override;
  base::Cores cores() const override { return cores_; }
  std::unique_ptr<control::AllGather> begin_among(const control::Subset& subset,
                                                  const base::Blob& mine) override;

  MPI_Comm comm() const { return comm_; }

  // Collective, at the end of a world. Returns whether every rank has reached this call within the time
  // limit and in good order. No rank gets true if another gets false.
  bool ends_together(bool in_order);

  const std::vector<int>& hosts() const { return hosts_; }

 private:
  void check_call(std::string_view what) override;
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override;
  void note_failure(Errc code) override;
  void make_comm(MPI_Comm program);
  void meet();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool here_ = true;
  bool others_are_well_ = true;  // all ranks that have left did so in good order
  bool has_failed_ = false;      // stays set even if the program continues
  bool ending_ = false;
  base::Cores cores_ = base::Cores::crowded;  // until every rank has said where it may run
  std::vector<int> hosts_;                    // by rank, counted from 0
  std::unique_ptr<FailureDetector> detector_;
  // Ranks that wait for this one are told when its process ends, so that they do not have to wait for a
  // time limit.
  BeforeEnd before_end_{[this](const std::optional<control::Trouble>& why) { leave(why); }};
};

}  // namespace tca::mpi
