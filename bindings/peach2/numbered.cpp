// The older calls, in which descriptors have numbers and chains begin with one.
#include "peach2/board.hpp"
#include "peach2/calls.hpp"

namespace tca::peach2 {
namespace {

constexpr int internal_set = 0;  // in the board

}  // namespace

void Board::empty_internal() { sets_[internal_set].clear(); }

int Board::make_set() {
  sets_[next_set_];
  return next_set_++;
}

void Board::drop_set(int set) {
  if (set == internal_set || sets_.erase(set) == 0)
    misused("there is no set {} of descriptors, or it was destroyed", set);
}

void Board::put_into(int set, int number, const Descriptor& descriptor) {
  if (set != internal_set && !sets_.contains(set))
    misused("there is no set {} of descriptors; tcaCreateDMADesc makes one", set);
  if (number < 0) misused("there is no descriptor {}; they are numbered from 0", number);
  sets_[set].insert_or_assign(number, descriptor);
}

void Board::give_numbered(int number_of_controller, int set, int number) {
  controller(number_of_controller);
  const auto found = sets_.find(set);
  if (found == sets_.end() || !found->second.contains(number))
    misused("there is no descriptor {} in set {}", number, set);
  Chain& chain = numbered_[static_cast<std::size_t>(number_of_controller)];
  if (chain != nullptr) drop_chain(chain.get());
  chain = find(make_chain());
  const Descriptors& all = found->second;
  for (auto next = all.find(number); next != all.end() && next->first == number; ++next, ++number) {
    add(chain.get(), next->second);
    if ((next->second.flags & tcaDMAContinue) == 0) break;
  }
  give(chain.get(), number_of_controller);
}

}  // namespace tca::peach2

using namespace tca::peach2;

tcaresult tcaDMADescInt_Init() {
  return guarded("tcaDMADescInt_Init", [&] { board().empty_internal(); });
}

tcaresult tcaCreateDMADesc(int* set, size_t) {
  return guarded("tcaCreateDMADesc", [&] { present(set, "the place for the set") = board().make_set(); });
}

tcaresult tcaDestroyDMADesc(int set) {
  return guarded("tcaDestroyDMADesc", [&] { board().drop_set(set); });
}

tcaresult tcaSetDMADescOf(int set, int number, int* next, const tcaHandle* to, off_t to_offset,
                          size_t to_pitch, const tcaHandle* from, off_t from_offset, size_t from_pitch,
                          size_t width, size_t count, int flags, int slot, int tag) {
  return guarded("tcaSetDMADesc", [&] {
    board().put_into(set, number,
                     {checked(to, "the target"), checked(from, "the source"), to_offset, from_offset,
                      to_pitch, from_pitch, width, count, flags, slot, tag});
    if (next != nullptr) *next = number + 1;
  });
}

tcaresult tcaSetDMAChainOf(int controller, int set, int number) {
  return guarded("tcaSetDMAChain", [&] { board().give_numbered(controller, set, number); });
}
