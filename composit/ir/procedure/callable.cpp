// The list of procedures that nodes call.
#include "composit/ir/procedure/callable.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/content.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using Role = ArrayVariable::Role;

struct Registry {
    std::mutex mutex;
    std::deque<Callable> all;
    std::unordered_map<std::string, int64_t> named;  // of the first `named_count` of them
    size_t named_count = 0;
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

namespace {

// The number of that name, after all that are kept have been named: outside of the lock, as rows
// that are called may be made in Python, which has a lock of its own.
int64_t find_among_kept(const std::string& name) {
    Registry& r = registry();
    while (true) {
        const Callable* next = nullptr;
        {
            const std::lock_guard lock(r.mutex);
            if (r.named_count == r.all.size()) {
                const auto found = r.named.find(name);
                return found == r.named.end() ? -1 : found->second;
            }
            next = &r.all[r.named_count];
        }
        const std::string& own = next->name();
        const std::lock_guard lock(r.mutex);
        if (r.named_count < r.all.size() && &r.all[r.named_count] == next)
            r.named[own] = static_cast<int64_t>(r.named_count++);
    }
}

// Derivatives are made when somebody asks for them: those of procedures whose names `name` begins
// with are made now. Whether any is new.
bool make_derivatives(const std::string& name) {
    Registry& r = registry();
    std::vector<const Callable*> candidates;
    size_t before = 0;
    {
        const std::lock_guard lock(r.mutex);
        before = r.all.size();
        for (const Callable& each : r.all)
            if (name.starts_with(each.procedure().name + "_")) candidates.push_back(&each);
    }
    for (const Callable* each : candidates)
        for (const auto derivative : {&Callable::vjp, &Callable::jvp}) {
            try {
                (each->*derivative)();
            } catch (const Error&) {
                continue;  // it has none
            }
        }
    const std::lock_guard lock(r.mutex);
    return r.all.size() != before;
}

}  // namespace

int64_t find_callable_named(const std::string& name) {
    constexpr int deepest_derivative = 3;
    int64_t number = find_among_kept(name);
    for (int i = 0; i < deepest_derivative && number < 0 && make_derivatives(name); ++i)
        number = find_among_kept(name);
    return number;
}

const std::string& Callable::name() const {
    std::call_once(is_named_, [this] { name_ = content_name(procedure_); });
    return name_;
}

void Callable::check_shapes(const std::vector<Bits>& parameters,
                            const std::vector<std::vector<int64_t>>& shapes,
                            const std::vector<bool>& is_known) const {
    std::vector<int> arrays;
    for (const int place : operands_)
        if (place < 0) arrays.push_back(-1 - place);
    for (const int output : procedure_.arrays_of(Role::output)) arrays.push_back(output);
    for (size_t k = 0; k < arrays.size(); ++k) {
        const ArrayVariable& array = procedure_.arrays[static_cast<size_t>(arrays[k])];
        const std::vector<Expr> used = scalar::topological_order(array.shape);
        const bool is_told = std::all_of(used.begin(), used.end(), [&](const Expr& expr) {
            return expr.op() != scalar::Op::argument || is_known[static_cast<size_t>(expr.index())];
        });
        if (!is_told) continue;
        const std::vector<int64_t> wanted = shape_of(array, parameters);
        user_check<ValueError>(shapes[k] == wanted, procedure_.name, ": ", array.name,
                               " has the shape [", join(shapes[k]), "]. [", join(wanted),
                               "] is required.");
    }
}

Callable::Callable(Procedure procedure) : procedure_(std::move(procedure)) {
    find_operands();
    std::vector<Expr> extents;
    for (const ArrayVariable& array : procedure_.arrays)
        if (array.role != Role::local)
            extents.insert(extents.end(), array.shape.begin(), array.shape.end());
    for (const Expr& expr : scalar::topological_order(extents))
        has_numbers_in_extents_ |=
            expr.op() == scalar::Op::argument && !is_extent(static_cast<size_t>(expr.index()));
}

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
        if (!run_) run_ = interpreted(procedure_);
    });
    return run_(parameters, arrays);
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
