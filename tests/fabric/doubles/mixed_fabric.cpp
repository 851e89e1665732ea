#include "mixed_fabric.hpp"

#include <map>

namespace tca::test {

namespace {

class MixedOffer final : public fabric::Offer {
 public:
  MixedOffer(fabric::Fabric& inner, const fabric::ChainSpec& share, std::vector<fabric::Put> outgoing,
             std::vector<fabric::Put> incoming)
      : outgoing_(std::move(outgoing)),
        incoming_(std::move(incoming)),
        inner_(inner.offer({share.name, share.members, share.number, share.guarded, outgoing_, incoming_,
                            share.time_limit})) {}

  base::Blob to_others() override { return inner_->to_others(); }
  bool concerns_all() const override { return inner_->concerns_all(); }
  std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) override {
    return inner_->bind(offers);
  }

 private:
  std::vector<fabric::Put> outgoing_, incoming_;
  std::unique_ptr<fabric::Offer> inner_;
};

class MixedFabric final : public fabric::Fabric {
 public:
  MixedFabric(std::unique_ptr<fabric::Fabric> inner, unsigned seed) : inner_(std::move(inner)), seed_(seed) {}

  std::string_view name() const override { return inner_->name(); }
  std::span<const std::string_view> protocols() const override { return inner_->protocols(); }
  bool reaches(int rank) const override { return inner_->reaches(rank); }
  bool carries_counted(int protocol) const override { return inner_->carries_counted(protocol); }
  const fabric::Pricing& pricing() const override { return inner_->pricing(); }
  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override {
    return inner_->expose(window);
  }
  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override {
    inner_->put_now(memory, rank, offset, value);
  }
  void trace_to(base::Trace* trace) override { inner_->trace_to(trace); }
  void progress() override { inner_->progress(); }
  fabric::Poster* poster() override { return inner_->poster(); }

  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override {
    return std::make_unique<MixedOffer>(*inner_, share, mixed(share.number, share.outgoing),
                                        mixed(share.number, share.incoming));
  }

 private:
  // Both ends see the puts of a pair in the same order, so both pick the same protocols.
  std::vector<fabric::Put> mixed(std::uint32_t chain, std::span<const fabric::Put> puts) const {
    std::vector<fabric::Put> result(puts.begin(), puts.end());
    std::map<std::pair<int, int>, unsigned> index;
    for (fabric::Put& put : result) {
      unsigned mix = seed_ + 31 * chain + 7 * index[{put.from, put.to}]++ +
                     3 * static_cast<unsigned>(put.from) + 5 * static_cast<unsigned>(put.to);
      mix = (mix * 2654435761u) >> 16;
      put.protocol = static_cast<int>(mix % inner_->protocols().size());
    }
    return result;
  }

  std::unique_ptr<fabric::Fabric> inner_;
  unsigned seed_;
};

}  // namespace

std::unique_ptr<fabric::Fabric> mix_protocols(std::unique_ptr<fabric::Fabric> inner, unsigned seed) {
  return std::make_unique<MixedFabric>(std::move(inner), seed);
}

}  // namespace tca::test
