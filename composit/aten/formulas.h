// Formulas over values: tensors of graphs, numbers, and tensors of a front door that records each
// operation. One formula serves C++ and composit.torch, whose tape has the same operations as
// PyTorch's.
//
//   Value density(const Value& x) { return -pow(x, 2) / 2 - 0.5 * log(2 * pi); }
#pragma once

#include "composit/aten/dtypes.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace composit::aten::formulas {

class Value;

// What an operation is given.
class Operands {
  public:
    explicit Operands(std::span<const Value* const> values) : values_(values) {}
    [[nodiscard]] size_t size() const { return values_.size(); }
    [[nodiscard]] const Value& operator[](size_t place) const { return *values_[place]; }
    [[nodiscard]] std::span<const Value* const> all() const { return values_; }

  private:
    std::span<const Value* const> values_;
};

// A front door, whose tensors are objects of its own: what operations over them are. An object is
// kept by its count of references.
class Door {
  public:
    virtual ~Door() = default;
    // PyTorch's operation of that name, of operands of which one at least is of this door.
    [[nodiscard]] virtual Value apply(std::string_view operation, Operands operands) const = 0;
    [[nodiscard]] virtual ir::Shape shape(void* object) const = 0;
    [[nodiscard]] virtual DType dtype(void* object) const = 0;
    virtual void retain(void* object) const = 0;
    virtual void release(void* object) const = 0;
};

// A tensor of a front door.
class Held {
  public:
    // Takes over a reference to the object.
    Held(const Door& door, void* object) : door_(&door), object_(object) {}
    Held(const Held& other) : door_(other.door_), object_(other.object_) {
        if (object_) door_->retain(object_);
    }
    Held(Held&& other) noexcept
        : door_(other.door_), object_(std::exchange(other.object_, nullptr)) {}
    Held& operator=(Held other) noexcept {
        std::swap(door_, other.door_);
        std::swap(object_, other.object_);
        return *this;
    }
    ~Held() {
        if (object_) door_->release(object_);
    }
    [[nodiscard]] const Door& door() const { return *door_; }
    [[nodiscard]] void* object() const { return object_; }

  private:
    const Door* door_;
    void* object_;
};

class Value {
  public:
    Value(Tensor tensor) : content_(std::move(tensor)) {}
    Value(Held held) : content_(std::move(held)) {}
    Value(bool number) : content_(number) {}
    Value(int number) : content_(static_cast<int64_t>(number)) {}
    Value(int64_t number) : content_(number) {}
    Value(double number) : content_(number) {}
    Value(ir::Shape shape) : content_(std::move(shape)) {}

    // A number, or a shape; else it is a tensor.
    [[nodiscard]] bool is_number() const { return integer() || real() || flag(); }
    [[nodiscard]] bool is_shape() const { return std::holds_alternative<ir::Shape>(content_); }
    [[nodiscard]] const Held* held() const { return std::get_if<Held>(&content_); }
    [[nodiscard]] const int64_t* integer() const { return std::get_if<int64_t>(&content_); }
    [[nodiscard]] const double* real() const { return std::get_if<double>(&content_); }
    [[nodiscard]] const bool* flag() const { return std::get_if<bool>(&content_); }
    // The sizes that an operand gives.
    [[nodiscard]] const ir::Shape& sizes() const { return std::get<ir::Shape>(content_); }
    // A tensor of a graph, or a number as a weak one. TypeError for all else.
    [[nodiscard]] Tensor tensor() const;

    // Of a number: its value, and as Python shows it. TypeError for all else.
    [[nodiscard]] double number() const;
    [[nodiscard]] std::string shown() const;

    // Of a tensor.
    [[nodiscard]] ir::Shape shape() const;
    [[nodiscard]] DType dtype() const;
    [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(shape().size()); }
    // The length along a dimension; -1 is the last one.
    [[nodiscard]] int64_t size(int64_t dim) const;

  private:
    std::variant<bool, int64_t, double, Tensor, Held, ir::Shape> content_;
};

// PyTorch's operation of that name: of tensors of graphs by composit::numpy and composit::aten.
// NotImplementedError: there is none for those.
[[nodiscard]] Value apply(std::string_view operation, Operands operands);
[[nodiscard]] Value apply(std::string_view operation, std::initializer_list<Value> operands);
[[nodiscard]] inline Value apply(std::string_view operation, const Value& x) {
    const std::array<const Value*, 1> operands{&x};
    return apply(operation, Operands(operands));
}
[[nodiscard]] inline Value apply(std::string_view operation, const Value& a, const Value& b) {
    const std::array<const Value*, 2> operands{&a, &b};
    return apply(operation, Operands(operands));
}

#define COMPOSIT_FORMULA_OPERATOR(symbol, name) \
    inline Value operator symbol(const Value& a, const Value& b) { return apply(name, a, b); }
COMPOSIT_FORMULA_OPERATOR(+, "add")
COMPOSIT_FORMULA_OPERATOR(-, "sub")
COMPOSIT_FORMULA_OPERATOR(*, "mul")
COMPOSIT_FORMULA_OPERATOR(/, "div")
COMPOSIT_FORMULA_OPERATOR(&, "bitwise_and")
COMPOSIT_FORMULA_OPERATOR(|, "bitwise_or")
#undef COMPOSIT_FORMULA_OPERATOR

// PyTorch compares tensors with numbers, not numbers with tensors.
#define COMPOSIT_FORMULA_COMPARISON(symbol, name, turned)               \
    inline Value operator symbol(const Value& a, const Value& b) {      \
        return a.is_number() ? apply(turned, b, a) : apply(name, a, b); \
    }
COMPOSIT_FORMULA_COMPARISON(<, "lt", "gt")
COMPOSIT_FORMULA_COMPARISON(<=, "le", "ge")
COMPOSIT_FORMULA_COMPARISON(>, "gt", "lt")
COMPOSIT_FORMULA_COMPARISON(>=, "ge", "le")
COMPOSIT_FORMULA_COMPARISON(==, "eq", "eq")
#undef COMPOSIT_FORMULA_COMPARISON
inline Value operator-(const Value& x) { return apply("neg", x); }
inline Value operator~(const Value& x) { return apply("bitwise_not", x); }

#define COMPOSIT_FORMULA_FUNCTION(name) \
    inline Value name(const Value& x) { return apply(#name, x); }
COMPOSIT_FORMULA_FUNCTION(abs)
COMPOSIT_FORMULA_FUNCTION(atan)
COMPOSIT_FORMULA_FUNCTION(atanh)
COMPOSIT_FORMULA_FUNCTION(cos)
COMPOSIT_FORMULA_FUNCTION(diag_embed)
COMPOSIT_FORMULA_FUNCTION(digamma)
COMPOSIT_FORMULA_FUNCTION(erf)
COMPOSIT_FORMULA_FUNCTION(erfinv)
COMPOSIT_FORMULA_FUNCTION(exp)
COMPOSIT_FORMULA_FUNCTION(expm1)
COMPOSIT_FORMULA_FUNCTION(floor)
COMPOSIT_FORMULA_FUNCTION(i0e)
COMPOSIT_FORMULA_FUNCTION(i1e)
COMPOSIT_FORMULA_FUNCTION(lgamma)
COMPOSIT_FORMULA_FUNCTION(log)
COMPOSIT_FORMULA_FUNCTION(log1p)
COMPOSIT_FORMULA_FUNCTION(logsigmoid)
COMPOSIT_FORMULA_FUNCTION(ones_like)
COMPOSIT_FORMULA_FUNCTION(reciprocal)
COMPOSIT_FORMULA_FUNCTION(sigmoid)
COMPOSIT_FORMULA_FUNCTION(sign)
COMPOSIT_FORMULA_FUNCTION(softplus)
COMPOSIT_FORMULA_FUNCTION(sqrt)
COMPOSIT_FORMULA_FUNCTION(square)
COMPOSIT_FORMULA_FUNCTION(tan)
COMPOSIT_FORMULA_FUNCTION(tanh)
COMPOSIT_FORMULA_FUNCTION(zeros_like)
#undef COMPOSIT_FORMULA_FUNCTION

#define COMPOSIT_FORMULA_FUNCTION(name) \
    inline Value name(const Value& a, const Value& b) { return apply(#name, a, b); }
COMPOSIT_FORMULA_FUNCTION(clamp_max)
COMPOSIT_FORMULA_FUNCTION(clamp_min)
COMPOSIT_FORMULA_FUNCTION(full_like)
COMPOSIT_FORMULA_FUNCTION(igamma)
COMPOSIT_FORMULA_FUNCTION(isclose)
COMPOSIT_FORMULA_FUNCTION(matmul)
COMPOSIT_FORMULA_FUNCTION(mvlgamma)
COMPOSIT_FORMULA_FUNCTION(pow)
COMPOSIT_FORMULA_FUNCTION(type_as)
COMPOSIT_FORMULA_FUNCTION(xlogy)
#undef COMPOSIT_FORMULA_FUNCTION

[[nodiscard]] inline Value where(const Value& condition, const Value& a, const Value& b) {
    return apply("where", {condition, a, b});
}
[[nodiscard]] inline Value masked_fill(const Value& x, const Value& mask, const Value& value) {
    return apply("masked_fill", {x, mask, value});
}
[[nodiscard]] inline Value clamp(const Value& x, const Value& least, const Value& most) {
    return apply("clamp", {x, least, most});
}
[[nodiscard]] inline Value sum(const Value& x, const Value& dim, bool keepdim = false) {
    return keepdim ? apply("sum", {x, dim, true}) : apply("sum", {x, dim});
}
[[nodiscard]] inline Value all(const Value& x, const Value& dim, bool keepdim = false) {
    return keepdim ? apply("all", {x, dim, true}) : apply("all", {x, dim});
}
[[nodiscard]] inline Value argmax(const Value& x, int64_t dim, bool keepdim = false) {
    return keepdim ? apply("argmax", {x, dim, true}) : apply("argmax", {x, dim});
}
[[nodiscard]] inline Value logsumexp(const Value& x, int64_t dim) {
    return apply("logsumexp", {x, dim});
}
[[nodiscard]] inline Value unsqueeze(const Value& x, int64_t dim) {
    return apply("unsqueeze", {x, dim});
}
[[nodiscard]] inline Value squeeze(const Value& x, int64_t dim) {
    return apply("squeeze", {x, dim});
}
[[nodiscard]] inline Value gather(const Value& x, int64_t dim, const Value& places) {
    return apply("gather", {x, dim, places});
}
[[nodiscard]] inline Value scatter(const Value& x, int64_t dim, const Value& places,
                                   const Value& value) {
    return apply("scatter", {x, dim, places, value});
}
[[nodiscard]] inline Value narrow(const Value& x, int64_t dim, int64_t start, int64_t length) {
    return apply("narrow", {x, dim, start, length});
}
[[nodiscard]] inline Value select(const Value& x, int64_t dim, int64_t place) {
    return apply("select", {x, dim, place});
}
[[nodiscard]] inline Value cumsum(const Value& x, int64_t dim) { return apply("cumsum", {x, dim}); }
[[nodiscard]] inline Value cumprod(const Value& x, int64_t dim) {
    return apply("cumprod", {x, dim});
}
// So many values before and behind, along the last dimension.
[[nodiscard]] inline Value padded(const Value& x, const ir::Shape& widths, const Value& value) {
    return apply("padded", {x, widths, value});
}
// The elements of matrices on and below a diagonal, row by row, and matrices of such vectors, with
// zeros elsewhere.
[[nodiscard]] Value vector_of_lower(const Value& matrices, int64_t diagonal = 0);
[[nodiscard]] Value lower_of_vector(const Value& vectors, int64_t diagonal = 0);
// Both, along a new last dimension.
[[nodiscard]] inline Value paired(const Value& a, const Value& b) {
    return apply("paired", {a, b});
}
[[nodiscard]] inline Value expand(const Value& x, const ir::Shape& shape) {
    return apply("expand", {x, shape});
}
[[nodiscard]] inline Value reshape(const Value& x, const ir::Shape& shape) {
    return apply("reshape", {x, shape});
}
[[nodiscard]] inline Value transpose(const Value& x, int64_t dim0, int64_t dim1) {
    return apply("transpose", {x, dim0, dim1});
}
// 0, 1, … below count, of x's dtype and device.
[[nodiscard]] inline Value count_like(const Value& x, int64_t count) {
    return apply("count_like", {x, count});
}
// The identity matrix, likewise.
[[nodiscard]] inline Value eye_like(const Value& x, int64_t size) {
    return apply("eye_like", {x, size});
}
// x of A x = b for a lower triangular A.
[[nodiscard]] inline Value solve_lower(const Value& a, const Value& b) {
    return apply("solve_lower", {a, b});
}
[[nodiscard]] inline Value cholesky(const Value& x) { return apply("linalg_cholesky", x); }
// The diagonal of the last two dimensions.
[[nodiscard]] inline Value diagonal(const Value& x) { return apply("diagonal", {x, 0, -2, -1}); }
// The cross entropy of each element of a target under log-odds.
[[nodiscard]] inline Value cross_entropy(const Value& logits, const Value& target) {
    return apply("cross_entropy_of_logits", {logits, target});
}
// Both of one shape; a number as a tensor like the other one.
[[nodiscard]] std::pair<Value, Value> broadcast(const Value& a, const Value& b);
// The sum over the last `count` dimensions.
[[nodiscard]] Value sum_rightmost(const Value& x, int64_t count);

}  // namespace composit::aten::formulas
