// Trains: transfers that are computed as a whole while nobody else wants their links.
//
// Each transfer claims its links for the time that it will use them, with the share of each that it will take. As long as
// the shares of those that overlap on a link come to no more than the whole of it, as when the requests of one slip in
// between the data of another, each goes its own way and costs three events. A transfer that would want more than is left
// makes all that overlap with it fall apart into packets, in the very state that packets would be in, and goes by packets
// itself; and so does whatever a packet meets on a link, unless all that it has to do is to go behind.
//
// As flows (Fidelity::flow) they never fall apart. From its start until all has left the NIC a flow takes a share of each
// of its links: the time for which its packets hold the link over the time that the flow would take undisturbed. Where
// these come to more than the whole, they share the link's time max-min fairly, and go slower all the way.
#pragma once

#include <unordered_map>
#include <vector>

#include "des/wait.hpp"
#include "net/claims.hpp"
#include "net/timeline.hpp"

namespace tca::net {

// How far a train had come when it fell apart.
struct Progress {
  std::uint64_t requests = 0;  // sent,
  std::uint64_t passed = 0;    // those of which all data has left the NIC,
  std::uint64_t bytes = 0;     // and what has arrived
  des::Time ready = 0;         // when the next request could be sent, had it a tag; never if there is none
};

// Who is told of a train: all requests are sent, all data has left the NIC, all has arrived; or it fell apart.
class Rider {
 public:
  virtual ~Rider() = default;
  virtual void train_issued(std::uint32_t message) = 0;
  virtual void train_passed(std::uint32_t message) = 0;
  virtual void train_arrived(std::uint32_t message) = 0;
  virtual void train_fell_apart(std::uint32_t message, const Progress& progress) = 0;
  // What its requests, or its data, begin their way as.
  virtual Packet train_packet(std::uint32_t message, bool request) const = 0;
  // It will soon be told of one: stages 2 and 3 (des::Handler).
  virtual void prepare(std::uint32_t message, unsigned stage) const = 0;
};

class Trains final : public Claimant {
 public:
  Trains(des::Simulator& simulator, Traffic& traffic, Rider& rider, bool as_flows);

  // For the next call of `start`: its links and how it is cut up, but for its tags. It has the memory of an earlier one.
  Trip& draft() { return draft_; }
  // Claims the links of a transfer, whose number is for `release`. It goes as a train unless it turns out to go by packets,
  // which `by_packets` tells.
  TrainId start(std::uint32_t message, des::Semaphore& tags);
  bool by_packets(TrainId train) const { return trains_[train].by_packets; }
  bool all_issued(TrainId train) const { return trains_[train].phase > Phase::issued; }
  // Of a transfer by packets: all has arrived. A train releases itself.
  void release(TrainId train);

  void meet(LinkId link, des::Time start, des::Time busy) override;
  void come(std::uint32_t what, des::Time now) override;
  void prepare(std::uint32_t what, unsigned stage) const override;

  std::size_t bytes() const;                          // of memory that the state takes
  std::uint64_t started() const { return started_; }  // as trains
  std::uint64_t fallen() const { return fallen_; }    // apart

 private:
  static constexpr std::uint64_t whole = Claims::whole;
  enum Phase : std::uint32_t { issued, passed, arrived, phases = 4 };

  struct Train {
    Trip trip;
    std::uint32_t message = 0;
    des::Semaphore* tags = nullptr;
    LinkId source = no_link;  // as in its trip
    // At full speed: when its last request is sent, its last data is in the NIC, and all has arrived.
    des::Time issued = 0, passed = 0, arrived = 0;
    // As a flow, its speed, since when, how long it would have taken at full speed for what it had done by then, and by how
    // much its last data was late in the NIC.
    std::uint64_t speed = whole;
    des::Time since = 0, done = 0, late = 0;
    std::uint32_t phase = 0;     // what comes next,
    des::Time due = des::never;  // and when
    // When it has an event, no later than that; whatever comes at another time is of the past.
    des::Time alarm = des::never;
    TrainId next_free = no_train;
    std::uint32_t place = UINT32_MAX;  // among those that share links, while these are shared out
    bool by_packets = false;

    bool drained() const { return phase >= Phase::arrived; }  // what is left takes the time of the way
  };
  // The tags of a pool that trains use: when those that are not there are so again, in this order, and the trains, the one that
  // took some last at the end.
  struct Lent {
    std::vector<des::Time> back;
    std::vector<TrainId> trains;
  };

  static des::Time scaled(des::Time span, std::uint64_t times, std::uint64_t over) {
    return static_cast<des::Time>(static_cast<double>(span) * static_cast<double>(times) /
                                  static_cast<double>(over));
  }
  template <class Visit>
  void each_stage(TrainId number, const Visit& visit) const {
    for (const Stage& stage : trains_[number].trip.asking) visit(stage);
    for (const Stage& stage : trains_[number].trip.data) visit(stage);
  }

  TrainId new_train();
  void free_train(TrainId number);
  void schedule(TrainId number);
  bool lend(Train& train) const;
  void keep_tags(TrainId number);
  void give_back(TrainId number);
  void queue_behind(Trip& trip) const;
  void claim(TrainId number);
  std::uint64_t claim_lane(TrainId number, const Lane& lane, std::uint64_t bytes, std::uint64_t packets,
                           des::Time gaps);
  void end(TrainId number);
  void carried(const Trip& trip, std::uint64_t from, std::uint64_t to);

  // Where trains meet (meeting.cpp).
  // Whether all of a train has been given to a link, so that whatever comes there now comes behind it.
  bool given(const Claim& claim) const {
    return as_flows_ ? trains_[claim.train].drained() : claim.given < simulator_.now();
  }
  // When a train is done with a link; of a flow that is known once all has left the NIC.
  des::Time end_of(const Claim& claim) const {
    const Train& train = trains_[claim.train];
    return as_flows_ && !train.drained() ? des::never : claim.end + train.late;
  }
  bool overbooked(TrainId number, LinkId link) const;
  bool alone(TrainId number) const;
  std::vector<TrainId> rivals(TrainId number) const;
  void go_by_packets(TrainId number);
  void fall_apart(TrainId number);

  // Where flows share (flows.cpp).
  bool short_of(LinkId link) const;
  void share_links(TrainId number, bool leaves);
  void set_speed(TrainId number, std::uint64_t speed);

  des::Simulator& simulator_;
  Traffic& traffic_;
  Rider& rider_;
  bool as_flows_;
  Trip draft_;
  Timeline timeline_;            // of whichever train is being computed,
  std::vector<des::Time> held_;  // and for how long it holds each link of a lane
  des::LargeVector<Train> trains_;
  TrainId free_train_ = no_train;
  Claims claims_;
  std::unordered_map<const des::Semaphore*, Lent> lent_;  // never walked through: its order is nobody's
  std::uint64_t started_ = 0, fallen_ = 0;
};

}  // namespace tca::net
