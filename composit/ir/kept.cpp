// Values that nodes keep. There are few of them, and they are read once for each evaluation: some
// mutexes are shared by all nodes.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/node.h"

#include <array>
#include <mutex>
#include <utility>

namespace composit::ir {

struct Node::Kept {
    std::vector<ConstantArray> of_output;
};

namespace {

std::mutex& mutex_of(const Node* node) {
    constexpr size_t count = 64;
    static auto& mutexes = *new std::array<std::mutex, count>;
    return mutexes[mix(reinterpret_cast<uintptr_t>(node)) % count];
}

}  // namespace

Node::~Node() { delete kept_.load(std::memory_order_relaxed); }

ConstantArray Node::kept(int output) const {
    if (!has_kept()) return {};
    const std::lock_guard lock(mutex_of(this));
    return kept_.load(std::memory_order_relaxed)->of_output[static_cast<size_t>(output)];
}

void Node::keep(int output, ConstantArray value) const {
    const TensorType& type = types()[static_cast<size_t>(output)];
    internal_check(value.dtype() == type.dtype && value.shape() == type.shape, "a value of ",
                   TensorType{value.shape(), value.dtype()}, " is kept for a tensor of ", type);
    const std::lock_guard lock(mutex_of(this));
    Kept* kept = kept_.load(std::memory_order_relaxed);
    if (!kept) {
        kept = new Kept{std::vector<ConstantArray>(static_cast<size_t>(output_count()))};
        kept_.store(kept, std::memory_order_release);
    }
    ConstantArray& place = kept->of_output[static_cast<size_t>(output)];
    if (!place) place = std::move(value);
}

ConstantArray Node::give_up_kept(int output) const {
    if (!has_kept()) return {};
    const std::lock_guard lock(mutex_of(this));
    auto& place = kept_.load(std::memory_order_relaxed)->of_output[static_cast<size_t>(output)];
    return std::exchange(place, {});
}

}  // namespace composit::ir
