// Point-to-point messages among the ranks of a host, by MPI's rules and without MPI: matching by communicator, source and tag,
// with wildcards and in order; probes, matched probes, cancelled receives, truncation.
//
// Short messages travel through rings, and are there, for the sender, once they are in one. Long ones are offered, and the
// receiver fetches them from the sender's memory. Either way the rank that receives does the work: what it takes to be complete
// never waits for the sender to be in MPI. The reverse is ensured by a thread that sleeps until somebody has waited for this rank
// for long, and then receives in its place.
//
// Any thread may call. One at a time is inside; a thread that waits lets others in between two looks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "mpi/engine/context.hpp"
#include "mpi/engine/helper.hpp"
#include "mpi/engine/lock.hpp"
#include "mpi/engine/peers.hpp"
#include "mpi/engine/pool.hpp"
#include "mpi/engine/request.hpp"

namespace tca::p2p {

struct Options {
  std::size_t ring_bytes = std::size_t{128} << 10;    // a power of two
  std::size_t fragment_bytes = std::size_t{4} << 10;  // sender and receiver copy at once, so many bytes apart
  std::size_t offered_from = std::size_t{128} << 10;  // messages from here on are fetched by the receiver,
  std::size_t offered_always = std::size_t{2} << 20;  // but up to here only if it is not waiting
  std::function<void()> idle;                         // called now and then by a rank that waits
  // Fetches the first `bytes` bytes of a message by what its sender's Scattering::reach says. Returns whether it could.
  std::function<bool(int source, std::span<const std::byte> reach, std::size_t bytes, const Target& target)>
      fetch;
};

enum class Mode : std::uint8_t {
  standard,
  synchronous,  // complete once it is matched
  buffered      // complete at once
};

class Engine {
 public:
  // Collective. Returns null, on every rank alike, where the ranks cannot reach each other's memory.
  static std::unique_ptr<Engine> make(int rank, int ranks, const Gather& gather, Options options = {});
  Engine(const Engine&) = delete;
  ~Engine();

  // A communicator, by the number that its ranks call it by. It is there from when anybody names it until all has left it after
  // `close`. Numbers are not used again.
  Context& context(std::uint32_t number);
  void close(Context& context);

  // Ranks, sources and tags are in their ranges. Throw std::bad_alloc.
  void start_send(Request& request, Context& context, int to, std::int32_t tag, const Source& source,
                  Mode mode = Mode::standard);
  void start_receive(Request& request, Context& context, int source, std::int32_t tag, const Target& target);
  // Receives what `match` has returned.
  void start_receive(Request& request, Arrival& message, const Target& target);
  void send(Context& context, int to, std::int32_t tag, const Source& source, Mode mode = Mode::standard);

  [[nodiscard]] bool test(Request& request);
  void wait(Request& request);
  // Takes a receive back unless it has a message. It is done either way, sooner or later.
  void cancel(Request& request);

  // The message that a receive would take, which stays; and which nobody else will take.
  [[nodiscard]] std::optional<Envelope> probe(Context& context, int source, std::int32_t tag);
  [[nodiscard]] Arrival* match(Context& context, int source, std::int32_t tag);

  // Requests that live as long as it takes: `release` frees one when it is done.
  Request& make_request();
  void release(Request& request);

  // Moves what is there; returns whether there was anything.
  bool progress();
  // Called after looks that found nothing: lets others run, and reminds those that this rank waits for.
  class Patience {
   public:
    explicit Patience(Engine& engine) : engine_(engine) {}
    Patience(const Patience&) = delete;
    ~Patience();
    void pause();

   private:
    Door& door() const { return engine_.peers_.door(engine_.peers_.rank()); }

    Engine& engine_;
    unsigned looks_ = 0;
  };
  template <class Done>
  void wait_until(Done&& done) {
    Patience patience(*this);
    while (!done())
      if (!progress()) patience.pause();
  }
  // Returns whether nobody needs this rank's memory any more.
  [[nodiscard]] bool is_drained();

 private:
  // The message of a source of which not all fragments have come: into a receive, or a message that waits.
  struct Inflow {
    Request* request = nullptr;
    Arrival* arrival = nullptr;
    std::size_t here = 0, bytes = 0;
  };

  Engine(Peers peers, Options options);

  bool progress_locked();
  // sending
  RingWriter& writer(int to) { return writers_[static_cast<std::size_t>(to)]; }
  // Whether a message is left where it is, for the receiver to fetch. Two ranks that copy at once, through a ring, are faster; but
  // a receiver that does not look would have the ring grow.
  bool is_offered(int to, const Source& source) const {
    if (is_far(source)) return true;
    return source.bytes >= options_.offered_from &&
           (source.bytes >= options_.offered_always ||
            peers_.door(to).attending.load(std::memory_order_relaxed) == 0);
  }
  // In memory that the receiver reaches without this rank, but not as memory of a process.
  static bool is_far(const Source& source) {
    return source.scattering != nullptr && !source.scattering->reach().empty();
  }
  void make_room(int to, std::size_t bytes);
  void send_at_once(const Context& context, int to, std::int32_t tag, const Source& source);
  void send_fragments(const Context& context, int to, std::int32_t tag, const Source& source, Request* told);
  void offer(Request& request, const Source& source, Mode mode);
  void send_to_self(Request& request, const Source& source, Mode mode);
  void move_if_late(Request& request);
  void move(Request& request);
  void give(int to, const Wanted& wanted);
  void let_go(Request& request);
  void owe(int to);
  Line& answer(int to, Kind kind);
  void tell(int rank, std::uint64_t sender);
  void sent(int to, std::uint64_t sender);
  // receiving
  static void prepare(Request& request, Context& context, const Target& target);
  void take(int source, const Line& line);
  void take_whole(int source, const Line& line);
  void take_first(int source, const Line& line);
  void take_fragment(int source, const Fragment& fragment);
  void take_offer(int source, const Line& line);
  void take_moved(int source, std::uint32_t context, const Moved& moved);
  Arrival& keep(Context& context, const Envelope& envelope, bool with_bytes = true);
  static void accept(Request& request, const Envelope& envelope);
  static void store(const Request& request, std::size_t at, const std::byte* from, std::size_t bytes);
  [[nodiscard]] bool fetch(Request& request, const Offer& offer);
  void fetch_or_want(Request& request, const Offer& offer);
  void bind(Request& request, Arrival& message);
  void received(Request& request, std::uint64_t sender);
  void finish(Request& request);
  Context& context_locked(std::uint32_t number);
  void knock();
  void remind();

  Peers peers_;
  Options options_;
  bool is_crowded_;
  Lock lock_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Context>> contexts_;
  Context* last_context_ = nullptr;  // the one asked for last
  std::vector<RingWriter> writers_;
  std::vector<RingReader> readers_;
  std::vector<Inflow> inflows_;
  std::vector<std::uint32_t> owing_;  // by rank, how many of this rank's sends it has not matched
  std::size_t all_owing_ = 0;
  unsigned idle_ = 0;  // looks in a row that found nothing
  Pool<Request> requests_;
  Pool<Arrival> arrivals_;
  std::unique_ptr<Helper> helper_;  // last: it uses all the others
};

}  // namespace tca::p2p
