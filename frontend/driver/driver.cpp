#include "driver/driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "driver/nvcc.hpp"
#include "driver/options.hpp"
#include "emit/translate.hpp"
#include "lex/preprocess.hpp"

namespace tca::xacc {
namespace {

constexpr const char* help =
    "Translates C with directives of XcalableMP and OpenACC (XcalableACC)\n"
    "\n"
    "  tca xacc cc [OPTIONS] FILE.c ... [-o PROGRAM]   compiles and links, as cc does\n"
    "  tca xacc check [OPTIONS] FILE.c ...             looks for errors alone\n"
    "\n"
    "Options of its own; all others are the C compiler's (-O2, -g, -c, -D, -I, -l ...):\n"
    "  --emit          Writes what was made of a source, to standard output or to -o\n"
    "  --acc cpu|cuda  Where compute regions run: on the host, or on GPUs, for which nvcc compiles them\n"
    "  -findex=global  Subscripts without a loop variable count from the array's beginning, and not, as\n"
    "                  with -findex=omni, from the rank's part\n"
    "  -fcheck         Ends the program at a wrong index, a stale ghost and a missing update, and says "
    "whose\n"
    "  --explain       Has the program print the puts of every reflect when it first runs\n"
    "  --no-openmp     Has each rank be one thread; SIMD stays\n"
    "  --cc COMPILER   The C compiler; CC in the environment, or cc\n"
    "  --nvcc COMPILER CUDA's; NVCC in the environment, nvcc, or /usr/local/cuda/bin/nvcc. -arch= and "
    "-gencode=\n"
    "                  are for it; without them it compiles for the GPU at hand, or as OpenTCA was\n"
    "\n"
    "Examples:\n"
    "  tca xacc cc -O2 heat.c -o heat\n"
    "  tca run -n 4 -- ./heat\n";

struct Source {
  std::string text;
  Translated translated;
};

class Driver {
 public:
  Driver(Options options, const Home& home) : options_(std::move(options)), home_(home) {}

  ~Driver() {
    for (const std::string& file : scratch_) unlink(file.c_str());
  }

  int run() {
    bool failed = false;
    for (const std::string& source : options_.sources) failed = !one(source) || failed;
    if (failed) return 1;
    return options_.stage == Options::Stage::link ? link() : 0;
  }

 private:
  // Returns whether all went well; what did not has been said.
  bool one(const std::string& source) {
    std::vector<Fault> faults;
    Translated translated;
    try {
      translated = translate_file(source, faults);
    } catch (const Fault& fault) {
      faults.push_back(fault);
    }
    std::stable_sort(faults.begin(), faults.end(),
                     [](const Fault& a, const Fault& b) { return a.place.line < b.place.line; });
    for (const Fault& warning : translated.warnings) print(files_, Severity::warning, warning);
    for (const Fault& fault : faults) print(files_, Severity::error, fault);
    if (!faults.empty()) return false;
    return options_.stage == Options::Stage::check || write(source, translated);
  }

  Translated translate_file(const std::string& source, std::vector<Fault>& faults) {
    if (access(source.c_str(), R_OK) != 0) throw Fault{{}, "there is no file " + source};
    std::vector<std::string> command{options_.compiler};
    command.insert(command.end(), options_.preprocessor.begin(), options_.preprocessor.end());
    command.insert(command.end(), {"-I" + home_.include, "-I" + home_.include + "/tca/xacc", "-include",
                                   "tca/xacc/runtime.h", "-D_XCALABLEMP=201701", "-D_XCALABLEACC=201701",
                                   "-D_OPENACC=201111"});
    for (const std::string& folder : home_.mpi) command.insert(command.end(), {"-isystem", folder});
    const Preprocessed preprocessed = preprocess(command, source);
    std::vector<std::optional<Directive>> directives;
    std::vector<Token> tokens = split(preprocessed.text, files_);
    for (const Token& token : tokens) {
      if (token.pragma < 0) continue;
      directives.emplace_back();
      try {
        directives.back() = parse_directive(preprocessed.pragmas.at(static_cast<std::size_t>(token.pragma)),
                                            {token.file, token.line, 0}, files_);
      } catch (const Fault& fault) {
        faults.push_back(fault);
      }
    }
    const Program program = analyse_all(std::move(tokens), std::move(directives), faults);
    const Objects& objects = objects_;
    return translate(
        preprocessed.text, program, objects,
        {options_.local_indices, options_.check, options_.explain, options_.gpu, unit_of(source)}, faults);
  }

  Program analyse_all(std::vector<Token> tokens, std::vector<std::optional<Directive>> directives,
                      std::vector<Fault>& faults) {
    Program program = analyse(std::move(tokens), std::move(directives));
    objects_ = resolve(program, faults);
    return program;
  }

  bool write(const std::string& source, const Translated& translated) {
    const std::string& text = translated.text;
    const std::string stem = source.substr(source.rfind('/') + 1, source.rfind('.') - source.rfind('/') - 1);
    const Options::Stage stage = options_.stage;
    if (stage == Options::Stage::emit || stage == Options::Stage::preprocess) {
      std::FILE* file = options_.output.empty() ? stdout : std::fopen(options_.output.c_str(), "w");
      const std::string all =
          text + (translated.kernels.empty() ? "" : "\n/* compiled by nvcc:\n" + translated.kernels + "*/\n");
      const bool written = file && std::fwrite(all.data(), 1, all.size(), file) == all.size();
      if (file && file != stdout) std::fclose(file);
      if (!written) print(files_, Severity::error, {{}, "cannot write to " + options_.output});
      return written;
    }
    const bool ends = stage == Options::Stage::object || stage == Options::Stage::assembly;
    std::string object = !ends || options_.output.empty()
                             ? stem + (stage == Options::Stage::assembly ? ".s" : ".o")
                             : options_.output;
    if (!ends)
      object = scratch(".o"),
      options_.link.insert(options_.link.begin() + static_cast<std::ptrdiff_t>(objects_made_++), object);
    const bool kernels = !translated.kernels.empty() && stage != Options::Stage::assembly;
    const std::string host = kernels ? scratch(".o") : object;
    std::vector<std::string> command{options_.compiler};
    command.insert(command.end(), options_.compile.begin(), options_.compile.end());
    command.emplace_back(options_.openmp ? "-fopenmp" : "-fopenmp-simd");
    command.insert(command.end(),
                   {stage == Options::Stage::assembly ? "-S" : "-c", "-x", "cpp-output", "-", "-o", host});
    if (run_command(command, text, nullptr) != 0) return false;
    return !kernels || add_kernels(translated.kernels, host, object);
  }

  // Compiles kernels, and makes one object of them and of the host's.
  bool add_kernels(const std::string& text, const std::string& host, const std::string& object) {
    const std::string source = scratch(".cu"), kernels = scratch(".cu.o");
    std::ofstream(source) << text;
    if (run_command(nvcc_command(options_, home_, source, kernels), "", nullptr) != 0) return false;
    return run_command({options_.compiler, "-r", "-nostdlib", host, kernels, "-o", object}, "", nullptr) == 0;
  }

  int link() {
    std::vector<std::string> command{options_.compiler};
    command.insert(command.end(), options_.compile.begin(), options_.compile.end());
    if (options_.openmp) command.emplace_back("-fopenmp");
    command.insert(command.end(), options_.link.begin(), options_.link.end());
    command.insert(command.end(), home_.link.begin(), home_.link.end());
    command.insert(command.end(), {"-o", options_.output.empty() ? "a.out" : options_.output});
    return run_command(command, "", nullptr);
  }

  std::string scratch(const std::string& suffix) {
    scratch_.push_back("/tmp/tca-xacc-" + std::to_string(getpid()) + "-" + std::to_string(scratch_.size()) +
                       suffix);
    return scratch_.back();
  }

  Options options_;
  const Home& home_;
  Files files_;
  Objects objects_;
  std::size_t objects_made_ = 0;
  std::vector<std::string> scratch_;
};

}  // namespace

int run(const std::vector<std::string>& words, const Home& home) {
  if (words.empty() || words[0] == "-h" || std::ranges::find(words, "--help") != words.end()) {
    std::fputs(help, words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  Files none;
  try {
    if (words[0] != "cc" && words[0] != "check")
      throw Fault{
          {}, "there is no command `" + words[0] + "`", "there are cc and check; see tca xacc --help"};
    const bool check = words[0] == "check";
    Options options =
        parse_options({words.begin() + 1, words.end()}, check ? Options::Stage::check : Options::Stage::link);
    if (check) options.stage = Options::Stage::check;
    if (options.stage == Options::Stage::link && home.link.empty())
      throw Fault{
          {},
          "this tca comes without the libraries that a program is linked with, as in a Python package",
          "take that of an OpenTCA that was built and installed by CMake"};
    return Driver(std::move(options), home).run();
  } catch (const Fault& fault) {
    print(none, Severity::error, fault);
    return 2;
  }
}

}  // namespace tca::xacc
