// Trains are transfers that are computed as a whole while nothing else needs their links.
//
// Each transfer claims its links for the time that it will use them, with the share of each that it will
// take. As long as the shares that overlap on a link add up to no more than the whole link, each train runs
// undisturbed and costs three events. This is so when, for example, the requests of one fit in between the
// data of another. If a transfer needs more than is left, all trains that overlap with it are demoted to
// packets, in exactly the state that packets would be in, and the transfer itself is sent by packets. A
// train is also demoted when a packet contends with it for a link, unless the packet only has to queue
// behind all of it.
//
// As flows (Fidelity::flow) trains are never demoted. From its start until all data has left the NIC, a
// flow takes a share of each of its links: the time for which its packets hold the link over the time that
// the flow would take undisturbed. If the shares add up to more than the whole, the flows share the link's
// time with max-min fairness and become slower along their whole path.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/des/wait.hpp"
#include "model/net/claims.hpp"
#include "model/net/timeline.hpp"

namespace tca::net {

// How far a train had got when it was demoted to packets.
struct Progress {
  std::uint64_t requests = 0;  // requests sent
  std::uint64_t passed = 0;    // requests of which all data has left the NIC
  std::uint64_t bytes = 0;     // bytes that have arrived
  des::Time ready = 0;  // when the next request could be sent if it had a tag; never if there is none left
};

// Observes a train: all requests have been sent, all data has left the NIC, all data has arrived; or the
// train has been demoted to packets.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void train_issued(std::uint32_t message) = 0;
  virtual void train_passed(std::uint32_t message) = 0;
  virtual void train_arrived(std::uint32_t message) = 0;
  virtual void train_demoted(std::uint32_t message, const Progress& progress) = 0;
  // Returns a packet of its requests, or of its data, as it is when it starts.
  virtual Packet train_packet(std::uint32_t message, bool request) const = 0;
  // Announces that one of the above calls is imminent: stages 2 and 3 of des::Handler::prepare.
  virtual void prepare(std::uint32_t message, unsigned stage) const = 0;
};

class Trains final : public Claimant {
 public:
  Trains(des::Simulator& simulator, Traffic& traffic, TrainObserver& observer, bool as_flows);

  // The caller fills in the transfer for the next call of `start`, except its tags. It reuses the memory of
  // an earlier one.
  RoutedTransfer& draft() { return draft_; }
  // Claims the links of a transfer and returns its number. It is sent as a train unless `by_packets` says
  // otherwise.
  TrainId start(std::uint32_t message, des::Semaphore& tags);
  bool by_packets(TrainId train) const { return trains_[train].by_packets; }
  bool all_issued(TrainId train) const { return trains_[train].phase > Phase::issued; }
  // The caller releases a transfer that is sent by packets, from the start or since its train was demoted,
  // once all data has arrived. A train releases itself.
  void release(TrainId train);

  void contend(LinkId link, des::Time start, des::Time busy) override;
  void on_event(std::uint32_t what, des::Time now) override;
  void prepare(std::uint32_t what, unsigned stage) const override;

  std::size_t bytes() const;                          // memory used by the state
  std::uint64_t started() const { return started_; }  // transfers that started as trains
  std::uint64_t demoted() const { return demoted_; }  // trains demoted to packets

 private:
  static constexpr std::uint64_t whole = Claims::whole;
  enum Phase : std::uint32_t { issued, passed, arrived, phases = 4 };

  struct Train {
    RoutedTransfer transfer;
    std::uint32_t message = 0;
    des::Semaphore* tags = nullptr;
    LinkId source = no_link;  // as in its transfer
    // Times at full speed: the last request is sent, the last data is in the NIC, all data has arrived.
    des::Time issued = 0, passed = 0, arrived = 0;
    // For a flow: its speed and since when it has had that speed; how long the part done before would have
    // taken at full speed; and by how much its last data was late in the NIC.
    std::uint64_t speed = whole;
    des::Time since = 0, done = 0, late = 0;
    std::uint32_t phase = 0;     // what happens next
    des::Time due = des::never;  // when it happens
    // The time of its event, no later than `due`. Events at other times are out of date.
    des::Time alarm = des::never;
    TrainId next_free = no_train;
    std::uint32_t index = UINT32_MAX;  // in the list of flows in share_links, during that call
    bool by_packets = false;

    // All data has left the NIC: the rest takes as long as at full speed.
    bool drained() const { return phase >= Phase::arrived; }
  };
  // The state of a shared pool of tags: when each tag that is in use is available again, in order of time,
  // and the trains that use the pool, in the order in which they took tags.
  struct TagPool {
    std::vector<des::Time> free_at;
    std::vector<TrainId> trains;
  };

  static des::Time scaled(des::Time span, std::uint64_t times, std::uint64_t over) {
    return static_cast<des::Time>(static_cast<double>(span) * static_cast<double>(times) /
                                  static_cast<double>(over));
  }
  template <class Visit>
  void each_stage(TrainId number, const Visit& visit) const {
    for (const Stage& stage : trains_[number].transfer.asking) visit(stage);
    for (const Stage& stage : trains_[number].transfer.data) visit(stage);
  }

  TrainId new_train();
  void free_train(TrainId number);
  void schedule(TrainId number);
  bool take_tags(Train& train) const;
  void keep_tags(TrainId number);
  void give_back(TrainId number);
  void queue_behind(RoutedTransfer& transfer) const;
  void claim(TrainId number);
  std::uint64_t claim_lane(TrainId number, const Lane& lane, std::uint64_t bytes, std::uint64_t packets,
                           des::Time gaps);
  void end(TrainId number);
  void sent_in_bulk(const RoutedTransfer& transfer, std::uint64_t from, std::uint64_t to);

  // Trains that contend for links (contention.cpp).

  // Whether all packets of a train have been given to a link, so that whatever arrives there queues behind
  // it.
  bool given(const Claim& claim) const {
    return as_flows_ ? trains_[claim.train].drained() : claim.given < simulator_.now();
  }
  // Returns when a train has finished with a link. For a flow this is known once all data has left the NIC.
  des::Time end_of(const Claim& claim) const {
    const Train& train = trains_[claim.train];
    return as_flows_ && !train.drained() ? des::never : claim.end + train.late;
  }
  bool overbooked(TrainId number, LinkId link) const;
  bool alone(TrainId number) const;
  std::vector<TrainId> rivals(TrainId number) const;
  void go_by_packets(TrainId number);
  void demote(TrainId number);

  // Flows that share links (flows.cpp).
  bool short_of(LinkId link) const;
  void share_links(TrainId number, bool leaves);
  void set_speed(TrainId number, std::uint64_t speed);

  des::Simulator& simulator_;
  Traffic& traffic_;
  TrainObserver& observer_;
  bool as_flows_;
  RoutedTransfer draft_;
  Timeline timeline_;            // of the train that is being computed
  std::vector<des::Time> held_;  // how long that train holds each link of a lane
  des::LargeVector<Train> trains_;
  TrainId free_train_ = no_train;
  Claims claims_;
  // Never iterated over, since its order depends on addresses.
  std::unordered_map<const des::Semaphore*, TagPool> tag_pools_;
  std::uint64_t started_ = 0, demoted_ = 0;
};

}  // namespace tca::net
