#include "route/tuning.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "base/text/ranks.hpp"

namespace tca::route {

namespace fs = std::filesystem;

namespace {

using base::fail;

constexpr off_t largest_table = 1 << 20;
constexpr std::int64_t day = std::int64_t{24} * 60 * 60;

std::string text_of(const char* value) { return value != nullptr ? value : ""; }

// Returns a part of a file name for a description of hardware: its first words in lower case, and a hash of
// all of it.
std::string slug(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, text.find(','))) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  return fmt::format("{}{}{:08x}", name.substr(0, 40), name.ends_with('-') ? "" : "-", hash);
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Returns the text of rank 0's table if it can be used; empty for the built-in one.
std::string own_table(const std::string& setting, const TuningNeeds& needs, fs::path& path) {
  if (setting == "off") return {};
  path = setting.empty() ? tuning_path(needs.hardware, needs.fabrics) : fs::path(setting);
  std::error_code none;
  if (setting.empty() && (path.empty() || !fs::exists(path, none))) return {};
  try {
    std::string text = read_table(path, !setting.empty());
    usable_table(text, needs);
    return text;
  } catch (const Error& problem) {
    base::say_once(
        fmt::format("the tuning table {} is not used: {}; the built-in costs serve until `tca tune` measures "
                    "this machine (OPENTCA_TUNING=off leaves tables out)",
                    path.string(), problem.what()));
    return {};
  }
}

// What each rank tells the others. The version is first, since what follows it may differ between versions.
struct Voice {
  std::string version, setting, hardware, table, path;
  std::vector<int> ranks = {};  // that say the same, in ascending order
};

base::Blob encode(const Voice& voice) {
  base::Writer writer;
  for (const std::string* text : {&voice.version, &voice.setting, &voice.hardware, &voice.table, &voice.path})
    writer.put_string(*text);
  return writer.blob();
}

// Returns what the ranks say, in the order of the first rank that says it.
std::vector<Voice> voices_in(const std::vector<base::Blob>& all, const std::string& version) {
  std::vector<Voice> voices;
  std::vector<const base::Blob*> said;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto same =
        std::find_if(said.begin(), said.end(), [&](const auto* blob) { return *blob == all[rank]; });
    const auto number = static_cast<std::size_t>(same - said.begin());
    if (same == said.end()) {
      base::Reader reader(all[rank]);
      Voice voice;
      voice.version = reader.get_string();
      if (voice.version == version) {
        for (std::string* text : {&voice.setting, &voice.hardware, &voice.table, &voice.path})
          *text = reader.get_string();
      }
      voices.push_back(std::move(voice));
      said.push_back(&all[rank]);
    }
    voices[number].ranks.push_back(static_cast<int>(rank));
  }
  return voices;
}

// Returns the first voice whose text differs from rank 0's, or null.
template <class Member>
const Voice* dissenter(const std::vector<Voice>& voices, Member member) {
  for (const Voice& voice : voices)
    if (voice.*member != voices[0].*member) return &voice;
  return nullptr;
}

std::string in_words(const std::string& setting) {
  return setting.empty() ? "is not set" : fmt::format("is '{}'", setting);
}

void refuse_differences(const std::vector<Voice>& voices) {
  if (const Voice* other = dissenter(voices, &Voice::version))
    fail(Errc::incompatible, "rank {} runs OpenTCA {}, rank 0 {}; start every rank with the same version",
         other->ranks[0], other->version, voices[0].version);
  if (const Voice* other = dissenter(voices, &Voice::setting))
    fail(Errc::incompatible,
         "OPENTCA_TUNING {} on rank {}, and {} on rank 0; give every rank the same tuning table",
         in_words(other->setting), other->ranks[0], in_words(voices[0].setting));
}

void tell_of_other_hardware(const std::vector<Voice>& voices) {
  std::vector<int> others;
  for (const Voice& voice : voices)
    if (voice.hardware != voices[0].hardware)
      others.insert(others.end(), voice.ranks.begin(), voice.ranks.end());
  if (others.empty()) return;
  std::sort(others.begin(), others.end());
  base::say_once(
      fmt::format("rank{} {} run on other hardware ({}) than the tuning table {} of rank 0 was measured on "
                  "({}); all ranks use it (OPENTCA_TUNING=off leaves it out)",
                  others.size() == 1 ? "" : "s", base::list_ranks(others),
                  dissenter(voices, &Voice::hardware)->hardware, voices[0].path, voices[0].hardware));
}

bool know_their_own_costs(std::span<const std::unique_ptr<fabric::Fabric>> fabrics, int rank) {
  base::Shape byte;
  byte.run = 1;
  return std::all_of(fabrics.begin(), fabrics.end(), [&](const auto& fabric) {
    return fabric->pricing().predict_us(0, rank, rank, byte).has_value();
  });
}

}  // namespace

fs::path tuning_path(const std::string& hardware, const std::string& fabrics) {
  fs::path folder = text_of(base::set_variable("XDG_CACHE_HOME"));
  if (!folder.is_absolute()) {
    const std::string home = text_of(std::getenv("HOME"));
    if (home.empty()) return {};
    folder = fs::path(home) / ".cache";
  }
  return folder / "opentca" / fmt::format("tuning-{}-{}.toml", slug(hardware), fabrics);
}

TuningTable usable_table(std::string_view text, const TuningNeeds& needs) {
  TuningTable table = TuningTable::parse(text);
  const TuningOrigin& origin = table.origin;
  if (origin.hardware != needs.hardware)
    fail(Errc::invalid_argument, "it was measured on other hardware ({}; this is {})", origin.hardware,
         needs.hardware);
  if (origin.version != needs.version)
    fail(Errc::invalid_argument, "it was measured with OpenTCA {}, this is {}", origin.version,
         needs.version);
  if (origin.fabrics != needs.fabrics)
    fail(Errc::invalid_argument, "it was measured for the fabrics {}, this world has {}", origin.fabrics,
         needs.fabrics);
  if (origin.measured > needs.now + day)
    fail(Errc::invalid_argument, "it was measured in the future, at {}", date_of(origin.measured));
  if (needs.now - origin.measured > days_until_stale * day)
    fail(Errc::invalid_argument, "it was measured {} days ago", (needs.now - origin.measured) / day);
  return table;
}

std::string read_table(const fs::path& path, bool foreign) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail(Errc::invalid_argument, "it cannot be read: {}", std::strerror(errno));
  struct stat status {};
  if (fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode))
    fail(Errc::invalid_argument, "it is not a file");
  if (!foreign && status.st_uid != geteuid())
    fail(Errc::invalid_argument, "it belongs to another user (uid {})", status.st_uid);
  if (status.st_size > largest_table)
    fail(Errc::invalid_argument, "it has {} bytes, too many for a table", status.st_size);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(file.fd(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(Errc::invalid_argument, "it cannot be read: {}", std::strerror(errno));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

Costs agree_on_costs(control::Control& control, std::span<const std::unique_ptr<fabric::Fabric>> fabrics,
                     const control::Places& places, std::string_view mpi) {
  Costs costs(control.rank(), places.sub_cluster);
  if (know_their_own_costs(fabrics, control.rank())) {
    costs.leave_to_fabrics();
    return costs;
  }
  const std::string set = fabric_set(fabrics);
  const TuningNeeds needs{hardware_of(fabrics), set, software(mpi)};
  Voice mine{needs.version, text_of(base::set_variable("OPENTCA_TUNING")), needs.hardware, {}, {}};
  if (control.rank() == 0) {
    fs::path path;
    mine.table = own_table(mine.setting, needs, path);
    mine.path = path.string();
  }
  const std::vector<Voice> voices =
      voices_in(control.all_gather(encode(mine), "start-up (costs)"), mine.version);
  refuse_differences(voices);
  costs.assume(processor_of(voices[0].hardware));
  if (voices[0].table.empty()) return costs;
  if (control.rank() == 0) tell_of_other_hardware(voices);
  costs.use(TuningTable::parse(voices[0].table), voices[0].path);
  return costs;
}

}  // namespace tca::route
