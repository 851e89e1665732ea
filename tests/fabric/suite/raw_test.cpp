// Tests that everything works without types, as other languages call it. What is tested here comes from
// tca/raw.hpp alone.
#include "tca/raw.hpp"

#include <complex>
#include <cstring>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// As many values as fit, in the bytes that hold them.
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_in(const raw::Window& window, std::int64_t from, std::size_t count) {
  std::vector<std::byte> bytes(count * sizeof(T));
  window.read(from, bytes);
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void expect_fields(const Caught& error, int rank, const std::string& chain) {
  require(error.fields.rank == rank && error.fields.chain == chain,
          "the fields of '{}' are rank {}, chain '{}'", error.message, error.fields.rank.value_or(-1),
          error.fields.chain);
}

TEST_P(FabricTest, RawPutAndSignal) {
  run(2, [](World& world) {
    const int me = world.rank(), other = 1 - me;
    const raw::Window u(world, 8, 4, "u");
    u.write(0, bytes_of<std::int32_t>({10 * me + 1, 10 * me + 2, 10 * me + 3}));
    Chain chain = world.chain("raw");
    const Layout::Loop twice[]{{2, 2}};
    if (me == 0) chain.put(u.on(other).at(4), block(2), u.at(0), nested(1, twice));
    if (me == 1) chain.signal(other);
    chain.expect(other);
    chain.commit();

    for (int step = 0; step < 3; ++step) {
      chain.start();
      while (!chain.wait_for(std::chrono::milliseconds(5))) {
      }
    }

    require(u.size() == 8 && u.size_on(other) == 8 && u.element_bytes() == 4,
            "the window has other elements");
    if (me == 1) {
      const auto have = values_in<std::int32_t>(u, 4, 2);
      require(have[0] == 1 && have[1] == 3, "rank 1 got {} and {}", have[0], have[1]);
    }
  });
}

TEST_P(FabricTest, RawHalo) {
  run(2, [](World& world) {
    const int me = world.rank(), other = 1 - me;
    const std::int64_t n = 4;
    Halo halo(world, "u", Grid(2, {2}, {true}), std::vector<std::int64_t>{n});
    const raw::Window u(world, halo.elements(), 8, "u");
    std::vector<double> mine;
    for (std::int64_t i = 0; i < n + 2; ++i) mine.push_back(static_cast<double>(100 * me + i));
    u.write(0, bytes_of(mine));
    halo.add(u);
    halo.commit();

    halo.start();
    halo.wait();

    const auto have = values_in<double>(u, 0, static_cast<std::size_t>(n) + 2);
    require(have.front() == 100 * other + n && have.back() == 100 * other + 1, "the ghosts are {} and {}",
            have.front(), have.back());
  });
}

TEST_P(FabricTest, RawGatherOfBytes) {
  run(3, [](World& world) {
    const std::vector<std::byte> mine(5, static_cast<std::byte>(world.rank()));
    std::vector<std::byte> all(15);

    world.all_gather(mine, all);

    for (std::size_t i = 0; i < all.size(); ++i)
      require(all[i] == static_cast<std::byte>(i / 5), "byte {} is {}", i, static_cast<int>(all[i]));
    const Caught error = caught([&] { world.all_gather(mine, std::span(all).first(14)); });
    require(error.code == Errc::invalid_argument, "room for 14 bytes: {}", error.message);
  });
}

TEST_P(FabricTest, RawRefusalsHaveFields) {
  run(2, [](World& world) {
    const int me = world.rank(), other = 1 - me;
    const raw::Window u(world, 4, 8, "u"), narrow(world, 4, 2, "narrow");
    Chain chain = world.chain("faces");

    const Caught mixed = caught([&] { chain.put(u.on(other), narrow.at(0), block(1)); });
    require(mixed.code == Errc::invalid_argument, "elements of two sizes: {}", mixed.message);
    expect_fields(mixed, me, "faces");
    const Caught part = caught([&] { u.write(0, bytes_of<std::int32_t>({1})); });
    require(part.code == Errc::invalid_argument, "half an element: {}", part.message);

    chain.put(u.on(other).at(3), u.at(0), block(2)).expect(other);
    const Caught refused = caught([&] { chain.commit(); });
    require(refused.code == Errc::refused, "a put out of bounds: {}", refused.message);
    expect_fields(refused, me, "faces");
    const Caught early = caught([&] { chain.start(); });
    require(early.code == Errc::invalid_argument, "a start before the commit: {}", early.message);
    expect_fields(early, me, "faces");
  });
}

// A put of one element, where the fabric's windows take immediate ones, needs a signal behind it.
TEST_P(FabricTest, RawImmediatePut) {
  run(2, [](World& world) {
    const int other = 1 - world.rank();
    const raw::Window u(world, 4, 8, "u");
    Chain bell = world.chain("bell");
    bell.signal(other).expect(other).commit();
    const double value = 7.5 + world.rank();

    u.on(other).at(2).put(&value);
    bell.run();

    const double have = values_in<double>(u, 2, 1).front();
    require(have == 7.5 + other, "{} has arrived", have);
  });
}

}  // namespace
}  // namespace tca::test
