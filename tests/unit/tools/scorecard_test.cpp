// Tests published figures: what is read, what is refused, how they are compared with the model, and that the
// model agrees with them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/machine/machine_file.hpp"
#include "scorecard/lab.hpp"
#include "scorecard/runs.hpp"
#include "scorecard/score.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

const std::string head = "source = \"X\"\ntitle = \"a paper\"\nmachine = \"quong\"\n[[figure]]\n";

std::string error_of(const std::string& figure) {
  try {
    parse_figures(head + figure, "f.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return {};
}

TEST(Scorecard, AFigureWithPoints) {
  const std::vector<Figure> figures = parse_figures(head +
                                                        "name = \"p\"\nrun = \"pingpong\"\nwith = { scheme = "
                                                        "\"mpi\", gpu = 2 }\nx = \"bytes\"\nunit = \"us\"\n"
                                                        "use = \"fitted\"\npoints = [[8, 2.5], [16, 3]]\n",
                                                    "f.toml");
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].with.machine, "quong");
  EXPECT_EQ(figures[0].with.gpu, 2);
  EXPECT_EQ(figures[0].points[1].first, 16);
  EXPECT_EQ(figures[0].points[1].second, 3);
}

TEST(Scorecard, UnusableNeedsAReason) {
  EXPECT_EQ(error_of("name = \"p\"\nuse = \"unusable\"\nvalue = 1.0\n"),
            "f.toml:4:1: \"p\" is unusable, but no `reason` says why");
}

TEST(Scorecard, MisspeltSetting) {
  EXPECT_EQ(
      error_of(
          "name = \"p\"\nrun = \"pingpong\"\nwith = { shceme = \"mpi\" }\nuse = \"fitted\"\nvalue = 1.0\n"),
      "f.toml:7:19: `shceme` means nothing here; did you mean `scheme`?");
}

TEST(Scorecard, MisspeltValues) {
  const auto error_with = [](const std::string& setting) {
    return error_of("name = \"p\"\nrun = \"pingpong\"\nwith = { " + setting +
                    " }\nuse = \"fitted\"\nvalue = 1.0\n");
  };
  EXPECT_EQ(error_with("scheme = \"mpii\""),
            "f.toml:7:19: `scheme` is direct or mpi or rma or hybrid or cuda, not \"mpii\"");
  EXPECT_EQ(error_with("memory = \"hots\""), "f.toml:7:19: `memory` is gpu or host, not \"hots\"");
  EXPECT_EQ(error_with("from = \"gup\""), "f.toml:7:17: `from` is gpu or host, not \"gup\"");
  EXPECT_EQ(error_with("to = \"hosts\""), "f.toml:7:15: `to` is gpu or host, not \"hosts\"");
  EXPECT_EQ(error_with("plane = \"kj\""), "f.toml:7:18: `plane` is jk or ik or ij, not \"kj\"");
  EXPECT_EQ(error_with("start = \"grahp\""), "f.toml:7:18: `start` is kernel or graph, not \"grahp\"");
  EXPECT_EQ(error_with("scope = \"part\""), "f.toml:7:18: `scope` is parts or grid, not \"part\"");
  EXPECT_EQ(error_of("name = \"p\"\nrun = \"face\"\nx = \"N\"\nuse = \"fitted\"\npoints = [[8, 1]]\n"),
            "f.toml:7:5: `x` is bytes or n, not \"N\"");
}

TEST(Scorecard, PublishedIsAboveZero) {
  for (const char* told : {"value = 0.0", "value = -1.0", "value = nan", "at_most = inf", "points = [[8, 0]]",
                           "between = [0, 1]"}) {
    const std::string error =
        error_of("name = \"p\"\nrun = \"face\"\nx = \"n\"\nuse = \"fitted\"\n" + std::string(told) + "\n");
    EXPECT_NE(error.find("what was published is above 0, not "), std::string::npos) << told << ": " << error;
  }
}

TEST(Scorecard, ABoundOverSizesComparesTwo) {
  EXPECT_EQ(error_of("name = \"p\"\nrun = \"face\"\nx = \"n\"\nuse = \"fitted\"\nat_least = 320\n"),
            "f.toml:4:1: \"p\" compares, but has no `over`");
}

TEST(Scorecard, AFigureThatIsToldTwice) {
  EXPECT_EQ(
      error_of("name = \"p\"\nrun = \"hop\"\nwith = { bytes = 8 }\nuse = \"fitted\"\nvalue = 1.0\nat_least = "
               "2.0\n"),
      "f.toml:4:1: \"p\" is told by one of points, value, at_least, at_most, greatest and between, not by 2");
}

TEST(Scorecard, UnknownUse) {
  EXPECT_EQ(error_of("name = \"p\"\nuse = \"guessed\"\n"),
            "f.toml:4:1: `use` is fitted, predicted or unusable");
}

TEST(Scorecard, NumbersThatNoRunHas) {
  const auto error_with = [](const std::string& run, const std::string& setting) {
    return error_of("name = \"p\"\nrun = \"" + run + "\"\nwith = { " + setting +
                    " }\nuse = \"fitted\"\nvalue = 1.0\n");
  };
  EXPECT_EQ(error_with("himeno", "grid = [0, 2]"), "f.toml:7:18: `grid` is 0; it can be 1 to 65536");
  EXPECT_EQ(error_with("himeno", "grid = [2]"), "f.toml:7:17: `grid` is a list of 2 to 3 numbers");
  EXPECT_EQ(error_with("himeno", "extents = [-64, 64, 64]"),
            "f.toml:7:21: `extents` is -64; it can be 1 to 65536");
  EXPECT_EQ(error_with("himeno", "extents = [64, 64]"), "f.toml:7:20: `extents` is a list of 3 numbers");
  EXPECT_EQ(error_with("pingpong", "bytes = -8"), "f.toml:7:18: `bytes` is -8; it can be 1 to 4294967296");
  EXPECT_EQ(error_with("bcast", "ranks = -1"), "f.toml:7:18: `ranks` is -1; it can be 1 to 4294967295");
  EXPECT_EQ(error_with("apenet", "translate_us = nan"),
            "f.toml:7:25: `translate_us`: a time is above 0, not nan");
  EXPECT_EQ(error_of("name = \"p\"\nrun = \"face\"\nx = \"n\"\nuse = \"fitted\"\npoints = [[0, 1]]\n"),
            "f.toml:9:12: `points` is 0; it can be 1 to 65536");
}

TEST(Scorecard, RunsThatThereAreNot) {
  const std::string error = error_of("name = \"p\"\nrun = \"pingpang\"\nuse = \"fitted\"\nvalue = 1.0\n");
  EXPECT_EQ(error.find("f.toml:6:7: there is no run `pingpang`; there are allgather, "), 0u) << error;
  EXPECT_NE(error.find("; did you mean `pingpong`?"), std::string::npos) << error;
  EXPECT_EQ(
      error_of("name = \"p\"\nrun = \"hop\"\nwith = { scheme = \"mpi\" }\nuse = \"fitted\"\nvalue = 1.0\n"),
      "f.toml:7:8: `hop` is run by direct, not by mpi");
}

// Each of these settings belongs to another run.
TEST(Scorecard, SettingsThatARunDoesNotHave) {
  const std::map<std::string_view, std::string> settings{{"engines", "engines = 2"},
                                                         {"plane", "plane = \"ik\""}};
  for (const RunKind& kind : run_kinds()) {
    const std::string foreign = kind.takes("engines") ? "plane" : "engines";
    const std::string error = error_of(fmt::format(
        "name = \"p\"\nrun = \"{}\"\nwith = {{ {}, scheme = \"{}\" }}\nuse = \"fitted\"\nvalue = 1.0\n",
        kind.name, settings.at(foreign), kind.scheme));
    EXPECT_NE(error.find(fmt::format("`{}` means nothing to `{}` by {}, which takes ", foreign, kind.name,
                                     kind.scheme)),
              std::string::npos)
        << error;
  }
  EXPECT_EQ(
      error_of("name = \"p\"\nrun = \"pingpong\"\nx = \"bytes\"\nwith = { bytes = 8 }\nuse = \"fitted\"\n"
               "points = [[8, 1]]\n"),
      "f.toml:8:18: `bytes` is what the figure is over; leave it out here");
  EXPECT_EQ(
      error_of("name = \"p\"\nrun = \"apenet_read\"\nx = \"bytes\"\nwith = { from = \"gpu\" }\n"
               "use = \"fitted\"\npoints = [[8, 1]]\n"),
      "f.toml:8:8: `apenet_read` by direct is not over `bytes`: it takes from, gpu, engines, gpu_window");
}

TEST(Scorecard, SettingsThatARunLacks) {
  EXPECT_EQ(error_of("name = \"p\"\nrun = \"pingpong\"\nuse = \"fitted\"\nvalue = 1.0\n"),
            "f.toml:4:1: `pingpong` by direct lacks `bytes`");
}

// The machines cannot do what the figures say.
TEST(Scorecard, AFigureThatFailsIsTold) {
  const auto error_of_run = [](const std::string& run, const std::string& with) -> std::string {
    const std::vector<Figure> figures =
        parse_figures(head + "name = \"p\"\nrun = \"" + run + "\"\nwith = { " + with +
                          " }\nuse = \"fitted\"\nvalue = 1.0\n",
                      "f.toml");
    try {
      score(figures, read_machines(figures));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const auto& [run, with] :
       {std::pair{"himeno", "grid = [4, 4], extents = [1, 64, 64]"},
        {"himeno", "grid = [60000, 60000], extents = [65536, 65536, 8]"},
        {"hop", "machine = \"peach3\", bytes = 8"},
        {"pingpong", "machine = \"ha-pacs-tca\", bytes = 8, gpu = 9"},
        {"qcd_halo", "machine = \"dgx-h200\", bytes = 1024, grid = [16, 1]"},
        {"apenet_read", "machine = \"dgx-h200\", from = \"gpu\""},
        {"packet_allreduce", "machine = \"dgx-h100\", library = \"ll\", bytes = 8, ranks = 1"},
        {"packet_pingpong", "machine = \"dgx-h100\", library = \"nvshmem\", bytes = 8"},
        {"kernel_pingpong", "machine = \"dgx-h100\", library = \"ll\", bytes = 8"},
        {"bcast", "machine = \"quong\", scheme = \"mpi\", library = \"mvapich2\", bytes = 8"},
        {"pingpong", "machine = \"nowhere\", bytes = 8"}}) {
    const std::string error = error_of_run(run, with);
    EXPECT_EQ(error.find("f.toml:4:1: \"p\": "), 0u) << run << ": " << error;
  }
}

TEST(Scorecard, UnknownRun) {
  const net::Machine machine = net::read_machine("quong");
  EXPECT_THROW(run("marathon", machine, {}), Error);
}

Score sharp(Use use, double error) {
  Score score;
  score.use = use;
  score.error = error;
  return score;
}

TEST(Scorecard, SummaryOfNumbersAndRanges) {
  std::vector<Score> scores{sharp(Use::fitted, 0.01), sharp(Use::fitted, -0.4), sharp(Use::fitted, 0.03),
                            sharp(Use::predicted, 0.2)};
  Score range = sharp(Use::fitted, 0);
  range.sharp = false;
  scores.push_back(range);
  range.error = 0.5;
  scores.push_back(range);
  const Summary sum = summarise(scores, Use::fitted);
  EXPECT_EQ(sum.numbers, 3);
  EXPECT_EQ(sum.median, 0.03);
  EXPECT_EQ(sum.greatest, 0.4);
  EXPECT_EQ(sum.beyond_30, 1);
  EXPECT_EQ(sum.ranges, 2);
  EXPECT_EQ(sum.right, 1);
}

// These are the bounds that docs/model.md states.
TEST(Scorecard, TheModelKeepsToThePublishedFigures) {
  const std::vector<Figure> figures = read_figures(net::find_published());
  const std::vector<Score> scores = score(figures, read_machines(figures));
  const Summary fitted = summarise(scores, Use::fitted), predicted = summarise(scores, Use::predicted);
  EXPECT_GT(fitted.numbers, 100);
  EXPECT_LE(fitted.median, 0.02);
  EXPECT_LE(fitted.greatest, 0.31);
  EXPECT_GT(predicted.numbers, 150);
  EXPECT_LE(predicted.median, 0.04);
  EXPECT_LE(predicted.beyond_30, 6);
  EXPECT_GE(predicted.right * 100, predicted.ranges * 90);
  for (const Score& score : scores) {
    const bool far_off = score.use == Use::predicted && score.sharp && std::abs(score.error) > 0.3;
    EXPECT_TRUE(!far_off || !score.reason.empty()) << score.source << ": " << score.figure << " is off by "
                                                   << score.error * 100 << " % without a note that says why";
  }
}

// Of boxes of GPUs, only ping-pongs between kernels are fitted.
TEST(Scorecard, FacesAndSumsOfKernelsArePredictedFromTheirPingPongs) {
  std::vector<Figure> figures = read_figures(net::find_published());
  std::erase_if(figures, [](const Figure& figure) { return !figure.source.starts_with("own"); });
  for (const Figure& figure : figures)
    if (figure.use != Use::unusable)
      EXPECT_TRUE(figure.use == Use::predicted || figure.run.ends_with("_pingpong")) << figure.name;
  const std::vector<Score> scores = score(figures, read_machines(figures));
  EXPECT_LE(summarise(scores, Use::fitted).median, 0.05);
  const Summary predicted = summarise(scores, Use::predicted);
  EXPECT_GE(predicted.numbers, 30);
  EXPECT_LE(predicted.median, 0.10);
  EXPECT_EQ(predicted.beyond_30, 0);
}

TEST(Scorecard, ProtocolsThatThereAreNot) {
  RunSettings settings;
  settings.library = "lll";
  settings.bytes = 8;
  const auto error_on = [&settings](const char* machine) -> std::string {
    try {
      run_kernel_pingpong(net::read_machine(machine), settings);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(error_on("dgx-h200"), "kernels of dgx-h200 put by no protocol `lll`; there are nvshmem");
  EXPECT_EQ(error_on("quong"), "kernels of quong put by no protocol `lll`; its file has no [kernels]");
}

}  // namespace
}  // namespace tca::tool
