#include "cli/output/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/system/environment.hpp"
#include "base/text/ranks.hpp"

namespace tca::tool {
namespace {

double us(double seconds) { return seconds * 1e6; }

}  // namespace

void add_fault_option(CLI::App& app, std::string& faults) {
  app.add_option("--fault", faults,
                 "Faults that come, with their times: on sim cable:0-1@20us (between the hubs of two nodes), "
                 "hub:3@50us or host:2@1ms, elsewhere path:0-1:shm/pull@20ms or path:0-1:mpi@20ms (what a "
                 "fabric or a protocol of it carries between two ranks); several with commas or by several "
                 "options")
      ->envname("OPENTCA_FAULTS")
      ->join(',');
}

std::string faults_by_option(const std::string& faults) {
  const char* const by_environment = base::set_variable("OPENTCA_FAULTS");
  return by_environment != nullptr && faults == by_environment ? "" : faults;
}

FaultReport::FaultReport(const std::string& asked, int ranks)
    : asked_(!asked.empty() || base::set_variable("OPENTCA_FAULTS") != nullptr), ranks_(ranks) {}

void FaultReport::note(const World& world) {
  if (!asked_) return;
  for (const KnownFault& fault : world.known_faults()) {
    const auto [row, is_new] = rows_.try_emplace(fault.name, Row{fault, 0, {}});
    if (is_new) order_.push_back(fault.name);
    row->second.last_told = std::max(row->second.last_told, fault.told);
    row->second.told.push_back(world.rank());
    if (!fault.side.empty() && std::ranges::find(sides_, fault.side) == sides_.end())
      sides_.push_back(fault.side);
  }
}

void FaultReport::print() const {
  if (!asked_) return;
  if (order_.empty()) fmt::print("faults    no rank was told of any before it ended\n");
  for (const std::string& name : order_) {
    const Row& row = rows_.at(name);
    std::vector<int> told = row.told;
    std::ranges::sort(told);
    const std::string whom =
        static_cast<int>(told.size()) == ranks_
            ? fmt::format("all {} ranks", ranks_)
            : fmt::format("rank {} ({} of {})", base::list_ranks(told), told.size(), ranks_);
    fmt::print(
        "fault     {} failed at {:.3f} us; node {} noticed first, {:.3f} us later; {} told within {:.3f} "
        "us\n",
        name, us(row.first.failed), row.first.noticed_by, us(row.first.noticed - row.first.failed), whom,
        us(row.last_told - row.first.failed));
  }
  for (const std::vector<int>& side : sides_)
    fmt::print("partition rank {} knows that it reaches nobody else over the ring or torus\n",
               base::list_ranks(side));
}

void run_threads_and_tell(int ranks, const std::function<void(World&)>& body, const WorldOptions& options) {
  FaultReport faults(options.faults, ranks);
  const auto noted = [&](World& world) {
    try {
      body(world);
    } catch (...) {
      faults.note(world);
      throw;
    }
    faults.note(world);
  };
  try {
    World::run_threads(ranks, noted, options);
  } catch (...) {
    faults.print();
    throw;
  }
  faults.print();
}

nlohmann::ordered_json FaultReport::json() const {
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : order_) {
    const Row& row = rows_.at(name);
    all.push_back({{"fault", name},
                   {"failed_us", us(row.first.failed)},
                   {"noticed_by", row.first.noticed_by},
                   {"notice_us", us(row.first.noticed - row.first.failed)},
                   {"told_us", us(row.last_told - row.first.failed)},
                   {"told", row.told.size()}});
  }
  return {{"faults", all}, {"sides", sides_}};
}

}  // namespace tca::tool
