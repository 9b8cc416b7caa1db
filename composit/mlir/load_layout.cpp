// Constants, and operations that move elements.
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/building.h"

#include <algorithm>
#include <limits>

namespace composit::mlir {
namespace {

Tensors constant_value(const Site& site) {
    const ir::Array& value = site.building.constant(site.operation);
    const Tensor made = ir::constant(value);
    const Shape& shape = site.fixed_result().shape;
    return {value.shape() == shape ? made : ops::full(shape, made)};
}

Tensors broadcast_in_dim(const Site& site, const Axes& axes) {
    const Tensor& x = site.x[0];
    const Shape& shape = site.fixed_result().shape;
    site.check(axes.size() == x.shape().size(), "dims are ", axes, " of ", x.type(),
               ". An axis of the result for each of the operand is required.");
    site.checked_axes(axes, static_cast<int64_t>(shape.size()), "dims");
    for (size_t d = 0; d < axes.size(); ++d) {
        const int64_t length = shape[static_cast<size_t>(axes[d])];
        site.check(x.shape()[d] == 1 || x.shape()[d] == length, "axis ", d, " of ", x.type(),
                   " becomes one of length ", length, ". Its length, or 1, is required.");
    }
    // The primitive takes them in ascending order.
    Axes order(axes.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int64_t>(d);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return axes[static_cast<size_t>(a)] < axes[static_cast<size_t>(b)];
    });
    Axes ascending = axes;
    std::sort(ascending.begin(), ascending.end());
    return jax::apply("broadcast_in_dim", {ops::transpose(x, order)},
                      {{"shape", shape}, {"broadcast_dimensions", ascending}});
}

Tensors reshaped(const Site& site) {
    const Tensor& x = site.x[0];
    const Shape& shape = site.fixed_result().shape;
    site.check(x.size() == ir::element_count(shape), "the operand is ", x.type(), ", the result ",
               type_text(site.result()), ". As many elements are required.");
    return jax::apply("reshape", {x}, {{"new_sizes", shape}});
}

Tensors transposed(const Site& site) {
    site.check_operands(1);
    const Tensor& x = site.x[0];
    const Axes order = site.integers({"dims", "permutation"});
    site.checked_axes(order, x.rank(), "dims");
    site.check(order.size() == x.shape().size(), "dims are ", order, " of ", x.type(),
               ". All axes are required.");
    return jax::apply("transpose", {x}, {{"permutation", order}});
}

Tensors reversed_along(const Site& site) {
    site.check_operands(1);
    const Axes axes = site.integers({"dims", "dimensions"});
    site.checked_axes(axes, site.x[0].rank(), "dims");
    return jax::apply("rev", site.x, {{"dimensions", axes}});
}

Tensors sliced_by(const Site& site, const Axes& starts, const Axes& ends, const Axes& steps) {
    const Shape& shape = site.x[0].shape();
    site.checked_numbers(starts, shape.size(), 0, "the starts");
    site.checked_numbers(ends, shape.size(), 0, "the ends");
    site.checked_numbers(steps, shape.size(), 1, "the steps");
    for (size_t d = 0; d < shape.size(); ++d)
        site.check(starts[d] <= ends[d] && ends[d] <= shape[d], "it takes ", starts[d], " to ",
                   ends[d], " of axis ", d, " of length ", shape[d],
                   ". A part of the axis is required.");
    return jax::apply("slice", {site.x[0]},
                      {{"start_indices", starts}, {"limit_indices", ends}, {"strides", steps}});
}

Tensors padded_by(const Site& site, const Axes& low, const Axes& high, const Axes& interior) {
    const Tensor &x = site.x[0], &filler = site.x[1];
    const size_t rank = x.shape().size();
    for (const Axes* each : {&low, &high})
        site.check(each->size() == rank, "the padding has ", each->size(), " numbers for ",
                   x.type(), ". One for each axis is required.");
    site.checked_numbers(interior, rank, 0, "interior");
    site.check<TypeError>(filler.rank() == 0 && filler.dtype() == x.dtype(), "it pads ", x.type(),
                          " with ", filler.type(),
                          ". A tensor without dimensions, of the same dtype, is required.");
    Axes all;
    const Shape& shape = site.result().shape;
    for (size_t d = 0; d < rank; ++d) {
        all.insert(all.end(), {low[d], high[d], interior[d]});
        const __int128 length =
            static_cast<__int128>(x.shape()[d]) + low[d] + high[d] +
            static_cast<__int128>(std::max<int64_t>(0, x.shape()[d] - 1)) * interior[d];
        site.check(length >= 0 && length <= std::numeric_limits<int64_t>::max(), "axis ", d, " of ",
                   x.type(), " is padded to a length that is none. At least 0 is required.");
        site.check(shape.size() == rank && syntax::fits({shape[d]}, {static_cast<int64_t>(length)}),
                   "axis ", d, " of ", x.type(), " is padded to another length than that of ",
                   type_text(site.result()), ". Equal lengths are required.");
    }
    return jax::apply("pad", {x, filler}, {{"padding_config", all}});
}

Tensors padded_around(const Site& site) {
    site.check_operands(2);
    return padded_by(site, site.integers({"low", "edge_padding_low"}),
                     site.integers({"high", "edge_padding_high"}),
                     site.integers({"interior", "interior_padding"}));
}

Tensors joined_along(const Site& site) {
    site.check(!site.x.empty(), "it has no operands. One or more are required.");
    const Tensor& first = site.x[0];
    const int64_t axis = site.integer({"dim", "dimension"});
    site.checked_axes({axis}, first.rank(), "dim");
    for (const Tensor& each : site.x) {
        bool fits = each.dtype() == first.dtype() && each.rank() == first.rank();
        for (size_t d = 0; fits && d < first.shape().size(); ++d)
            fits = static_cast<int64_t>(d) == axis || each.shape()[d] == first.shape()[d];
        site.check<TypeError>(fits, "it joins ", first.type(), " and ", each.type(), " along axis ",
                              axis, ". Equal dtypes and other axes are required.");
    }
    return jax::apply("concatenate", site.x, {{"dimension", axis}});
}

Tensors counted_along(const Site& site) {
    const ValueType& type = site.fixed_result();
    const int64_t axis = site.integer({"dim", "iota_dimension"});
    site.checked_axes({axis}, static_cast<int64_t>(type.shape.size()), "dim");
    return jax::apply("iota", {},
                      {{"shape", type.shape}, {"dimension", axis}, {"dtype", type.dtype}});
}

// Operations of lengths that are computed, by the rules of those that have them written.
LoadRule of_lengths(size_t operands, const LoadRule& rule) {
    return [operands, rule](const Site& site) {
        site.check_operands(operands);
        const Tensors first(site.x.begin(), site.x.end() - 1);
        const Site inner(site.building, site.operation, first,
                         site.with_lengths(site.result(), site.x.back()));
        return rule(inner);
    };
}

}  // namespace

void add_layout_loads(LoadRules& rules) {
    rules["stablehlo.constant"] = constant_value;
    rules["chlo.constant"] = constant_value;
    const LoadRule spread = [](const Site& site) {
        site.check_operands(1);
        return broadcast_in_dim(site, site.integers({"dims", "broadcast_dimensions"}));
    };
    rules["stablehlo.broadcast_in_dim"] = spread;
    rules["stablehlo.dynamic_broadcast_in_dim"] = of_lengths(2, spread);
    rules["stablehlo.broadcast"] = [](const Site& site) {
        site.check_operands(1);
        const size_t rank = site.x[0].shape().size(), all = site.result().shape.size();
        site.check(all >= rank, "the result has fewer axes than the operand. More are required.");
        Axes axes(rank);
        for (size_t d = 0; d < rank; ++d) axes[d] = static_cast<int64_t>(all - rank + d);
        return broadcast_in_dim(site, axes);
    };
    const LoadRule reshape = [](const Site& site) {
        site.check_operands(1);
        return reshaped(site);
    };
    rules["stablehlo.reshape"] = reshape;
    rules["stablehlo.dynamic_reshape"] = of_lengths(2, reshape);
    rules["stablehlo.transpose"] = transposed;
    rules["stablehlo.reverse"] = reversed_along;
    rules["stablehlo.slice"] = [](const Site& site) {
        site.check_operands(1);
        return sliced_by(site, site.integers({"start_indices"}), site.integers({"limit_indices"}),
                         site.integers({"strides"}));
    };
    rules["stablehlo.real_dynamic_slice"] = [](const Site& site) {
        site.check_operands(4);
        const size_t rank = site.x[0].shape().size();
        return sliced_by(site, site.numbers_of(site.x[1], rank, "its starts"),
                         site.numbers_of(site.x[2], rank, "its ends"),
                         site.numbers_of(site.x[3], rank, "its steps"));
    };
    rules["stablehlo.pad"] = padded_around;
    rules["stablehlo.dynamic_pad"] = [](const Site& site) {
        site.check_operands(5);
        const size_t rank = site.x[0].shape().size();
        return padded_by(site, site.numbers_of(site.x[2], rank, "numbers of padding before"),
                         site.numbers_of(site.x[3], rank, "numbers of padding behind"),
                         site.numbers_of(site.x[4], rank, "numbers of padding between"));
    };
    rules["stablehlo.concatenate"] = joined_along;
    rules["stablehlo.iota"] = counted_along;
    rules["stablehlo.dynamic_iota"] = of_lengths(1, counted_along);
    rules["stablehlo.get_dimension_size"] = [](const Site& site) {
        site.check_operands(1);
        const int64_t axis = site.integer({"dim", "dimension"});
        site.checked_axes({axis}, site.x[0].rank(), "dim");
        return Tensors{
            jax::integer_number(DType::int32, site.x[0].shape()[static_cast<size_t>(axis)])};
    };
}

}  // namespace composit::mlir
