// Every parser on damaged text, without libFuzzer: it is read, or refused with a message. OPENTCA_MUTATIONS sets how often.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../unit/seed.hpp"
#include "codec_bytes.hpp"
#include "damage.hpp"
#include "gauge_file.hpp"
#include "launcher_text.hpp"
#include "machine_text.hpp"
#include "qcd/files/headers.hpp"
#include "size_text.hpp"
#include "tuning_text.hpp"

namespace tca::fuzz {
namespace {

using Try = std::string (*)(std::string_view);

// Returns the share of damaged texts that were refused. The texts themselves are read.
double share_refused(Try read, const std::vector<std::string>& texts, std::vector<std::string> pieces) {
  const test::Seed seed;
  const char* const set = std::getenv("OPENTCA_MUTATIONS");
  const std::uint64_t count = set == nullptr ? 1500 : std::strtoull(set, nullptr, 10);
  std::printf("%s\n", seed.how_to_repeat().c_str());
  std::fflush(stdout);  // a defect that it finds may abort the process
  for (const std::string& text : texts) EXPECT_EQ(read(text), "");
  Damage damage(seed.value(), std::move(pieces));
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    refused += read(damage(texts[i % texts.size()])).empty() ? 0U : 1U;
  std::printf("%llu of %llu refused\n", static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(count));
  return static_cast<double>(refused) / static_cast<double>(count);
}

const std::vector<std::string> toml_pieces{"-",  "1e400",   "nan", "[",           "]",    "{",    "}",
                                           "\"", "=",       "\n",  "[[",          "''",   "0",    ".",
                                           "#",  "\\u0000", "inf", "99999999999", "true", "value"};

std::vector<std::string> with(std::vector<std::string> pieces, std::vector<std::string> more) {
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

TEST(Mutations, OfMachineFilesAreRefusedWithAPlace) {
  std::vector<std::string> texts;
  for (const char* name : {"ha-pacs-tca", "quong", "dgx-h200"}) {
    std::ifstream in(net::find_machine(name));
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  const double refused =
      share_refused(try_machine, texts, with(toml_pieces, {"[mpi.x]\n", "extends = \"quong\"\n"}));

  EXPECT_GT(refused, 0.5);
}

TEST(Mutations, OfTuningTablesAreRefused) {
  route::TuningTable table;
  table.origin = {"0.1.0", "a processor, 2 cores", "shm", 2, 1764000000};
  for (const route::Cost& piece : route::builtin_costs()) table.add(piece);

  const double refused =
      share_refused(try_tuning, {table.text()}, with(toml_pieces, {"[1, 2, 3, 4, 5],\n", "pair", "costs."}));

  EXPECT_GT(refused, 0.2);
}

TEST(Mutations, OfGaugeFilesAreRefusedWithTheirName) {
  qcd::Contents contents;
  contents.extents = {2, 2, 2, 2};
  contents.sum = contents.suma = contents.sumb = 0x1234;
  contents.plaquette = contents.link_trace = qcd::Written{0.5, 0};
  const std::string nersc = qcd::nersc_header(contents) + std::string(16 * 4 * 12 * 8, '\0');
  std::vector<std::string> texts{nersc};
#ifdef OPENTCA_PUGIXML
  contents.link_reals = 18;
  texts.push_back(qcd::ildg_header(contents) + std::string(16 * 4 * 18 * 8, '\0') +
                  qcd::ildg_trailer(contents));
#endif

  const double refused = share_refused(
      try_gauge, texts,
      {"END_HEADER\n", "DIMENSION_1 = 99999999999\n", "= -1", "<", "</", "<![CDATA[", "&#0;", "<lx>", "1e999",
       std::string("\x45\x67\x89\xab", 4), std::string(8, '\xff'), std::string(8, '\0')});

  EXPECT_GT(refused, 0.2);
}

TEST(Mutations, OfEncodedBytesAreRefused) {
  base::Writer writer;
  writer.put(std::uint8_t{1}).put(2.5).put_number(300).put_string("a rank").put_string("");
  const base::Blob& blob = writer.blob();
  const std::string asked = std::string("\0\1\2\3\3\4", 6) + std::string(blob.size() - 6, '\4');

  const double refused =
      share_refused(try_codec, {asked + std::string(reinterpret_cast<const char*>(blob.data()), blob.size())},
                    {std::string(8, '\xff'), std::string(8, '\x80'), "\x7f", "\3\3\3", "\1\1\1"});

  EXPECT_GT(refused, 0.2);
}

TEST(Mutations, OfLaunchersVariablesAreRefused) {
  const std::vector<std::string> texts{
      "OMPI_COMM_WORLD_RANK=1\nOMPI_COMM_WORLD_SIZE=4\nOMPI_COMM_WORLD_LOCAL_SIZE=2\nPMIX_NAMESPACE=job\n",
      "SLURM_PROCID=0\nSLURM_STEP_NUM_TASKS=2\nSLURM_JOB_ID=7\nSLURM_STEP_ID=0\nSLURM_STEP_NUM_NODES=2\n",
      "FLUX_TASK_RANK=1\nFLUX_JOB_SIZE=2\nFLUX_JOB_NNODES=1\nFLUX_JOB_ID=f1\n",
      "RANK=1\nWORLD_SIZE=2\nLOCAL_WORLD_SIZE=2\nTORCHELASTIC_RUN_ID=x\n",
      "PMI_RANK=1\nPMI_SIZE=2\n",
      "OPENTCA_RANK=1\nOPENTCA_SIZE=2\nOPENTCA_CONTROL=/proc/self/fd/99\n"};

  const double refused = share_refused(
      try_launcher, texts,
      {"-", "0", "9", "99999999999", "=", "\n", "/", " ", "SLURM_NTASKS=3\n", "FLUX_JOB_ID=\n"});

  EXPECT_GT(refused, 0.03);
}

TEST(Mutations, OfSizesAreRefused) {
  const std::vector<std::string> texts{"4096", "64KiB", "1M", "8TB", "-12k"};

  const double refused = share_refused(
      try_size, texts, {"-", "K", "iB", "x", ",", "99999999999", "0", "+", " ", "9223372036854775807"});

  EXPECT_GT(refused, 0.3);
}

}  // namespace
}  // namespace tca::fuzz
