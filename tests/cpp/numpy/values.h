// Reading and comparing evaluated tensors in tests.
#pragma once

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace composit::numpy {

// The evaluated elements; the tensor must have T's dtype.
template <class T>
std::vector<T> values(const Tensor& x) {
    EXPECT_EQ(x.dtype(), dtype_of<T>());
    const Array array = execute::evaluate({x})[0];
    EXPECT_EQ(array.shape(), x.shape());
    EXPECT_EQ(array.dtype(), x.dtype());
    return std::vector<T>(array.data_as<T>(), array.data_as<T>() + array.size());
}

template <class T>
void expect_values(const Tensor& x, const Shape& shape, const std::vector<T>& expected) {
    EXPECT_EQ(x.shape(), shape);
    const std::vector<T> found = values<T>(x);
    EXPECT_EQ(found, expected);
}

inline void expect_near(const Tensor& x, const Shape& shape, const std::vector<double>& expected,
                        double tolerance = 1e-12) {
    EXPECT_EQ(x.shape(), shape);
    const std::vector<double> found = values<double>(ops::astype(x, DType::float64));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], tolerance) << "element " << i;
}

// The message of the error of class E that `act` throws.
template <class E, class Act>
std::string message_of(const Act& act) {
    try {
        act();
    } catch (const E& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another class: " << error.what();
        return "";
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

template <class E, class Act>
void expect_error(const Act& act, const std::string& part) {
    const std::string message = message_of<E>(act);
    EXPECT_NE(message.find(part), std::string::npos) << "message: " << message;
}

// 0, 1, 2, … in this shape.
inline Tensor counting(const Shape& shape, DType dtype = DType::float64) {
    return ir::constant(
        execute::evaluate({ops::reshape(arange(ir::element_count(shape), dtype), shape)})[0]);
}

}  // namespace composit::numpy
