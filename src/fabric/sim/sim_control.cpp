#include "fabric/sim/sim_control.hpp"

#include <algorithm>
#include <exception>

#include "base/fail.hpp"

namespace tca::sim {

namespace {

// Ranks take turns, so the last one to arrive completes the exchange for all.
class Exchange final : public control::AllGather {
 public:
  Exchange(std::shared_ptr<Gathering> gathering, Model& model, int rank)
      : gathering_(std::move(gathering)), model_(model), rank_(rank) {}

  bool advance() override {
    if (!gathering_->is_complete()) return false;
    model_.scheduler().be_at_least(rank_, gathering_->latest);
    return true;
  }
  std::vector<int> missing() const override {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < gathering_->here.size(); ++rank)
      if (!gathering_->here[rank]) ranks.push_back(static_cast<int>(rank));
    return ranks;
  }
  std::vector<base::Blob> take() override { return gathering_->blobs; }

 private:
  std::shared_ptr<Gathering> gathering_;
  Model& model_;
  int rank_;
};

}  // namespace

SimControl::SimControl(std::shared_ptr<Model> model, int rank) : model_(std::move(model)), rank_(rank) {
  model_->scheduler().join(rank_);
}

SimControl::~SimControl() { leave(std::uncaught_exceptions() > 0 ? std::optional(trouble) : std::nullopt); }

std::vector<base::Blob> SimControl::gather(const base::Blob& mine, std::string_view what) {
  return *gather_shared(mine, what);
}

// If every rank copied what all have contributed, the work would grow with the square of their number.
std::shared_ptr<const std::vector<base::Blob>> SimControl::gather_shared(const base::Blob& mine,
                                                                         std::string_view what) {
  const std::shared_ptr<Gathering> gathering = model_->gather(rank_, mine, control::Ballot::in(what), {});
  Exchange exchange(gathering, *model_, rank_);
  await(exchange, what, {});
  return {gathering, &gathering->blobs};
}

control::Control::Delivered SimControl::deliver(const base::Blob& mine, std::span<const int> readers,
                                                const control::Ballot& ballot, std::string_view what) {
  const std::shared_ptr<Gathering> gathering = model_->gather(rank_, mine, ballot, readers);
  Exchange exchange(gathering, *model_, rank_);
  await(exchange, what, {});
  Delivered delivered{{}, gathering->ballot};
  const auto read = [&](int rank) {
    delivered.from.push_back({rank, gathering->blobs[static_cast<std::size_t>(rank)]});
  };
  if (!delivered.ballot.is_of_one_call()) {
    for (int rank = 0; rank < size(); ++rank) read(rank);
    return delivered;
  }
  std::vector<int>& senders = gathering->senders[static_cast<std::size_t>(rank_)];
  std::ranges::sort(senders);
  for (const int rank : senders) read(rank);
  return delivered;
}

std::unique_ptr<control::AllGather> SimControl::begin_among(const control::Subset& subset,
                                                            const base::Blob& mine) {
  return std::make_unique<Exchange>(model_->gather_among(rank_, subset, mine), *model_, rank_);
}

void SimControl::leave(const std::optional<control::Trouble>& why) { model_->scheduler().leave(rank_, why); }

// If the wait fails and this rank ends because of it, it passes on the same reason, so that ranks far from
// the lost one name that one.
bool SimControl::wait_turn(const control::Wait& wait, std::chrono::nanoseconds at_most) {
  try {
    if (at_most < std::chrono::nanoseconds::max()) {
      const double us = std::min(1e12, std::chrono::duration<double, std::micro>(at_most).count());
      model_->scheduler().wait_until(rank_, model_->scheduler().clock(rank_) + des::from_us(us), wait);
    } else {
      model_->scheduler().wait(rank_, wait);
    }
  } catch (const Error& error) {
    const std::optional<control::Loss> loss =
        error.code() == Errc::rank_lost ? lost(error.missing().front()) : std::nullopt;
    trouble = loss ? loss->passed_on(error.missing().front()) : control::Trouble{error.what()};
    throw;
  }
  return true;
}

std::chrono::duration<double> SimControl::now() const {
  return std::chrono::duration<double>(des::to_us(model_->scheduler().clock(rank_)) * 1e-6);
}

}  // namespace tca::sim
