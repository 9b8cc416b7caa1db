// Arrays are compared element by element, in the widest type of their kind.
#include "composit/reports/differences.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

namespace composit::reports {
namespace {

using ir::DType;
using Complex = std::complex<double>;

Array in_dtype(const Array& array, DType dtype) {
    if (array.dtype() == dtype) return array;
    return execute::evaluate({numpy::astype(ir::constant(array), dtype)})[0];
}

bool is_whole(const Array& array) { return !ir::is_inexact(array.dtype()); }

// Integers of 64 bits stay what they are.
std::vector<long double> exact_integers(const Array& array) {
    std::vector<long double> all;
    all.reserve(static_cast<size_t>(array.size()));
    if (array.dtype() == DType::uint64) {
        const auto* values = array.data_as<uint64_t>();
        all.assign(values, values + array.size());
    } else if (ir::is_integer(array.dtype()) || array.dtype() == DType::boolean) {
        const Array wide = in_dtype(array, DType::int64);
        const auto* values = wide.data_as<int64_t>();
        all.assign(values, values + wide.size());
    } else {
        const Array wide = in_dtype(array, DType::float64);
        const auto* values = wide.data_as<double>();
        all.assign(values, values + wide.size());
    }
    return all;
}

std::vector<Complex> complex_numbers(const Array& array) {
    const Array wide = in_dtype(array, DType::complex128);
    const auto* values = wide.data_as<Complex>();
    return {values, values + wide.size()};
}

bool is_nan(Complex value) { return std::isnan(value.real()) || std::isnan(value.imag()); }
bool is_finite(Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

bool are_equal(Complex a, Complex b) { return a == b || (is_nan(a) && is_nan(b)); }

bool is_nan(long double value) { return std::isnan(value); }
bool is_finite(long double value) { return std::isfinite(value); }
bool are_equal(long double a, long double b) { return a == b || (is_nan(a) && is_nan(b)); }

template <class Number>
Distance distance_of(const std::vector<Number>& found, const std::vector<Number>& expected) {
    Distance made;
    for (size_t i = 0; i < found.size(); ++i) {
        if (is_finite(expected[i]))
            made.scale = std::max(made.scale, static_cast<double>(std::abs(expected[i])));
        if (are_equal(found[i], expected[i])) continue;
        const auto apart = static_cast<double>(std::abs(found[i] - expected[i]));
        made.largest = std::max(
            made.largest, std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart);
    }
    return made;
}

// "1.23e-05", as Python's format .3g
std::string short_number(double value) {
    char written[32];
    std::snprintf(written, sizeof written, "%.3g", value);
    return written;
}

// As NumPy shows a scalar: "np.float32(0.1)"
std::string scalar_text(const Array& array, size_t place) {
    const std::string kind = "np." + std::string(ir::name(array.dtype())) + "(";
    if (array.dtype() == DType::boolean)
        return array.data_as<bool>()[place] ? "np.True_" : "np.False_";
    if (array.dtype() == DType::uint64) return text(kind, array.data_as<uint64_t>()[place], ")");
    if (ir::is_integer(array.dtype())) {
        const Array wide = in_dtype(array, DType::int64);
        return text(kind, wide.data_as<int64_t>()[place], ")");
    }
    const Complex value = complex_numbers(array)[place];
    const bool is_narrow = ir::size_of(ir::real_part_of(array.dtype())) <= 4;
    const auto number = [is_narrow](double part) {
        return is_narrow ? number_text(static_cast<float>(part)) : number_text(part);
    };
    if (!ir::is_complex(array.dtype())) return kind + number(value.real()) + ")";
    const std::string sign = std::signbit(value.imag()) ? "" : "+";
    return kind + number(value.real()) + sign + number(value.imag()) + "j)";
}

std::vector<int64_t> indices_of(int64_t place, const ir::Shape& shape) {
    std::vector<int64_t> indices(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
        indices[axis] = place % shape[axis];
        place /= shape[axis];
    }
    return indices;
}

}  // namespace

bool same_bits(const Array& a, const Array& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
    if (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0)
        return true;
    if (!ir::is_inexact(a.dtype())) return false;
    const std::vector<Complex> one = complex_numbers(a), other = complex_numbers(b);
    for (size_t i = 0; i < one.size(); ++i)
        if (!are_equal(one[i], other[i]) ||
            (!is_nan(one[i]) && std::signbit(one[i].real()) != std::signbit(other[i].real())))
            return false;
    return true;
}

std::string first_difference(const Array& expected, const Array& found) {
    if (expected.shape() != found.shape())
        return text("shape ", found.shape(), " instead of ", expected.shape());
    if (expected.dtype() != found.dtype())
        return text("dtype ", found.dtype(), " instead of ", expected.dtype());
    if (same_bits(expected, found)) return "";
    std::vector<size_t> places;
    if (ir::is_inexact(expected.dtype())) {
        const std::vector<Complex> one = complex_numbers(expected), other = complex_numbers(found);
        for (size_t i = 0; i < one.size(); ++i)
            if (!are_equal(one[i], other[i])) places.push_back(i);
    } else {
        const auto one = exact_integers(expected), other = exact_integers(found);
        for (size_t i = 0; i < one.size(); ++i)
            if (one[i] != other[i]) places.push_back(i);
    }
    if (places.empty()) return "a zero has the other sign";
    return text(scalar_text(found, places[0]), " instead of ", scalar_text(expected, places[0]),
                " at ", indices_of(static_cast<int64_t>(places[0]), expected.shape()), ", ",
                places.size(), " of ", expected.size(), " elements differ");
}

Distance distance(const Array& found, const Array& expected) {
    user_check(found.shape() == expected.shape(), "distance: shapes are ", found.shape(), " and ",
               expected.shape(), ". Equal ones are required.");
    const bool is_any_complex = ir::is_complex(found.dtype()) || ir::is_complex(expected.dtype());
    if (!is_any_complex && (is_whole(found) || is_whole(expected)))
        return distance_of(exact_integers(found), exact_integers(expected));
    return distance_of(complex_numbers(found), complex_numbers(expected));
}

std::string beyond_rounding(const Array& found, const Array& expected, double most,
                            const std::string& whose) {
    if (found.shape() != expected.shape())
        return text("has shape ", found.shape(), ", ", whose, " has ", expected.shape());
    if (is_whole(expected) && !ir::is_complex(found.dtype())) {
        const auto one = exact_integers(found), other = exact_integers(expected);
        int64_t wrong = 0;
        for (size_t i = 0; i < one.size(); ++i) wrong += one[i] != other[i];
        return wrong == 0
                   ? ""
                   : text("differs from ", whose, " in ", wrong, " of ", found.size(), " places");
    }
    const Distance apart = distance(found, expected);
    return apart.largest <= most * apart.scale
               ? ""
               : text("differs from ", whose, " by ", short_number(apart.largest),
                      " where values are up to ", short_number(apart.scale));
}

Compared compared(const std::string& name, const Array& found, const Array& expected,
                  const std::string& peer) {
    if (found.shape() != expected.shape() || found.dtype() != expected.dtype())
        return {text(name, ": ", found.dtype(), " ", found.shape(), ", ", peer, "'s ",
                     expected.dtype(), " ", expected.shape()),
                std::numeric_limits<double>::infinity()};
    const Distance apart = distance(found, expected);
    return {text(name, ": largest difference ", short_number(apart.largest), ", largest value ",
                 short_number(apart.scale)),
            apart.largest / apart.scale};
}

}  // namespace composit::reports
