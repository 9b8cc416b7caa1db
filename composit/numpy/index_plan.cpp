// Reads an index: expands the ellipsis, checks bounds, turns masks into integers, finds where
// dimensions go.
#include "composit/numpy/index_plan.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

bool is_mask(const IndexEntry& entry) {
    const auto* tensor = std::get_if<Tensor>(&entry);
    return tensor && tensor->dtype() == DType::boolean;
}

bool is_array(const IndexEntry& entry) {  // not an integer, even one in a 0-d tensor
    const auto* tensor = std::get_if<Tensor>(&entry);
    return tensor && (tensor->rank() > 0 || tensor->dtype() == DType::boolean);
}

// Axes of x that an entry stands for.
int64_t consumed(const IndexEntry& entry) {
    if (std::holds_alternative<NewAxis>(entry) || std::holds_alternative<Ellipsis>(entry)) return 0;
    return is_mask(entry) ? std::get<Tensor>(entry).rank() : 1;
}

// The index with the ellipsis replaced by full slices, and full slices up to the rank.
Index expanded(const Shape& shape, const Index& index) {
    int64_t axes = 0;
    int ellipses = 0;
    for (const IndexEntry& entry : index) {
        axes += consumed(entry);
        ellipses += std::holds_alternative<Ellipsis>(entry);
    }
    user_check<IndexError>(ellipses <= 1,
                           "an index can only have a single ellipsis ('...'). This has ", ellipses,
                           ".");
    const auto rank = static_cast<int64_t>(shape.size());
    user_check<IndexError>(axes <= rank, "too many indices for array: array is ", rank,
                           "-dimensional, but ", axes, " were indexed. Its shape is ", shape, ".");
    Index result;
    const auto rest = static_cast<size_t>(rank - axes);
    for (const IndexEntry& entry : index) {
        if (std::holds_alternative<Ellipsis>(entry))
            result.insert(result.end(), rest, Slice{});
        else
            result.push_back(entry);
    }
    if (ellipses == 0) result.insert(result.end(), rest, Slice{});
    return result;
}

struct Picked {
    int64_t start, length, step;
};

// Python's slice.indices.
Picked range_of(const Slice& slice, int64_t n) {
    const int64_t step = slice.step.value_or(1);
    user_check(step != 0, "slice step cannot be zero.");
    const auto clamped = [&](std::optional<int64_t> bound, int64_t missing) {
        if (!bound) return missing;
        const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
        return std::clamp(*bound < 0 ? *bound + n : *bound, low, high);
    };
    const int64_t start = clamped(slice.start, step < 0 ? n - 1 : 0);
    const int64_t stop = clamped(slice.stop, step < 0 ? -1 : n);
    if (step > 0 ? start >= stop : start <= stop) return {0, 0, 1};
    const int64_t distance = step > 0 ? stop - start : start - stop;
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
    const auto length = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1);
    // Strides tell the step of a single element, too, if it is no absurd one.
    const bool is_absurd = length == 1 && stride > uint64_t{1} << 31;
    return {start, length, is_absurd ? 1 : step};
}

int64_t checked(int64_t index, int64_t axis, int64_t length) {
    user_check<IndexError>(index >= -length && index < length, "index ", index,
                           " is out of bounds for axis ", axis, " with size ", length, ".");
    return index < 0 ? index + length : index;
}

// Which elements of the axes that a mask indexes, counted together: int64.
Tensor mask_indices(std::string_view function, const Tensor& mask, const Shape& shape,
                    int64_t first) {
    for (int64_t d = 0; d < mask.rank(); ++d) {
        const int64_t own = mask.shape()[static_cast<size_t>(d)];
        const int64_t size = shape[static_cast<size_t>(first + d)];
        user_check<IndexError>(own == size, "boolean index did not match indexed array along axis ",
                               first + d, "; size of axis is ", size,
                               " but size of corresponding boolean axis is ", own, ".");
    }
    const Array value = concrete(function, "a boolean index", mask);
    return chosen_positions(value.data_as<bool>(), {value.size()})[0];
}

class Planner {
  public:
    Planner(std::string_view function, const Shape& shape, const Index& index)
        : function_(function), shape_(shape), index_(expanded(shape, index)) {
        has_arrays_ = std::any_of(index_.begin(), index_.end(), is_array);
    }

    IndexPlan plan() {
        for (const IndexEntry& entry : index_) {
            if (std::holds_alternative<NewAxis>(entry))
                add_new_axis();
            else if (const auto* slice = std::get_if<Slice>(&entry))
                add_slice(*slice);
            else if (const auto* value = std::get_if<int64_t>(&entry))
                add_integer(*value);
            else
                add_tensor(std::get<Tensor>(entry));
        }
        finish();
        return std::move(plan_);
    }

  private:
    void keep(Picked range) {
        plan_.starts.push_back(range.start);
        plan_.lengths.push_back(range.length);
        plan_.steps.push_back(range.step);
    }

    // The axis of x that the next entry is about goes into `source`.
    int64_t next_axis() {
        plan_.source.push_back(shape_[static_cast<size_t>(axis_)]);
        return axis_++;
    }

    // Indexed dimensions stay where they are only if nothing lies between them.
    void touch() {
        if (is_indexed_ && was_interrupted_) is_scattered_ = true;
        if (!is_indexed_) place_ = static_cast<int64_t>(others_.size());
        is_indexed_ = true;
        was_interrupted_ = false;
    }

    void add_new_axis() {
        others_.push_back({1, true});
        was_interrupted_ = true;
    }

    void add_slice(const Slice& slice) {
        const int64_t axis = next_axis();
        const Picked range = range_of(slice, shape_[static_cast<size_t>(axis)]);
        keep(range);
        plan_.sliced.push_back(range.length);
        others_.push_back({range.length, false});
        was_interrupted_ = true;
    }

    void add_integer(int64_t value) {
        const int64_t axis = next_axis();
        keep({checked(value, axis, shape_[static_cast<size_t>(axis)]), 1, 1});
        if (has_arrays_) touch();
    }

    void gather_next(const Tensor& index, int64_t length) {
        keep({0, length, 1});
        plan_.axes.push_back(static_cast<int64_t>(plan_.sliced.size()));
        plan_.sliced.push_back(length);
        plan_.indices.push_back(ops::astype(index, DType::int64));
    }

    void add_tensor(const Tensor& tensor) {
        touch();
        if (tensor.dtype() == DType::boolean) {
            if (tensor.rank() == 0) {  // an axis of length 1 that is there, or not
                const bool is_true =
                    *concrete(function_, "a boolean index", tensor).data_as<bool>();
                plan_.source.push_back(1);
                gather_next(zeros({is_true ? 1 : 0}, DType::int64, "index"), 1);
                return;
            }
            // Its axes are one, so that there is one index.
            const Tensor index = mask_indices(function_, tensor, shape_, axis_);
            plan_.source.push_back(tensor.size());
            axis_ += tensor.rank();
            gather_next(index, tensor.size());
            return;
        }
        user_check<IndexError>(ir::is_integer(tensor.dtype()),
                               "arrays used as indices must be of integer (or boolean) type, not ",
                               tensor.dtype(), ".");
        const int64_t axis = next_axis();
        const int64_t length = shape_[static_cast<size_t>(axis)];
        check_bounds(tensor, axis, length);
        gather_next(tensor, length);
    }

    void finish() {
        std::vector<Shape> shapes;
        for (const Tensor& index : plan_.indices) shapes.push_back(index.shape());
        try {
            plan_.common = ops::broadcast_shapes(function_, shapes);
        } catch (const ValueError&) {
            std::vector<std::string> texts;
            for (const Shape& shape : shapes) texts.push_back(tuple_text(shape));
            fail<IndexError>(
                "shape mismatch: indexing arrays could not be broadcast together with "
                "shapes ",
                join(texts, " "), ".");
        }
        if (is_scattered_) place_ = 0;
        for (size_t i = 0; i <= others_.size(); ++i) {
            if (static_cast<int64_t>(i) == place_)
                plan_.result.insert(plan_.result.end(), plan_.common.begin(), plan_.common.end());
            if (i == others_.size()) break;
            plan_.result.push_back(others_[i].length);
            if (static_cast<int64_t>(i) < place_ && !others_[i].is_new) ++plan_.place;
        }
    }

    struct Other {
        int64_t length;
        bool is_new;
    };

    std::string_view function_;
    const Shape& shape_;
    Index index_;
    IndexPlan plan_;
    std::vector<Other> others_;  // dimensions of the result that no tensor indexes, in order
    int64_t axis_ = 0;           // the next of x
    int64_t place_ = 0;          // of the common dimensions among others_
    bool has_arrays_ = false, is_indexed_ = false, was_interrupted_ = false, is_scattered_ = false;
};

}  // namespace

bool IndexPlan::slices_nothing() const {
    return lengths == source &&
           std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; });
}

Shape IndexPlan::gathered() const {
    Shape shape = common;
    for (size_t d = 0; d < sliced.size(); ++d)
        if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end())
            shape.push_back(sliced[d]);
    return shape;
}

std::vector<int64_t> IndexPlan::order() const {
    const auto indexed = static_cast<int64_t>(common.size());
    const int64_t rest = static_cast<int64_t>(sliced.size()) - static_cast<int64_t>(axes.size());
    std::vector<int64_t> order;
    for (int64_t d = 0; d < place; ++d) order.push_back(indexed + d);
    for (int64_t d = 0; d < indexed; ++d) order.push_back(d);
    for (int64_t d = place; d < rest; ++d) order.push_back(indexed + d);
    return order;
}

Shape BasicPart::shape() const {
    Shape shape;
    for (size_t d = 0; d < lengths.size(); ++d)
        if (stays[d]) shape.push_back(lengths[d]);
    return shape;
}

Tensor BasicPart::of(const Tensor& x) const {
    const Tensor part = ops::slice(x, starts, lengths, steps);
    Shape left = shape();
    return part.shape() == left ? part : ops::reshape(part, std::move(left));
}

std::optional<BasicPart> basic_part(const Shape& shape, const Index& index) {
    if (index.size() > shape.size()) return {};
    BasicPart part;
    for (size_t d = 0; d < shape.size(); ++d) {
        Picked range{0, shape[d], 1};
        bool stays = true;
        if (d < index.size()) {
            if (const auto* slice = std::get_if<Slice>(&index[d])) {
                if (slice->step == 0) return {};
                range = range_of(*slice, shape[d]);
            } else if (const auto* place = std::get_if<int64_t>(&index[d])) {
                if (*place < -shape[d] || *place >= shape[d]) return {};
                range = {*place < 0 ? *place + shape[d] : *place, 1, 1};
                stays = false;
            } else {
                return {};
            }
        }
        if (range.length == 0) return {};
        part.starts.push_back(range.start);
        part.lengths.push_back(range.length);
        part.steps.push_back(range.step);
        part.stays.push_back(stays);
    }
    return part;
}

IndexPlan plan_index(std::string_view function, const Shape& shape, const Index& index) {
    return Planner(function, shape, index).plan();
}

}  // namespace composit::numpy
