#include "fft/gpu/cufft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::fft {

namespace {

std::string_view name_of(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "another error";
  }
}

template <class Real>
cufftType type_of(const Local& local, Direction direction) {
  const bool is_double = sizeof(Real) == sizeof(double);
  if (!local.real) return is_double ? CUFFT_Z2Z : CUFFT_C2C;
  if (direction == Direction::forward) return is_double ? CUFFT_D2Z : CUFFT_R2C;
  return is_double ? CUFFT_Z2D : CUFFT_C2R;
}

// How cuFFT is told where numbers lie: the array that it takes them to be in, and from one to the next along the last
// dimension, and from one transform to the next.
struct Placing {
  std::array<long long, 3> embed{};
  long long stride = 1, distance = 0;
};

Placing placing(const Local& local, const Axis& repeated, bool of_reals) {
  Placing at{.stride = local.over.back().stride, .distance = repeated.stride};
  for (std::size_t i = 0; i + 1 < local.over.size(); ++i)
    at.embed[i + 1] = local.over[i].stride / local.over[i + 1].stride;
  at.embed[0] = local.over.front().size;
  if (of_reals) {
    at.embed[local.over.size() - 1] *= 2;
    at.distance *= 2;
  }
  return at;
}

}  // namespace

void cufft_ok(cufftResult result, std::string_view what) {
  if (result == CUFFT_SUCCESS) return;
  throw Error(result == CUFFT_ALLOC_FAILED ? Errc::out_of_memory : Errc::device_failed,
              fmt::format("{}: cuFFT says {} ({})", what, name_of(result), static_cast<int>(result)));
}

std::string cufft_version() {
  int version = 0;
  cufft_ok(cufftGetVersion(&version), "asking for its version");
  return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

class CufftWork::Plan {
 public:
  Plan() { cufft_ok(cufftCreate(&handle_), "making a plan"); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { cufftDestroy(handle_); }
  cufftHandle get() const { return handle_; }

 private:
  cufftHandle handle_ = 0;
};

// cuFFT repeats a transform in one dimension. A second one is a loop here.
template <class Real>
class CufftWork::CufftTransform : public Transform {
 public:
  CufftTransform(std::shared_ptr<Plan> plan, const Local& local, std::complex<Real>* data,
                 Direction direction)
      : plan_(std::move(plan)),
        type_(type_of<Real>(local, direction)),
        sign_(direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
        data_(data + local.first) {
    if (local.for_each.size() > 1) loop_ = local.for_each.front();
  }

  void run() override {
    for (std::int64_t i = 0; i < loop_.size; ++i) execute(data_ + i * loop_.stride);
  }

 private:
  void execute(std::complex<Real>* at) const {
    const cufftHandle plan = plan_->get();
    void* const numbers = at;
    const auto done = [&] {
      switch (type_) {
        case CUFFT_Z2Z:
          return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(numbers),
                              static_cast<cufftDoubleComplex*>(numbers), sign_);
        case CUFFT_C2C:
          return cufftExecC2C(plan, static_cast<cufftComplex*>(numbers), static_cast<cufftComplex*>(numbers),
                              sign_);
        case CUFFT_D2Z:
          return cufftExecD2Z(plan, static_cast<double*>(numbers), static_cast<cufftDoubleComplex*>(numbers));
        case CUFFT_R2C:
          return cufftExecR2C(plan, static_cast<float*>(numbers), static_cast<cufftComplex*>(numbers));
        case CUFFT_Z2D:
          return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(numbers), static_cast<double*>(numbers));
        default:
          return cufftExecC2R(plan, static_cast<cufftComplex*>(numbers), static_cast<float*>(numbers));
      }
    };
    cufft_ok(done(), "transforming");
  }

  std::shared_ptr<Plan> plan_;
  cufftType type_;
  int sign_;
  std::complex<Real>* data_;
  Axis loop_{1, 0};
};

CufftWork::~CufftWork() { cudaFree(memory_); }

template <class Real>
std::unique_ptr<Transform> CufftWork::transform(const Local& local, std::complex<Real>* data,
                                                Direction direction) {
  const Axis& slowest = local.over.front();
  const Axis repeated =
      local.for_each.empty() ? Axis{1, slowest.size * slowest.stride} : local.for_each.back();
  std::array<long long, 3> size{};
  for (std::size_t i = 0; i < local.over.size(); ++i) size[i] = local.over[i].size;
  const bool forward = direction == Direction::forward;
  Placing in = placing(local, repeated, local.real && forward),
          out = placing(local, repeated, local.real && !forward);
  auto plan = std::make_shared<Plan>();
  cufft_ok(cufftSetAutoAllocation(plan->get(), 0), "making a plan");
  std::size_t bytes = 0;
  cufft_ok(cufftMakePlanMany64(plan->get(), static_cast<int>(local.over.size()), size.data(), in.embed.data(),
                               in.stride, in.distance, out.embed.data(), out.stride, out.distance,
                               type_of<Real>(local, direction), repeated.size, &bytes),
           "making a plan");
  cufft_ok(cufftSetStream(plan->get(), stream_), "making a plan");
  bytes_ = std::max(bytes_, bytes);
  plans_.push_back(plan);
  auto made = std::make_unique<CufftTransform<Real>>(std::move(plan), local, data, direction);
  transforms_.push_back(made.get());
  return made;
}

void CufftWork::set_up() {
  if (bytes_ > 0)
    apps::cuda_ok(cudaMalloc(&memory_, bytes_),
                  "memory for cuFFT to work in (use more GPUs, or smaller extents)");
  for (const auto& plan : plans_) cufft_ok(cufftSetWorkArea(plan->get(), memory_), "giving cuFFT memory");
  for (Transform* transform : transforms_) transform->run();
  transforms_.clear();
  apps::cuda_ok(cudaStreamSynchronize(stream_), "loading cuFFT's kernels");
}

template std::unique_ptr<Transform> CufftWork::transform(const Local&, std::complex<float>*, Direction);
template std::unique_ptr<Transform> CufftWork::transform(const Local&, std::complex<double>*, Direction);

}  // namespace tca::fft
