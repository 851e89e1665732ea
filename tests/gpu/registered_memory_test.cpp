// Tests windows made of memory that the program got from cudaMalloc, and the refusal of memory that the other
// ranks could not reach.
#include <algorithm>
#include <numeric>

#include "cuda_ok.hpp"
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

constexpr std::int64_t room = 500;  // elements of a window
// Elements around a window, which so begins inside an allocation and not at a multiple of 16 bytes.
constexpr std::int64_t margin = 5;

class DeviceArray {
 public:
  DeviceArray() { ok(cudaMalloc(&data_, bytes)); }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  int* window() const { return data_ + margin; }
  void write(const std::vector<int>& values) {
    ok(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice));
  }
  std::vector<int> read() const {
    std::vector<int> values(static_cast<std::size_t>(room + 2 * margin));
    ok(cudaMemcpy(values.data(), data_, bytes, cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  static constexpr std::size_t bytes = (room + 2 * margin) * sizeof(int);
  int* data_ = nullptr;
};

// The elements of a put at its two ends.
struct Ends {
  Cells source, target;
};

std::vector<Ends> every_layout() {
  const Cells row = block_cells(24), rows = block_stride_cells(4, 6, 10), dots = stride_cells(24, 5),
              face = subarray_cells({9, 7}, {1, 2}, {6, 4}),
              box = subarray_cells({5, 4, 6}, {1, 1, 2}, {2, 3, 4}),
              hyper = subarray_cells({3, 4, 3, 5}, {1, 1, 0, 2}, {2, 2, 2, 3});
  std::vector<Ends> all{{row, row}, {rows, dots}, {face, box}};
  for (const Cells& cells : {rows, dots, face, box, hyper}) all.push_back({cells, cells});
  return all;
}

// Exchanges over one chain, and compares all of the program's memory, also that around the windows.
void exchange(World& world, const std::string& channel, const Ends& ends,
              const std::array<Window<int>, 2>& windows, const std::array<DeviceArray*, 2>& arrays) {
  constexpr std::int64_t from = 3, to = 11;
  const int other = 1 - world.rank();
  Chain chain = world.chain("registered", {.guarded = true, .time_limit = {}, .channel = channel});
  chain.put(windows[1].on(other).at(to), ends.target.layout, windows[0].at(from), ends.source.layout);
  chain.expect(other).commit();
  std::vector<int> sent(room + 2 * margin), expected(sent.size());
  for (int step = 1; step <= 3; ++step) {
    const auto value = [&](int rank, std::int64_t place) {
      return static_cast<int>(rank * 10'000'000 + step * 10'000 + place);
    };
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = value(world.rank(), static_cast<std::int64_t>(i));
    std::iota(expected.begin(), expected.end(), -100'000 * step);
    arrays[0]->write(sent);
    arrays[1]->write(expected);
    chain.start();
    chain.wait();
    for (std::size_t i = 0; i < ends.source.at.size(); ++i) {
      expected[static_cast<std::size_t>(margin + to + ends.target.at[i])] =
          value(other, margin + from + ends.source.at[i]);
    }
    require(arrays[1]->read() == expected, "{} into {} over '{}', step {}: not what was sent, or not where",
            ends.source.layout.describe(), ends.target.layout.describe(), channel, step);
    require(arrays[0]->read() == sent, "the source has changed");
  }
}

TEST_P(FabricTest, RegisteredMemoryCarriesEveryLayout) {
  run(2, [this](World& world) {
    DeviceArray source, target;
    {
      const std::array windows{world.window(source.window(), room), world.window(target.window(), room)};
      require(windows[1].data() == target.window(), "the window is elsewhere");
      for (const std::string& channel : channels()) {
        for (const Ends& ends : every_layout()) exchange(world, channel, ends, windows, {&source, &target});
      }
      require(element(windows[1], 0) == target.read()[margin],
              "a window reads something else than its memory");
    }
    // This collective tells all ranks that all have dropped their windows, so the memory may be freed.
    (void)world.window<char>(1);
    world.barrier();
  });
}

// Rank 1 registers `memory`, which is refused, and rank 0 memory that is accepted. Both get the error.
void expect_refusal(World& world, int* memory, std::int64_t count, const std::vector<std::string>& parts) {
  DeviceArray good;
  const Caught error = caught([&] {
    if (world.rank() == 1) {
      static_cast<void>(world.window(memory, count));
    } else {
      static_cast<void>(world.window(good.window(), room));
    }
  });
  require(error.code == Errc::invalid_argument, "code {}: {}", static_cast<int>(error.code), error.message);
  for (const std::string& part : parts)
    require(error.message.find(part) != std::string::npos, "\"{}\" does not say \"{}\"", error.message, part);
  require(world.window<int>(4).size() == 4, "the next window fails");
  world.barrier();
}

TEST_P(FabricTest, HostMemoryIsNotRegistered) {
  run(2, [](World& world) {
    std::vector<int> memory(room);
    expect_refusal(world, memory.data(), room,
                   {"rank 1, window 0", "is host memory", "what cudaMalloc gave"});
  });
}

TEST_P(FabricTest, PinnedMemoryIsNotRegistered) {
  run(2, [](World& world) {
    int* memory = nullptr;
    ok(cudaMallocHost(&memory, room * sizeof(int)));
    expect_refusal(world, memory, room, {"rank 1, window 0", "is host memory", "let World::window allocate"});
    cudaFreeHost(memory);
  });
}

TEST_P(FabricTest, ManagedMemoryIsNotRegistered) {
  run(2, [](World& world) {
    int* memory = nullptr;
    ok(cudaMallocManaged(&memory, room * sizeof(int)));
    expect_refusal(world, memory, room, {"rank 1, window 0", "is managed memory", "what cudaMalloc gave"});
    cudaFree(memory);
  });
}

TEST_P(FabricTest, MoreMemoryThanWasAllocatedIsNotRegistered) {
  run(2, [](World& world) {
    DeviceArray array;
    expect_refusal(world, array.window(), 1 << 28,
                   {"rank 1, window 0", "reach past the end of their allocation"});
  });
}

// Only processes are refused: ranks of one process can reach the memory.
TEST_P(FabricTest, MemoryOfAPoolIsNotRegisteredBetweenProcesses) {
  if (GetParam().name != "cuda_processes") GTEST_SKIP() << "ranks of one process reach memory of a pool";
  run(2, [](World& world) {
    int* memory = nullptr;
    ok(cudaMallocAsync(&memory, room * sizeof(int), nullptr));
    ok(cudaStreamSynchronize(nullptr));
    expect_refusal(world, memory, room,
                   {"rank 1, window 0", "cannot be shared with other processes", "cudaMallocAsync"});
    ok(cudaFreeAsync(memory, nullptr));
  });
}

}  // namespace
}  // namespace tca::test
