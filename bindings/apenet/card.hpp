// What a rank has of its card: the buffers that it has registered, what others have told it of theirs, and events.
//
// A put is a post: the data, and notices that carry what the target's event says. Those that say that there is an event are
// in one slot, so a rank waits for whichever of the others comes first. What does not fit into two notices goes into a record
// in the target's board, which costs the card a put of its own. A rank tells the others of a buffer when it registers it, by
// a post into their boards, so that a put needs no question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "apelib.h"
#include "tca/post.hpp"
#include "tca/world.hpp"

namespace tca::apenet {

inline constexpr std::size_t most_buffers = 1023;  // of a rank, at a time
inline constexpr std::size_t most_events = 100;    // of a rank's puts at another, that have not been taken

// What a target learns of a put.
struct Record {
  am_vaddr_t vaddr;
  std::uint64_t bytes;
  std::uint32_t data;
  std::uint32_t unused;
};

class Card {
 public:
  explicit Card(World& world);

  void topology(unsigned& x, unsigned& y, unsigned& z) const;
  ape_net_address_t address_of(int rank) const;
  int rank_at(ape_net_address_t address, am_portid_t port) const;
  int rank() const { return world_.rank(); }

  am_vaddr_t add_buffer(void* memory, std::size_t bytes, am_context_t context, int kind);
  void drop_buffer(am_vaddr_t vaddr);

  // Returns false where there is no room and the program does not want to wait.
  bool put(int rank, const Record& record, const void* from, bool blocking, am_context_t context);
  // Returns whether there was an event within the time, in nanoseconds; the world's time limit where it is negative.
  bool take_event(am_event_t& event, std::int64_t within);

 private:
  struct Buffer {
    Region region;
    am_context_t context;
    int kind;
  };
  struct Put {
    Post post;
    am_event_sent_t event;
  };
  // What is exchanged with another rank.
  struct Partner {
    RegionToken board;
    std::uint64_t sent = 0, room = most_events;  // puts there
    std::uint64_t taken = 0;                     // of its puts here
  };

  static std::size_t token_at(int owner, std::size_t buffer);
  std::size_t record_at(int source, std::uint64_t number) const;
  void tell_others(std::size_t buffer, const RegionToken& token);
  bool make_room(int rank, bool blocking);
  Post idle_post();
  Record next_record(int source);
  void take_received(int source, am_event_t& event);
  void take_sent(am_event_t& event);
  Partner& partner(int rank) { return partners_[static_cast<std::size_t>(rank)]; }

  World& world_;
  Notices notices_;
  Region board_;
  std::vector<Partner> partners_;
  std::map<std::size_t, Buffer> buffers_;  // by number
  std::deque<Put> puts_;                   // under way, in the order of their starts
  std::vector<Post> idle_;
};

}  // namespace tca::apenet
