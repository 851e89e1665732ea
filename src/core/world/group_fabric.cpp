#include "core/world/group_fabric.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/messages.hpp"

namespace tca::core {

namespace {

int rank_of(const GroupRanks& ranks, int number) { return (*ranks)[static_cast<std::size_t>(number)]; }

// Ranks outside the group are left out.
std::vector<int> numbers_of(const GroupRanks& ranks, const std::vector<int>& outside) {
  std::vector<int> numbers;
  for (const int rank : outside)
    if (const std::optional<int> number = control::number_in(*ranks, rank)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

class GroupMemory final : public fabric::Memory {
 public:
  GroupMemory(std::shared_ptr<const void> owner, fabric::Memory& memory, GroupRanks ranks)
      : owner_(std::move(owner)), memory_(memory), ranks_(std::move(ranks)) {
    if (const DeviceWindow<std::byte>* const window = memory_.device_window()) device_ = seen_by(*window);
  }

  std::byte* data() override { return memory_.data(); }
  std::size_t bytes(int number) const override { return memory_.bytes(rank_of(ranks_, number)); }
  void read(std::uint64_t offset, std::span<std::byte> into) override { memory_.read(offset, into); }
  void write(std::uint64_t offset, std::span<const std::byte> from) override { memory_.write(offset, from); }

  const DeviceWindow<std::byte>* device_window() const override { return device_ ? &*device_ : nullptr; }

  static fabric::Memory* inner(fabric::Memory* memory) {
    return memory == nullptr ? nullptr : &static_cast<GroupMemory*>(memory)->memory_;
  }

 private:
  // Returns the window with the group's parts, in the group's numbering.
  DeviceWindow<std::byte> seen_by(const DeviceWindow<std::byte>& around) const {
    DeviceWindow<std::byte> group = around;
    group.size = static_cast<std::uint32_t>(std::min<std::size_t>(ranks_->size(), group.max_ranks));
    group.rank =
        static_cast<std::uint32_t>(control::number_in(*ranks_, static_cast<int>(around.rank)).value());
    for (std::uint32_t number = 0; number < group.size; ++number) {
      const auto rank = static_cast<std::uint32_t>(rank_of(ranks_, static_cast<int>(number)));
      group.parts[number] = rank < around.size ? around.parts[rank] : nullptr;
      group.elements[number] = rank < around.size ? around.elements[rank] : 0;
    }
    return group;
  }

  std::shared_ptr<const void> owner_;  // of the memory
  fabric::Memory& memory_;
  GroupRanks ranks_;
  std::optional<DeviceWindow<std::byte>> device_;
};

class GroupProgram final : public fabric::Program {
 public:
  GroupProgram(std::unique_ptr<fabric::Program> program, GroupRanks ranks)
      : program_(std::move(program)), ranks_(std::move(ranks)) {}

  void start() override { program_->start(); }
  bool test() override { return program_->test(); }
  std::vector<int> missing() const override { return numbers_of(ranks_, program_->missing()); }
  std::optional<fabric::Guard> guard() const override {
    std::optional<fabric::Guard> guard = program_->guard();
    if (guard) {
      guard->awaited = numbers_of(ranks_, guard->awaited);
      guard->told = numbers_of(ranks_, guard->told);
    }
    return guard;
  }
  void cancel() override { program_->cancel(); }
  bool end() override { return program_->end(); }
  bool yields() const override { return program_->yields(); }
  bool is_empty() const override { return program_->is_empty(); }
  void tell_of_arrivals() override { program_->tell_of_arrivals(); }
  fabric::AcceleratorProgram* on_accelerator() override { return program_->on_accelerator(); }

 private:
  std::unique_ptr<fabric::Program> program_;
  GroupRanks ranks_;
};

class GroupOffer final : public fabric::Offer {
 public:
  GroupOffer(fabric::Fabric& fabric, const fabric::ChainSpec& share, GroupRanks ranks)
      : ranks_(std::move(ranks)), outgoing_(outside(share.outgoing)), incoming_(outside(share.incoming)) {
    fabric::ChainSpec spec = share;
    spec.outgoing = outgoing_;
    spec.incoming = incoming_;
    offer_ = fabric.offer(spec);
  }

  base::Blob to_others() override { return offer_->to_others(); }
  bool concerns_all() const override { return offer_->concerns_all(); }
  std::unique_ptr<fabric::Program> bind(const fabric::Offers& offers) override {
    fabric::Offers by_rank;
    for (const auto& [number, offer] : offers) by_rank[rank_of(ranks_, number)] = offer;
    return std::make_unique<GroupProgram>(offer_->bind(by_rank), ranks_);
  }

 private:
  std::vector<fabric::Put> outside(std::span<const fabric::Put> puts) const {
    std::vector<fabric::Put> result(puts.begin(), puts.end());
    for (fabric::Put& put : result) {
      put.from = rank_of(ranks_, put.from);
      put.to = rank_of(ranks_, put.to);
      put.from_memory = GroupMemory::inner(put.from_memory);
      put.to_memory = GroupMemory::inner(put.to_memory);
    }
    return result;
  }

  GroupRanks ranks_;
  std::vector<fabric::Put> outgoing_, incoming_;
  std::unique_ptr<fabric::Offer> offer_;
};

class GroupFabric final : public fabric::Fabric, public fabric::Pricing, public fabric::Messages {
 public:
  GroupFabric(fabric::Fabric& fabric, GroupRanks ranks) : fabric_(fabric), ranks_(std::move(ranks)) {}

  std::string_view name() const override { return fabric_.name(); }
  std::span<const std::string_view> protocols() const override { return fabric_.protocols(); }
  bool reaches(int number) const override { return fabric_.reaches(rank_of(ranks_, number)); }
  bool carries(int protocol, int number) const override {
    return fabric_.carries(protocol, rank_of(ranks_, number)) && fabric_.serves_groups(protocol);
  }
  bool carries_counted(int protocol) const override { return fabric_.carries_counted(protocol); }
  bool carries_produced() const override { return fabric_.carries_produced(); }
  bool takes_existing() const override { return fabric_.takes_existing(); }
  bool times_messages() const override { return fabric_.times_messages(); }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override {
    const std::shared_ptr<fabric::Memory> memory = fabric_.expose(window);
    return std::make_unique<GroupMemory>(memory, *memory, ranks_);
  }
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override {
    return std::make_unique<GroupOffer>(fabric_, share, ranks_);
  }
  void put_now(fabric::Memory& memory, int number, std::uint64_t offset,
               std::span<const std::byte> value) override {
    fabric_.put_now(*GroupMemory::inner(&memory), rank_of(ranks_, number), offset, value);
  }
  void progress() override { fabric_.progress(); }
  void check() override { fabric_.check(); }

  const fabric::Pricing& pricing() const override { return *this; }
  std::optional<double> predict_us(int protocol, int from, int to, const base::Shape& shape) const override {
    return fabric_.pricing().predict_us(protocol, rank_of(ranks_, from), rank_of(ranks_, to), shape);
  }
  double cache_line_transfer_ns() const override { return fabric_.pricing().cache_line_transfer_ns(); }
  std::uint64_t room_for(int protocol, const base::Shape& shape) const override {
    return fabric_.pricing().room_for(protocol, shape);
  }
  bool accepts(int protocol, const base::Shape& shape, fabric::RoomUsed used) const override {
    return fabric_.pricing().accepts(protocol, shape, used);
  }

  fabric::Messages* messages() override { return fabric_.messages() == nullptr ? nullptr : this; }
  bool needs_polling() const override { return fabric_.messages()->needs_polling(); }
  void progress_while_waiting() override { fabric_.messages()->progress_while_waiting(); }
  bool is_quiescent() override { return fabric_.messages()->is_quiescent(); }
  std::vector<int> outstanding() override { return numbers_of(ranks_, fabric_.messages()->outstanding()); }

  std::optional<fabric::Device> device() const override { return fabric_.device(); }
  const fabric::FaultNews* fault_news() const override { return fabric_.fault_news(); }
  fabric::Accelerator* accelerator() override { return fabric_.accelerator(); }
  fabric::ComputeModel* compute_model() override { return fabric_.compute_model(); }

 private:
  fabric::Fabric& fabric_;
  GroupRanks ranks_;
};

}  // namespace

std::unique_ptr<fabric::Fabric> make_group_fabric(fabric::Fabric& fabric, GroupRanks ranks) {
  return std::make_unique<GroupFabric>(fabric, std::move(ranks));
}

std::unique_ptr<fabric::Memory> make_group_view(fabric::Memory& memory, bool of_group, GroupRanks ranks,
                                                std::shared_ptr<const void> owner) {
  fabric::Memory& inner = of_group ? *GroupMemory::inner(&memory) : memory;
  return std::make_unique<GroupMemory>(std::move(owner), inner, std::move(ranks));
}

}  // namespace tca::core
