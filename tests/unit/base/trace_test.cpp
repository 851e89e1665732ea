// Tests traces: JSON that a viewer opens, with a lane for each rank and spans for the actions of its chains.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "messages.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;

class TraceFile {
 public:
  explicit TraceFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("opentca_" + name + std::to_string(getpid()) + ".json")) {}
  ~TraceFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }
  nlohmann::json read() const { return nlohmann::json::parse(std::ifstream(path_)); }

 private:
  std::filesystem::path path_;
};

void exchange(World& world, const std::string& route, int steps) {
  const Window<int> window = world.window<int>(8);
  Chain chain = world.chain("faces", {.guarded = true, .time_limit = {}, .channel = route});
  const int other = 1 - world.rank();
  chain.put(window.on(other).at(4), window.at(0), block(4)).expect(other).commit();
  for (int step = 0; step < steps; ++step) {
    chain.start();
    chain.wait();
  }
}

TEST(Trace, HasALaneARankAndEveryStep) {
  const TraceFile file("steps");
  World::run_threads(2,
                     [&](World& world) {
                       exchange(world, "pull", 3);
                       const std::chrono::microseconds now(1'000'000 + world.rank());
                       world.trace_span("interior", now, now + 5us);
                       world.write_trace(file.path());
                     },
                     {.trace = true});
  const nlohmann::json trace = file.read();
  std::set<std::string> lanes;
  std::map<std::pair<int, std::string>, int> spans;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      if (event.at("name") == "process_name") lanes.insert(event.at("args").at("name"));
      continue;
    }
    EXPECT_EQ(event.at("ph"), "X");
    EXPECT_GE(event.at("dur").get<double>(), 0);
    ++spans[{event.at("pid").get<int>(), event.at("name").get<std::string>()}];
  }
  EXPECT_EQ(lanes, (std::set<std::string>{"rank 0", "rank 1"}));
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ((spans[{rank, "start faces"}]), 3);
    EXPECT_EQ((spans[{rank, "wait faces"}]), 3);
    EXPECT_EQ((spans[{rank, fmt::format("puts from rank {}", 1 - rank)}]), 3);
    EXPECT_EQ((spans[{rank, "interior"}]), 1);
  }
}

// Rank 1 starts once rank 0 has looked for what it sends.
TEST(Trace, ShowsWaitingAndCarriageOfTimedChains) {
  const TraceFile file("timed");
  World::run_threads(2,
                     [&](World& world) {
                       const bool receives = world.rank() == 0;
                       Chain late = world.chain("late", {.timed = true}), go = world.chain("go");
                       (receives ? late.expect(1) : late.signal(0)).commit();
                       (receives ? go.signal(1) : go.expect(0)).commit();
                       if (receives) {
                         late.start();
                         EXPECT_FALSE(late.test());
                       }
                       go.run();
                       if (!receives) late.start();
                       late.wait();
                       world.write_trace(file.path());
                     },
                     {.trace = true});

  const nlohmann::json trace = file.read();
  std::set<std::string> spans;
  for (const nlohmann::json& event : trace.at("traceEvents")) spans.insert(event.at("name"));
  EXPECT_TRUE(spans.contains("waiting for rank 1") && spans.contains("carriage from rank 1"));
}

TEST(Trace, NamesAreEscaped) {
  const TraceFile file("names");
  World::run_threads(1,
                     [&](World& world) {
                       world.trace_span("a \"quoted\"\nname \\ \xff, no UTF-8", 1us, 2us);
                       world.write_trace(file.path());
                     },
                     {.trace = true});
  EXPECT_EQ(file.read().at("traceEvents").back().at("name"), "a \"quoted\"\nname \\ \xef\xbf\xbd, no UTF-8");
}

TEST(Trace, IsNotWrittenWhenNotAskedFor) {
  const TraceFile file("nothing");
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) { world.write_trace(file.path()); });
  for (const Caught& error : all) {
    EXPECT_EQ(error.code, Errc::invalid_argument);
    EXPECT_TRUE(says(error.message, {"World::write_trace: nothing was recorded", "option trace"}));
  }
  EXPECT_FALSE(std::ifstream(file.path()).is_open());
}

TEST(Trace, SaysWhereItCannotWrite) {
  EXPECT_TRUE(refuses(Errc::invalid_argument,
                      {"World::write_trace: '/nowhere/trace.json' cannot be written", "No such file"}, [] {
                        World::run_threads(1, [](World& world) { world.write_trace("/nowhere/trace.json"); },
                                           {.trace = true});
                      }));
}

}  // namespace
}  // namespace tca::test
