// Values that nodes keep. They are read a few times for each evaluation: some mutexes are shared by
// all nodes.
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/living.h"
#include "composit/ir/node.h"
#include "composit/ir/operation.h"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

namespace composit::ir {

struct Node::Kept {
    ConstantArray first;
    std::vector<ConstantArray> others;  // of outputs from 1 on
    bool has_number = false;            // in place of `first`, until somebody asks for that
    alignas(16) std::array<std::byte, 16> number{};  // the largest dtype has so many bytes

    int64_t bytes = 0;                              // of its arrays
    const Node *newer = nullptr, *older = nullptr;  // neighbours in the history, if it is there
    bool is_history = false;

    static void* operator new(size_t bytes) { return allocate_small_block(bytes); }
    static void operator delete(void* kept, size_t bytes) { free_small_block(kept, bytes); }

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

// The nodes whose values are history, from the newest to the oldest. Its lock is taken within those
// of nodes.
class Node::History {
  public:
    static History& instance() {
        static auto& history = *new History;
        return history;
    }

    void add(const Node& node, Kept& kept) {
        const std::lock_guard lock(mutex_);
        if (kept.is_history || kept.bytes == 0 || node.operation().keeps_forever) return;
        kept.is_history = true;
        kept.older = newest_;
        if (newest_) newest_->kept_.load(std::memory_order_relaxed)->newer = &node;
        newest_ = &node;
        if (!oldest_) oldest_ = &node;
        bytes_ += kept.bytes;
    }

    void remove(Kept& kept) {
        const std::lock_guard lock(mutex_);
        unlink(kept);
    }

    // Without the lock of any node.
    void shorten() {
        while (const Ref<Node> node = take_oldest()) node->forget();
    }

    void set_most(int64_t bytes) {
        most_.store(bytes, std::memory_order_relaxed);
        shorten();
    }
    int64_t bytes() {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }

  private:
    void unlink(Kept& kept) {
        if (!kept.is_history) return;
        const auto kept_of = [](const Node* node) {
            return node->kept_.load(std::memory_order_relaxed);
        };
        (kept.newer ? kept_of(kept.newer)->older : newest_) = kept.older;
        (kept.older ? kept_of(kept.older)->newer : oldest_) = kept.newer;
        kept.newer = kept.older = nullptr;
        kept.is_history = false;
        bytes_ -= kept.bytes;
    }

    // Null where there is not too much. A node that is dying takes itself out.
    Ref<Node> take_oldest() {
        const std::lock_guard lock(mutex_);
        while (bytes_ > most_.load(std::memory_order_relaxed) && oldest_) {
            const Node* const node = oldest_;
            unlink(*node->kept_.load(std::memory_order_relaxed));
            if (node->retain_if_alive()) return Ref<Node>::adopt(node);
        }
        return nullptr;
    }

    std::mutex mutex_;
    const Node *newest_ = nullptr, *oldest_ = nullptr;
    int64_t bytes_ = 0;
    std::atomic<int64_t> most_{int64_t{144} << 20};
};

Node::~Node() {
    nodes_gone().fetch_add(1, std::memory_order_relaxed);
    Kept* const kept = kept_.load(std::memory_order_relaxed);
    if (!kept) return;
    History::instance().remove(*kept);
    delete kept;
}

void Node::forget() const {
    std::vector<ConstantArray> dying;  // freed after the lock
    const std::lock_guard lock(mutex_of(this));
    Kept* const kept = kept_.load(std::memory_order_relaxed);
    if (!kept || holders() > 0) return;
    dying.swap(kept->others);
    dying.push_back(std::exchange(kept->first, {}));
    kept->others.resize(dying.size() - 1);
    kept->bytes = 0;
}

void Node::count_holders(int more) const {
    const int now = holders_.fetch_add(more, std::memory_order_acq_rel) + more;
    if (!has_kept() || now > 1) return;
    {
        const std::lock_guard lock(mutex_of(this));
        Kept* const kept = kept_.load(std::memory_order_relaxed);
        if (!kept) return;
        if (holders() > 0) return History::instance().remove(*kept);
        History::instance().add(*this, *kept);
    }
    History::instance().shorten();
}

void set_most_history_bytes(int64_t bytes) { Node::History::instance().set_most(bytes); }
int64_t history_bytes() { return Node::History::instance().bytes(); }

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
    {
        const std::lock_guard lock(mutex_of(this));
        Kept* kept = kept_.load(std::memory_order_relaxed);
        if (!kept) {
            auto made = std::make_unique<Kept>();
            made->others.resize(static_cast<size_t>(output_count() - 1));
            kept = made.release();
            kept_.store(kept, std::memory_order_release);
        }
        ConstantArray& place = kept->of(output);
        if (place || kept->has_number) return;
        History::instance().remove(*kept);  // whose bytes change
        kept->bytes += value.bytes();
        place = std::move(value);
        if (holders() == 0) History::instance().add(*this, *kept);
    }
    History::instance().shorten();
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

ConstantArray Node::take_kept() const {
    if (operation().keeps_forever) return {};
    const std::lock_guard lock(mutex_of(this));
    Kept* const kept = kept_.load(std::memory_order_relaxed);
    if (!kept || kept->has_number || !kept->first || !kept->others.empty()) return {};
    if (!kept->first.memory_of_its_own()) return {};
    History::instance().remove(*kept);
    ConstantArray value = std::exchange(kept->first, {});
    kept_.store(nullptr, std::memory_order_release);
    delete kept;
    return value;
}

void* Node::take_over_kept(const Node& before) const {
    if (before.operation().keeps_forever) return nullptr;
    Kept* taken = nullptr;
    void* memory = nullptr;
    {
        const std::lock_guard lock(mutex_of(&before));
        taken = before.kept_.load(std::memory_order_relaxed);
        if (!taken || taken->has_number) return nullptr;
        memory = taken->first.memory_of_its_own();
        if (!memory) return nullptr;
        History::instance().remove(*taken);
        before.kept_.store(nullptr, std::memory_order_release);
    }
    const std::lock_guard lock(mutex_of(this));
    Kept* const known = kept_.exchange(taken, std::memory_order_acq_rel);
    internal_check(!known, "a value is taken over by a node that has one");
    return memory;
}

}  // namespace composit::ir
