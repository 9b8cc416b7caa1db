// A call of a public function, whose errors must name it (error_names_test.cpp).
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace composit {

struct Call {
    std::string function;
    std::function<void(const ir::Tensor& a, const ir::Tensor& b, int64_t n)> call;
};

template <class... Values>
void use(const Values&...) {}

#define CALL(name, ...) \
    {#name,             \
     [](const ir::Tensor& a, const ir::Tensor& b, int64_t n) { use(a, b, n), use(__VA_ARGS__); }}

std::vector<Call> calls_of_nn();

}  // namespace composit
