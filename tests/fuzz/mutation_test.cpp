// Tests machine files with random damage, without libFuzzer: each is read, or refused with an error that
// names the place. OPENTCA_MUTATIONS sets their number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "../unit/seed.hpp"
#include "machine_text.hpp"

namespace tca::net {
namespace {

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  std::string operator()(std::string text) {
    for (std::uint64_t count = 1 + below(4); count > 0; --count) once(text);
    return text;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void once(std::string& text) {
    static const char* const pieces[] = {"-",         "1e400",
                                         "nan",       "[",
                                         "]",         "{",
                                         "}",         "\"",
                                         "=",         "\n",
                                         "[[",        "''",
                                         "0",         "99999999999",
                                         "true",      "value",
                                         ".",         "#",
                                         "\\u0000",   "inf",
                                         "[mpi.x]\n", "extends = \"quong\"\n"};
    if (text.empty()) return;
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        return;
      case 1:
        text.erase(at, 1 + below(40));
        return;
      case 2:
        text.insert(at, pieces[below(std::size(pieces))]);
        return;
      case 3: {  // duplicates a line
        const std::size_t last = text.rfind('\n', at);
        const std::size_t begin = last == std::string::npos ? 0 : last + 1;
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
        text.insert(begin, text.substr(begin, end + 1 - begin));
        return;
      }
      default:
        text.resize(at);
    }
  }

  std::mt19937_64 random_;
};

TEST(MachineMutations, AreReadOrRefusedWithAPlace) {
  const test::Seed seed;
  const char* const set = std::getenv("OPENTCA_MUTATIONS");
  const std::uint64_t count = set == nullptr ? 1500 : std::strtoull(set, nullptr, 10);
  std::printf("%s\n", seed.how_to_repeat().c_str());
  std::fflush(stdout);  // a defect that it finds may abort the process
  std::vector<std::string> texts;
  for (const char* name : {"ha-pacs-tca", "quong", "dgx-h200"}) {
    std::ifstream in(find_machine(name));
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  Damage damage(seed.value());
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string text = damage(texts[i % texts.size()]);
    refused += try_machine(text).empty() ? 0U : 1U;
  }
  EXPECT_GT(refused, count / 2);
  std::printf("%zu of %llu refused\n", refused, static_cast<unsigned long long>(count));
}

}  // namespace
}  // namespace tca::net
