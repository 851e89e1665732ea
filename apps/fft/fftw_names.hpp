// FFTW's two libraries, whose names differ in their first letters: what its transforms on one rank and over MPI both use.
#pragma once

#include <fftw3.h>

namespace tca::fft {

template <class Real>
struct FftwNames;

template <>
struct FftwNames<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto execute = fftw_execute;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct FftwNames<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto destroy = fftwf_destroy_plan;
};

}  // namespace tca::fft
