// Tests that an error carries what it has to do with, also to other ranks.
#include "base/error.hpp"

#include <gtest/gtest.h>

namespace tca::test {
namespace {

const ErrorFields all{
    .rank = 1, .chain = "faces", .step = 3, .missing = {0, 2, 3, 4}, .file = "a.toml", .line = 7};

TEST(Error, ItsMessageBeginsWithThePlaceInAFile) {
  EXPECT_STREQ(Error(Errc::refused, "it cannot be").what(), "it cannot be");
  EXPECT_STREQ(Error(Errc::refused, "it cannot be", {.file = "a.toml"}).what(), "a.toml: it cannot be");
  EXPECT_STREQ(Error(Errc::refused, "no", {.file = "a.toml", .line = 7, .column = 2}).what(),
               "a.toml:7:2: no");
  EXPECT_STREQ(Error(Errc::refused, "no", {.line = 7}).what(), "line 7: no");
}

TEST(Error, DescribesItsFields) {
  const Error error(Errc::timed_out, "it is late", all);

  EXPECT_EQ(error.describe(), "timed_out: rank 1, chain 'faces', step 3, missing 0, 2 to 4, a.toml, line 7");
}

TEST(Error, SaysSoWhereNoRankHasMetIt) {
  const Error error(Errc::invalid_argument, "it cannot be");

  EXPECT_FALSE(error.rank());
  EXPECT_EQ(error.describe(), "invalid_argument: no rank");
}

TEST(Error, TakesOnlyTheFieldsThatItLacks) {
  const Error error = Error(Errc::refused, "no", {.rank = 5}).with(all);

  EXPECT_EQ(error.rank(), 5);
  EXPECT_EQ(error.chain(), "faces");
  EXPECT_STREQ(error.what(), "no");
}

TEST(Error, ReachesAnotherRankWhole) {
  const Error error(Errc::rank_lost, "it is lost", all);
  base::Writer writer;
  base::write(writer, error);
  base::Reader reader(writer.blob());

  const Error theirs = base::read_error(reader);

  EXPECT_EQ(theirs.code(), error.code());
  EXPECT_STREQ(theirs.what(), error.what());
  EXPECT_EQ(theirs.describe(), error.describe());
  EXPECT_TRUE(reader.done());
}

}  // namespace
}  // namespace tca::test
