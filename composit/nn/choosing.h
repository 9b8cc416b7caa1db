// Tokens chosen by the likelihoods that a language model gives them.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace composit::nn {

struct TokenChoice {
    double temperature = 1;             // 0: the likeliest, the first of equals
    std::optional<int64_t> top_k = {};  // of that many likeliest
    // Of the fewest of these that together have at least that likelihood (Holtzman et al. 2020).
    std::optional<double> top_p = {};
};

// The place of one of the logits (tokens,), drawn by softmax(logits / temperature); `draw` gives a
// number from [0, 1), and is called where one is needed. ValueError: an option outside its range,
// logits of another rank or none.
[[nodiscard]] int64_t choose_token(const ir::Array& logits, const std::function<double()>& draw,
                                   const TokenChoice& how = {});

}  // namespace composit::nn
