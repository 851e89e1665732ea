// `tca bench overlap`: measures how much of an exchange is hidden behind a computation.
#pragma once

#include <string>

#include "bench/options.hpp"
#include "bench/report.hpp"
#include "measure/measure_overlap.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Throws Error{invalid_argument} for options that do not go together.
void check_overlap_bench(const BenchOptions& options);

void run_overlap_bench(World& world, const BenchOptions& options);

// For the head of the table and its lines, on rank 0; `beside` heads the column that says what the exchange is beside, or what
// moves it on.
void print_overlap_header(const char* beside);
// Completes the record, prints its line and appends it to the file, if there is one.
void report_overlap(const BenchOptions& options, const std::string& who, const std::string& beside,
                    const bench::OverlapSamples& took, Record record);

}  // namespace tca::tool
