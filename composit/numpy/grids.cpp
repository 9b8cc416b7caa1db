// Grids by arange and broadcasting.
#include "composit/numpy/grids.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/base/text.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/spacing.h"
#include "composit/ops/ops.h"

#include <charconv>
#include <cmath>

namespace composit::numpy {
namespace {

double number_of(const Tensor& x) {
    const bool is_number = x && x.rank() == 0 && !ir::is_complex(x.dtype());
    user_check<TypeError>(is_number, "mgrid: a slice has ",
                          x ? text("an end of type ", x.type()) : std::string("no stop"),
                          ". Real numbers are required.");
    return *concrete("mgrid", "the slices", ops::astype(x, DType::float64)).data_as<double>();
}

// A line with the distance between its points and how many there are.
struct Measured {
    Operand start, step;
    int64_t count;
    std::vector<Tensor> numbers;  // whose dtypes promote to the points'
};

Measured measured(const GridLine& line) {
    const Tensor &start = line.start, &stop = line.stop, &step = line.step;
    const double low = number_of(start), high = number_of(stop);
    if (!line.count) {
        const double by = number_of(step);
        user_check<ZeroDivisionError>(by != 0, "mgrid: division by zero: a step is 0.");
        const double count = std::ceil((high - low) / by);
        check_float_fits("mgrid", count, DType::int64);
        return {start, step, static_cast<int64_t>(count), {start, stop, step}};
    }
    const std::vector<Tensor> numbers = {start, stop, Operand(0.0)};
    if (*line.count == 1) return {start, 1, 1, numbers};
    const auto parts = static_cast<double>(*line.count - 1);
    if (start.type().weak && stop.type().weak)
        return {start, (high - low) / parts, *line.count, numbers};
    return {start, apply("divide", {apply("subtract", {stop, start}), parts}), *line.count,
            numbers};
}

Tensor points(const Measured& line, DType dtype) {
    const Tensor places = ops::astype(arange(std::max(int64_t{0}, line.count)), dtype);
    return apply("add", {apply("multiply", {places, line.step}), line.start});
}

// The points of all lines and how many there are of each.
std::vector<Tensor> open_grid(const std::vector<GridLine>& lines, Shape& counts) {
    std::vector<Measured> all;
    std::vector<Tensor> numbers = {Operand(0)};
    for (const GridLine& line : lines) {
        all.push_back(measured(line));
        counts.push_back(all.back().count);
        numbers.insert(numbers.end(), all.back().numbers.begin(), all.back().numbers.end());
    }
    const DType dtype = strong(ops::astype(Operand(0), result_type(numbers))).dtype();
    std::vector<Tensor> axes;
    for (size_t d = 0; d < all.size(); ++d) {
        Shape shape(all.size(), 1);
        shape[d] = -1;
        axes.push_back(reshape(ops::astype(points(all[d], dtype), dtype), shape));
    }
    return axes;
}

// Axes of length 1 up to the rank: before the others, or where `place` says.
Tensor placed(const Tensor& x, const Joining& how) {
    const int64_t missing = how.rank - x.rank();
    const Tensor wide = with_rank(x, how.rank);
    if (missing <= 0 || how.place == -1) return wide;
    const int64_t at = how.place < 0 ? how.place + missing + 1 : how.place;
    std::vector<int64_t> axes;
    for (int64_t d = 0; d < at; ++d) axes.push_back(d);
    for (int64_t d = missing; d < how.rank; ++d) axes.push_back(d);
    for (int64_t d = at; d < missing; ++d) axes.push_back(d);
    return transpose(wide, axes);
}

Tensor line_placed(const GridLine& line, const Joining& how) {
    user_check<TypeError>(static_cast<bool>(line.stop),
                          "r_: a slice has no stop. A number is required.");
    Tensor made = line.count ? spaced(line.start, line.stop, *line.count) : points_of(line);
    made = with_rank(made, how.rank);
    return how.rank < 2 || how.place == -1 ? made : swapaxes(made, -1, how.place);
}

}  // namespace

Tensor points_of(const GridLine& line) {
    const Measured whole = measured(line);
    if (line.count) return points(whole, result_type({line.start, line.stop, Operand(1.0)}));
    const DType dtype = result_type(whole.numbers);
    if (ir::is_integer(dtype)) {
        const auto whole_number = [](const Tensor& x) {
            return *concrete("arange", "its ends", ops::astype(x, DType::int64)).data_as<int64_t>();
        };
        return arange(whole_number(line.start), whole_number(line.stop), whole_number(line.step));
    }
    return arange(number_of(line.start), number_of(line.stop), number_of(line.step));
}

std::vector<Tensor> ogrid(const std::vector<GridLine>& lines) {
    Shape counts;
    return open_grid(lines, counts);
}

Tensor mgrid(const std::vector<GridLine>& lines) {
    Shape counts;
    const std::vector<Tensor> axes = open_grid(lines, counts);
    for (int64_t count : counts)
        user_check(count >= 0, "mgrid: negative dimensions are not allowed: ", counts, ".");
    if (axes.empty()) return zeros({0}, DType::int64);
    std::vector<Tensor> wide;
    for (const Tensor& axis : axes) wide.push_back(broadcast_to(axis, counts));
    return stack(wide);
}

Joining joining_named(std::string_view function, std::string_view text, const Joining& usual) {
    user_check<TypeError>(text != "r" && text != "c", function, ": '", text,
                          "' makes a matrix, which composit has not. Use '1,2'.");
    Joining found = usual;
    std::string_view rest = text;
    for (int64_t* number : {&found.axis, &found.rank, &found.place}) {
        const std::string_view word = rest.substr(0, rest.find(','));
        const size_t first = word.find_first_not_of(' ');
        const std::string_view digits = first == word.npos ? word : word.substr(first);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
        user_check(read.ec == std::errc() && read.ptr == digits.data() + digits.size(), function,
                   ": unknown special directive '", text, "'");
        if (word.size() == rest.size()) break;
        rest.remove_prefix(word.size() + 1);
    }
    return found;
}

Tensor joined(const std::vector<JoinedPart>& parts, const Joining& how) {
    user_check(!parts.empty(), "concatenate: need at least one array to concatenate");
    std::vector<Tensor> made;
    for (const JoinedPart& part : parts) {
        if (const auto* line = std::get_if<GridLine>(&part))
            made.push_back(line_placed(*line, how));
        else if (const Tensor& x = std::get<Operand>(part); x.type().weak)
            made.push_back(x);
        else
            made.push_back(placed(x, how));
    }
    return errors_as("concatenate", [&] {
        const DType dtype = result_type(made);
        for (Tensor& x : made) {
            if (x.type().weak) check_integer_fits("array", x, dtype);
            x = with_rank(strong(ops::astype(x, dtype)), how.rank);
        }
        return concatenate(made, how.axis);
    });
}

}  // namespace composit::numpy
