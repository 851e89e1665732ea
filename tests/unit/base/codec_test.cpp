// Tests the encoding of what ranks tell each other: decoding gives the same values and never reads past the
// end.
#include "base/codec.hpp"

#include "messages.hpp"

namespace tca::test {
namespace {

TEST(Codec, ReadsBackWhatWasWritten) {
  base::Writer inner;
  inner.put(std::uint16_t{7});
  base::Writer writer;
  writer.put(3.5).put_string("two words").put_string("").put_blob(inner.blob()).put('x');
  const base::Blob blob = writer.blob();
  base::Reader reader(blob);
  EXPECT_EQ(reader.get<double>(), 3.5);
  EXPECT_EQ(reader.get_string(), "two words");
  EXPECT_EQ(reader.get_string(), "");
  EXPECT_EQ(reader.get<std::uint16_t>(), 7);
  EXPECT_FALSE(reader.done());
  EXPECT_EQ(reader.get<char>(), 'x');
  EXPECT_TRUE(reader.done());
}

TEST(Codec, RefusesToReadPastTheEnd) {
  const base::Blob blob(3);
  base::Reader reader(blob);
  EXPECT_TRUE(refuses(Errc::incompatible, {"3 bytes", "more were due"}, [&] { reader.get<int>(); }));
}

TEST(Codec, RefusesAStringLongerThanTheRest) {
  base::Writer writer;
  writer.put(SIZE_MAX).put('x');
  const base::Blob blob = writer.blob();
  base::Reader reader(blob);
  EXPECT_TRUE(refuses(Errc::incompatible, {"more were due"}, [&] { reader.get_string(); }));
}

TEST(Codec, NumbersTakeFewBytes) {
  const std::uint64_t numbers[]{0, 1, 127, 128, 16383, 16384, 1u << 31, UINT64_MAX};
  base::Writer writer;
  for (const std::uint64_t number : numbers) writer.put_number(number);
  base::Reader reader(writer.blob());
  for (const std::uint64_t number : numbers) EXPECT_EQ(reader.get_number(), number);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(base::Writer().put_number(127).blob().size(), 1u);
  EXPECT_EQ(base::Writer().put_number(UINT64_MAX).blob().size(), 10u);
}

}  // namespace
}  // namespace tca::test
