// Operations of formulas over tensors of graphs, by PyTorch's names and with its promotion.
#include "composit/aten/formulas.h"

#include "composit/aten/attention.h"
#include "composit/aten/linalg.h"
#include "composit/aten/losses.h"
#include "composit/aten/places.h"
#include "composit/aten/pointwise.h"
#include "composit/aten/products.h"
#include "composit/aten/reductions.h"
#include "composit/aten/rows.h"
#include "composit/aten/shapes.h"
#include "composit/aten/special.h"
#include "composit/base/error.h"
#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/numpy/comparisons.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

namespace composit::aten::formulas {
namespace {

using Operation = Value (*)(Operands);

int64_t integer_of(const Value& value) { return *value.integer(); }
numpy::Axis axis_at(Operands x, size_t place) {
    if (place >= x.size()) return {};
    return x[place].is_shape() ? numpy::Axis(x[place].sizes()) : numpy::Axis(integer_of(x[place]));
}
bool flag_at(Operands x, size_t place) { return place < x.size() && *x[place].flag(); }

template <size_t size>
struct Name {
    constexpr Name(const char (&given)[size]) { std::copy_n(given, size, text); }
    char text[size];
};

// A row of integers' default floats, of what is there, of two operands in their common dtype.
template <Name name>
Value of_floats(Operands x) {
    return numpy::apply(name.text, {floating(x[0].tensor())});
}
template <Name name>
Value as_it_is(Operands x) {
    return numpy::apply(name.text, {x[0].tensor()});
}
template <Name name>
Value of_two(Operands x) {
    const std::vector<Tensor> pair = together({x[0].tensor(), x[1].tensor()});
    return numpy::apply(name.text, {pair[0], pair[1]});
}

Value power(Operands x) {
    const Tensor base = x[0].tensor();
    if (const int64_t* exponent = x[1].integer()) return numpy::raised(base, *exponent);
    if (const double* exponent = x[1].real()) {
        if (*exponent == std::trunc(*exponent) && std::abs(*exponent) <= 64)
            return numpy::raised(together({base, x[1].tensor()})[0],
                                 static_cast<int64_t>(*exponent));
        if (*exponent == 0.5) return rows::sqrt(floating(base));
    }
    return of_two<"power">(x);
}

Value softplus_of(Operands operands) {
    const Tensor x = operands[0].tensor();
    const Tensor is_large = x > 20;
    const Tensor below = rows::where(is_large, numpy::zeros_like(x), x);
    return rows::where(is_large, x, rows::log1p(rows::exp(below)));
}

Value chosen(Operands x) {
    const std::vector<Tensor> pair = together({x[1].tensor(), x[2].tensor()});
    return rows::where(ops::astype(x[0].tensor(), DType::boolean), pair[0], pair[1]);
}

Value clamped(Operands x) {
    const std::vector<Tensor> all = together({x[0].tensor(), x[1].tensor(), x[2].tensor()});
    return numpy::clip(all[0], all[1], all[2]);
}

Value full_of(Operands x) {
    const Tensor like = x[0].tensor();
    return numpy::full(like.shape(), cast(x[1].tensor(), like.dtype()), like.dtype());
}

Value count_of(Operands x) { return ops::astype(numpy::arange(integer_of(x[1])), x[0].dtype()); }

// Numbers before and behind, along the last dimension.
Value padded_of(Operands x) {
    const Tensor inner = x[0].tensor();
    const ir::Shape& widths = x[1].sizes();
    std::vector<Tensor> parts;
    for (size_t i = 0; i < 2; ++i) {
        ir::Shape shape = inner.shape();
        shape.back() = widths[i];
        parts.push_back(numpy::full(shape, cast(x[2].tensor(), inner.dtype()), inner.dtype()));
    }
    return numpy::concatenate({parts[0], inner, parts[1]}, -1);
}

Tensor places_of(const ir::Shape& places) {
    return ir::constant(ir::Array::of(DType::int64, {static_cast<int64_t>(places.size())}, places));
}

// Elements at places of the last dimension, and zeros but for elements at places.
Value picked_of(Operands x) { return numpy::take(x[0].tensor(), places_of(x[1].sizes()), -1); }
Value placed_of(Operands x) {
    const Tensor values = x[0].tensor();
    ir::Shape shape = values.shape();
    shape.back() = integer_of(x[2]);
    const Tensor zeros = numpy::zeros(shape, values.dtype());
    return aten::scatter(zeros, -1, numpy::broadcast_to(places_of(x[1].sizes()), values.shape()),
                         values);
}

// Q of a matrix's QR factors, times the signs of R's diagonal.
Value qr_with_signs(Operands x) {
    const numpy::linalg::QRResult made = numpy::linalg::qr(x[0].tensor());
    return made.Q * rows::sign(numpy::diagonal(made.R));
}

Value in_wide_floats(Operands x) {
    const Tensor held = x[0].tensor();
    return ops::astype(held, held.dtype() == DType::float64 ? DType::float64 : DType::float32);
}

// A x = b of A's Cholesky factor.
Value solved_by_factor(Operands x) {
    const Tensor factor = x[1].tensor();
    const Tensor half = aten::tril(factor);
    return numpy::linalg::solve(numpy::matmul(half, aten::transpose(half, -2, -1)), x[0].tensor());
}

// Of numbers alone: a number, as Python's operators give it.
std::optional<Value> of_numbers(std::string_view operation, Operands x) {
    if (x.size() > 2 || !std::ranges::all_of(x.all(), &Value::is_number)) return {};
    const auto number = [](const Value& value) { return *numpy::literal(value.tensor()); };
    const double a = number(x[0]);
    const bool is_whole = std::ranges::none_of(x.all(), [](const Value* v) { return v->real(); });
    const auto made = [&](double value) -> Value {
        if (is_whole) return static_cast<int64_t>(value);
        return value;
    };
    if (operation == "neg") return made(-a);
    if (x.size() != 2) return {};
    const double b = number(x[1]);
    if (operation == "add") return made(a + b);
    if (operation == "sub") return made(a - b);
    if (operation == "mul") return made(a * b);
    if (operation == "div") return Value(a / b);
    return {};
}

using Table = std::map<std::string_view, Operation>;

Table made_table() {
    return {
        {"add", of_two<"add">},
        {"sub", of_two<"subtract">},
        {"mul", of_two<"multiply">},
        {"div", [](Operands x) { return Value(div(x[0].tensor(), x[1].tensor())); }},
        {"remainder", of_two<"remainder">},
        {"pow", power},
        {"eq", of_two<"equal">},
        {"lt", of_two<"less">},
        {"le", of_two<"less_equal">},
        {"gt", of_two<"greater">},
        {"ge", of_two<"greater_equal">},
        {"bitwise_and", of_two<"bitwise_and">},
        {"bitwise_or", of_two<"bitwise_or">},
        {"bitwise_not", as_it_is<"invert">},
        {"neg", as_it_is<"negative">},
        {"abs", as_it_is<"absolute">},
        {"floor", as_it_is<"floor">},
        {"sign", as_it_is<"sign">},
        {"square", as_it_is<"square">},
        {"atan", of_floats<"arctan">},
        {"atanh", of_floats<"arctanh">},
        {"cos", of_floats<"cos">},
        {"digamma", of_floats<"digamma">},
        {"erf", of_floats<"erf">},
        {"exp", of_floats<"exp">},
        {"expm1", of_floats<"expm1">},
        {"lgamma", of_floats<"lgamma">},
        {"log", of_floats<"log">},
        {"log1p", of_floats<"log1p">},
        {"reciprocal", of_floats<"reciprocal">},
        {"sqrt", of_floats<"sqrt">},
        {"tan", of_floats<"tan">},
        {"tanh", of_floats<"tanh">},
        {"clamp_min", of_two<"maximum">},
        {"clamp_max", of_two<"minimum">},
        {"clamp", clamped},
        {"where", chosen},
        {"softplus", softplus_of},
        {"erfinv", [](Operands x) { return Value(aten::erfinv(floating(x[0].tensor()))); }},
        {"i0e",
         [](Operands x) { return Value(modified_bessel_i(0, floating(x[0].tensor()), true)); }},
        {"i1e",
         [](Operands x) { return Value(modified_bessel_i(1, floating(x[0].tensor()), true)); }},
        {"sigmoid", [](Operands x) { return Value(nn::sigmoid(floating(x[0].tensor()))); }},
        {"logsigmoid", [](Operands x) { return Value(-rows::logaddexp(-x[0].tensor(), 0.0)); }},
        {"igamma", [](Operands x) { return Value(gammainc(x[0].tensor(), x[1].tensor())); }},
        {"mvlgamma",
         [](Operands x) { return Value(multigammaln(x[0].tensor(), integer_of(x[1]))); }},
        {"xlogy", [](Operands x) { return Value(aten::xlogy(x[0].tensor(), x[1].tensor())); }},
        {"isclose", [](Operands x) { return Value(numpy::isclose(x[0].tensor(), x[1].tensor())); }},
        {"masked_fill",
         [](Operands x) {
             const Tensor held = x[0].tensor();
             return Value(rows::where(x[1].tensor(), cast(x[2].tensor(), held.dtype()), held));
         }},
        {"cross_entropy_of_logits",
         [](Operands x) {
             return Value(binary_cross_entropy_with_logits(x[0].tensor(), x[1].tensor(), {}, {},
                                                           Reduction::none));
         }},
        {"full_like", full_of},
        {"zeros_like", [](Operands x) { return Value(numpy::zeros_like(x[0].tensor())); }},
        {"ones_like", [](Operands x) { return Value(numpy::ones_like(x[0].tensor())); }},
        {"type_as", [](Operands x) { return Value(ops::astype(x[0].tensor(), x[1].dtype())); }},
        {"count_like", count_of},
        {"eye_like",
         [](Operands x) { return Value(numpy::eye(integer_of(x[1]), {}, 0, x[0].dtype())); }},
        {"sum",
         [](Operands x) {
             return Value(
                 numpy::sum(summable(x[0].tensor(), {}), axis_at(x, 1), {}, flag_at(x, 2)));
         }},
        {"all",
         [](Operands x) {
             return Value(numpy::all(x[0].tensor(), integer_of(x[1]), flag_at(x, 2)));
         }},
        {"argmax",
         [](Operands x) {
             return Value(numpy::argmax(x[0].tensor(), integer_of(x[1]), flag_at(x, 2)));
         }},
        {"logsumexp",
         [](Operands x) { return Value(aten::logsumexp(x[0].tensor(), integer_of(x[1]))); }},
        {"matmul", [](Operands x) { return Value(numpy::matmul(x[0].tensor(), x[1].tensor())); }},
        {"unsqueeze",
         [](Operands x) { return Value(aten::unsqueeze(x[0].tensor(), integer_of(x[1]))); }},
        {"squeeze",
         [](Operands x) { return Value(aten::squeeze(x[0].tensor(), integer_of(x[1]))); }},
        {"gather",
         [](Operands x) {
             return Value(aten::gather(x[0].tensor(), integer_of(x[1]), x[2].tensor()));
         }},
        {"scatter",
         [](Operands x) {
             return Value(
                 aten::scatter(x[0].tensor(), integer_of(x[1]), x[2].tensor(), x[3].tensor()));
         }},
        {"narrow",
         [](Operands x) {
             return Value(
                 aten::narrow(x[0].tensor(), integer_of(x[1]), integer_of(x[2]), integer_of(x[3])));
         }},
        {"select",
         [](Operands x) {
             return Value(aten::select(x[0].tensor(), integer_of(x[1]), integer_of(x[2])));
         }},
        {"paired",
         [](Operands x) { return Value(numpy::stack({x[0].tensor(), x[1].tensor()}, -1)); }},
        {"expand",
         [](Operands x) { return Value(numpy::broadcast_to(x[0].tensor(), x[1].sizes())); }},
        {"reshape", [](Operands x) { return Value(numpy::reshape(x[0].tensor(), x[1].sizes())); }},
        {"transpose",
         [](Operands x) {
             return Value(aten::transpose(x[0].tensor(), integer_of(x[1]), integer_of(x[2])));
         }},
        {"diagonal",
         [](Operands x) {
             return Value(numpy::diagonal(x[0].tensor(), integer_of(x[1]), integer_of(x[2]),
                                          integer_of(x[3])));
         }},
        {"softmax", [](Operands x) { return Value(nn::softmax(x[0].tensor(), integer_of(x[1]))); }},
        {"long", [](Operands x) { return Value(ops::astype(x[0].tensor(), DType::int64)); }},
        {"largest",
         [](Operands x) { return Value(numpy::max(x[0].tensor(), integer_of(x[1]), true)); }},
        {"cumsum",
         [](Operands x) { return Value(numpy::cumsum(x[0].tensor(), integer_of(x[1]))); }},
        {"cumprod",
         [](Operands x) { return Value(numpy::cumprod(x[0].tensor(), integer_of(x[1]))); }},
        {"linear",
         [](Operands x) {
             return Value(aten::linear(x[0].tensor(), x[1].tensor(),
                                       x.size() > 2 ? x[2].tensor() : Tensor()));
         }},
        {"mean", [](Operands x) { return Value(numpy::mean(x[0].tensor(), axis_at(x, 1))); }},
        {"norm", [](Operands x) { return Value(vector_norm(x[0].tensor(), *x[1].real())); }},
        {"stacked",
         [](Operands x) {
             std::vector<Tensor> parts;
             for (const Value* part : x.all()) parts.push_back(part->tensor());
             return Value(numpy::stack(parts));
         }},
        {"minimum", of_two<"minimum">},
        {"amax", [](Operands x) { return Value(numpy::max(x[0].tensor(), integer_of(x[1]))); }},
        {"rsqrt",
         [](Operands x) { return Value(rows::reciprocal(rows::sqrt(floating(x[0].tensor())))); }},
        {"t", [](Operands x) { return Value(aten::transpose(x[0].tensor(), 0, 1)); }},
        {"qr_with_signs", qr_with_signs},
        {"positions", [](Operands x) { return Value(numpy::arange(integer_of(x[1]))); }},
        {"precise", in_wide_floats},
        {"repeat_interleave",
         [](Operands x) {
             return Value(numpy::repeat(x[0].tensor(), integer_of(x[1]), integer_of(x[2])));
         }},
        {"safe_softmax",
         [](Operands x) { return Value(safe_softmax(x[0].tensor(), integer_of(x[1]))); }},
        {"flatten",
         [](Operands x) { return Value(aten::flatten(x[0].tensor(), integer_of(x[1]), -1)); }},
        {"permute",
         [](Operands x) { return Value(numpy::transpose(x[0].tensor(), x[1].sizes())); }},
        {"repeat", [](Operands x) { return Value(numpy::tile(x[0].tensor(), x[1].sizes())); }},
        {"joined",
         [](Operands x) {
             return Value(numpy::concatenate({x[0].tensor(), x[1].tensor()}, integer_of(x[2])));
         }},
        {"zeros_for", [](Operands x) { return Value(numpy::zeros(x[0].shape(), x[1].dtype())); }},
        {"zeros_shaped",
         [](Operands x) { return Value(numpy::zeros(x[1].sizes(), x[0].dtype())); }},
        {"padded", padded_of},
        {"picked", picked_of},
        {"placed", placed_of},
        {"tril", [](Operands x) { return Value(aten::tril(x[0].tensor(), integer_of(x[1]))); }},
        {"cholesky_solve", solved_by_factor},
        {"diag_embed", [](Operands x) { return Value(aten::diag_embed(x[0].tensor())); }},
        {"flip", [](Operands x) { return Value(numpy::flip(x[0].tensor(), x[1].sizes())); }},
        {"linalg_cholesky",
         [](Operands x) { return Value(numpy::linalg::cholesky(x[0].tensor())); }},
        {"solve_lower",
         [](Operands x) {
             return Value(aten::solve_triangular(x[0].tensor(), x[1].tensor(), false));
         }},
    };
}

const Table& operations() {
    static const auto* const all = new Table(made_table());
    return *all;
}

}  // namespace

Tensor Value::tensor() const {
    if (const auto* found = std::get_if<Tensor>(&content_)) return *found;
    if (integer()) return ir::weak_scalar(*integer());
    if (real()) return ir::weak_scalar(*real());
    if (flag()) return ir::weak_scalar(*flag());
    fail<TypeError>("formulas: a tensor of a graph is required, or a number.");
}

double Value::number() const {
    if (real()) return *real();
    if (integer()) return static_cast<double>(*integer());
    user_check<TypeError>(flag(), "formulas: a number is required.");
    return *flag() ? 1 : 0;
}

std::string Value::shown() const {
    if (integer()) return std::to_string(*integer());
    if (flag()) return *flag() ? "True" : "False";
    return number_text(number());
}

ir::Shape Value::shape() const {
    if (held()) return held()->door().shape(held()->object());
    return is_number() ? ir::Shape{} : tensor().shape();
}

DType Value::dtype() const {
    return held() ? held()->door().dtype(held()->object()) : tensor().dtype();
}

int64_t Value::size(int64_t dim) const {
    const ir::Shape sizes = shape();
    return sizes[static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim)];
}

Value apply(std::string_view operation, std::initializer_list<Value> operands) {
    std::vector<const Value*> values;
    for (const Value& operand : operands) values.push_back(&operand);
    return apply(operation, Operands(values));
}

Value apply(std::string_view operation, Operands operands) {
    for (const Value* operand : operands.all())
        if (operand->held()) return operand->held()->door().apply(operation, operands);
    if (const std::optional<Value> number = of_numbers(operation, operands)) return *number;
    const auto found = operations().find(operation);
    user_check<NotSupported>(found != operations().end(), "formulas: ", operation,
                             " is not there for tensors of graphs.");
    return found->second(operands);
}

std::pair<Value, Value> broadcast(const Value& given_a, const Value& given_b) {
    const Value a = given_a.is_number() ? full_like(given_b, given_a) : given_a;
    const Value b = given_b.is_number() ? full_like(given_a, given_b) : given_b;
    const ir::Shape x = a.shape(), y = b.shape();
    if (x == y) return {a, b};
    const ir::Shape shape = numpy::broadcast_shapes({x, y});
    return {x == shape ? a : expand(a, shape), y == shape ? b : expand(b, shape)};
}

namespace {

// The places of elements on and below a diagonal of a square matrix, row by row.
ir::Shape places_below(int64_t size, int64_t diagonal) {
    ir::Shape places;
    for (int64_t row = 0; row < size; ++row)
        for (int64_t column = 0; column < size && column <= row + diagonal; ++column)
            places.push_back(row * size + column);
    return places;
}

ir::Shape with_last(const Value& x, size_t removed, const ir::Shape& last) {
    ir::Shape shape = x.shape();
    shape.resize(shape.size() - removed);
    shape.insert(shape.end(), last.begin(), last.end());
    return shape;
}

}  // namespace

Value vector_of_lower(const Value& matrices, int64_t diagonal) {
    const int64_t size = matrices.size(-1);
    user_check(-size <= diagonal && diagonal < size, "diag (", diagonal, ") provided is outside [",
               -size, ", ", size - 1, "].");
    const Value flat = reshape(matrices, with_last(matrices, 2, {size * size}));
    return apply("picked", {flat, places_below(size, diagonal)});
}

Value lower_of_vector(const Value& vectors, int64_t diagonal) {
    const int64_t count = vectors.size(-1), twice = 1 + 2 * diagonal;
    const auto square =
        static_cast<double>(twice * twice + 8 * count + 4 * std::abs(diagonal) * (diagonal + 1));
    const double exact = (static_cast<double>(-twice) + std::sqrt(square)) / 2;
    user_check(std::abs(std::round(exact) - exact) <= 1e-6, "The size of last dimension is ", count,
               " which cannot be expressed as the lower triangular part of a square D x D matrix.");
    const auto size = static_cast<int64_t>(std::round(exact));
    const Value flat = apply("placed", {vectors, places_below(size, diagonal), size * size});
    return reshape(flat, with_last(vectors, 1, {size, size}));
}

Value sum_rightmost(const Value& x, int64_t count) {
    if (count == 0) return x;
    ir::Shape shape = x.shape();
    shape.resize(shape.size() - static_cast<size_t>(count));
    shape.push_back(-1);
    return sum(reshape(x, shape), -1);
}

}  // namespace composit::aten::formulas
