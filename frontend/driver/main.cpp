// The front end as a program of its own, xmpcc: `xmpcc ARGUMENTS` is `tca xacc cc ARGUMENTS`.
#include "driver/driver.hpp"
#include "driver/home.hpp"

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool own =
      !words.empty() && (words[0] == "check" || words[0] == "cc" || words[0] == "--help" || words[0] == "-h");
  if (!own) words.insert(words.begin(), "cc");
  return tca::xacc::run(words, tca::xacc::find_home());
}
