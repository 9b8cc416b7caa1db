// LAPACK, in a library that is opened when a decomposition first runs. composit links none.
//
// The library is, in this order: what the environment variable COMPOSIT_LAPACK names; what
// use_lapack named (Python names the one that NumPy uses, so that results have NumPy's bits); the
// system's liblapack.so.3 or libopenblas.so.0. Integers of 64 bits (symbols scipy_dpotrf_64_,
// dpotrf_64_) and of 32 (dpotrf_) are both understood. Routines are called from any thread.
#pragma once

#include <string>

namespace composit::foreign {

// Names the library, or one that was linked with it, before a decomposition first runs.
void use_lapack(const std::string& path);

// The library in use: its file, and how its symbols are spelled. NotSupported when there is none.
struct LapackLibrary {
    std::string path;
    std::string spelling;  // of dpotrf
};
LapackLibrary lapack_in_use();

}  // namespace composit::foreign
