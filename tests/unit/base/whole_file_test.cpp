// Tests files that are written as a whole or not at all.
#include "base/system/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "own_folder.hpp"

namespace tca::test {
namespace {

namespace fs = std::filesystem;

// No file can have more than so many bytes, as on a disk that is nearly full.
class LittleRoom {
 public:
  explicit LittleRoom(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit little{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &little);
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  LittleRoom(const LittleRoom&) = delete;
  ~LittleRoom() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int);
};

class WholeFile : public testing::Test {
 protected:
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  OwnFolder folder_;
  fs::path path_ = folder_ / "file";
};

TEST_F(WholeFile, IsReplacedAndNothingStaysBeside) {
  EXPECT_EQ(base::write_whole(path_, "one"), 0);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  fs::create_symlink("file", folder_ / "link");
  EXPECT_EQ(base::write_whole(folder_ / "link", "two"), 0);

  EXPECT_EQ(text(), "two");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0604U);
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFile, StaysAsItWasWhereThereIsNoRoom) {
  ASSERT_EQ(base::write_whole(path_, "one"), 0);
  const LittleRoom room(100);

  EXPECT_EQ(base::write_whole(path_, std::string(101, 'x')), EFBIG);
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(base::append_whole(path_, std::string(98, 'x')), EFBIG);
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(base::append_whole(path_, std::string(97, 'x')), 0);
  EXPECT_EQ(text(), "one" + std::string(97, 'x'));
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, PassesOverTheDraftOfAnother) {
  std::ofstream(path_.string() + base::draft_suffix) << "another's";

  EXPECT_EQ(base::write_whole(path_, "mine"), 0);

  EXPECT_EQ(text(), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFile, IsNotMadeOfWhatIsNoFile) {
  EXPECT_EQ(base::write_whole("/dev/null", "text"), 0);
  EXPECT_EQ(base::write_whole("/dev/full", "text"), ENOSPC);
  EXPECT_EQ(base::write_whole(folder_, "text"), EISDIR);
  EXPECT_EQ(base::write_whole(folder_ / "deep" / "file", "text"), ENOENT);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace tca::test
