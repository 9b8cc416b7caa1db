// Axis arguments as NumPy takes them, and their normalisation.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// NumPy's axis=None | int | tuple of ints; negative ones count from the end.
//
//   sum(x)  sum(x, 1)  sum(x, {0, -1})
class Axis {
  public:
    Axis() = default;  // None
    Axis(std::nullopt_t) {}
    template <std::integral T>
    Axis(T axis) : axes_(std::vector<int64_t>{static_cast<int64_t>(axis)}), is_integer_(true) {}
    Axis(std::initializer_list<int64_t> axes) : axes_(axes) {}
    Axis(std::vector<int64_t> axes) : axes_(std::move(axes)) {}

    [[nodiscard]] bool is_none() const { return !axes_; }
    [[nodiscard]] bool is_integer() const { return is_integer_; }
    [[nodiscard]] const std::vector<int64_t>& axes() const { return *axes_; }  // not for None

    // Non-negative, in the order written; all axes for None. AxisError out of range, ValueError for
    // a duplicate.
    [[nodiscard]] std::vector<int64_t> of(std::string_view function, int rank) const;
    // The same for reductions, which take one axis, 0 or -1, of a 0-d tensor, too: there is none.
    [[nodiscard]] std::vector<int64_t> of_reduction(std::string_view function, int rank) const;

  private:
    std::optional<std::vector<int64_t>> axes_;
    bool is_integer_ = false;
};

// AxisError: "sum: axis 2 is out of bounds for an array of 2 dimensions. …"
[[nodiscard]] int64_t normalize_axis(std::string_view function, int64_t axis, int rank);
// Whether this is the axis that NumPy's reductions take of a 0-d tensor, though it has none.
[[nodiscard]] bool is_axis_of_a_number(int64_t axis, int rank);
[[nodiscard]] std::vector<int64_t> normalize_axes(std::string_view function,
                                                  const std::vector<int64_t>& axes, int rank);

}  // namespace composit::numpy
