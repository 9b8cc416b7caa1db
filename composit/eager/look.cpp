// Looks, which are remembered.
#include "composit/base/error.h"
#include "composit/eager/cell.h"
#include "composit/eager/pending.h"
#include "composit/eager/pieces.h"
#include "composit/eager/small.h"
#include "composit/runtime/backend.h"

#include <new>

namespace composit::eager {
namespace {

// Each look takes most_pending cells of a longer list; one that computes a long graph takes one
// more for so many nodes, as of the losses of all steps of a loop that are looked at in the end:
// each look would plan the graph anew.
constexpr size_t nodes_of_pending = 4;

// False where it fails.
template <class Compute>
bool succeeds(const Compute& compute) {
    try {
        compute();
        return true;
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    return false;
}

bool is_evaluated(const std::vector<Tensor>& tensors, const execute::Options& options) {
    return succeeds([&] { execute::evaluate_and_keep(tensors, options); });
}

// What a plan has to compute so that all of `tensors` are known, or can be known without one.
std::vector<Tensor> wanted_for(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> wanted;
    for (const Tensor& tensor : tensors) {
        if (known(tensor)) continue;
        std::vector<Tensor> needed;
        const Small small = compute_small(tensor, most_depth, &needed);
        if (small == Small::impossible) {
            compute_small_views(tensor);
            if (!known(tensor)) wanted.push_back(tensor);
        }
        if (small == Small::needs) wanted.insert(wanted.end(), needed.begin(), needed.end());
    }
    return wanted;
}

// The values of those that are known, else nothing.
std::vector<Array> values_known(const std::vector<Tensor>& tensors) {
    std::vector<Array> values;
    for (const Tensor& tensor : tensors) {
        ir::ConstantArray value = known(tensor);
        if (!value && compute_small(tensor, most_depth) == Small::computed) value = known(tensor);
        if (!value) return {};
        values.push_back(value.value());
    }
    return values;
}

// How many nodes have to be computed for them.
size_t count_unknown(const std::vector<Tensor>& tensors) {
    size_t count = 0;
    each_unknown(tensors, [&](const ir::Node&) { return ++count > 0; });
    return count;
}

// What live cells hold that nobody has looked at, and what a plan has to compute for it.
struct Beside {
    explicit Beside(const std::vector<Tensor>& looked) : held(pending().take(most_pending)) {
        if (held.size() == most_pending) {
            const std::vector<Tensor> more =
                pending().take(count_unknown(looked) / nodes_of_pending);
            held.insert(held.end(), more.begin(), more.end());
        }
        wanted = wanted_for(held);
        begin_piece();
    }
    std::vector<Tensor> held, wanted;

    // Once that is computed: small ones are, too, so that what is made of them is known at once.
    void compute_small_ones() const {
        for (const Tensor& tensor : held)
            if (!known(tensor)) compute_small(tensor, most_depth);
    }
};

void evaluate_each(const std::vector<Tensor>& tensors, const execute::Options& options) {
    for (const Tensor& tensor : tensors) is_evaluated({tensor}, options);
}

}  // namespace

void try_look(const Tensor& tensor, const execute::Options& options) {
    succeeds([&] { look({tensor}, options); });
}

void settle(const execute::Options& options) {
    const Beside beside({});
    if (!beside.wanted.empty() && !is_evaluated(beside.wanted, options))
        evaluate_each(beside.wanted, options);
    beside.compute_small_ones();
}

Array look_once(const Tensor& tensor, const execute::Options& options) {
    const ir::ConstantArray value = known(tensor);
    if (value) return value.value();
    std::vector<Tensor> all = Beside({tensor}).wanted;
    if (all.empty()) return execute::evaluate({tensor}, options)[0];
    all.push_back(tensor);
    try {
        const std::vector<Array> values = execute::evaluate(all, options);
        all.pop_back();
        for (size_t i = 0; i < all.size(); ++i) execute::keep(all[i], values[i]);
        return values.back();
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    all.pop_back();
    Array value_alone = execute::evaluate({tensor}, options)[0];
    evaluate_each(all, options);
    return value_alone;
}

std::vector<Array> look(const std::vector<Tensor>& tensors, const execute::Options& options) {
    std::vector<Tensor> wanted = wanted_for(tensors);
    if (!wanted.empty()) {
        const Beside beside(tensors);
        if (beside.wanted.empty() && wanted == tensors) {
            std::vector<Array> values = execute::evaluate_and_keep(tensors, options);
            beside.compute_small_ones();
            return values;
        }
        std::vector<Tensor> all = wanted;
        all.insert(all.end(), beside.wanted.begin(), beside.wanted.end());
        // Whose error it was shows when each is evaluated by itself.
        if (!is_evaluated(all, options)) {
            std::vector<Array> values = execute::evaluate_and_keep(tensors, options);
            evaluate_each(beside.wanted, options);
            return values;
        }
        beside.compute_small_ones();
    }
    if (wanted.empty()) runtime::backend(options.backend);  // an error if there is none
    std::vector<Array> values = values_known(tensors);
    return values.size() == tensors.size() ? values : execute::evaluate_and_keep(tensors, options);
}

namespace {

// Functions of composit::numpy look as programs do.
[[maybe_unused]] const bool is_registered = [] {
    execute::set_values_now(&look);
    return true;
}();

}  // namespace

}  // namespace composit::eager
