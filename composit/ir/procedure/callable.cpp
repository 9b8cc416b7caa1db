// The list of procedures that nodes call.
#include "composit/ir/procedure/callable.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <deque>

namespace composit::ir::procedure {
namespace {

using Role = ArrayVariable::Role;

struct Registry {
    std::mutex mutex;
    std::deque<Callable> all;
    Loader loader;
};

Registry& registry() {
    static Registry* const instance = new Registry;  // never destroyed, as that of back ends
    return *instance;
}

}  // namespace

void set_loader(Loader loader) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.loader = std::move(loader);
}

int64_t keep_callable(Procedure procedure) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    r.all.emplace_back(std::move(procedure));
    return static_cast<int64_t>(r.all.size()) - 1;
}

const Callable* find_callable(int64_t number) {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const bool is_known = number >= 0 && number < static_cast<int64_t>(r.all.size());
    return is_known ? &r.all[static_cast<size_t>(number)] : nullptr;
}

Callable::Callable(Procedure procedure) : procedure_(std::move(procedure)) { find_operands(); }

// An extent stands behind the array that it is one of.
void Callable::find_operands() {
    extents_.resize(procedure_.parameters);
    std::vector<int> head = procedure_.head;
    if (head.empty())
        for (size_t i = 0; i < procedure_.parameters; ++i) head.push_back(static_cast<int>(i));
    int array = -1;  // the last one met
    int count = 0;
    for (const int each : head) {
        if (each < 0) {
            operands_.push_back(each);
            array = -1 - each;
            ++count;
            continue;
        }
        bool is_extent = false;
        if (array >= 0) {
            const std::vector<Expr>& shape = procedure_.arrays[static_cast<size_t>(array)].shape;
            for (size_t axis = 0; axis < shape.size() && !is_extent; ++axis)
                if (shape[axis].op() == scalar::Op::argument && shape[axis].index() == each) {
                    extents_[static_cast<size_t>(each)] = {count - 1, axis};
                    is_extent = true;
                }
        }
        if (is_extent) continue;
        operands_.push_back(each);
        array = -1;
    }
}

DType Callable::dtype_of(int operand) const {
    const int place = operands_[static_cast<size_t>(operand)];
    return place < 0 ? procedure_.arrays[static_cast<size_t>(-1 - place)].dtype
                     : procedure_.variables[static_cast<size_t>(place)].dtype;
}

std::vector<Bits> Callable::with_extents(std::vector<Bits> parameters,
                                         const std::vector<std::vector<int64_t>>& shapes) const {
    for (size_t i = 0; i < extents_.size(); ++i)
        if (extents_[i].array >= 0)
            parameters[i] = scalar::bits_of_integer(
                DType::int64, shapes[static_cast<size_t>(extents_[i].array)][extents_[i].axis]);
    return parameters;
}

std::vector<Bits> Callable::run(const std::vector<Bits>& parameters, void* const* arrays) const {
    std::call_once(is_loaded_, [this] {
        Loader loader;
        {
            const std::lock_guard lock(registry().mutex);
            loader = registry().loader;
        }
        if (loader) run_ = loader(procedure_);
    });
    return run_ ? run_(parameters, arrays) : interpret(procedure_, parameters, arrays);
}

int64_t Callable::vjp() const {
    const std::lock_guard lock(mutex_);
    if (vjp_ < 0) vjp_ = keep_callable(reverse(procedure_));
    return vjp_;
}

int64_t Callable::jvp() const {
    const std::lock_guard lock(mutex_);
    if (jvp_ < 0) jvp_ = keep_callable(procedure::jvp(procedure_));
    return jvp_;
}

}  // namespace composit::ir::procedure
