// What `infer` of each primitive takes for granted.
#include "composit/ops/checks.h"

#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::ops {

using ir::Attributes;
using ir::check_axes;
using ir::check_axis;
using ir::check_lengths;
using ir::check_operand_count;
using ir::check_shape;
using ir::check_values;
using ir::checked_attribute;
using Operands = CheckedOperands;

namespace {

const Axes& axes_of(std::string_view operation, const Attributes& attributes,
                    std::string_view name) {
    return checked_attribute<Axes>(operation, attributes, name);
}

// Sums and products are of numbers: those of truth values are any and all.
void check_combiner(std::string_view operation, const Operands& operands,
                    const Attributes& attributes, Combiner last) {
    const auto combiner = checked_attribute<int64_t>(operation, attributes, "combiner");
    user_check(combiner >= 0 && combiner <= static_cast<int64_t>(last), operation, ": combiner ",
               combiner, " does not exist. One from 0 to ", static_cast<int>(last),
               " is required.");
    const bool is_of_numbers = combiner == static_cast<int64_t>(Combiner::sum) ||
                               combiner == static_cast<int64_t>(Combiner::product);
    const bool is_checked = is_of_numbers && operands[0].size() > 0;  // else: what it begins with
    user_check<TypeError>(!is_checked || operands[0].dtype() != DType::boolean, operation, ": ",
                          name(static_cast<Combiner>(combiner)), " of bool. Numbers are required.");
}

void check_ascending(std::string_view operation, const Axes& axes, int rank) {
    check_axes(operation, axes, rank);
    user_check(std::is_sorted(axes.begin(), axes.end()), operation, ": axes ", axes,
               " are out of order. Ascending axes are required.");
}

// Lists of one value per spatial axis.
void check_spatial(std::string_view operation, const Attributes& attributes, size_t count,
                   std::initializer_list<std::string_view> positive) {
    for (std::string_view name : positive)
        check_values(operation, name, axes_of(operation, attributes, name), count, 1);
}

}  // namespace

std::vector<Tensor> make_checked(const ir::Operation& operation, Operands operands,
                                 Attributes attributes) {
    operation.check(operands, attributes);
    return ir::outputs_of(ir::make_node(operation, std::move(operands), std::move(attributes)));
}

void check_lists(std::string_view operation, size_t count,
                 std::initializer_list<std::pair<std::string_view, const Axes&>> lists) {
    for (const auto& [name, values] : lists) ir::check_value_count(operation, name, values, count);
}

void check_astype(const Operands& operands, const Attributes& attributes) {
    check_operand_count("astype", operands, 1);
    checked_attribute<DType>("astype", attributes, "dtype");
}

void check_reduce(const Operands& operands, const Attributes& attributes) {
    check_operand_count("reduce", operands, 1);
    check_combiner("reduce", operands, attributes, Combiner::argmin);
    check_ascending("reduce", axes_of("reduce", attributes, "axes"), operands[0].rank());
    checked_attribute<bool>("reduce", attributes, "keepdims");
}

void check_scan(const Operands& operands, const Attributes& attributes) {
    check_operand_count("scan", operands, 1);
    check_combiner("scan", operands, attributes, Combiner::minimum);
    check_axis("scan", checked_attribute<int64_t>("scan", attributes, "axis"), operands[0].rank());
}

void check_argsort(const Operands& operands, const Attributes& attributes) {
    check_operand_count("argsort", operands, 1);
    check_axis("argsort", checked_attribute<int64_t>("argsort", attributes, "axis"),
               operands[0].rank());
}

void check_search(const Operands& operands, const Attributes& attributes) {
    check_operand_count("search", operands, 2);
    checked_attribute<bool>("search", attributes, "is_right");
    const Shape &sorted = operands[0].shape(), &values = operands[1].shape();
    user_check(!sorted.empty() && values.size() + 1 >= sorted.size() &&
                   std::equal(sorted.begin(), sorted.end() - 1, values.begin()),
               "search: rows of shape ", sorted, " and values of shape ", values,
               ". The same shape before the row is required.");
    user_check<TypeError>(
        operands[0].dtype() == operands[1].dtype() && !ir::is_complex(operands[0].dtype()),
        "search: rows of ", operands[0].dtype(), " and values of ", operands[1].dtype(),
        ". Equal real dtypes are required.");
}

void check_contract(const Operands& operands, const Attributes& attributes) {
    check_operand_count("contract", operands, 2);
    const char* const names[2][2] = {{"batch_a", "contracted_a"}, {"batch_b", "contracted_b"}};
    for (size_t i = 0; i < 2; ++i) {
        Axes axes = axes_of("contract", attributes, names[i][0]);
        const Axes& contracted = axes_of("contract", attributes, names[i][1]);
        user_check(axes.size() == axes_of("contract", attributes, "batch_a").size() &&
                       contracted.size() == axes_of("contract", attributes, "contracted_a").size(),
                   "contract: the axes of a and b do not pair up. Equal counts are required.");
        axes.insert(axes.end(), contracted.begin(), contracted.end());
        check_axes("contract", axes, operands[i].rank());
    }
}

void check_convolve(const Operands& operands, const Attributes& attributes) {
    check_operand_count("convolve", operands, 2);
    check_lengths("convolve", operands);
    user_check(operands[0].rank() >= 2, "convolve: x has shape ", operands[0].shape(),
               ". At least 2 dimensions are required.");
    const auto spatial = static_cast<size_t>(operands[0].rank() - 2);
    check_spatial("convolve", attributes, spatial,
                  {"strides", "input_dilation", "filter_dilation"});
    for (std::string_view name : {"padding_low", "padding_high"})
        check_values("convolve", name, axes_of("convolve", attributes, name), spatial,
                     -ir::most_length);
    const auto groups = checked_attribute<int64_t>("convolve", attributes, "groups");
    check_values("convolve", "groups", {groups}, 1, 1);
}

void check_reshape(const Operands& operands, const Attributes& attributes) {
    check_operand_count("reshape", operands, 1);
    check_shape("reshape", axes_of("reshape", attributes, "shape"));
}

void check_transpose(const Operands& operands, const Attributes& attributes) {
    check_operand_count("transpose", operands, 1);
    const Axes& axes = axes_of("transpose", attributes, "axes");
    check_axes("transpose", axes, operands[0].rank());
    user_check(axes.size() == operands[0].shape().size(), "transpose: axes ", axes,
               " don't match array of shape ", operands[0].shape(), ". Every axis is required.");
}

void check_broadcast(const Operands& operands, const Attributes& attributes) {
    check_operand_count("broadcast_to", operands, 1);
    check_shape("broadcast_to", axes_of("broadcast_to", attributes, "shape"));
}

void check_slice(const Operands& operands, const Attributes& attributes) {
    check_operand_count("slice", operands, 1);
    check_lengths("slice", operands);
    const size_t rank = operands[0].shape().size();
    check_values("slice", "starts", axes_of("slice", attributes, "starts"), rank, -ir::most_length);
    check_values("slice", "lengths", axes_of("slice", attributes, "lengths"), rank, 0);
    const Axes& steps = axes_of("slice", attributes, "steps");
    check_values("slice", "steps", steps, rank, -ir::most_length);
    user_check(std::find(steps.begin(), steps.end(), 0) == steps.end(), "slice: steps ", steps,
               ": slice step cannot be zero.");
    const Axes &starts = axes_of("slice", attributes, "starts"),
               &lengths = axes_of("slice", attributes, "lengths");
    for (size_t d = 0; d < rank; ++d) {
        const int64_t n = operands[0].shape()[d], last = starts[d] + (lengths[d] - 1) * steps[d];
        user_check<IndexError>(
            lengths[d] == 0 || (starts[d] >= 0 && starts[d] < n && last >= 0 && last < n),
            "slice: ", lengths[d], " elements from ", starts[d], " on by steps of ", steps[d],
            " leave axis ", d, " of shape ", operands[0].shape(),
            ". Elements of the axis are required.");
    }
}

void check_pad(const Operands& operands, const Attributes& attributes) {
    check_operand_count("pad", operands, 2);
    check_lengths("pad", operands);
    const size_t rank = operands[0].shape().size();
    check_values("pad", "low", axes_of("pad", attributes, "low"), rank, -ir::most_length);
    check_values("pad", "high", axes_of("pad", attributes, "high"), rank, -ir::most_length);
    check_values("pad", "interior", axes_of("pad", attributes, "interior"), rank, 0);
    user_check(operands[1].rank() == 0 && operands[1].dtype() == operands[0].dtype(),
               "pad: the value has type ", operands[1].type(), ". A scalar of dtype ",
               operands[0].dtype(), " is required.");
}

void check_concatenate(const Operands& operands, const Attributes& attributes) {
    user_check(!operands.empty(), "concatenate: need at least one array to concatenate.");
    check_axis("concatenate", checked_attribute<int64_t>("concatenate", attributes, "axis"),
               operands[0].rank());
    for (const Tensor& part : operands)
        user_check<TypeError>(part.dtype() == operands[0].dtype(),
                              "concatenate: dtypes differ: ", operands[0].dtype(), " and ",
                              part.dtype(), ". Convert one of them before.");
}

void check_split(const Operands& operands, const Attributes& attributes) {
    check_operand_count("split", operands, 1);
    const auto axis = checked_attribute<int64_t>("split", attributes, "axis");
    check_axis("split", axis, operands[0].rank());
    const Axes& lengths = axes_of("split", attributes, "lengths");
    user_check(!lengths.empty(), "split: no lengths given. At least one is required.");
    int64_t rest = operands[0].shape()[static_cast<size_t>(axis)];
    bool fits = true;
    for (int64_t length : lengths) {
        fits = fits && length >= 0 && length <= rest;
        if (fits) rest -= length;
    }
    user_check(fits && rest == 0, "split: lengths ", lengths, " do not add up to axis ", axis,
               " of shape ", operands[0].shape(), ". Lengths of at least 0 that do are required.");
}

void check_windows(const Operands& operands, const Attributes& attributes) {
    check_operand_count("windows", operands, 1);
    const size_t count = axes_of("windows", attributes, "window").size();
    user_check(count <= operands[0].shape().size(), "windows: ", count,
               " window lengths given for shape ", operands[0].shape(),
               ". At most one per axis "
               "is required.");
    check_spatial("windows", attributes, count, {"window", "steps", "dilations"});
}

void check_fold(const Operands& operands, const Attributes& attributes) {
    check_operand_count("fold", operands, 1);
    check_lengths("fold", operands);
    const Axes& lengths = axes_of("fold", attributes, "lengths");
    check_values("fold", "lengths", lengths, lengths.size(), 0);
    check_spatial("fold", attributes, lengths.size(), {"steps", "dilations"});
}

void check_iota(const Operands& operands, const Attributes& attributes) {
    check_operand_count("iota", operands, 0);
    const Axes& shape = axes_of("iota", attributes, "shape");
    check_shape("iota", shape);
    check_axis("iota", checked_attribute<int64_t>("iota", attributes, "axis"),
               static_cast<int>(shape.size()));
}

void check_gather(const Operands& operands, const Attributes& attributes) {
    const Axes& axes = axes_of("gather", attributes, "axes");
    check_operand_count("gather", operands, axes.size() + 1);
    check_ascending("gather", axes, operands[0].rank());
}

void check_scatter(const Operands& operands, const Attributes& attributes) {
    const Axes& axes = axes_of("scatter", attributes, "axes");
    check_operand_count("scatter", operands, axes.size() + 2);
    check_ascending("scatter", axes, operands[0].rank());
    checked_attribute<bool>("scatter", attributes, "add");
}

}  // namespace composit::ops
