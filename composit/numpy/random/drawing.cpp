// One draw: parameters made known, checked and broadcast; then the sampler, element by element.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/random/stream.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace composit::numpy::random {
namespace {

template <class T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, double>) return DType::float64;
    if constexpr (std::is_same_v<T, float>) return DType::float32;
    return DType::int64;
}

// What a sampler takes and gives.
template <class Function>
struct Signature;
template <class Out, class From, class... Values>
struct Signature<Out (*)(From*, Values...)> {
    static constexpr DType result = dtype_of<Out>();
    static std::vector<DType> parameters() { return {dtype_of<Values>()...}; }
};
template <class Out>
struct Signature<void (*)(Bits*, intptr_t, Out*)> {
    static constexpr DType result = dtype_of<Out>();
    static std::vector<DType> parameters() { return {}; }
};

std::string_view words_for(Range range) {
    switch (range) {
        case Range::any: return "";
        case Range::not_negative: return " < 0";
        case Range::positive: return " <= 0";
        case Range::positive_number: return " <= 0, or NaN";
        case Range::probability: return " < 0, > 1 or NaN";
        case Range::probability_above_0: return " <= 0, > 1 or NaN";
        case Range::probability_below_1: return " < 0, >= 1 or NaN";
        case Range::above_1: return " <= 1 or NaN";
        case Range::at_least_1: return " < 1 or NaN";
        case Range::poisson: return " < 0, NaN or too large";
    }
    return "";
}

bool is_within(double x, Range range) {
    switch (range) {
        case Range::any: return true;
        case Range::not_negative: return std::isnan(x) || !std::signbit(x);
        case Range::positive: return !(x <= 0);
        case Range::positive_number: return x > 0;
        case Range::probability: return x >= 0 && x <= 1;
        case Range::probability_above_0: return x > 0 && x <= 1;
        case Range::probability_below_1: return x >= 0 && x < 1;
        case Range::above_1: return x > 1;
        case Range::at_least_1: return x >= 1;
        case Range::poisson: return x >= 0 && x <= 9.2233720064847708e+18;
    }
    return true;
}

double number_at(const Array& array, int64_t i) {
    switch (array.dtype()) {
        case DType::float32: return double{array.data_as<float>()[i]};
        case DType::int64: return static_cast<double>(array.data_as<int64_t>()[i]);
        default: return array.data_as<double>()[i];
    }
}

template <class To, class From>
Array copied(const Array& array, DType dtype) {
    Array result(dtype, array.shape());
    std::copy_n(array.data_as<From>(), array.size(), static_cast<To*>(result.mutable_data()));
    return result;
}

}  // namespace

// With no graph where the values are a constant's.
Array known(std::string_view function, std::string_view name, const Tensor& x, DType dtype) {
    // Of a scalar only the kind counts, of an array the dtype, as NumPy casts them.
    const bool is_scalar = x.rank() == 0 && !ir::is_complex(x.dtype());
    user_check<TypeError>(is_scalar || ir::can_cast_safely(x.dtype(), dtype), function, ": ", name,
                          " has dtype ", x.dtype(), ". One that ", dtype,
                          " holds exactly is required.");
    if (is_scalar && dtype == DType::int64 && ir::is_floating(x.dtype())) {  // its whole part
        const double value = *known(function, name, x, DType::float64).data_as<double>();
        user_check(std::abs(value) < 9223372036854775808.0, function, ": cannot convert ", name,
                   ", which is ", value, ", to an integer of 64 bits.");
        return Array::of<int64_t>(dtype, {}, {static_cast<int64_t>(value)});
    }
    if (ir::is_constant(x.node())) {
        const Array value = ir::constant_value(x.node());
        if (x.dtype() == dtype) return value;
        if (x.dtype() == DType::int64 && dtype == DType::float64)
            return copied<double, int64_t>(value, dtype);
        if (x.dtype() == DType::float64 && dtype == DType::float32)
            return copied<float, double>(value, dtype);
    }
    user_check<NotSupported>(!depends_on_placeholder(x), function, ": the numbers depend on ", name,
                             ", which is not known inside compile, grad, vmap and "
                             "wrap_as_operation. Draw a standard distribution and scale it.");
    return execute::values_now({ops::astype(x, dtype)})[0];
}

namespace {

// The elements of up to three parameters in row-major order of the shape they are broadcast to.
class Walk {
  public:
    Walk(const std::vector<Array>& parameters, const Shape& shape) : shape_(shape) {
        index_.resize(shape.size());
        for (size_t p = 0; p < parameters.size(); ++p) {
            const Shape& own = parameters[p].shape();
            const auto strides = ir::row_major_strides(own);
            steps_[p].assign(shape.size(), 0);
            const size_t offset = shape.size() - own.size();
            for (size_t axis = 0; axis < own.size(); ++axis)
                if (own[axis] != 1) steps_[p][offset + axis] = strides[axis];
        }
        count_ = parameters.size();
    }
    int64_t operator[](size_t parameter) const { return places_[parameter]; }
    void advance() {
        for (size_t axis = shape_.size(); axis-- > 0;) {
            ++index_[axis];
            for (size_t p = 0; p < count_; ++p) places_[p] += steps_[p][axis];
            if (index_[axis] < shape_[axis]) return;
            for (size_t p = 0; p < count_; ++p) places_[p] -= steps_[p][axis] * shape_[axis];
            index_[axis] = 0;
        }
    }

  private:
    const Shape& shape_;
    std::vector<int64_t> index_;
    std::array<std::vector<int64_t>, 3> steps_;
    std::array<int64_t, 3> places_{};
    size_t count_ = 0;
};

Shape broadcast_shape(std::string_view function, const std::vector<Array>& parameters) {
    std::vector<Shape> shapes;
    for (const Array& parameter : parameters) shapes.push_back(parameter.shape());
    return ops::broadcast_shapes(function, shapes);
}

bool are_scalars(const std::vector<Array>& parameters) {
    return std::all_of(parameters.begin(), parameters.end(),
                       [](const Array& p) { return p.shape().empty(); });
}

template <class Out>
void fill(void (*sampler)(Bits*, intptr_t, Out*), Source& source, const std::vector<Array>&,
          const Array& numbers) {
    sampler(&source, numbers.size(), static_cast<Out*>(numbers.mutable_data()));
}

template <class Out, class From, class... Values, size_t... Is>
void fill_each(Out (*sampler)(From*, Values...), Source& source,
               const std::vector<Array>& parameters, const Array& numbers,
               std::index_sequence<Is...>) {
    auto* out = static_cast<Out*>(numbers.mutable_data());
    const int64_t n = numbers.size();
    if (are_scalars(parameters)) {
        const std::tuple<Values...> values{*parameters[Is].template data_as<Values>()...};
        for (int64_t i = 0; i < n; ++i) out[i] = sampler(&source, std::get<Is>(values)...);
        return;
    }
    Walk walk(parameters, numbers.shape());
    for (int64_t i = 0; i < n; ++i, walk.advance())
        out[i] = sampler(&source, parameters[Is].template data_as<Values>()[walk[Is]]...);
}

template <class Out, class From, class... Values>
void fill(Out (*sampler)(From*, Values...), Source& source, const std::vector<Array>& parameters,
          const Array& numbers) {
    fill_each(sampler, source, parameters, numbers, std::index_sequence_for<Values...>());
}

}  // namespace

void check_size(std::string_view name, const Shape& size) {
    for (const int64_t length : size)
        user_check(length >= 0, name, ": negative dimensions are not allowed: ", size, ".");
}

// Values of many digits are left out: names are kept for good, and each would be another one.
std::string call_text(std::string_view name, const std::vector<Tensor>& arguments,
                      const Size& size) {
    std::string result(name);
    result += '(';
    const auto add = [&](std::string_view argument) {
        if (result.back() != '(') result += ", ";
        result += argument;
    };
    for (const Tensor& argument : arguments) {
        const std::string& own = argument.name();
        const bool is_scalar = own.starts_with("scalar_") && own.size() <= 12;
        add(is_scalar ? std::string_view(own).substr(7) : "...");
    }
    if (size) {
        std::string shape = "(";
        for (size_t i = 0; i < size->size(); ++i)
            shape += (i ? ", " : "") + std::to_string((*size)[i]);
        add(shape + (size->size() == 1 ? ",)" : ")"));
    }
    return result + ')';
}

Draw::Draw(const Distribution& distribution, const std::vector<Tensor>& parameters,
           const Size& size)
    : distribution_(distribution), given_(parameters), size_(size) {
    const std::string_view name = distribution.name;
    std::vector<DType> dtypes;
    DType result{};
    std::visit(
        [&]<class Function>(Function) {
            result = Signature<Function>::result;
            dtypes = Signature<Function>::parameters();
        },
        distribution.sampler);
    internal_check(dtypes.size() == parameters.size(), name, " takes ", dtypes.size(),
                   " parameters");
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto& [own, range] = distribution.parameters[i];
        parameters_.push_back(known(name, own, parameters[i], dtypes[i]));
        if (range == Range::any) continue;
        const Array& values = parameters_.back();
        for (int64_t k = 0; k < values.size(); ++k)
            user_check(is_within(number_at(values, k), range), name, ": ", own, words_for(range),
                       ": ", number_at(values, k), ".");
    }
    const Shape shape = broadcast_shape(name, parameters_);
    if (distribution.check) {
        Walk walk(parameters_, shape);
        for (int64_t i = ir::element_count(shape); i > 0; --i, walk.advance()) {
            std::array<double, 3> values{};
            for (size_t p = 0; p < parameters_.size(); ++p)
                values[p] = number_at(parameters_[p], walk[p]);
            distribution.check(name, values);
        }
    }
    if (size) {
        check_size(name, *size);
        // A length of 1 in the size is not widened, one in the shape is.
        bool fits = shape.size() <= size->size();
        for (size_t i = 1; fits && i <= shape.size(); ++i) {
            const int64_t length = shape[shape.size() - i];
            fits = length == 1 || length == (*size)[size->size() - i];
        }
        user_check(fits, name, ": Output size ", *size,
                   " is not compatible with broadcast dimensions of inputs ", shape, ".");
    }
    numbers_ = Array(result, size ? *size : shape);
}

bool Draw::draws_pairs() const {
    return std::visit([]<class Result, class From, class... Rest>(
                          Result (*)(From, Rest...)) { return std::is_same_v<From, Source*>; },
                      distribution_.sampler);
}

void Draw::run(Source& source) {
    std::visit([&](auto sampler) { fill(sampler, source, parameters_, numbers_); },
               distribution_.sampler);
}

Tensor Draw::result(std::string_view name) const {
    return ir::constant(numbers_,
                        name.empty() ? call_text(distribution_.name, given_, size_) : name);
}

}  // namespace composit::numpy::random
