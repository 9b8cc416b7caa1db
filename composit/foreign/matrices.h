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

// Where the elements of one matrix (or vector, or number) lie.
template <class T>
struct Elements {
    T* data = nullptr;
    std::vector<int64_t> strides = {};

    Elements() = default;
    Elements(const ForeignArray& array, const std::vector<int64_t>& index)
        : data(static_cast<T*>(array.data)) {
        move_to(data, array.strides, index, strides);
    }
    T get(int64_t i, int64_t j) const { return data[i * strides[0] + j * strides[1]]; }
    void set(const T& value, int64_t i, int64_t j) const {
        data[i * strides[0] + j * strides[1]] = value;
    }
    void set(const T& value, int64_t i) const { data[i * strides[0]] = value; }
    void set(const T& value) const { *data = value; }

    // The first element at an index of leading axes, and the strides of the others.
    static void move_to(T*& data, const std::vector<int64_t>& all,
                        const std::vector<int64_t>& index, std::vector<int64_t>& rest) {
        for (size_t d = 0; d < index.size(); ++d) data += index[d] * all[d];
        rest.assign(all.begin() + static_cast<std::ptrdiff_t>(index.size()), all.end());
    }
};

template <>
struct Elements<Complex> {
    Elements<double> re, im;

    Elements() = default;
    Elements(const ForeignArray& array, const std::vector<int64_t>& index) : re(array, index) {
        im.data = static_cast<double*>(array.imaginary);
        Elements<double>::move_to(im.data, array.imaginary_strides, index, im.strides);
    }
    Complex get(int64_t i, int64_t j) const { return {re.get(i, j), im.get(i, j)}; }
    template <class... Index>
    void set(const Complex& value, Index... index) const {
        re.set(value.real(), index...);
        im.set(value.imag(), index...);
    }
};

// One matrix (or vector, or number) of an operand: what is behind the batch axes.
template <class T>
struct Part {
    Elements<T> elements;
    std::vector<int64_t> shape;

    int64_t rows() const { return shape[0]; }
    int64_t columns() const { return shape[1]; }
    template <class... Index>
    void set(const T& value, Index... index) const {
        elements.set(value, index...);
    }

    // Column-major, with `stride` elements from column to column.
    void copy_to(T* to, int64_t stride) const {
        for (int64_t j = 0; j < columns(); ++j)
            for (int64_t i = 0; i < rows(); ++i) to[j * stride + i] = elements.get(i, j);
    }
    void copy_to(std::vector<T>& to) const {
        to.resize(static_cast<size_t>(rows() * columns()));
        copy_to(to.data(), rows());
    }
    // The reverse.
    void fill(const T* from, int64_t stride) const {
        for (int64_t i = 0; i < rows(); ++i)
            for (int64_t j = 0; j < columns(); ++j) elements.set(from[j * stride + i], i, j);
    }
    void fill_with_identity() const {
        for (int64_t i = 0; i < rows(); ++i)
            for (int64_t j = 0; j < columns(); ++j) elements.set(T(i == j ? 1 : 0), i, j);
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
        const auto depth = static_cast<std::ptrdiff_t>(shape_.size());
        return {Elements<T>(array, index_of(number)),
                {array.shape.begin() + depth, array.shape.end()}};
    }

    // " in matrix (0, 3) of the batch"
    std::string where(int64_t number) const {
        return shape_.empty() ? "" : " in matrix " + tuple_text(index_of(number)) + " of the batch";
    }

  private:
    std::vector<int64_t> index_of(int64_t number) const {
        std::vector<int64_t> index(shape_.size());
        for (size_t d = shape_.size(); d-- > 0;) {
            index[d] = number % shape_[d];
            number /= shape_[d];
        }
        return index;
    }

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
