// What ranks tell each other: bytes out, the same values in, and nothing read past the end.
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

}  // namespace
}  // namespace tca::test
