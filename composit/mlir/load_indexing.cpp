// Windows of elements by position: gathers, scatters, dynamic slices.
#include "composit/functional/loops.h"
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/region_bodies.h"

#include <algorithm>
#include <string>

namespace composit::mlir {
namespace {

bool has(const Axes& axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// What gather's and scatter's numbers of dimensions say in common: `windows` are the axes of the
// result (of the updates) that lie in a window, `dropped` the operand's axes that it has not.
struct Dimensions {
    Axes windows, dropped, batch, batch_of_indices, starts;
    int64_t vector = 0;  // the axis of indices along which those of one window lie
};

// Checks them for an operand, indices, and a result (updates) of that rank.
void check_dimensions(const Site& site, const Dimensions& d, const Tensor& x, const Tensor& indices,
                      int64_t rank) {
    site.checked_axes(d.windows, rank, "the axes of windows");
    site.checked_axes(d.dropped, x.rank(), "the axes without a window");
    site.checked_axes(d.batch, x.rank(), "the batching axes");
    site.checked_axes(d.batch_of_indices, indices.rank(), "the batching axes of indices");
    site.checked_axes(d.starts, x.rank(), "the axes that are indexed");
    site.check<TypeError>(ir::is_integer(indices.dtype()), "indices are ", indices.type(),
                          ". Integers are required.");
    site.check(std::is_sorted(d.windows.begin(), d.windows.end()), "the axes of windows are ",
               d.windows, ". Ascending ones are required.");
    for (const int64_t axis : d.batch)
        site.check(!has(d.dropped, axis) && !has(d.starts, axis), "axis ", axis,
                   " is batching, and is indexed or has no window. One of them is required.");
    site.check(d.vector >= 0 && d.vector <= indices.rank(), "index_vector_dim is ", d.vector,
               " of indices ", indices.type(), ". An axis, or their rank, is required.");
    const int64_t columns =
        d.vector == indices.rank() ? 1 : indices.shape()[static_cast<size_t>(d.vector)];
    site.check(columns == static_cast<int64_t>(d.starts.size()), "indices have ", columns,
               " numbers for ", d.starts.size(), " axes. As many are required.");
    const int64_t outer = d.vector == indices.rank() ? indices.rank() : indices.rank() - 1;
    site.check(
        rank == outer + static_cast<int64_t>(d.windows.size()) &&
            x.rank() == static_cast<int64_t>(d.windows.size() + d.dropped.size() + d.batch.size()),
        "windows of ", x.type(), " at ", indices.type(), " do not have the rank ", rank,
        " that is written. Numbers of dimensions that go together are required.");
    site.check(d.batch.size() == d.batch_of_indices.size(), "there are ", d.batch.size(),
               " batching axes, and ", d.batch_of_indices.size(),
               " of indices. As many are required.");
    for (size_t k = 0; k < d.batch.size(); ++k)
        site.check(d.batch_of_indices[k] != d.vector &&
                       x.shape()[static_cast<size_t>(d.batch[k])] ==
                           indices.shape()[static_cast<size_t>(d.batch_of_indices[k])],
                   "batching axes have other lengths in ", x.type(), " and ", indices.type(),
                   ". Equal lengths are required.");
}

// Indices with those of one window along the last axis; the batching axes are counted without it.
Tensor with_vector_last(const Tensor& indices, Dimensions& d) {
    if (d.vector == indices.rank())
        return jax::with_axes_behind(indices, indices.shape().size() + 1);
    Axes order;
    for (int64_t axis = 0; axis < indices.rank(); ++axis)
        if (axis != d.vector) order.push_back(axis);
    order.push_back(d.vector);
    for (int64_t& axis : d.batch_of_indices)
        if (axis > d.vector) --axis;
    return ops::transpose(indices, order);
}

Tensors gathered(const Site& site) {
    const bool has_lengths = site.name() == "dynamic_gather";
    site.check_operands(has_lengths ? 3 : 2);
    const Tensor &x = site.x[0], &indices = site.x[1];
    const syntax::Attribute& numbers = site.attribute({"dimension_numbers"});
    const auto part = [&](std::string_view name) { return site.part(numbers, name); };
    Dimensions d{part("offset_dims"), part("collapsed_slice_dims"), part("operand_batching_dims"),
                 part("start_indices_batching_dims"), part("start_index_map")};
    const Axes vector = part("index_vector_dim");
    d.vector = vector.empty() ? 0 : vector[0];
    const Shape& shape = site.result().shape;
    check_dimensions(site, d, x, indices, static_cast<int64_t>(shape.size()));
    const Axes sizes = has_lengths
                           ? site.numbers_of(site.x[2], x.shape().size(), "lengths of windows")
                           : site.integers({"slice_sizes"});
    site.checked_numbers(sizes, x.shape().size(), 0, "slice_sizes");
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
        const auto at = static_cast<int64_t>(axis);
        const bool is_dropped = has(d.dropped, at) || has(d.batch, at);
        site.check(sizes[axis] <= (is_dropped ? 1 : x.shape()[axis]) &&
                       sizes[axis] <= x.shape()[axis] && (sizes[axis] == 1 || !is_dropped),
                   "windows have the length ", sizes[axis], " along axis ", axis, " of ", x.type(),
                   ". At most the axis' length, and 1 of axes without a window, is required.");
    }
    const Tensor last = with_vector_last(indices, d);
    return jax::apply("gather", {x, last},
                      {{"slice_sizes", sizes},
                       {"mode", std::string("CLIP")},
                       {"dimension_numbers.offset_dims", d.windows},
                       {"dimension_numbers.start_index_map", d.starts},
                       {"dimension_numbers.collapsed_slice_dims", d.dropped},
                       {"dimension_numbers.operand_batching_dims", d.batch},
                       {"dimension_numbers.start_indices_batching_dims", d.batch_of_indices}});
}

// A scatter of StableHLO, its updates written one after the other where they meet.
class Scatter {
  public:
    explicit Scatter(const Site& site)
        : site_(site), x_(site.x[0]), indices_(site.x[1]), update_(site.x[2]) {
        const syntax::Attribute& numbers = site.attribute({"scatter_dimension_numbers"});
        const auto part = [&](std::string_view name) { return site.part(numbers, name); };
        d_ = {part("update_window_dims"), part("inserted_window_dims"), part("input_batching_dims"),
              part("scatter_indices_batching_dims"), part("scatter_dims_to_operand_dims")};
        const Axes vector = part("index_vector_dim");
        d_.vector = vector.empty() ? 0 : vector[0];
        check_dimensions(site, d_, x_, indices_, update_.rank());
        site.check<TypeError>(update_.dtype() == x_.dtype(), "it writes ", update_.type(), " into ",
                              x_.type(), ". Equal dtypes are required.");
        indices_ = with_vector_last(indices_, d_);
        check_lengths();
    }

    Tensors written(std::string_view primitive) const {
        return jax::apply(primitive, {x_, indices_, update_}, parameters());
    }

    // Where no element is written twice: what is there, joined with the updates by the region.
    Tensors joined_at_once() const {
        const Tensors joined = for_elements(site_, 0, {there(x_, indices_, update_), update_});
        return jax::apply("scatter", {x_, indices_, joined.at(0)}, parameters());
    }

    Tensors joined_in_turn() const {
        site_.check<NotSupported>(d_.batch.empty(),
                                  "it has batching axes, and a region that is no "
                                  "sum. A sum, or no batching axes, is required.");
        // Updates: (one for each, window…).
        Axes order;
        Shape window;
        for (int64_t axis = 0; axis < update_.rank(); ++axis)
            if (!has(d_.windows, axis)) order.push_back(axis);
        for (const int64_t axis : d_.windows) {
            order.push_back(axis);
            window.push_back(update_.shape()[static_cast<size_t>(axis)]);
        }
        const auto columns = indices_.shape().back();
        const int64_t count =
            ir::element_count(Shape(indices_.shape().begin(), indices_.shape().end() - 1));
        Shape rows = window;
        rows.insert(rows.begin(), count);
        const Tensor updates = ops::reshape(ops::transpose(update_, order), rows);
        const Tensor places = ops::reshape(indices_, {count, columns});
        Scatter one = *this;
        for (size_t k = 0; k < one.d_.windows.size(); ++k)
            one.d_.windows[k] = static_cast<int64_t>(k);
        return fori_loop(
            0, count,
            [&](const Tensor& i, const Tensors& state) {
                const Tensor place = ops::gather(places, {i}, {0});
                const Tensor update = ops::gather(updates, {i}, {0});
                const Tensors joined =
                    for_elements(site_, 0, {one.there(state[0], place, update), update});
                return jax::apply("scatter", {state[0], place, joined.at(0)}, one.parameters());
            },
            {x_}, "scatter");
    }

  private:
    void check_lengths() const {
        Axes kept;
        for (int64_t axis = 0; axis < x_.rank(); ++axis)
            if (!has(d_.dropped, axis) && !has(d_.batch, axis)) kept.push_back(axis);
        for (size_t k = 0; k < kept.size(); ++k)
            site_.check(update_.shape()[static_cast<size_t>(d_.windows[k])] <=
                            x_.shape()[static_cast<size_t>(kept[k])],
                        "windows of ", update_.type(), " are longer than axis ", kept[k], " of ",
                        x_.type(), ". At most its length is required.");
        size_t outer = 0;
        for (int64_t axis = 0; axis < update_.rank(); ++axis)
            if (!has(d_.windows, axis))
                site_.check(update_.shape()[static_cast<size_t>(axis)] == indices_.shape()[outer++],
                            "updates are ", update_.type(), ", indices ", indices_.type(),
                            ". An update for each index is required.");
    }

    ir::Attributes parameters() const {
        return {{"mode", std::string("FILL_OR_DROP")},
                {"dimension_numbers.update_window_dims", d_.windows},
                {"dimension_numbers.inserted_window_dims", d_.dropped},
                {"dimension_numbers.scatter_dims_to_operand_dims", d_.starts},
                {"dimension_numbers.operand_batching_dims", d_.batch},
                {"dimension_numbers.scatter_indices_batching_dims", d_.batch_of_indices}};
    }

    // The windows of `x` that are written, of the update's shape.
    Tensor there(const Tensor& x, const Tensor& indices, const Tensor& update) const {
        Axes sizes(x.shape().size(), 1);
        size_t next = 0;
        for (int64_t axis = 0; axis < x.rank(); ++axis)
            if (!has(d_.dropped, axis) && !has(d_.batch, axis))
                sizes[static_cast<size_t>(axis)] =
                    update.shape()[static_cast<size_t>(d_.windows[next++])];
        return jax::apply(
            "gather", {x, indices},
            {{"slice_sizes", sizes},
             {"mode", std::string("CLIP")},
             {"dimension_numbers.offset_dims", d_.windows},
             {"dimension_numbers.start_index_map", d_.starts},
             {"dimension_numbers.collapsed_slice_dims", d_.dropped},
             {"dimension_numbers.operand_batching_dims", d_.batch},
             {"dimension_numbers.start_indices_batching_dims", d_.batch_of_indices}})[0];
    }

    const Site& site_;
    Tensor x_, indices_, update_;
    Dimensions d_;
};

Tensors scattered(const Site& site) {
    site.check<NotSupported>(site.x.size() == 3, "it has ", site.x.size(),
                             " operands. One tensor, its indices and its updates are required.");
    const Scatter scatter(site);
    const ScalarBody body = scalar_body(site, 0);
    site.check(body.parameters.size() == 2 && body.results.size() == 1, "its region takes ",
               body.parameters.size(), " numbers. Two are required, of which it makes one.");
    check_numbers(site, body, {site.x[0]});
    if (body.results[0] == body.parameters[1]) return scatter.written("scatter");
    const auto row = row_of(body);
    const bool is_bool = site.x[0].dtype() == DType::boolean;
    if (row && (*row == "add" || (is_bool && *row == "bitwise_or")))
        return scatter.written("scatter-add");
    if (site.flag_or({"unique_indices"}, false)) return scatter.joined_at_once();
    return scatter.joined_in_turn();
}

Tensors cut_at(const Site& site) {
    site.check(!site.x.empty(), "it has no operands. A tensor and starts are required.");
    const Tensor& x = site.x[0];
    const Axes sizes = site.integers({"sizes", "slice_sizes"});
    site.checked_numbers(sizes, x.shape().size(), 0, "sizes");
    for (size_t d = 0; d < sizes.size(); ++d)
        site.check(sizes[d] <= x.shape()[d], "it takes ", sizes[d], " of axis ", d, " of ",
                   x.type(), ". At most its length is required.");
    return jax::apply("dynamic_slice", site.x, {{"slice_sizes", sizes}});
}

void check_starts(const Site& site, size_t first) {
    site.check(site.x.size() > first - 1, "it has ", site.x.size(),
               " operands. More are required.");
    site.check(site.x.size() == first + site.x[0].shape().size(), "it has ", site.x.size() - first,
               " starts for ", site.x[0].type(), ". One for each axis is required.");
    for (size_t i = first; i < site.x.size(); ++i)
        site.check<TypeError>(site.x[i].rank() == 0 && ir::is_integer(site.x[i].dtype()),
                              "a start is ", site.x[i].type(),
                              ". An integer without dimensions is required.");
}

Tensors written_at(const Site& site) {
    const Tensor &x = site.x[0], &update = site.x[1];
    site.check<TypeError>(x.dtype() == update.dtype() && x.rank() == update.rank(), "it writes ",
                          update.type(), " into ", x.type(),
                          ". Equal dtypes and ranks are required.");
    for (size_t d = 0; d < x.shape().size(); ++d)
        site.check(update.shape()[d] <= x.shape()[d], "it writes ", update.type(), " into ",
                   x.type(), ". At most its lengths are required.");
    return jax::apply("dynamic_update_slice", site.x, {});
}

}  // namespace

void add_indexing_loads(LoadRules& rules) {
    rules["stablehlo.gather"] = gathered;
    rules["stablehlo.dynamic_gather"] = gathered;
    rules["stablehlo.scatter"] = scattered;
    rules["stablehlo.dynamic_slice"] = [](const Site& site) {
        check_starts(site, 1);
        return cut_at(site);
    };
    rules["stablehlo.dynamic_update_slice"] = [](const Site& site) {
        check_starts(site, 2);
        return written_at(site);
    };
}

}  // namespace composit::mlir
