// Which orders of a constant's elements are in memory. Locks are held for a few instructions only:
// elements are moved outside of them, as whoever waits may hold what the moving needs.
#include "composit/ir/constant_array.h"

#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/small_blocks.h"
#include "composit/ir/remote_memory.h"

#include <mutex>
#include <utility>

namespace composit::ir {
namespace {

using Memory = std::shared_ptr<void>;

// Less is never worth another order, so that reading it needs no lock.
constexpr int64_t least_bytes = 4096;

// The elements in one order.
struct Form {
    std::string key;
    Memory memory;
    std::function<void(const void*, void*)> restore;
};
using FormRef = std::shared_ptr<const Form>;

}  // namespace

struct ConstantArray::State {
    explicit State(Array value)
        : dtype(value.dtype()),
          shape(value.shape()),
          is_borrowed(value.is_borrowed()),
          may_be_given_up(!is_borrowed && !value.is_remote() && value.bytes() >= least_bytes),
          remote(value.remote()),
          row_major(remote ? nullptr : Memory(value.owner(), value.mutable_data())) {}

    const DType dtype;
    const Shape shape;
    const bool is_borrowed, may_be_given_up;
    const std::shared_ptr<RemoteMemory> remote;  // null: the elements are in host memory

    std::mutex mutex;  // of all below; if it may not be given up, row_major never changes
    Memory row_major;  // null: given up
    FormRef instead;   // then: what it can be put together from
    std::vector<std::weak_ptr<const Form>> forms;
    std::vector<std::shared_ptr<RemoteMemory>> copies;  // on devices

    Array array_of(Memory memory) const {
        void* const data = memory.get();
        return {dtype, shape, std::move(memory), data, is_borrowed};
    }

    // The row-major memory, or else what is there instead of it.
    std::pair<Memory, FormRef> what_is_there() {
        if (remote) return {remote->on_host(), nullptr};
        if (!may_be_given_up) return {row_major, nullptr};
        const std::lock_guard lock(mutex);
        return {row_major, instead};
    }

    Memory restored(const Form& form) const {
        Array array(dtype, shape);
        form.restore(form.memory.get(), array.mutable_data());
        return array.owner();
    }

    FormRef find(const std::string& key) {
        FormRef found;
        std::erase_if(forms, [](const auto& form) { return form.expired(); });
        for (const auto& form : forms)
            if (FormRef candidate = form.lock(); candidate && candidate->key == key)
                found = candidate;
        return found;
    }

    // What is to be freed once the lock is: its owner may be anyone.
    Memory give_up_for(const FormRef& form) {
        if (!may_be_given_up || !form->restore || row_major.use_count() != 1) return nullptr;
        instead = form;
        return std::exchange(row_major, nullptr);
    }
};

ConstantArray::ConstantArray(Array value)
    : state_(value ? std::allocate_shared<State>(SmallBlockAllocator<State>(), std::move(value))
                   : nullptr) {}

DType ConstantArray::dtype() const { return state_ ? state_->dtype : DType::float32; }
const Shape& ConstantArray::shape() const {
    static const Shape none;
    return state_ ? state_->shape : none;
}
int64_t ConstantArray::size() const { return state_ ? element_count(state_->shape) : 0; }
bool ConstantArray::is_borrowed() const { return state_ && state_->is_borrowed; }
int64_t ConstantArray::bytes() const { return size() * size_of(dtype()); }

void* ConstantArray::memory_of_its_own() const {
    if (!state_ || state_.use_count() != 1 || state_->is_borrowed || state_->remote) return nullptr;
    const std::lock_guard lock(state_->mutex);
    const bool is_own =
        state_->row_major.use_count() == 1 && state_->forms.empty() && state_->copies.empty();
    return is_own ? state_->row_major.get() : nullptr;
}

Array ConstantArray::value() const {
    if (!state_) return {};
    if (state_->remote) return {state_->dtype, state_->shape, state_->remote};
    auto [memory, form] = state_->what_is_there();
    if (state_->is_borrowed) check_mapped_file("values of a constant", memory.get());
    return state_->array_of(memory ? std::move(memory) : state_->restored(*form));
}

std::shared_ptr<const void> ConstantArray::row_major() const {
    if (!state_) return nullptr;
    auto [memory, form] = state_->what_is_there();
    if (memory) return memory;
    memory = state_->restored(*form);
    form = nullptr;  // may free the form after the lock, where nobody else has it
    const std::lock_guard lock(state_->mutex);
    if (state_->row_major) return state_->row_major;
    state_->row_major = memory;
    form = std::exchange(state_->instead, nullptr);
    return memory;
}

bool ConstantArray::is_row_major() const {
    if (state_ && state_->remote) return state_->remote->is_on_host();
    return state_ && state_->what_is_there().first != nullptr;
}

std::shared_ptr<const void> ConstantArray::arranged(const Arrangement& order) const {
    internal_check(state_ != nullptr, "no constant is arranged as ", order.key);
    FormRef form;
    {
        const std::lock_guard lock(state_->mutex);
        form = state_->find(order.key);
    }
    if (!form) {
        Form made{order.key, allocate_aligned(order.bytes), order.restore};
        order.arrange(value().data(), made.memory.get());
        form = std::make_shared<const Form>(std::move(made));
    }
    Memory freed;
    const std::lock_guard lock(state_->mutex);
    // Somebody may have been quicker.
    if (const FormRef other = state_->find(order.key))
        form = other;
    else
        state_->forms.push_back(form);
    freed = state_->give_up_for(form);
    return {form, form->memory.get()};
}

std::shared_ptr<RemoteMemory> ConstantArray::remote() const {
    return state_ ? state_->remote : nullptr;
}

std::shared_ptr<RemoteMemory> ConstantArray::on_device(
    const std::string& device,
    const std::function<std::shared_ptr<RemoteMemory>(const void* row_major)>& copy) const {
    internal_check(state_ != nullptr, "no constant is copied to ", device);
    if (state_->remote && state_->remote->device() == device) return state_->remote;
    const auto find = [&]() -> std::shared_ptr<RemoteMemory> {
        for (const auto& known : state_->copies)
            if (known->device() == device) return known;
        return nullptr;
    };
    if (!state_->is_borrowed) {
        const std::lock_guard lock(state_->mutex);
        if (auto known = find()) return known;
    }
    std::shared_ptr<RemoteMemory> made = copy(row_major().get());
    if (state_->is_borrowed) return made;
    const std::lock_guard lock(state_->mutex);
    if (auto other = find()) return other;  // somebody was quicker
    state_->copies.push_back(made);
    return made;
}

}  // namespace composit::ir
