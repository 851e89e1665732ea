#include "driver/options.hpp"

#include <cstdlib>
#include <set>
#include <string_view>

#include "lex/place.hpp"

namespace tca::xacc {
namespace {

// Options whose value is the next word.
bool takes_value(const std::string& word) {
  static const std::set<std::string> known{"-D",      "-I",       "-U", "-include", "-isystem",
                                           "-iquote", "-imacros", "-L", "-l",       "-Xlinker",
                                           "-x",      "-MF",      "-MT"};
  return known.contains(word);
}

bool for_preprocessor(std::string_view word) {
  for (const std::string_view begin : {"-D", "-I", "-U", "-include", "-isystem", "-iquote", "-imacros",
                                       "-std=", "-ansi", "-f", "-m", "-O", "-pthread"})
    if (word.starts_with(begin)) return true;
  return false;
}

bool for_linker(std::string_view word) {
  for (const std::string_view begin : {"-l", "-L", "-Wl,", "-Xlinker", "-static", "-shared", "-rdynamic"})
    if (word.starts_with(begin)) return true;
  return false;
}

class Parser {
 public:
  Parser(const std::vector<std::string>& words, Options::Stage stage) : words_(words) {
    options_.stage = stage;
    if (const char* compiler = std::getenv("CC"); compiler && *compiler) options_.compiler = compiler;
  }

  Options run() {
    for (; at_ < words_.size(); ++at_) word(words_[at_]);
    if (options_.sources.empty() && (options_.link.empty() || options_.stage != Options::Stage::link))
      throw Fault{{}, "there is no source", "give C files, such as tca xacc cc -O2 heat.c -o heat"};
    if (options_.gpu && options_.check)
      throw Fault{
          {}, "-fcheck looks at what the host does, and --acc cuda has GPUs do it", "check with --acc cpu"};
    if (!options_.output.empty() && options_.sources.size() > 1 && options_.stage != Options::Stage::link)
      throw Fault{{},
                  "-o names one file, and there are " + std::to_string(options_.sources.size()) + " sources",
                  "leave -o away"};
    if (options_.check && options_.gpu)
      throw Fault{{},
                  "-fcheck looks at what hosts do, and --acc cuda has regions run on GPUs",
                  "leave one of them away"};
    return std::move(options_);
  }

 private:
  void word(const std::string& w) {
    if (w == "-c") {
      options_.stage = Options::Stage::object;
    } else if (w == "-S") {
      options_.stage = Options::Stage::assembly;
    } else if (w == "-E") {
      options_.stage = Options::Stage::preprocess;
    } else if (w == "--emit") {
      options_.stage = Options::Stage::emit;
    } else if (w == "-o") {
      options_.output = value();
    } else if (w == "--cc") {
      options_.compiler = value();
    } else if (w == "--acc") {
      device(value());
    } else if (w.starts_with("--acc=")) {
      device(w.substr(6));
    } else if (w == "--nvcc") {
      options_.nvcc = value();
    } else if (w.starts_with("-arch=") || w.starts_with("-gencode=") || w.starts_with("--maxrregcount=")) {
      options_.for_nvcc.push_back(w);
    } else if (w == "-findex=global" || w == "-findex=omni") {
      options_.local_indices = w == "-findex=omni";
    } else if (w == "-fcheck") {
      options_.check = true;
    } else if (w == "--explain") {
      options_.explain = true;
    } else if (w == "--no-openmp") {
      options_.openmp = false;
    } else if (w == "-xacc" || w == "-omp" || w == "--openmp") {
      // always so
    } else if (w.starts_with("--") && w != "--verbose") {
      throw Fault{{},
                  "there is no option " + w,
                  "tca xacc --help lists them; options of the C compiler begin with a single -"};
    } else {
      compilers_own(w);
    }
  }

  void compilers_own(const std::string& w) {
    std::vector<std::string> both{w};
    if (takes_value(w)) both.push_back(value());
    const auto add = [&](std::vector<std::string>& to) { to.insert(to.end(), both.begin(), both.end()); };
    if (w[0] != '-') return w.ends_with(".c") ? options_.sources.push_back(w) : options_.link.push_back(w);
    if (for_linker(w)) return add(options_.link);
    if (for_preprocessor(w)) add(options_.preprocessor);
    add(options_.compile);
  }

  void device(const std::string& name) {
    options_.gpu = name == "cuda";
    if (name != "cpu" && name != "cuda") throw Fault{{}, "--acc " + name + ": there are cpu and cuda"};
  }

  std::string value() {
    if (++at_ >= words_.size()) throw Fault{{}, words_[at_ - 1] + " needs a value"};
    return words_[at_];
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  Options options_;
};

}  // namespace

Options parse_options(const std::vector<std::string>& words, Options::Stage stage) {
  return Parser(words, stage).run();
}

}  // namespace tca::xacc
