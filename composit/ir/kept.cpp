// Values that nodes keep. They are read a few times for each evaluation: some mutexes are shared by
// all nodes.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/node.h"

#include <array>
#include <cstring>
#include <mutex>
#include <utility>

namespace composit::ir {

struct Node::Kept {
    ConstantArray first;
    std::vector<ConstantArray> others;  // of outputs from 1 on
    bool has_number = false;            // in place of `first`, until somebody asks for that
    alignas(16) std::array<std::byte, 16> number{};  // the largest dtype has so many bytes

    ConstantArray& of(int output) {
        return output == 0 ? first : others.at(static_cast<size_t>(output - 1));
    }
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
    Kept* const kept = kept_.load(std::memory_order_relaxed);
    if (!kept) return {};
    if (kept->has_number) {
        Array array(types()[0].dtype, {});
        std::memcpy(array.mutable_data(), kept->number.data(), static_cast<size_t>(array.bytes()));
        kept->first = std::move(array);
        kept->has_number = false;
    }
    return kept->of(output);
}

void Node::keep(int output, ConstantArray value) const {
    const TensorType& type = types()[static_cast<size_t>(output)];
    internal_check(value.dtype() == type.dtype && value.shape() == type.shape, "a value of ",
                   TensorType{value.shape(), value.dtype()}, " is kept for a tensor of ", type);
    const std::lock_guard lock(mutex_of(this));
    Kept* kept = kept_.load(std::memory_order_relaxed);
    if (!kept) {
        auto made = std::make_unique<Kept>();
        made->others.resize(static_cast<size_t>(output_count() - 1));
        kept = made.release();
        kept->of(output) = std::move(value);
        kept_.store(kept, std::memory_order_release);
        return;
    }
    ConstantArray& place = kept->of(output);
    if (!place && !kept->has_number) place = std::move(value);
}

void Node::keep_number(const void* bytes) const {
    internal_check(output_count() == 1 && types()[0].shape.empty(), "a number is kept for ",
                   types()[0]);
    const std::lock_guard lock(mutex_of(this));
    if (kept_.load(std::memory_order_relaxed)) return;
    auto made = std::make_unique<Kept>();
    made->has_number = true;
    std::memcpy(made->number.data(), bytes, static_cast<size_t>(size_of(types()[0].dtype)));
    kept_.store(made.release(), std::memory_order_release);
}

bool Node::copy_kept_number(void* bytes) const {
    if (!has_kept()) return false;
    const std::lock_guard lock(mutex_of(this));
    const Kept* const kept = kept_.load(std::memory_order_relaxed);
    if (!kept || (!kept->has_number && !kept->first)) return false;
    const void* const from = kept->has_number ? kept->number.data() : kept->first.row_major().get();
    std::memcpy(bytes, from, static_cast<size_t>(size_of(types()[0].dtype)));
    return true;
}

void* Node::take_over_kept(const Node& before) const {
    Kept* taken = nullptr;
    void* memory = nullptr;
    {
        const std::lock_guard lock(mutex_of(&before));
        taken = before.kept_.load(std::memory_order_relaxed);
        if (!taken || taken->has_number) return nullptr;
        memory = taken->first.memory_of_its_own();
        if (!memory) return nullptr;
        before.kept_.store(nullptr, std::memory_order_release);
    }
    const std::lock_guard lock(mutex_of(this));
    delete kept_.exchange(taken, std::memory_order_acq_rel);
    return memory;
}

}  // namespace composit::ir
