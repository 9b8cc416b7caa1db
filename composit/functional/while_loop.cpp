// Finds out whether a loop counts, and how often it goes round then.
#include "composit/functional/while_loop.h"

#include "composit/base/error.h"
#include "composit/functional/loop_body.h"
#include "composit/ir/operation.h"
#include "composit/ir/tracing.h"
#include "composit/numpy/operand.h"
#include "composit/ops/components.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace composit {
namespace {

constexpr int64_t most_iterations = int64_t{1} << 14;  // made one by one

bool is_known(const Tensor& x) { return !x.node().is_open(); }

using Wide = __int128;  // sums and products of any two integers

// A known integer without dimensions.
std::optional<Wide> known_integer(const Tensor& x) {
    if (x.size() != 1 || !ir::is_integer(x.dtype()) || !is_known(x)) return {};
    const bool is_unsigned = ir::is_unsigned_integer(x.dtype());
    const DType dtype = is_unsigned ? DType::uint64 : DType::int64;
    const Array value = execute::evaluate_and_keep({ops::astype(x, dtype)})[0];
    return is_unsigned ? Wide{*value.data_as<uint64_t>()} : Wide{*value.data_as<int64_t>()};
}

// Whether an integer is one of the dtype's, and of int64, in which loops count.
bool fits(Wide value, DType dtype) {
    const int width = std::min(63, 8 * ir::size_of(dtype) - (ir::is_signed_integer(dtype) ? 1 : 0));
    const Wide end = Wide{1} << width;
    return value < end && value >= (ir::is_signed_integer(dtype) ? -end : Wide{0});
}

// The row of a node with two operands, empty for any other node.
std::string_view row_of_two(const Tensor& x) {
    if (!ops::is_map(x.node()) || x.node().operands().size() != 2) return {};
    return ops::specialisation_of(x.node()).row->name;
}

// The place of a tensor among others; their number where it is none.
size_t place_among(const Tensors& all, const Tensor& x) {
    size_t place = 0;
    while (place < all.size() && !(all[place] == x)) ++place;
    return place;
}

struct Comparison {
    size_t counter;
    Tensor end;
    std::string_view row;  // counter … end
};

// A condition that compares a part of the state.
std::optional<Comparison> comparison_of(const Tensor& condition, const Tensors& state) {
    const std::string_view row = row_of_two(condition);
    constexpr std::pair<std::string_view, std::string_view> turned[] = {
        {"less", "greater"},
        {"less_equal", "greater_equal"},
        {"greater", "less"},
        {"greater_equal", "less_equal"},
        {"not_equal", "not_equal"}};
    for (const auto& [same, other] : turned) {
        if (row != same) continue;
        const Tensor &a = condition.node().operand(0), &b = condition.node().operand(1);
        if (const size_t place = place_among(state, a); place < state.size())
            return Comparison{place, b, same};
        if (const size_t place = place_among(state, b); place < state.size())
            return Comparison{place, a, other};
    }
    return {};
}

// What a step adds to that part of the state.
std::optional<Wide> added(const Tensor& result, const Tensor& state) {
    const std::string_view row = row_of_two(result);
    if (row != "add" && row != "subtract") return {};
    const Tensor &a = result.node().operand(0), &b = result.node().operand(1);
    if (a == state) {
        const auto by = known_integer(b);
        return by && row == "subtract" ? std::optional(-*by) : by;
    }
    if (b == state && row == "add") return known_integer(a);
    return {};
}

// How often `first`, moved on by `by`, compares so with `end`; nothing where that never ends.
std::optional<Wide> count_of(std::string_view row, Wide first, Wide end, Wide by) {
    Wide apart = end - first;
    if (row == "not_equal") {
        if (by == 0 || apart % by != 0 || apart / by < 0)
            return apart == 0 ? std::optional<Wide>(0) : std::nullopt;
        return apart / by;
    }
    if (row == "greater" || row == "greater_equal") {
        apart = -apart;
        by = -by;
    }
    if (row == "less_equal" || row == "greater_equal") ++apart;
    if (apart <= 0) return 0;
    if (by <= 0) return {};
    return (apart + by - 1) / by;
}

// As one loop; nothing unless it counts.
std::optional<Tensors> counted(const LoopCondition& condition, const LoopStep& step,
                               const Tensors& init, const std::string& name) {
    ir::Body body;
    std::optional<Comparison> compared;
    try {
        const ir::TraceScope scope;
        Tensors state;
        for (const Tensor& x : init) state.push_back(ir::input("x", x.dtype(), x.shape()));
        compared = comparison_of(condition(state), state);
        if (!compared || !known_integer(init[compared->counter])) return {};
        body = traced_body(
            [&](const Tensor&, const Tensors& values) {
                // The condition is about the same placeholders.
                const Tensors made = step(values);
                if (const size_t place = place_among(state, compared->end); place < state.size())
                    compared->end = values[place];
                return made;
            },
            init, name);
    } catch (const NotSupported&) {
        return {};  // of placeholders: there may be values, one by one
    }
    const Tensors parameters(body.parameters.begin() + 1, body.parameters.end());
    user_check<TypeError>(body.results.size() == init.size(), "while_loop: the step returned ",
                          body.results.size(), " tensors for a state of ", init.size(),
                          ". As many are required.");
    for (size_t k = 0; k < init.size(); ++k)
        check_part("while_loop", "state", k, init[k], body.results[k]);
    // What stays as it is in all iterations is captured.
    Tensors from, to, operands;
    const size_t counter = compared->counter;
    const auto stays = [&](size_t k) { return body.results[k] == parameters[k]; };
    const size_t end_place = place_among(parameters, compared->end);
    if (end_place < parameters.size()) {
        if (!stays(end_place)) return {};
        compared->end = init[end_place];
    }
    const auto end = known_integer(compared->end);
    const auto step_by = added(body.results[counter], parameters[counter]);
    if (!end || !step_by) return {};
    const Wide start = *known_integer(init[counter]);
    const auto count = count_of(compared->row, start, *end, *step_by);
    if (count == Wide{0}) return init;
    // A counter that wraps around does not count.
    const DType dtype = init[counter].dtype();
    if (!count || *count > std::numeric_limits<int64_t>::max() || !fits(start, dtype) ||
        !fits(start + *count * *step_by, dtype))
        return {};
    const auto first = static_cast<int64_t>(start), iterations = static_cast<int64_t>(*count),
               by = static_cast<int64_t>(*step_by);
    const auto last = static_cast<int64_t>(start + *count * *step_by);
    const auto number = [](int64_t value) {
        return ir::constant(Array::of<int64_t>(DType::int64, {}, {value}));
    };
    const int64_t lower = by == 1 ? first : 0;
    Tensor now = body.parameters[0];
    if (by != 1) now = ops::map("add", {ops::map("multiply", {now, number(by)}), number(first)});
    ir::Body loop;
    loop.name = name;
    loop.parameters.push_back(body.parameters[0]);
    for (size_t k = 0; k < init.size(); ++k) {
        if (k == counter || stays(k)) {
            from.push_back(parameters[k]);
            to.push_back(k == counter ? ops::astype(now, init[k].dtype()) : init[k]);
        } else {
            loop.parameters.push_back(parameters[k]);
            loop.results.push_back(body.results[k]);
            operands.push_back(init[k]);
        }
    }
    loop.results = ir::substitute(loop.results, from, to);
    const Tensors made = operands.empty()
                             ? Tensors()
                             : loop_of(std::move(loop), operands, lower, lower + iterations);
    Tensors results;
    size_t next = 0;
    for (size_t k = 0; k < init.size(); ++k) {
        if (k == counter)
            results.push_back(ops::astype(number(last), init[k].dtype()));
        else
            results.push_back(stays(k) ? init[k] : made[next++]);
    }
    return results;
}

Tensors one_by_one(const LoopCondition& condition, const LoopStep& step, Tensors state) {
    for (int64_t done = 0;; ++done) {
        const Tensor goes_on = condition(state);
        user_check<NotSupported>(is_known(goes_on),
                                 "while_loop: the condition of a while loop depends on a "
                                 "placeholder. A loop that counts up to a number that is known is "
                                 "required, or scan.");
        Tensors known{ops::astype(goes_on, DType::boolean)};
        for (const Tensor& x : state)
            if (is_known(x)) known.push_back(x);
        if (!*execute::evaluate_and_keep(known)[0].data_as<bool>()) return state;
        user_check<NotSupported>(done < most_iterations, "while_loop: the condition holds after ",
                                 most_iterations,
                                 " iterations that were made one by one. A loop that counts, or "
                                 "one that ends before, is required.");
        const Tensors next = step(state);
        user_check<TypeError>(next.size() == state.size(), "while_loop: the step returned ",
                              next.size(), " tensors for a state of ", state.size(),
                              ". As many are required.");
        for (size_t k = 0; k < state.size(); ++k)
            check_part("while_loop", "state", k, state[k], next[k]);
        state = next;
    }
}

}  // namespace

Tensors while_loop(const LoopCondition& condition, const LoopStep& step, const Tensors& given,
                   const std::string& name) {
    Tensors init;
    for (const Tensor& x : given) init.push_back(numpy::strong(x));
    if (const auto made = counted(condition, step, init, name)) return *made;
    return one_by_one(condition, step, std::move(init));
}

}  // namespace composit
