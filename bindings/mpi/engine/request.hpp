// What is under way: sends and receives that are not complete, and messages that nobody has asked for yet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mpi/engine/list.hpp"

namespace tca::p2p {

inline constexpr int any_source = -1;
inline constexpr std::int32_t any_tag = -1;  // tags are not negative

class Context;

// Where the elements of a message lie that do not lie in a row, or in memory that is no host's. Its functions may be called by any
// thread, and make no MPI call.
class Scattering {
 public:
  virtual ~Scattering() = default;
  // What lets another process fetch the elements by itself (Options::fetch); empty where they are copied by `gather`.
  virtual std::span<const std::byte> reach() const { return {}; }
  // Copy bytes `at` to `at + bytes` of the message from, or to, the elements of a buffer.
  virtual void gather(const std::byte* buffer, std::size_t at, std::size_t bytes, std::byte* into) const = 0;
  virtual void scatter(std::byte* buffer, std::size_t at, std::size_t bytes, const std::byte* from) const = 0;
};

// A buffer: `bytes` bytes in a row, or those that `scattering` says, which lives as long as the request.
struct Source {
  const void* data = nullptr;
  std::size_t bytes = 0;
  const Scattering* scattering = nullptr;
};
struct Target {
  void* data = nullptr;
  std::size_t bytes = 0;
  const Scattering* scattering = nullptr;
};

// A message as its receiver learns of it. Ranks are those of the engine, not of a communicator.
struct Envelope {
  int source = any_source;
  std::int32_t tag = any_tag;
  std::size_t bytes = 0;
};

enum class Failure : std::uint8_t { none, truncated, unreadable };

// A send or a receive. Whoever starts it keeps it, where it is, until `done`; the rest is read after that.
struct Request : Linked {
  std::atomic<bool> done{false};
  bool is_send = false;
  bool is_cancelled = false;
  bool is_posted = false;
  bool is_detached = false;  // nobody keeps it: the engine does, and frees it
  Failure failure = Failure::none;
  int peer = any_source;  // the receiver; or from whom to receive, as asked for
  std::int32_t tag = any_tag;
  Envelope envelope;  // of what was received
  Context* context = nullptr;
  Target target;
  std::uint64_t told = 0;  // the sender, who waits until a message of many fragments is here; or 0
  Source source;           // of a send that the receiver fetches
  std::unique_ptr<std::byte[]> gathered;  // a send's own copy of the message
  // A send that is complete some time after `begun`, though nobody has received it: by a copy that goes on as `twin`.
  bool is_impatient = false;
  std::chrono::steady_clock::time_point begun;
  Request* twin = nullptr;
};

// A message that has come before a receive that it matches.
struct Arrival : Linked {
  Envelope envelope;
  Context* context = nullptr;
  bool is_offered = false;  // the bytes are the sender's still, at `address`
  std::uint64_t address = 0;
  std::uint64_t reach_bytes = 0;  // if not 0, what is there is not the message but how to reach it
  std::uint64_t sender = 0;       // whom to tell when it is matched, or 0
  // Its bytes, where they came through the ring. Short messages, of which many may wait, take no memory of their own.
  std::byte short_message[256];
  std::unique_ptr<std::byte[]> long_message;

  std::byte* bytes() { return long_message ? long_message.get() : short_message; }
};

}  // namespace tca::p2p
