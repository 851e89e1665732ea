// Tests the fit of measured samples by linear pieces.
#include "tune/fit.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "seed.hpp"

namespace tca::tool {
namespace {

using route::Distance;
using route::LayoutClass;
using route::Spacing;
using route::TuningTable;

Sample sample(LayoutClass layout, std::uint64_t run, std::uint64_t runs, double us,
              Distance distance = Distance::near) {
  return {"shm", "pull", distance, layout, Spacing::spread, run, runs, us};
}

base::Shape shape_of(const Sample& s) {
  base::Shape shape;
  shape.run = s.run;
  if (s.runs == 1) return shape;
  shape.loop_count = 1;
  const auto pitch = static_cast<std::int64_t>(s.run) + 64;
  shape.loops[0] = {s.runs, pitch, pitch};
  return shape;
}

double cost(const TuningTable& table, const Sample& s, std::size_t puts = 1) {
  const route::Cost* piece =
      route::find_cost(table.pieces("shm", "pull"), "shm", "pull", s.distance, shape_of(s), puts);
  return piece != nullptr ? piece->predict_us(shape_of(s)) : -1;
}

void fit(const std::vector<Sample>& samples, TuningTable& table) {
  tool::fit(
      samples, [](Distance) { return 0.0; }, table);
}

TEST(Fit, OnePieceWhereOneLineDoes) {
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, 0.2 + 1e-4 * static_cast<double>(bytes)));
  TuningTable table;
  fit(samples, table);
  const std::vector<route::Cost> pieces = table.all();
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_NEAR(pieces[0].setup_us, 0.2, 1e-6);
  EXPECT_NEAR(pieces[0].ns_per_byte, 0.1, 1e-6);
  EXPECT_EQ(pieces[0].from_bytes, 0u);
  EXPECT_EQ(pieces[0].spacing, Spacing::any);
}

TEST(Fit, ABendMakesTwo) {
  std::vector<Sample> samples;
  const auto us = [](double bytes) { return bytes <= 4096 ? 0.1 + 1e-4 * bytes : 1e-3 * bytes - 3.5864; };
  for (std::uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, us(static_cast<double>(bytes))));
  TuningTable table;
  fit(samples, table);
  EXPECT_EQ(table.all().size(), 2u);
  for (const Sample& s : samples) EXPECT_NEAR(cost(table, s) / s.us, 1, 0.02) << s.run << " bytes";
}

// For any measurements, the table passes close to each of them.
TEST(Fit, PassesThroughAnyMonotonousBlocks) {
  test::Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 engine(seed.value());
  std::uniform_real_distribution<double> growth(1.0, 2.5);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<Sample> samples;
    double us = 0.01;
    for (std::uint64_t bytes = 8; bytes <= 1 << 22; bytes *= 2)
      samples.push_back(sample(LayoutClass::block, bytes, 1, us *= growth(engine)));
    TuningTable table;
    fit(samples, table);
    for (const Sample& s : samples) EXPECT_NEAR(cost(table, s) / s.us, 1, 0.05) << s.run << " bytes";
  }
}

TEST(Fit, TellsRunsFromBytes) {
  std::vector<Sample> samples;
  const auto us = [](double run, double runs) { return 0.3 + 2e-3 * runs + 5e-5 * run * runs; };
  for (const std::uint64_t run : {64U, 256U, 1024U}) {
    for (std::uint64_t bytes = 2048; bytes <= 1 << 20; bytes *= 4) {
      const std::uint64_t runs = bytes / run;
      samples.push_back(sample(LayoutClass::block_stride, run, runs,
                               us(static_cast<double>(run), static_cast<double>(runs))));
    }
  }
  TuningTable table;
  fit(samples, table);
  EXPECT_EQ(table.all().size(), 2u);  // runs from 0 bytes on and from 256 bytes on
  using Runs = std::pair<std::uint64_t, std::uint64_t>;
  for (const auto& [run, runs] : {Runs{128, 77}, Runs{512, 300}, Runs{2048, 10}, Runs{64, 5000}}) {
    const double exact = us(static_cast<double>(run), static_cast<double>(runs));
    EXPECT_NEAR(cost(table, sample(LayoutClass::block_stride, run, runs, exact)) / exact, 1, 0.001)
        << runs << " runs of " << run;
  }
}

TEST(Fit, NothingGetsCheaperByBeingLarger) {
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 8; bytes <= 1 << 12; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, 1 - 1e-4 * static_cast<double>(bytes)));
  TuningTable table;
  fit(samples, table);
  for (const route::Cost& piece : table.all()) EXPECT_GE(piece.ns_per_byte, 0);
}

TEST(Fit, TheSignalIsLeftOutButNeverAllThereIs) {
  TuningTable table;
  tool::fit(
      std::vector{sample(LayoutClass::block, 8, 1, 0.15),
                  sample(LayoutClass::block, 8, 1, 0.05, Distance::far)},
      [](Distance) { return 0.1; }, table);
  EXPECT_NEAR(cost(table, sample(LayoutClass::block, 8, 1, 0)), 0.05, 1e-9);
  EXPECT_NEAR(cost(table, sample(LayoutClass::block, 8, 1, 0, Distance::far)), 0.005, 1e-9);
}

// Samples from 8 KiB to 1 MiB. One line through them would be negative below that range, and the other one
// does not rise.
TEST(Fit, WhatWasNotMeasuredIsNotFree) {
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 8192; bytes <= 65536; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, 1e-3 * static_cast<double>(bytes) - 7));
  for (std::uint64_t bytes = 131072; bytes <= 1 << 20; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, 80));
  TuningTable table;
  fit(samples, table);
  const double least = 8.192 - 7, most = 80;
  EXPECT_NEAR(cost(table, sample(LayoutClass::block, 8, 1, 0)), least, 0.02 * least);
  EXPECT_NEAR(cost(table, sample(LayoutClass::block, 8191, 1, 0)), least, 0.02 * least);
  EXPECT_NEAR(cost(table, sample(LayoutClass::block, 8 << 20, 1, 0)), 8 * most, 0.02 * 8 * most);
  for (const Sample& s : samples) EXPECT_NEAR(cost(table, s) / s.us, 1, 0.05) << s.run << " bytes";
}

// The step with the exchange was shorter than the one without it, by as much as such steps scatter.
TEST(Fit, ASampleWithinItsNoiseDoesNotBendTheLine) {
  std::vector<Sample> samples;
  for (std::uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
    samples.push_back(sample(LayoutClass::block, bytes, 1, 0.2 + 1e-4 * static_cast<double>(bytes)));
  samples.back().us = -70;
  samples.back().noise_us = 60;
  TuningTable table;
  fit(samples, table);
  EXPECT_NEAR(cost(table, samples.back()), 60, 3);
  EXPECT_NEAR(cost(table, samples[10]) / samples[10].us, 1, 0.05);
}

TEST(Fit, BlocksCostOtherwiseAloneThanInPairs) {
  std::vector<Sample> samples;
  for (const std::uint64_t bytes : {1024U, 4096U, 16384U}) {
    for (const int puts : {1, 2}) {
      samples.push_back(sample(LayoutClass::block, bytes, 1, 2e-3 / puts * static_cast<double>(bytes)));
      samples.back().puts = puts;
    }
  }
  TuningTable table;
  tool::fit(
      samples, [](Distance) { return 0.0; }, table);
  const TuningTable read = TuningTable::parse(table.text());
  for (const TuningTable* one : std::initializer_list<const TuningTable*>{&table, &read}) {
    EXPECT_NEAR(cost(*one, samples[2], 1), 8.192, 0.01);
    EXPECT_NEAR(cost(*one, samples[2], 2), 4.096, 0.01);
    EXPECT_NEAR(cost(*one, samples[2], 6), 4.096, 0.01);
  }
}

}  // namespace
}  // namespace tca::tool
