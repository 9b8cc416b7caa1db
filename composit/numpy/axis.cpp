// Axes made non-negative, with NumPy's errors.
#include "composit/numpy/axis.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::numpy {

int64_t normalize_axis(std::string_view function, int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) {
        if (rank == 0)
            fail<AxisError>(function, ": axis ", axis,
                            " is out of bounds for an array of 0 dimensions. It has no axes.");
        fail<AxisError>(function, ": axis ", axis, " is out of bounds for an array of ", rank,
                        rank == 1 ? " dimension" : " dimensions", ". Axes are ", -rank, " to ",
                        rank - 1, ".");
    }
    return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> normalize_axes(std::string_view function, const std::vector<int64_t>& axes,
                                    int rank) {
    std::vector<int64_t> result;
    for (int64_t axis : axes) {
        const int64_t normal = normalize_axis(function, axis, rank);
        user_check(std::find(result.begin(), result.end(), normal) == result.end(), function,
                   ": duplicate value in 'axis': ", axes, ". Each axis may be given once.");
        result.push_back(normal);
    }
    return result;
}

std::vector<int64_t> Axis::of(std::string_view function, int rank) const {
    if (axes_) return normalize_axes(function, *axes_, rank);
    std::vector<int64_t> all;
    for (int64_t d = 0; d < rank; ++d) all.push_back(d);
    return all;
}

bool is_axis_of_a_number(int64_t axis, int rank) { return rank == 0 && (axis == 0 || axis == -1); }

std::vector<int64_t> Axis::of_reduction(std::string_view function, int rank) const {
    if (is_integer_ && is_axis_of_a_number(axes_->front(), rank)) return {};
    return of(function, rank);
}

}  // namespace composit::numpy
