#include "runtime/images/images.hpp"

#include <algorithm>
#include <cstring>

namespace tca::xacc {
namespace {

void check_shapes(const Side& to, const Side& from) {
  if (to.counts() != from.counts() && !from.counts().empty())
    refuse("the sides differ: " + to.shape() + " = " + from.shape());
  if (to.section().element_bytes != from.section().element_bytes)
    refuse("elements of " + std::to_string(to.section().element_bytes) + " and " +
           std::to_string(from.section().element_bytes) + " bytes, which are not converted");
}

}  // namespace

Images::Images(World& world) : world_(world), notices_(world), post_(world, "coarrays") {}

int Images::rank_of(std::int64_t image) {
  const std::vector<int>& ranks = Runtime::get().executing_ranks();
  if (image < 0 || image >= static_cast<std::int64_t>(ranks.size()))
    refuse("there is no image " + std::to_string(image) + ": there are 0 to " +
           std::to_string(ranks.size() - 1));
  return ranks[static_cast<std::size_t>(image)];
}

void Images::make(void** memory, const char* name, std::size_t bytes) {
  if (*memory) return;
  prepare_requests();
  Region region = Region::on_host(world_, static_cast<std::int64_t>(bytes));
  *memory = region.data();
  keep(name, std::move(region));
}

void Images::adopt(void* memory, const char* name, std::size_t bytes) {
  prepare_requests();
  keep(name, Region(world_, memory, static_cast<std::int64_t>(bytes)));
}

void Images::keep(const char* name, Region region) {
  std::vector<RegionToken> tokens = world_.all_gather(region.token());
  coarrays_.push_back({name, std::move(region), std::move(tokens)});
}

void Images::prepare_requests() {
  if (requests_) return;
  requests_ = Region::on_host(world_, static_cast<std::int64_t>(sizeof(Request)) * world_.size());
  request_tokens_ = world_.all_gather(requests_->token());
}

const Coarray* Images::try_find(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const Coarray& c : coarrays_)
    if (at >= c.region.data() && at < c.region.data() + c.region.size()) return &c;
  return nullptr;
}

const Coarray& Images::find(const void* address) const {
  if (const Coarray* found = try_find(address)) return *found;
  refuse("the coarray has not been made yet");
}

std::int64_t Images::number_of(const void* address) const {
  const Coarray* wanted = &find(address);
  std::int64_t number = 0;
  while (&coarrays_[static_cast<std::size_t>(number)] != wanted) ++number;
  return number;
}

void Images::put(const xacc_section& to, std::int64_t image, const xacc_section& from) {
  const Side left(to), right(from);
  check_shapes(left, right);
  if (Runtime::get().device().is_separate() && !has(from.memory) &&
      Runtime::get().present().is_device(from.memory))
    refuse(
        "what is put lies on the GPU and is no coarray, whose memory the host has as well: update the host, "
        "and name it outside of host_data");
  const int rank = rank_of(image), me = world_.rank();
  const Box box = whole(left);
  if (volume(box) == 0) return;
  const std::vector<std::byte> values = gather(right, me);
  const std::size_t bytes = to.element_bytes;
  if (rank == me) return spread(memory_of(left), left, values.data(), right.counts().empty(), me);
  std::vector<std::byte> all(static_cast<std::size_t>(volume(box)) * bytes);
  Steps from_steps = dense(box);
  if (right.counts().empty()) std::fill(from_steps.pitch.begin(), from_steps.pitch.end(), 0);
  copy(all.data(), dense(box), values.data(), from_steps, box, bytes);
  put(to.memory, rank, left.steps(box, me), box, bytes, all.data());
}

void Images::put(const void* memory, int rank, const Steps& steps, const Box& box, std::size_t bytes,
                 const std::byte* values) {
  post_.clear();
  for (const Piece& piece : pieces(steps, dense(box), box))
    post_.put_untyped(find(memory).tokens[static_cast<std::size_t>(rank)], piece.to, piece.to_layout,
                      values + piece.from * static_cast<std::int64_t>(bytes), volume(box) - piece.from,
                      piece.from_layout, bytes);
  post_.run();
}

// Brings what another image has, row by row.
void Images::fetch(const Side& from, std::int64_t image, std::byte* into) {
  const Box box = whole(from);
  const std::size_t bytes = from.section().element_bytes, all = static_cast<std::size_t>(volume(box)) * bytes;
  const int rank = rank_of(image), me = world_.rank();
  if (all == 0) return;
  if (rank == me) {
    const std::vector<std::byte> values = gather(from, me);
    std::memcpy(into, values.data(), values.size());
    return;
  }
  get(from.section().memory, rank, from.steps(box, me), box, bytes, into);
}

void Images::get(const void* memory, int rank, const Steps& steps, const Box& box, std::size_t bytes,
                 std::byte* into) {
  const std::size_t all = static_cast<std::size_t>(volume(box)) * bytes;
  Request r{Request::Kind::get,
            number_of(memory),
            static_cast<std::int64_t>(bytes),
            static_cast<std::int64_t>(box.size()),
            steps.first,
            {},
            {},
            {}};
  for (std::size_t d = 0; d < box.size(); ++d) r.count[d] = box[d].count, r.pitch[d] = steps.pitch[d];
  ask(rank, r, all);
  std::memcpy(into, answer_->data(), all);
}

void Images::ask(int rank, Request r, std::size_t bytes) {
  if (!answer_ || answer_->size() < bytes)
    answer_ = Region::on_host(world_, static_cast<std::int64_t>(bytes));
  r.answer = answer_->token();
  post_.clear();
  post_.put(request_tokens_[static_cast<std::size_t>(rank)], world_.rank(), std::span(&r, 1), block(1));
  post_.notify(rank, request, 0);
  post_.run();
  wait({rank, reply, 0});
}

void Images::get(const xacc_section& to, const xacc_section& from, std::int64_t image) {
  const Side left(to), right(from);
  check_shapes(left, right);
  std::vector<std::byte> values(static_cast<std::size_t>(volume(whole(right))) * from.element_bytes);
  fetch(right, image, values.data());
  spread(memory_of(left), left, values.data(), right.counts().empty(), world_.rank());
}

const void* Images::element(const xacc_section& from, std::int64_t image) {
  if (from.element_bytes > elements_[0].size())
    refuse("an element of more than " + std::to_string(elements_[0].size()) +
           " bytes within an expression: assign it to a variable by itself");
  std::byte* into = elements_[next_element_++ % elements_.size()].data();
  fetch(Side(from), image, into);
  return into;
}

}  // namespace tca::xacc
