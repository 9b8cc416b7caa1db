// Demands of functions, differences, orders of samples, texts of tensors and modules.
#include "composit/aten/argument_checks.h"
#include "composit/aten/differences.h"
#include "composit/aten/distributions.h"
#include "composit/aten/masked.h"
#include "composit/aten/modules.h"
#include "composit/aten/network_formulas.h"
#include "composit/aten/pooling.h"
#include "composit/aten/printing.h"
#include "composit/aten/sample_orders.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using namespace composit;
using aten::Values;
using aten::values_of;
using ir::DType;
using ir::Shape;
using ir::Tensor;
using Integers = std::vector<int64_t>;

TEST(aten_arguments, are_refused_in_words) {
    aten::check_segments(false, true, false, {3}, 0);
    EXPECT_THROW(aten::check_segments(true, true, false, {3}, 0), RuntimeError);
    EXPECT_THROW(aten::check_segments(false, true, true, {3}, 0), RuntimeError);
    EXPECT_THROW(aten::check_segments(false, true, false, {3, 1}, 0), NotSupported);
    aten::check_strided({2, 3}, {3, 1}, 0, 6);
    aten::check_strided({2, 0}, {9, 9}, 0, 6);
    EXPECT_THROW(aten::check_strided({2, 3}, {3, 1}, 1, 6), ValueError);
    EXPECT_THROW(aten::check_eye(1, -1), RuntimeError);
    EXPECT_THROW(aten::check_steps(-1), RuntimeError);
    EXPECT_THROW(aten::check_window_length("hann_window", -1), RuntimeError);
    EXPECT_THROW(aten::check_strides(2, 1), RuntimeError);
    aten::check_layout(3, {2, 0, 1});
    EXPECT_THROW(aten::check_layout(3, {2, 0, 0}), RuntimeError);
    EXPECT_THROW(aten::check_complex_is_said(false, false), RuntimeError);
    EXPECT_THROW(aten::check_integer_bounds(3, 3), RuntimeError);
    EXPECT_THROW(aten::check_deviation(-0.5), RuntimeError);
    EXPECT_THROW(aten::check_chance(0, 1.5), RuntimeError);
    EXPECT_THROW(aten::check_weights(0, INFINITY, 1), RuntimeError);
    EXPECT_THROW(aten::check_weights(0, 0, 0), RuntimeError);
    EXPECT_THROW(aten::check_order_is_unique({2, 1}), RuntimeError);
    EXPECT_EQ(aten::low_rank({}, {9, 7}), 6);
    EXPECT_THROW((void)aten::low_rank({}, {9, 5}), ValueError);
    EXPECT_EQ(aten::principal_rank({}, {9, 5}, 2), 5);
    EXPECT_THROW((void)aten::principal_rank(2, {9, 5}, -1), ValueError);
    EXPECT_TRUE(aten::can_cast(DType::int64, DType::float16));
    EXPECT_FALSE(aten::can_cast(DType::complex64, DType::float64));
    EXPECT_THROW(aten::check_product_loss(0, {}, "auto"), ValueError);
    aten::check_product_loss(4, "aspect_ratio:2", "compact");
    EXPECT_THROW(aten::check_product_loss({}, "aspect_ratio:0", "auto"), ValueError);
    EXPECT_THROW(aten::check_product_loss({}, {}, "none"), ValueError);
}

TEST(aten_arguments, differences_are_along_dimensions) {
    const Tensor x = numpy::array<double>({1, 2, 4, 8, 16, 32}, {2, 3});
    const std::vector<Tensor> both = aten::gradient(x);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(values_of(both[0]), (Values{7, 14, 28, 7, 14, 28}));
    EXPECT_EQ(values_of(aten::gradient(x, {0.5}, Integers{1}, 1, true)[0]),
              (Values{2, 3, 4, 16, 24, 32}));
    EXPECT_THROW((void)aten::gradient(x, {}, Integers{0, -2}), RuntimeError);
    EXPECT_THROW((void)aten::gradient(x, {1.0}), RuntimeError);
    EXPECT_EQ(values_of(aten::cumulative_trapezoid(x)), (Values{1.5, 4.5, 12, 36}));
    EXPECT_EQ(values_of(aten::cumulative_trapezoid(x, {}, 2, 0)), (Values{9, 18, 36}));
    const Tensor one = numpy::array<double>({2, 3}, {2, 1});
    EXPECT_EQ(values_of(aten::tensordot(x, one, {1}, {1})), (Values{14, 21, 112, 168}));
}

TEST(aten_arguments, samples_are_split_and_shared) {
    EXPECT_EQ(aten::split_counts(10, {0.5, 0.25, 0.25}), (Integers{6, 2, 2}));
    EXPECT_EQ(aten::split_counts(3, {1, 2}), (Integers{1, 2}));
    EXPECT_THROW((void)aten::split_counts(4, {1, 2}), ValueError);
    EXPECT_THROW((void)aten::split_counts(4, {1.5, -0.5}), ValueError);
    EXPECT_EQ(aten::replica_share(10, 4, 0, false), 3);
    EXPECT_EQ(aten::replica_share(10, 4, 0, true), 2);
    EXPECT_THROW((void)aten::replica_share(10, 4, 4, false), ValueError);
    EXPECT_EQ(aten::replica_places({5, 6, 7, 8, 9}, 2, 1, false), (Integers{6, 8, 5}));
    EXPECT_EQ(aten::replica_places({5, 6, 7, 8, 9}, 2, 1, true), (Integers{6, 8}));
    EXPECT_EQ(aten::batch_count(10, 4, false), 3);
    EXPECT_EQ(aten::batch_count(10, 4, true), 2);
    EXPECT_EQ(aten::batch_count(10, {}, false), 10);
    aten::check_loader({});
    EXPECT_THROW(aten::check_loader({.workers = -1}), ValueError);
    EXPECT_THROW(aten::check_loader({.has_prefetch_factor = true}), ValueError);
    EXPECT_THROW(aten::check_loader({.is_iterable = true, .shuffle = "True"}), ValueError);
    EXPECT_THROW(aten::check_loader({.has_batch_sampler = true, .batch_size = 2}), ValueError);
    EXPECT_THROW(aten::check_loader({.batch_size = {}, .drop_last = true}), ValueError);
    EXPECT_THROW(aten::check_draws(false, "num_samples", "0"), ValueError);
}

TEST(aten_arguments, tensors_and_modules_are_shown) {
    const ir::Array values = ir::Array::of(DType::float64, {2}, std::vector<double>{1, 2});
    EXPECT_EQ(aten::tensor_text(values, {.dtype = "float64"}),
              "tensor([1., 2.], dtype=torch.float64)");
    EXPECT_EQ(aten::tensor_text(values, {.requires_grad = true, .is_parameter = true}),
              "Parameter containing:\ntensor([1., 2.], requires_grad=True)");
    EXPECT_EQ(aten::tensor_text(ir::Array::of(DType::float32, {0, 2}, std::vector<float>{}),
                                {.dtype = "int64"}),
              "tensor([], size=(0, 2), dtype=torch.int64)");
    EXPECT_EQ(aten::shown_rows("ModuleList", {}), "ModuleList()");
    EXPECT_EQ(aten::shown_rows("ModuleList", {"a", "b\nc", "b\nc"}),
              "ModuleList(\n  (0): a\n  (1-2): 2 x b\n  c\n)");
    EXPECT_EQ(aten::cell_parameters(3, 4, 3, false)[0].second, (Shape{12, 3}));
    EXPECT_FALSE(aten::cell_parameters(3, 4, 3, false)[3].second);
}

TEST(aten_arguments, shapes_and_dimensions_are_found) {
    EXPECT_EQ(aten::masked_dims({}, 2), (Integers{0, 1}));
    EXPECT_EQ(aten::masked_dims(Integers{-1, 0}, 3), (Integers{0, 2}));
    EXPECT_THROW((void)aten::masked_dims(Integers{0, 0}, 3), RuntimeError);
    EXPECT_THROW((void)aten::masked_dims(Integers{3}, 3), IndexError);
    const aten::TransformedForm form = aten::transformed_form({2, 3}, 0, 1, 1, {2, 4}, {2, 3});
    EXPECT_EQ(form.batch, (Shape{2}));
    EXPECT_EQ(form.event, (Shape{4}));
    EXPECT_EQ(form.independent, 1);
    EXPECT_FALSE(form.base_batch);
    EXPECT_THROW(aten::check_transformed({}, 1), ValueError);
    EXPECT_THROW(aten::check_reinterpreted(2, 1), ValueError);
    const Tensor image = numpy::zeros({3, 8, 8}, DType::float32);
    const aten::FractionalWindows windows = aten::fractional_windows(
        "fractional_max_pool2d", image, 2, {2}, {}, std::vector<double>{0.5});
    EXPECT_EQ(windows.kernel, (Shape{2, 2}));
    EXPECT_EQ(windows.size, (Shape{4, 4}));
    EXPECT_EQ(windows.samples, (Shape{1, 3, 2}));
    EXPECT_THROW((void)aten::fractional_windows("f", image, 2, {2}, {}, {}), ValueError);
    const Tensor three = numpy::array<double>({3}), four = numpy::array<double>({0, 4});
    EXPECT_EQ(values_of(aten::total_norm({three, four}).tensor()), (Values{5}));
}

}  // namespace
