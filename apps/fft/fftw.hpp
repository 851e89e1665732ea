// Transforms on a host by FFTW, which the build may lack.
#pragma once

#include <complex>
#include <memory>
#include <string>

#include "fft/pipeline.hpp"

namespace tca::fft {

// What is missing where this was built without FFTW, with the package that has it; empty where it is there.
std::string missing_fftw();
std::string fftw_version();  // e.g. "fftw-3.3.10-sse2-avx"; empty without FFTW

// Of the array at `data`, in place. With `measured` FFTW tries its algorithms on the array, which loses what is in it.
// Throws Error{incompatible} in a build without FFTW.
template <class Real>
std::unique_ptr<Transform> fftw_transform(const Local& local, std::complex<Real>* data, Direction direction,
                                          bool measured);

}  // namespace tca::fft
