#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "peach2/board.hpp"
#include "peach2/calls.hpp"

namespace tca::peach2 {
namespace {

// What PEACH2 can do and the library can do better.
constexpr int board_nodes = 16;
constexpr std::size_t board_word = 4, board_line = 16;

bool asked_to_be_strict() {
  const char* const value = std::getenv("TCA_STRICT");
  if (value == nullptr || std::string_view(value) == "0") return false;
  if (std::string_view(value) != "1") misused("TCA_STRICT={}: choose 0 or 1", value);
  return true;
}

std::int64_t signed_of(std::size_t number) { return static_cast<std::int64_t>(number); }

// The bytes from the first one of some rows to the end of the last.
std::size_t extent(std::size_t pitch, std::size_t width, std::size_t count, const char* side) {
  std::size_t bytes = 0;
  if (count == 0 || width == 0) return 0;
  if (__builtin_mul_overflow(count - 1, pitch, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
    misused("{} rows with a pitch of {} at the {} are more than can be", count, pitch, side);
  return bytes;
}

Layout rows(std::size_t pitch, std::size_t width, std::size_t count) {
  return count <= 1 ? block(count == 0 ? 0 : signed_of(width))
                    : block_stride(signed_of(count), signed_of(width), signed_of(pitch));
}

}  // namespace

Board::Board(World& world)
    : world_(world), notices_(world), strict_(asked_to_be_strict()), stores_(world, "TCA PIO") {
  if (strict_ && world.size() > board_nodes)
    not_done("PEACH2 joins {} nodes, and here are {} (TCA_STRICT=1)", board_nodes, world.size());
}

void Board::check_strictly(const Descriptor& d) const {
  if (!strict_) return;
  const bool in_words = d.width % board_word == 0 &&
                        (d.count == 1 || (d.to_pitch % board_word == 0 && d.from_pitch % board_word == 0));
  if (!in_words)
    not_done("PEACH2 moves words of {} bytes: a width of {}, pitches of {} and {} cannot be (TCA_STRICT=1)",
             board_word, d.width, d.to_pitch, d.from_pitch);
  const std::uint64_t to = d.to.address + static_cast<std::uint64_t>(d.to_offset);
  const std::uint64_t from = d.from.address + static_cast<std::uint64_t>(d.from_offset);
  if (to % board_line != from % board_line)
    not_done(
        "for PEACH2 the low 4 bits of both addresses are the same: they are {} at the target and {} at the "
        "source (TCA_STRICT=1)",
        to % board_line, from % board_line);
}

Board::Chain& Board::find(const tcaDesc* chain) {
  const auto found = chains_.find(chain);
  if (found == chains_.end()) misused("tcaDescNew has not made this chain, or it was freed");
  return found->second;
}

Board::Controller& Board::controller(int number) {
  if (number < 0 || number >= controllers)
    misused("there is no controller {}; PEACH2 has 0 to {}", number, controllers - 1);
  return controllers_[static_cast<std::size_t>(number)];
}

tcaDesc* Board::make_chain() {
  const auto chain = std::make_shared<tcaDesc>(world_);
  chains_.emplace(chain.get(), chain);
  return chain.get();
}

// A controller that has it still goes on with it.
void Board::drop_chain(const tcaDesc* chain) {
  find(chain);
  tags_.erase(chain);
  chains_.erase(chain);
}

void Board::add(tcaDesc* chain, const Descriptor& d) {
  Post& post = find(chain)->post;
  check_bytes(d.to, "the target", d.to_offset, extent(d.to_pitch, d.width, d.count, "target"));
  check_bytes(d.from, "the source", d.from_offset, extent(d.from_pitch, d.width, d.count, "source"));
  if (static_cast<int>(d.from.node) != rank())
    not_done("the source is memory of rank {}, and a rank puts its own; have that one put it", d.from.node);
  if (d.slot < 0 || d.slot >= notice_slots)
    misused("there is no slot {}; slots are 0 to {}", d.slot, notice_slots - 1);
  check_strictly(d);
  const int target = static_cast<int>(d.to.node);
  if ((d.flags & tcaDMANotify) != 0) {
    std::vector<int>& tags = tags_[chain][{target, d.slot}];
    if (std::ranges::find(tags, d.tag) == tags.end()) {
      if (tags.size() == notice_tags)
        not_done("tag {} would be the {}th in slot {} for rank {}; a slot has {}. Use another slot", d.tag,
                 notice_tags + 1, d.slot, target, notice_tags);
      tags.push_back(d.tag);
    }
  }
  post.wait();  // it may be added to while it runs
  const std::uint64_t from = d.from.address + static_cast<std::uint64_t>(d.from_offset);
  post.put_untyped(token_of(d.to), signed_of(d.to.offset) + d.to_offset, rows(d.to_pitch, d.width, d.count),
                   reinterpret_cast<const void*>(from),
                   signed_of(extent(d.from_pitch, d.width, d.count, "source")),
                   rows(d.from_pitch, d.width, d.count), 1);
  const auto tag = static_cast<std::uint32_t>(d.tag);
  if ((d.flags & tcaDMANotify) != 0) post.notify(target, d.slot, tag);
  if ((d.flags & tcaDMANotifySelf) != 0) post.notify(rank(), d.slot, tag);
}

void Board::give(tcaDesc* chain, int number) { controller(number).chain = find(chain); }

void Board::start(int number) {
  Controller& own = controller(number);
  if (own.chain == nullptr) misused("controller {} has no chain; give it one by tcaDescSet", number);
  if (own.running != nullptr) own.running->post.wait();
  own.chain->post.wait();  // another controller may have it too
  own.chain->post.start();
  own.running = own.chain;
}

void Board::wait(int number) {
  if (const Chain& running = controller(number).running) running->post.wait();
}

// The board has one flag for a slot and a tag of this rank itself, so descriptors that set it several times are waited
// for once.
void Board::await_notice(const tcaHandle& of, int slot, int tag) {
  const Notice notice{static_cast<int>(of.node), slot, static_cast<std::uint32_t>(tag)};
  notices_.wait(notice);
  if (notice.source != rank()) return;
  while (notices_.test(notice)) {
  }
}

}  // namespace tca::peach2

using namespace tca::peach2;

tcaDesc* tcaDescNew() {
  tcaDesc* chain = nullptr;
  guarded("tcaDescNew", [&] { chain = board().make_chain(); });
  return chain;
}

tcaresult tcaDescFree(tcaDesc* chain) {
  return guarded("tcaDescFree", [&] { board().drop_chain(chain); });
}

tcaresult tcaDescSetMemcpy(tcaDesc* chain, const tcaHandle* to, off_t to_offset, const tcaHandle* from,
                           off_t from_offset, size_t bytes, int flags, int slot, int tag) {
  return guarded("tcaDescSetMemcpy", [&] {
    board().add(chain, {checked(to, "the target"), checked(from, "the source"), to_offset, from_offset, bytes,
                        bytes, bytes, 1, flags, slot, tag});
  });
}

tcaresult tcaDescSetMemcpy2D(tcaDesc* chain, const tcaHandle* to, off_t to_offset, size_t to_pitch,
                             const tcaHandle* from, off_t from_offset, size_t from_pitch, size_t width,
                             size_t count, int flags, int slot, int tag) {
  return guarded("tcaDescSetMemcpy2D", [&] {
    board().add(chain, {checked(to, "the target"), checked(from, "the source"), to_offset, from_offset,
                        to_pitch, from_pitch, width, count, flags, slot, tag});
  });
}

tcaresult tcaDescSet(tcaDesc* chain, int controller) {
  return guarded("tcaDescSet", [&] { board().give(chain, controller); });
}

tcaresult tcaStartDMADesc(int controller) {
  return guarded("tcaStartDMADesc", [&] { board().start(controller); });
}

tcaresult tcaWaitDMAC(int controller) {
  return guarded("tcaWaitDMAC", [&] { board().wait(controller); });
}

tcaresult tcaWaitDMARecvDesc(const tcaHandle* of, int slot, int tag) {
  return guarded("tcaWaitDMARecvDesc", [&] { board().await_notice(checked(of, "the handle"), slot, tag); });
}
