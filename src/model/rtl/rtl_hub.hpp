// Drives hubs in RTL as a host's driver does: writes tables of descriptors into their memory, rings
// doorbells, and learns of events from words in its own memory.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <vector>

#include "model/nic/hub.hpp"
#include "model/rtl/hubs.hpp"
#include "model/rtl/table.hpp"

namespace tca::rtl {

class RtlHub final : public net::Hub {
 public:
  RtlHub(net::Network& network, std::uint32_t interconnect, std::uint32_t host);

  void start(std::uint32_t node, std::uint32_t channel, const net::DmaChain& chain) override;
  void store(std::uint32_t node, net::Endpoint to, std::uint32_t bytes, des::Counter* arrived) override;

  Hubs& hubs() { return hubs_; }

 private:
  // A chain under way.
  struct Run {
    Run(des::Simulator& simulator, std::uint32_t at, std::uint32_t of, const net::DmaChain& what)
        : node(at),
          channel(of),
          chain(what),
          done(simulator, {"the end of a chain of node, on channel", at, of}),
          flags(simulator, {"the flags of a chain of node, on channel", at, of}) {}
    std::uint32_t node, channel;
    const net::DmaChain& chain;
    Table table;
    std::uint64_t value = 0;  // carried by its flags
    des::Counter done, flags;
    std::uint64_t expected = 0;  // flags
    std::uint64_t cause = 0;     // why it has failed; 0 if it has not
    struct Opened {
      std::uint32_t node;
      Target target;
      std::uint64_t offset;
      std::shared_ptr<const bool> closed;
    };
    std::vector<Opened> opened;
    std::vector<std::uint32_t> told;  // nodes where flags are expected
  };
  // A channel of a node's hub, whose chains follow one another.
  struct Channel {
    Channel(des::Simulator& simulator, std::uint32_t node, std::uint32_t number)
        : turn(simulator, {"DMA channel", node, number}, 1) {}
    des::Semaphore turn;
    std::uint64_t runs = 0;
    std::map<Table, std::uint64_t> tables;  // in its share of the hub's memory, by content
    std::uint64_t used = 0;                 // bytes of that
    // One that does not fit is in the host's memory, with each entry in its own line.
    struct alignas(entry_bytes) Line {
      Entry entry;
    };
    std::vector<Line> outside;
  };

  Channel& channel(std::uint32_t node, std::uint32_t number);
  des::Task carry(std::uint32_t node, std::uint32_t channel, const net::DmaChain& chain);
  void make_table(Run& run);
  void add_data(Run& run, const net::Descriptor& descriptor);
  std::uint64_t open(Run& run, net::Endpoint at, std::byte* memory, std::uint64_t bytes,
                     const std::shared_ptr<const bool>& closed);
  void expect_flag(Run& run, std::uint32_t node, des::Counter& counter);
  void expect_end(Run& run);
  std::uint64_t place(Run& run);
  void ring(const Run& run, std::uint64_t table);
  void close(Run& run);
  [[noreturn]] void fail(const Run& run);

  des::Simulator& simulator_;
  Hubs hubs_;
  std::list<Run> runs_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Channel> channels_;
};

}  // namespace tca::rtl
