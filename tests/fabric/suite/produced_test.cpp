// Produced puts as every fabric has them: where kernels reach the target they are committed, and only kernels start
// them; elsewhere they are refused in words that say what to use instead. What kernels do with them is tested in
// tests/unit/device and tests/gpu.
#include "tca/device/produced.hpp"

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

void require_words(const World& world, const Caught& error, Errc code, std::string_view words) {
  require(error.code == code && error.message.find(words) != std::string::npos,
          "rank {}: \"{}\" is not \"{}\"", world.rank(), error.message, words);
}

TEST_P(FabricTest, ProducedPutsAreForKernels) {
  run(2, [](World& world) {
    Chain chain = world.chain("made");
    std::optional<ProducedPut<double>> sent;
    std::optional<ProducedArrival<double>> come;
    if (world.rank() == 0) sent = chain.put_produced<double>(1, 100);
    if (world.rank() == 1) come = chain.expect_produced<double>(0, 100);
    const auto view = [&] { return sent ? sent->device().elements : come->device().elements; };
    require((sent ? sent->elements() : come->elements()) == 100, "it has another number of elements");
    require((sent ? sent->rank() : come->rank()) == 1 - world.rank(), "it names another rank");
    require_words(world, caught([&] { view(); }), Errc::invalid_argument, "before its commit");
    const Caught refused = caught([&] { chain.commit(); });
    if (refused.message == Caught{}.message) {
      require(view() == 100, "kernels see {} elements", view());
      require_words(world, caught([&] { chain.start(); }), Errc::invalid_argument,
                    "start of chain 'made' by the host, which has produced puts");
      require_words(world, caught([&] { (void)chain.device(); }), Errc::invalid_argument,
                    "use device_produced()");
      require_words(world, caught([&] { (void)chain.doorbell(); }), Errc::invalid_argument,
                    "which has produced puts");
      const std::string explained = chain.explain();
      require(world.rank() == 1 || explained.find("100 of 8 bytes") != std::string::npos, "{}", explained);
    } else {
      require_words(world, refused, Errc::refused,
                    "put 0 of rank 0 is produced by a kernel, and none reaches rank 1");
      require_words(world, refused, Errc::refused, "put from a window instead");
    }
    world.barrier();
  });
}

// A signal that a kernel raises is a produced put of no elements.
TEST_P(FabricTest, ProducedSignalsAreForKernels) {
  run(2, [](World& world) {
    Chain chain = world.chain("signals", {.guarded = false});
    const ProducedSignal sent = chain.signal_produced(1 - world.rank());
    const ExpectedSignal come = chain.expect_produced_signal(1 - world.rank());
    require_words(world, caught([&] { (void)sent.device(); }), Errc::invalid_argument, "before its commit");
    const Caught refused = caught([&] { chain.commit(); });
    if (refused.message == Caught{}.message) {
      require(sent.device().there() && come.device().there(), "kernels do not see the signals");
      require(chain.explain().find("raised by a kernel") != std::string::npos, "{}", chain.explain());
      require_words(world, caught([&] { chain.start(); }), Errc::invalid_argument, "which has produced puts");
    } else {
      require_words(world, refused, Errc::refused, "put 0 of rank 0 is produced by a kernel");
    }
    world.barrier();
    Chain other = world.chain("mixed");
    if (world.rank() == 0) (void)other.signal_produced(1);
    if (world.rank() == 1) (void)other.expect_produced<int>(0, 3);
    require_words(
        world, caught([&] { other.commit(); }), Errc::refused,
        "rank 0 makes these produced puts to rank 1: a signal; rank 1 expects: 3 elements of 4 bytes");
    world.barrier();
  });
}

TEST_P(FabricTest, BothEndsOfAProducedPutDeclareTheSameElements) {
  run(2, [](World& world) {
    const auto refusal = [&](const char* name, std::int64_t sent, std::int64_t expected) {
      Chain chain = world.chain(name);
      if (world.rank() == 0) (void)chain.put_produced<int>(1, sent);
      if (world.rank() == 1 && expected > 0) (void)chain.expect_produced<int>(0, expected);
      if (world.rank() == 1 && expected == 0) chain.expect(0);
      const Caught error = caught([&] { chain.commit(); });
      world.barrier();
      return error;
    };
    require_words(
        world, refusal("longer", 7, 8), Errc::refused,
        "rank 0 makes these produced puts to rank 1: 7 elements of 4 bytes; rank 1 expects: 8 elements of "
        "4 bytes; call expect_produced(0) on rank 1 once for each, with the same elements");
    require_words(world, refusal("plainly", 7, 0), Errc::refused, "rank 1 expects: none");
    Chain chain = world.chain("size");
    for (const std::int64_t elements : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 29}) {
      require_words(world, caught([&] { (void)chain.put_produced<int>(0, elements); }),
                    Errc::invalid_argument, "there is at least one, and all together have less than 2 GiB");
    }
    require_words(world, caught([&] { (void)chain.expect_produced<int>(2, 1); }), Errc::invalid_argument,
                  "there is no rank 2");
  });
}

}  // namespace
}  // namespace tca::test
