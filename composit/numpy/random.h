// NumPy's random numbers: the same seed gives the same numbers, bit for bit.
//
// There is no global state here: front doors that need one own a RandomState.
#pragma once

#include "composit/numpy/random/bit_generator.h"
#include "composit/numpy/random/generator.h"
#include "composit/numpy/random/random_state.h"
#include "composit/numpy/random/seed_sequence.h"

namespace composit::numpy {

using random::RandomState;

}  // namespace composit::numpy
