// The matrices of a batch one after the other, copied into LAPACK's order of elements and back.
#pragma once

#include "composit/base/error.h"
#include "composit/foreign/lapack_routines.h"
#include "composit/runtime/foreign.h"
#include "composit/runtime/interrupt.h"

#include <cstdint>
#include <vector>

namespace composit::foreign {

using runtime::ForeignArray;
using runtime::ForeignCall;

// One matrix (or vector, or number) of an operand: its last `rank` dimensions.
template <class T>
struct Part {
    T* data = nullptr;
    std::vector<int64_t> shape, strides;

    int64_t rows() const { return shape[0]; }
    int64_t columns() const { return shape[1]; }
    T& operator[](int64_t i) const { return data[i * strides[0]]; }

    // Column-major, with `stride` elements from column to column.
    void copy_to(T* to, int64_t stride) const {
        for (int64_t j = 0; j < columns(); ++j)
            for (int64_t i = 0; i < rows(); ++i)
                to[j * stride + i] = data[i * strides[0] + j * strides[1]];
    }
    void copy_to(std::vector<T>& to) const {
        to.resize(static_cast<size_t>(rows() * columns()));
        copy_to(to.data(), rows());
    }
    // The reverse.
    void fill(const T* from, int64_t stride) const {
        for (int64_t i = 0; i < rows(); ++i)
            for (int64_t j = 0; j < columns(); ++j)
                data[i * strides[0] + j * strides[1]] = from[j * stride + i];
    }
    void fill_with_identity() const {
        for (int64_t i = 0; i < rows(); ++i)
            for (int64_t j = 0; j < columns(); ++j)
                data[i * strides[0] + j * strides[1]] = T(i == j ? 1 : 0);
    }
};

// All batch axes of the operands are alike.
class Batch {
  public:
    Batch(const ForeignArray& array, size_t rank)
        : shape_(array.shape.begin(), array.shape.end() - static_cast<std::ptrdiff_t>(rank)) {}

    int64_t count() const {
        int64_t count = 1;
        for (int64_t length : shape_) count *= length;
        return count;
    }

    template <class T>
    Part<T> part(const ForeignArray& array, int64_t number) const {
        Part<T> part{static_cast<T*>(array.data),
                     {array.shape.begin() + depth(), array.shape.end()},
                     {array.strides.begin() + depth(), array.strides.end()}};
        for (size_t d = shape_.size(); d-- > 0;) {
            part.data += number % shape_[d] * array.strides[d];
            number /= shape_[d];
        }
        return part;
    }

    // " of matrix (0, 3) of the batch"
    std::string where(int64_t number) const {
        if (shape_.empty()) return "";
        std::vector<int64_t> index(shape_.size());
        for (size_t d = shape_.size(); d-- > 0;) {
            index[d] = number % shape_[d];
            number /= shape_[d];
        }
        return " in matrix " + tuple_text(index) + " of the batch";
    }

  private:
    std::ptrdiff_t depth() const { return static_cast<std::ptrdiff_t>(shape_.size()); }

    std::vector<int64_t> shape_;
};

// body(matrix number, routines) for every matrix of `batch`; body is a template over the types of
// elements and of integers: body.template operator()<T, Int>(…).
template <class Body>
void for_types(const ForeignArray& array, const Body& body) {
    const Lapack& library = lapack();
    const auto with = [&]<class T>() {
        if (library.has_wide_integers())
            body.template operator()<T, int64_t>(Routines<T, int64_t>(library));
        else
            body.template operator()<T, int32_t>(Routines<T, int32_t>(library));
    };
    if (array.dtype == ir::DType::complex128)
        with.template operator()<Complex>();
    else
        with.template operator()<double>();
}

// Calls run(number) for the matrices of the batch, and looks for an interruption between them.
template <class Run>
void for_each(const Batch& batch, const Run& run) {
    const int64_t count = batch.count();
    for (int64_t number = 0; number < count; ++number) {
        runtime::check_interrupt();
        run(number);
    }
}

}  // namespace composit::foreign
