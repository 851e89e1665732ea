// Images: ranks that read and write each other's coarrays, each by itself. Puts and signals are posts. A get
// is a request, which the image that has the value answers in whatever wait it is; so it waits in slices.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/section.hpp"
#include "tca/post.hpp"

namespace tca::xacc {

// Memory that every image has one of, in the order in which they were made.
struct Coarray {
  std::string name;
  Region region;
  std::vector<RegionToken> tokens;  // of every rank
};

// What an image asks of another: elements, or a lock.
struct Request {
  enum class Kind : std::int64_t { get, lock, unlock } kind;
  std::int64_t coarray, element_bytes, loops, first;
  std::array<std::int64_t, XACC_DIMS> count, pitch;
  RegionToken answer;
};
static_assert(std::is_trivially_copyable_v<Request>);

class Images {
 public:
  // Slots of notices.
  enum Slot : int { meeting, pair, request, reply, posts };

  explicit Images(World& world);

  // Collective: memory for a coarray, and memory that there is.
  void make(void** memory, const char* name, std::size_t bytes);
  void adopt(void* memory, const char* name, std::size_t bytes);
  bool has(const void* address) const { return try_find(address) != nullptr; }
  bool has_coarrays() const { return !coarrays_.empty(); }

  void put(const xacc_section& to, std::int64_t image, const xacc_section& from);
  void get(const xacc_section& to, const xacc_section& from, std::int64_t image);
  // The same of a box in another rank's part of what begins here at `memory`; values lie row by row.
  void put(const void* memory, int rank, const Steps& steps, const Box& box, std::size_t bytes,
           const std::byte* values);
  void get(const void* memory, int rank, const Steps& steps, const Box& box, std::size_t bytes,
           std::byte* into);
  const void* element(const xacc_section& from, std::int64_t image);
  void lock(const void* object, std::int64_t image, bool locks);

  // Waits until `ranks`, of which this is one, have come here, and answers meanwhile.
  void meet(const std::vector<int>& ranks);
  void meet_one(int rank);
  // All are told before any is waited for, so that the order of images does not matter.
  void meet_some(const int* images, int count);
  void post(int rank, std::int64_t tag);
  void wait_post(const std::vector<int>& ranks, std::optional<std::int64_t> tag);
  void flush() { post_.flush(); }
  static int rank_of(std::int64_t image);

 private:
  void keep(const char* name, Region region);
  void prepare_requests();
  const Coarray* try_find(const void* address) const;
  const Coarray& find(const void* address) const;
  std::int64_t number_of(const void* address) const;
  void fetch(const Side& from, std::int64_t image, std::byte* into);
  void ask(int rank, Request request, std::size_t bytes);
  void signal(int rank, int slot, std::uint32_t tag);
  void wait(const Notice& notice);
  void answer_all();
  void answer(int source);
  void answer_get(int source, const Request& request);
  void change_lock(int source, const Request& request);

  World& world_;
  Notices notices_;
  Post post_;
  std::deque<Coarray> coarrays_;
  std::optional<Region> requests_;  // one of each rank
  std::vector<RegionToken> request_tokens_;
  std::optional<Region> answer_;  // what this image has asked for
  struct Lock {
    std::int64_t coarray, offset;
    std::deque<int> holders;  // the first has it
  };
  std::vector<Lock> locks_;
  std::array<std::array<std::byte, 256>, 16> elements_{};  // of gets within one expression
  std::size_t next_element_ = 0;
};

}  // namespace tca::xacc
