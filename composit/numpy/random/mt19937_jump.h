// x^(2^128) modulo the characteristic polynomial of MT19937's words, over two elements.
#pragma once

namespace composit::numpy::random {

// Whether the power is among its terms, below 19937.
[[nodiscard]] bool has_jump_power(int power);

}  // namespace composit::numpy::random
