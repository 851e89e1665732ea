#include "staging_double.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/counter.hpp"
#include "tca/error.hpp"

namespace tca::test {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t least_chunk_bytes = 100, most_chunks = 16;

class DoubleStage final : public fabric::Stage {
 public:
  DoubleStage(StagingDouble& stager, std::span<const fabric::StagedMessage> messages) : stager_(stager) {
    for (const fabric::StagedMessage& message : messages) {
      Message& mine = messages_.emplace_back();
      mine.what = message;
      std::size_t bytes = 0;
      for (const auto& piece : message.pieces) bytes += piece.shape->bytes();
      mine.dense.resize(bytes);
      const std::size_t most = std::max(least_chunk_bytes, bytes / most_chunks + 1);
      for (std::size_t at = 0; at == 0 || at < bytes; at += most)
        mine.chunks.push_back(std::span(mine.dense).subspan(at, std::min(most, bytes - at)));
      mine.words = std::vector<std::atomic<std::uint32_t>>(mine.chunks.size());
    }
  }

  // A world that ends in an error may leave work in the streams.
  ~DoubleStage() override {
    stager_.own.synchronize();
    stager_.users.synchronize();
  }

  const Chunks& chunks(std::size_t message) const override { return messages_[message].chunks; }

  void gather_on(Stream) override { gather_by(stager_.users); }
  void scatter_on(Stream) override { scatter_by(stager_.users); }
  void gather() override { gather_by(stager_.own); }
  void scatter() override {
    ++asked_;
    if (!stager_.is_busy) scatter_by(stager_.own, asked_);
  }
  bool scattered() const override { return done_.load(std::memory_order_acquire) == asked_; }

  std::uint32_t begun() const override { return begun_.load(std::memory_order_acquire); }
  bool gathered(std::size_t message, std::size_t chunk, std::uint32_t step) const override {
    const bool is_there = has_word(messages_[message], chunk, step);
    if (is_there) ++stager_.taken;
    return is_there;
  }
  void mark_received(std::size_t message, std::size_t chunk, std::uint32_t step) override {
    messages_[message].words[chunk].store(step, std::memory_order_release);
  }
  void mark_sent(std::uint32_t step) override { left_.store(step, std::memory_order_release); }
  void keep_memory() override {
    ++stager_.kept;
    for (Message& message : messages_) new std::vector<std::byte>(std::move(message.dense));
  }
  bool all_received(std::size_t message, std::uint32_t step) const override {
    const auto& words = messages_[message].words;
    return std::all_of(words.begin(), words.end(), [&](const auto& word) {
      return base::reached(word.load(std::memory_order_acquire), step);
    });
  }
  bool all_sent(std::uint32_t step) const override {
    return base::reached(left_.load(std::memory_order_acquire), step);
  }

 private:
  struct Message {
    fabric::StagedMessage what;
    std::vector<std::byte> dense;
    Chunks chunks;
    std::vector<std::atomic<std::uint32_t>> words;  // as Stage::gathered and Stage::mark_received use them
  };

  void gather_by(DoubleStream& stream) {
    stream.enqueue([this, &stream] {
      const std::uint32_t step = ++gathering_;
      stream.pause();
      begun_.store(step, std::memory_order_release);
      while (!all_sent(step - 1) && !stream.closing()) stream.pause();
      for (Message& message : messages_) {
        if (!message.what.outgoing) continue;
        std::vector<std::byte> bytes(message.dense.size());
        std::byte* to = bytes.data();
        for (const auto& piece : message.what.pieces) to = base::gather(to, piece.memory, *piece.shape);
        const std::byte* from = bytes.data();
        for (std::size_t c = 0; c < message.chunks.size(); ++c) {
          stream.pause();
          std::copy_n(from, message.chunks[c].size(), message.chunks[c].begin());
          from += message.chunks[c].size();
          message.words[c].store(step, std::memory_order_release);
        }
      }
    });
  }

  void scatter_by(DoubleStream& stream, std::uint32_t ticket = 0) {
    stream.enqueue([this, &stream, ticket] {
      const std::uint32_t step = gathering_;
      for (Message& message : messages_) {
        if (message.what.outgoing) continue;
        std::vector<std::byte> bytes;
        for (std::size_t c = 0; c < message.chunks.size(); ++c) {
          while (!has_word(message, c, step) && !stream.closing()) stream.pause();
          bytes.insert(bytes.end(), message.chunks[c].begin(), message.chunks[c].end());
        }
        stream.pause();
        const std::byte* from = bytes.data();
        for (const auto& piece : message.what.pieces) from = base::scatter(piece.memory, from, *piece.shape);
      }
      if (ticket != 0) done_.store(ticket, std::memory_order_release);
    });
  }

  static bool has_word(const Message& message, std::size_t chunk, std::uint32_t step) {
    return base::reached(message.words[chunk].load(std::memory_order_acquire), step);
  }

  StagingDouble& stager_;
  std::vector<Message> messages_;
  std::uint32_t gathering_ = 0;  // used by one stream at a time
  std::atomic<std::uint32_t> begun_ = 0, left_ = 0, done_ = 0;
  std::uint32_t asked_ = 0;
};

}  // namespace

DoubleStream::DoubleStream(unsigned seed) : random_(seed), thread_([this] { run(); }) {}

DoubleStream::~DoubleStream() {
  close();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DoubleStream::enqueue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push(std::move(work));
  changed_.notify_all();
}

void DoubleStream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
}

void DoubleStream::pause() {
  if (random_() % 16 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50));
  else
    std::this_thread::yield();
}

void DoubleStream::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return over_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop();
    busy_ = true;
    lock.unlock();
    work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

std::unique_ptr<fabric::Stage> StagingDouble::make_stage(std::string,
                                                         std::span<const fabric::StagedMessage> messages,
                                                         fabric::StageMemory memory,
                                                         std::chrono::milliseconds) {
  latest = memory;
  if (is_full) throw Error(Errc::out_of_memory, "the double is full");
  return std::make_unique<DoubleStage>(*this, messages);
}

bool StagingDouble::can_be_carried(const Carry& carry) {
  const std::vector<std::byte> from(100'000, std::byte{7});
  std::vector<std::byte> to(from.size());
  carry(to.data(), from.data(), from.size());
  return !loses_bytes && to == from;
}

void StagingDouble::write(std::byte* to, std::span<const std::byte> from) {
  std::memcpy(to, from.data(), from.size());
}

}  // namespace tca::test
