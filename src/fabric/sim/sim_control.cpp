#include "fabric/sim/sim_control.hpp"

#include <algorithm>
#include <exception>

#include "base/fail.hpp"

namespace tca::sim {

namespace {

class Meeting final : public control::Wait {
 public:
  Meeting(const Gathering& gathering, std::string_view what) : gathering_(gathering), what_(what) {}
  std::string what() const override { return std::string(what_); }
  ErrorFields about() const override {
    ErrorFields about;
    for (std::size_t rank = 0; rank < gathering_.here.size(); ++rank)
      if (!gathering_.here[rank]) about.missing.push_back(static_cast<int>(rank));
    return about;
  }

 private:
  const Gathering& gathering_;
  std::string_view what_;
};

}  // namespace

SimControl::SimControl(std::shared_ptr<Model> model, int rank) : model_(std::move(model)), rank_(rank) {
  model_->scheduler().join(rank_);
}

SimControl::~SimControl() { leave(std::uncaught_exceptions() > 0 ? std::optional(trouble) : std::nullopt); }

std::vector<base::Blob> SimControl::gather(const base::Blob& mine, std::string_view what) {
  const std::shared_ptr<Gathering> gathering = model_->gather(rank_, mine);
  const Meeting meeting(*gathering, what);
  while (gathering->count < size()) wait_turn(meeting, std::chrono::nanoseconds::max());
  model_->scheduler().be_at_least(rank_, gathering->latest);
  return gathering->blobs;
}

void SimControl::leave(const std::optional<control::Trouble>& why) { model_->scheduler().leave(rank_, why); }

// When the wait fails and this rank ends because of it, it passes the same reason on, so that ranks far from
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
