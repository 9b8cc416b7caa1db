#include "composit/ir/tracing.h"

#include "composit/ir/operation.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace composit::ir {
namespace {

thread_local uint64_t begin_of_trace = 0;
thread_local const DifferentiationScope* innermost = nullptr;

// Whether gradients go on from an output of this type.
bool has_gradient(const TensorType& type) {
    return is_floating(type.dtype) || is_complex(type.dtype);
}

bool depends_on(const Tensor& tensor, const std::vector<Tensor>& inputs) {
    if (inputs.empty()) return false;
    uint64_t oldest = inputs[0].node().number();
    for (const Tensor& input : inputs) oldest = std::min(oldest, input.node().number());
    std::vector<const Node*> open;
    std::unordered_set<const Node*> seen;
    const auto visit = [&](const Tensor& next) {
        if (next.node().number() < oldest || !has_gradient(next.type())) return;
        if (seen.insert(&next.node()).second) open.push_back(&next.node());
    };
    visit(tensor);
    while (!open.empty()) {
        const Node* const node = open.back();
        open.pop_back();
        for (const Tensor& input : inputs)
            if (&input.node() == node) return true;
        if (node->operation().name == "stop_gradient") continue;
        for (const Tensor& operand : node->operands()) visit(operand);
    }
    return false;
}

}  // namespace

TraceScope::TraceScope() : around_(std::exchange(begin_of_trace, next_time())) {}
TraceScope::~TraceScope() { begin_of_trace = around_; }

uint64_t TraceScope::begin() { return begin_of_trace; }

DifferentiationScope::DifferentiationScope(const std::vector<Tensor>& inputs)
    : inputs_(inputs), around_(std::exchange(innermost, this)) {}
DifferentiationScope::~DifferentiationScope() { innermost = around_; }

bool DifferentiationScope::is_open() { return innermost != nullptr; }

bool DifferentiationScope::reaches(const Tensor& tensor) {
    for (const DifferentiationScope* scope = innermost; scope; scope = scope->around_)
        if (depends_on(tensor, scope->inputs_)) return true;
    return false;
}

}  // namespace composit::ir
