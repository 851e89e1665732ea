// The kernels that tests run: what BlockChain and GridChain do, on threads.
#include <chrono>
#include <random>
#include <thread>

#include "device_ranks.hpp"
#include "seed.hpp"

namespace tca::test {

// One lane of one part of a rank.
class DevicePart {
 public:
  DevicePart(DeviceRanks& ranks, int rank, const DeviceRun& how, HostBlock block, Barrier& grid)
      : ranks_(ranks),
        rank_(ranks[rank]),
        name_("rank " + std::to_string(rank) + ", part " + std::to_string(block.part_) + ": "),
        how_(how),
        block_(block),
        warp_{block_, how.lanes_share},
        grid_(grid),
        random_(how.seed + 1000 * static_cast<unsigned>(rank) + 16 * block.part_ + block.lane_),
        // Some parts are always late, others seldom.
        late_(random_in(random_, 1, 60)),
        step_(how.first_step) {}

  void run() {
    for (Word i = 0; i < how_.steps; ++i) {
      fill();
      start();
      loiter();
      wait();
      check("wait");
      loiter();
      check("the time until start");  // nothing may land before this rank permits it
    }
  }

 private:
  void start() {
    ++step_;
    if (how_.whole_grid) grid_.arrive_and_wait();
    block_.sync();
    good_ = good_ &&
            device::post_ready(rank_.chain, step_, block_,
                               how_.whole_grid ? device::PartsStart::together : device::PartsStart::apart);
    look_until([this] {
      return device::missing_acks(rank_.chain, step_, warp_) == device::no_link &&
             device::missing_permission(rank_.chain, step_, block_) == device::no_link;
    });
    good_ = good_ && device::send_packets(rank_.chain, step_, warp_);
    good_ = block_.all(good_);
    good_ = good_ && device::send_stores(rank_.chain, step_, block_, false);
    if (!good_) ranks_.fail(name_ + "gave up in start " + std::to_string(step_));
  }

  void wait() {
    look_until([this] {
      return device::missing_packets(rank_.chain, step_, warp_) == device::no_link &&
             device::missing_stores(rank_.chain, step_, block_) == device::no_link;
    });
    good_ = good_ && device::receive_packets(rank_.chain, step_, warp_);
    good_ = block_.all(good_);
    good_ = good_ && device::receive_stores(rank_.chain, step_, block_);
    if (!good_) ranks_.fail(name_ + "gave up in wait " + std::to_string(step_));
    if (how_.whole_grid) grid_.arrive_and_wait();
  }

  template <class Look>
  void look_until(const Look& look) {
    if (!how_.tries) return;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto is_over = [&] {
      return device::load_relaxed(&rank_.abort) != 0 || std::chrono::steady_clock::now() > end;
    };
    // A lane that does not see it in time goes on to wait for it, and gives up there.
    while (!block_.all(!good_ || is_over() || look())) std::this_thread::yield();
  }

  // With barriers of the grid, any part may write and read the bytes of any other.
  bool is_mine(const DeviceRank::Unit& unit, Word shift) const {
    return (unit.index + (how_.whole_grid ? shift : 0)) % block_.parts_ == block_.part_;
  }

  void fill() {
    for (const DeviceRank::Unit& unit : rank_.units_out) {
      if (is_mine(unit, 1)) unit.put->fill(unit.number, step_ + 1, block_.lane_, block_.lanes_);
    }
  }

  void check(const char* when) {
    for (const DeviceRank::Unit& unit : rank_.units_in) {
      if (!good_ || !is_mine(unit, 2)) continue;
      const std::string wrong = unit.put->wrong_byte(unit.number, step_, block_.lane_, block_.lanes_);
      if (wrong.empty()) continue;
      ranks_.fail(name_ + "after " + when + " " + std::to_string(step_) + ", " + wrong);
      good_ = false;
    }
    // Lanes that disagree would wait for each other for ever.
    good_ = block_.all(good_);
  }

  void loiter() {
    if (!how_.delays || random_in(random_, 0, late_) != 0) return;
    if (random_in(random_, 0, 3) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_in(random_, 1, 200)));
    } else {
      std::this_thread::yield();
    }
  }

  DeviceRanks& ranks_;
  DeviceRank& rank_;
  const std::string name_;
  const DeviceRun& how_;
  HostBlock block_;
  HostWarp warp_;
  Barrier& grid_;
  std::mt19937 random_;
  Word late_, step_;
  bool good_ = true;
};

std::string DeviceRanks::run(const DeviceRun& how) {
  std::vector<std::unique_ptr<Barrier>> grids;
  std::vector<std::unique_ptr<Team>> teams;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    const Word parts = how.parts.at(static_cast<std::size_t>(rank));
    Barrier& grid = *grids.emplace_back(std::make_unique<Barrier>(parts * how.lanes));
    for (Word part = 0; part < parts; ++part) {
      Team& team = *teams.emplace_back(std::make_unique<Team>(how.lanes));
      for (Word lane = 0; lane < how.lanes; ++lane) {
        threads.emplace_back([this, rank, &how, &team, &grid, part, parts, lane] {
          DevicePart(*this, rank, how, {team, part, parts, lane, how.lanes}, grid).run();
        });
      }
    }
  }
  threads.clear();  // joins them
  for (const auto& put : puts_) {
    if (!put->gaps_are_untouched()) fail("put " + std::to_string(put->number()) + " has written into a gap");
  }
  return failure_;
}

}  // namespace tca::test
