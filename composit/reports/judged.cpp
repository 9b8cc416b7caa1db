// Values are those of NumPy's RandomState, so that both front doors judge by the same.
#include "composit/reports/judged.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random/random_state.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iomanip>
#include <limits>
#include <sstream>
#include <type_traits>

namespace composit::reports {
namespace {

using numpy::random::RandomState;

Array cast_to(const ir::Tensor& tensor, DType dtype) {
    return execute::evaluate({numpy::astype(tensor, dtype)})[0];
}

template <class T>
Array with_first(Array array, const std::vector<T>& special) {
    const auto count = std::min<int64_t>(static_cast<int64_t>(special.size()), array.size() / 2);
    const Array first =
        cast_to(ir::constant(Array::of(std::is_same_v<T, double>    ? DType::float64
                                       : std::is_same_v<T, int64_t> ? DType::int64
                                                                    : DType::uint64,
                                       {static_cast<int64_t>(special.size())}, special)),
                array.dtype());
    std::copy_n(static_cast<const char*>(first.data()), count * ir::size_of(array.dtype()),
                static_cast<char*>(array.mutable_data()));
    return array;
}

Array complex_values(DType dtype, const Shape& shape, int64_t seed) {
    const Array real =
        cast_to(ir::constant(judged_values(ir::real_part_of(dtype), shape, seed)), DType::float64);
    const Array imaginary = cast_to(
        ir::constant(judged_values(ir::real_part_of(dtype), shape, seed + 100)), DType::float64);
    Array made(DType::complex128, shape);
    auto* values = static_cast<std::complex<double>*>(made.mutable_data());
    for (int64_t i = 0; i < made.size(); ++i) {
        const int64_t place = (i - (3 + seed) % made.size() + made.size()) % made.size();
        values[i] = {real.data_as<double>()[i], imaginary.data_as<double>()[place]};
    }
    return cast_to(ir::constant(made), dtype);
}

}  // namespace

const std::vector<DType>& judged_dtypes() {
    static const std::vector<DType> dtypes{DType::boolean, DType::int8,      DType::int32,
                                           DType::int64,   DType::uint8,     DType::uint32,
                                           DType::uint64,  DType::float16,   DType::float32,
                                           DType::float64, DType::complex64, DType::complex128};
    return dtypes;
}

Array judged_values(DType dtype, const Shape& shape, int64_t seed) {
    if (ir::is_complex(dtype)) return complex_values(dtype, shape, seed);
    RandomState draw(seed);
    if (dtype == DType::boolean)
        return execute::evaluate({numpy::apply("less", {draw.rand(shape), 0.5})})[0];
    if (ir::is_integer(dtype)) {
        const bool has_sign = ir::is_signed_integer(dtype);
        const Array drawn =
            cast_to(draw.randint(int64_t{has_sign ? -9 : 0}, int64_t{10}, shape), dtype);
        const int bits = 8 * ir::size_of(dtype);
        if (!has_sign)
            return with_first<uint64_t>(
                drawn, {0, std::numeric_limits<uint64_t>::max() >> (64 - bits), 0, 1});
        const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
        return with_first<int64_t>(drawn, {-most - 1, most, 0, 1});
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const ir::Tensor drawn = numpy::apply("multiply", {draw.standard_normal(shape), int64_t{3}});
    return with_first<double>(cast_to(drawn, dtype),
                              {0.0, -0.0, infinity, -infinity, nan,
                               ir::float_format(dtype).least_normal() / 4, 1.0, -1.0});
}

Array finite_values(DType dtype, const Shape& shape) {
    RandomState draw(3);
    if (ir::is_integer(dtype)) return cast_to(draw.randint(int64_t{-9}, int64_t{10}, shape), dtype);
    if (!ir::is_complex(dtype)) return cast_to(draw.standard_normal(shape), dtype);
    Shape pairs = shape;
    pairs.push_back(2);
    const Array drawn = execute::evaluate({draw.standard_normal(pairs)})[0];
    Array made(DType::complex128, shape);
    std::copy_n(drawn.data_as<double>(), drawn.size(), static_cast<double*>(made.mutable_data()));
    return cast_to(ir::constant(made), dtype);
}

DType judged_operand(const ir::scalar::Row& row, int operand, DType dtype) {
    if (row.name == "where" && operand == 0) return DType::boolean;
    return row.name == "ldexp" && operand == 1 ? DType::int32 : dtype;
}

bool is_judged_in(const ir::scalar::Row& row, DType dtype) {
    std::vector<DType> operands;
    for (int i = 0; i < row.arity; ++i) operands.push_back(judged_operand(row, i, dtype));
    try {
        const auto computed = row.types(row.name, operands).operands;
        const std::vector<DType>& judged = judged_dtypes();
        return std::all_of(computed.begin(), computed.end(), [&](DType one) {
            return std::find(judged.begin(), judged.end(), one) != judged.end();
        });
    } catch (const TypeError&) {
        return false;
    } catch (const NotSupported&) {
        return false;
    }
}

std::string verdict(const std::vector<Outcome>& outcomes, const std::string& backend) {
    std::vector<std::string> groups, reasons;
    const auto add = [](std::vector<std::string>& to, const std::string& one) {
        if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
    };
    for (const Outcome& outcome : outcomes) {
        add(groups, outcome.group);
        for (const auto& [kernel, why] : outcome.refused) add(reasons, why);
    }
    std::ostringstream out;
    const auto line = [&](const std::string& group, const auto&... columns) {
        out << std::left << std::setw(14) << group << std::right;
        constexpr int widths[] = {8, 8, 9, 8, 11};
        const int* width = widths;
        ((out << std::setw(*width++) << columns), ...);
    };
    line("group", "cases", "equal", "refused", "wrong", "undefined");
    for (const std::string& group : groups) {
        int64_t cases = 0, refused = 0, wrong = 0, undefined = 0;
        for (const Outcome& outcome : outcomes) {
            if (outcome.group != group) continue;
            ++cases;
            refused += !outcome.refused.empty();
            wrong += !outcome.wrong.empty();
            undefined += !outcome.undefined.empty();
        }
        out << "\n";
        line(group, cases, cases - wrong - undefined, refused, wrong, undefined);
    }
    for (const Outcome& outcome : outcomes) {
        if (!outcome.wrong.empty())
            out << "\n" << backend << ": " << outcome.name << ": " << outcome.wrong;
        if (!outcome.undefined.empty())
            out << "\ninterpreter: " << outcome.name << ": " << outcome.undefined;
    }
    for (const std::string& reason : reasons)
        out << "\nrefused, and left to the interpreter: " << reason;
    return out.str();
}

}  // namespace composit::reports
