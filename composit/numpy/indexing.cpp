// get_item, set_item and add_at out of slices, gathers, scatters and selections.
#include "composit/numpy/indexing.h"

#include "composit/base/error.h"
#include "composit/execute/devices.h"
#include "composit/ir/scalar/function.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cstring>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

// The part of x that the basic entries leave, without the axes of integers.
Tensor basic_part(const Tensor& x, const IndexPlan& plan) {
    Tensor result = reshape(x, plan.source);
    if (!plan.slices_nothing()) result = ops::slice(result, plan.starts, plan.lengths, plan.steps);
    return reshape(result, plan.sliced);
}

// Whether an integer is given for each axis.
bool is_of_one_element(const Tensor& x, const IndexPlan& plan) {
    return plan.is_basic() && x.rank() > 0 && plan.source == x.shape() && plan.sliced.empty() &&
           plan.result.empty();
}

// (2,3), without spaces.
std::string as_numpy_writes(const Shape& shape) {
    std::string written = text(shape);
    std::erase(written, ' ');
    return written;
}

// The value as it is stored: x's dtype, the shape of x[index].
Tensor stored(std::string_view function, const Tensor& x, const IndexPlan& plan,
              const Operand& value) {
    const Tensor& given_value = value;
    check_integer_fits(function, given_value, x.dtype());
    if (given_value.type().weak && ir::is_floating(given_value.dtype()))
        check_float_fits(function, *ir::constant_value(given_value.node()).data_as<double>(),
                         x.dtype());
    Tensor result = ops::astype(execute::part_beside(given_value, x), x.dtype());
    Shape shape = result.shape();
    while (shape.size() > plan.result.size() && shape.front() == 1) shape.erase(shape.begin());
    bool fits = shape.size() <= plan.result.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
        fits = shape[d] == 1 || shape[d] == plan.result[plan.result.size() - shape.size() + d];
    const auto given = [&] { return as_numpy_writes(value.tensor().shape()); };
    if (!fits && plan.is_basic())
        fail<VerbatimValueError>("could not broadcast input array from shape ", given(),
                                 " into shape ", as_numpy_writes(plan.result));
    if (!fits)
        fail<VerbatimValueError>("shape mismatch: value array of shape ", given(),
                                 " could not be broadcast to indexing result of shape ",
                                 as_numpy_writes(plan.result));
    return broadcast_to(reshape(result, shape), plan.result);
}

// The places along the first axis, where an index of these chooses rows of x (of a mask's elements,
// whose axes are one) and nothing else; else empty.
Array rows_chosen(const IndexPlan& plan) {
    const bool is_one = plan.axes == Axes{0} && plan.slices_nothing();
    if (!is_one || !ir::is_constant(plan.indices[0].node())) return {};
    return ir::constant_value(plan.indices[0].node());
}

// The stored value in the layout of gather's result.
Tensor as_update(const IndexPlan& plan, const Tensor& value) {
    const Axes order = plan.order();
    const Shape gathered = plan.gathered();
    Shape ordered;
    for (int64_t d : order) ordered.push_back(gathered[static_cast<size_t>(d)]);
    Axes inverse(order.size());
    for (size_t d = 0; d < order.size(); ++d)
        inverse[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    return transpose(reshape(value, ordered), inverse);
}

// x with another part where the basic entries select.
Tensor with_part(const Tensor& x, const IndexPlan& plan, const Tensor& part) {
    if (plan.slices_nothing()) return reshape(part, x.shape());
    const Tensor whole = reshape(strong(x), plan.source);
    const Tensor written =
        ops::with_slice(whole, plan.starts, plan.steps, reshape(part, plan.lengths));
    return reshape(written, x.shape());
}

// x with part = change(part) where the basic entries select.
template <class Change>
Tensor changed(const Tensor& x, const IndexPlan& plan, const Change& change) {
    if (ir::element_count(plan.lengths) == 0) return strong(x);
    return with_part(x, plan, change(basic_part(reshape(strong(x), plan.source), plan)));
}

}  // namespace

Tensor get_item(const Tensor& x, const Index& index) {
    const IndexPlan plan = plan_index("get_item", x.shape(), index);
    if (is_of_one_element(x, plan)) return ops::element(x, plan.starts);
    const Tensor part = basic_part(x, plan);
    if (plan.is_basic()) return reshape(part, plan.result);
    const Tensor gathered = ops::gather(part, plan.indices, plan.axes);
    const Tensor result = reshape(transpose(gathered, plan.order()), plan.result);
    if (const Array rows = rows_chosen(plan))
        return with_known_rows(result, x, plan.sliced[0], rows);
    return result;
}

Tensor value_to_store(const Tensor& x, const Index& index, const Operand& value) {
    return stored("set_item", x, plan_index("set_item", x.shape(), index), value);
}

Tensor set_item(const Tensor& x, const Index& index, const Operand& value) {
    const IndexPlan plan = plan_index("set_item", x.shape(), index);
    const Tensor update = stored("set_item", x, plan, value);
    if (is_of_one_element(x, plan)) return ops::with_element(strong(x), plan.starts, update);
    if (plan.is_basic()) return update.size() == 0 ? strong(x) : with_part(x, plan, update);
    const Tensor result = changed(x, plan, [&](const Tensor& part) {
        return ops::scatter(part, plan.indices, plan.axes, as_update(plan, update), false);
    });
    const Array rows = rows_chosen(plan);
    const bool is_spread = value.tensor().size() > 1 && value.tensor().size() != update.size();
    if (!rows || is_spread || x.size() == 0) return result;
    return with_known_writes(result, x, plan.sliced[0], rows, known_as(value, x.dtype()));
}

Tensor add_at(const Tensor& x, const Index& index, const Operand& value) {
    const IndexPlan plan = plan_index("add_at", x.shape(), index);
    const Tensor update = stored("add_at", x, plan, value);
    return changed(x, plan, [&](const Tensor& part) {
        if (plan.is_basic()) return apply("add", {part, reshape(update, plan.sliced)});
        return ops::scatter(part, plan.indices, plan.axes, as_update(plan, update), true);
    });
}

void check_bounds(const Tensor& indices, int64_t axis, int64_t length) {
    if (!ir::is_constant(indices.node())) return;
    const Array values = concrete("indexing", "indices", ops::astype(indices, DType::int64));
    const auto* const first = values.data_as<int64_t>();
    const auto* const last = first + values.size();
    const auto is_outside = [&](int64_t value) {  // one comparison: below -length goes around
        return static_cast<uint64_t>(value) + static_cast<uint64_t>(length) >=
               2 * static_cast<uint64_t>(length);
    };
    bool any = false;  // no branch for each: nearly always all are inside
    for (const auto* value = first; value != last; ++value) any |= is_outside(*value);
    if (any)
        fail<IndexError>("index ", *std::find_if(first, last, is_outside),
                         " is out of bounds for axis ", axis, " with size ", length, ".");
}

std::vector<Tensor> chosen_positions(const bool* is_chosen, const Shape& shape) {
    const int64_t size = ir::element_count(shape);
    const int64_t count = std::count(is_chosen, is_chosen + size, true);
    std::vector<int64_t*> positions;
    std::vector<Tensor> result;
    for (size_t d = 0; d < shape.size(); ++d) {
        // One more, which is written and left out: a branch on each element would take longer.
        const auto memory = ir::allocate_aligned((count + 1) * ir::size_of(DType::int64));
        positions.push_back(static_cast<int64_t*>(memory.get()));
        result.push_back(
            ir::constant(Array(DType::int64, {count}, memory, memory.get(), false), ""));
    }
    const int64_t width = shape.back();
    Shape row(shape.size(), 0);  // the position of a row's first element
    for (int64_t begin = 0, found = 0; begin < size; begin += width) {
        const int64_t before = found;
        int64_t* const last = positions.back();
        for (int64_t i = 0; i < width; ++i) {
            last[found] = i;
            found += is_chosen[begin + i];
        }
        for (size_t d = 0; d + 1 < row.size(); ++d)
            std::fill(positions[d] + before, positions[d] + found, row[d]);
        for (size_t d = row.size() - 1; d-- > 0;) {
            if (++row[d] < shape[d]) break;
            row[d] = 0;
        }
    }
    return result;
}

std::vector<Tensor> nonzero(const Tensor& x) {
    user_check(x.rank() > 0,
               "nonzero: Calling nonzero on 0d arrays is not allowed. Use "
               "atleast_1d(x) first.");
    Array mask = known_cast(x, DType::boolean);
    if (!mask) mask = concrete("nonzero", "x", ops::astype(x, DType::boolean));
    std::vector<Tensor> result = chosen_positions(mask.data_as<bool>(), x.shape());
    for (Tensor& positions : result) positions = execute::made_beside(positions, x);
    return result;
}

}  // namespace composit::numpy
