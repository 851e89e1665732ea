// The Simulator holds the clock, the pending events, and the agents: programs that wait for simulated time
// and for each other.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model/des/event.hpp"
#include "model/des/large.hpp"
#include "model/des/task.hpp"

namespace tca::des {

// A readable name such as "rank 3" or "dma 12.1". It is formatted only when needed, and its text is a
// literal.
struct Label {
  constexpr Label() = default;
  constexpr Label(const char* words, std::int64_t number = -1, std::int64_t further = -1)
      : text(words), index(static_cast<std::int32_t>(number)), part(static_cast<std::int32_t>(further)) {}

  const char* text = "";
  std::int32_t index = -1;  // left out when negative
  std::int32_t part = -1;   // left out when negative

  std::string to_string() const;
};

// Handles the events of a range of objects.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(const Event& event) = 0;

  // Prefetches what an upcoming event will need. The stages run from 0 to 3; the higher, the sooner the
  // event. A large model's state is in no cache, so it is better to fetch it while other events are
  // handled.
  virtual void prepare(const Event& /*event*/, unsigned /*stage*/) const {}
};

enum class AgentKind : std::uint8_t {
  worker,   // must end; a simulation that leaves one waiting for ever has deadlocked
  service,  // serves others and need not end
};

// A waiting agent, as messages describe it.
struct Waiting {
  std::string agent, what;
  Time since;
};

// The agents that wait for one thing, in order of arrival.
struct WaitList {
  static constexpr std::uint32_t nobody = UINT32_MAX;
  std::uint32_t first = nobody, last = nobody;
};

class Simulator {
 public:
  // For the bits see wheel.hpp. A model with many events in flight needs narrow buckets.
  struct Options {
    QueueKind queue = QueueKind::wheel;
    unsigned bucket_bits = 6;
    unsigned bucket_count_bits = 14;
  };
  Simulator() : Simulator(Options{}) {}
  explicit Simulator(const Options& options);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  Time now() const { return now_; }

  // Adds a handler and returns the number of its object 0; its other objects follow, up to 2^28 in all. The
  // handler outlives the simulator's last run.
  std::uint32_t add(Handler& handler);
  void schedule(Time at, std::uint32_t object, std::uint32_t sequence) {
    const Event event{at, object, sequence};
    soon_count_ == 0 || before(soon(soon_count_ - 1), event) ? queue_->push(event) : insert(event);
  }

  // Adds an agent, which begins at the current time but not within this call.
  void spawn(Task program, Label name, AgentKind kind = AgentKind::worker);

  // Agents co_await these.
  auto sleep(Time span) { return Sleep{*this, now_ + span}; }
  auto sleep_until(Time time) { return Sleep{*this, time}; }

  // Runs until nothing is left to happen. Throws what an agent throws. If workers are left waiting, throws
  // Error{timed_out}, which names them and what they wait for.
  void run();
  // Runs up to and including `until`; returns false if nothing is left to happen. The caller has to detect
  // a deadlock.
  bool run_until(Time until);
  // Processes a single event; returns false if there is none.
  bool step();

  // Returns a hash over every event so far, in order. It is equal for equal models, whatever the queue, the
  // compiler or the machine.
  std::uint64_t hash() const { return hash_; }
  std::uint64_t events() const { return events_; }
  std::size_t pending() const { return soon_count_ + queue_->size(); }
  std::size_t workers() const { return workers_; }

  // Returns the workers that have not ended and are waiting for something other than time.
  std::vector<Waiting> waiting() const;
  [[noreturn]] void fail_deadlocked() const;

  // The awaitables of wait.hpp are built on the following calls. An agent is parked in a list and woken
  // from it later. A woken agent runs at the current time, but after this call.
  void park(Task::Handle task, WaitList& list, Label what, std::uint64_t need);
  void wake_first(WaitList& list);
  // Moves the first agent of one list to the end of another, where it waits for something else.
  void move_first(WaitList& from, WaitList& to, Label what, std::uint64_t need);
  std::uint64_t first_need(const WaitList& list) const { return agents_[list.first].need; }
  // Wakes the agents whose need is at most `value`.
  void wake_up_to(WaitList& list, std::uint64_t value);

 private:
  friend struct Task::Finish;
  static constexpr unsigned object_bits = 28;  // of an object's number; the bits above number its handler

  struct Sleep {
    Simulator& simulator;
    Time until;
    bool await_ready() const { return until <= simulator.now_; }
    void await_suspend(Task::Handle task) const { simulator.sleep_in(task, until); }
    void await_resume() const {}
  };

  // Fills one cache line.
  struct alignas(64) Agent {
    Task::Handle outermost;
    Task::Handle innermost;  // the task to resume
    std::uint64_t need = 0;
    Label waits_for;
    Time since = 0;
    std::uint32_t sequence = 0;
    std::uint32_t next = WaitList::nobody;  // in a wait list or in the list of free agents
    AgentKind kind = AgentKind::worker;
    bool parked = false;
  };
  static_assert(sizeof(Agent) == 64);

  class Agents final : public Handler {
   public:
    explicit Agents(Simulator& simulator) : simulator_(simulator) {}
    void handle(const Event& event) override { simulator_.resume(event.object); }
    void prepare(const Event& event, unsigned stage) const override {
      simulator_.prepare_agent(event.object, stage);
    }

   private:
    Simulator& simulator_;
  };

  bool next(Time until, Event& event);
  void process(const Event& event);
  Event& soon(std::size_t place) { return soon_[(soon_first_ + place) % soon_.size()]; }
  void insert(const Event& event);
  void look_ahead();
  void prepare(std::size_t place, unsigned stage) {
    handlers_[soon(place).object >> object_bits]->prepare(soon(place), stage);
  }
  void sleep_in(Task::Handle task, Time until);
  void wake_at(std::uint32_t agent, Time at) { schedule(at, agent, agents_[agent].sequence++); }
  void wait_in(WaitList& list, std::uint32_t agent, Label what, std::uint64_t need);
  void unpark(std::uint32_t agent);
  void resume(std::uint32_t agent);
  void prepare_agent(std::uint32_t agent, unsigned stage) const;
  void end(std::uint32_t agent);

  Time now_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t events_ = 0;
  std::unique_ptr<Queue> queue_;
  // A ring of the next events, in order. They leave the queue before their turn so that what they need can
  // be prefetched. Empty while few events are pending, since their objects' state then stays in the caches
  // anyway.
  std::array<Event, 32> soon_;
  std::size_t soon_first_ = 0, soon_count_ = 0;
  std::vector<Handler*> handlers_;
  Agents agents_handler_{*this};
  LargeVector<Agent> agents_;
  LargeVector<Label> names_;  // of the agents
  std::uint32_t free_agent_ = WaitList::nobody;
  std::size_t workers_ = 0;
  bool ended_ = false;  // the running agent has ended
};

}  // namespace tca::des
