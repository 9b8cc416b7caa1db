// Calls with rules of their own: transforms ask these, not the body.
#include "composit/functional/ruled_call.h"

#include "../numpy/values.h"
#include "composit/composit.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/ir/verify.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

namespace composit {
namespace {

using ir::DType;

// The square of x: its gradient is said to be 10 times that of its result, its tangent 20 times.
class Tens : public Rules {
  public:
    explicit Tens(double factor) : factor_(factor) {}
    Tensors vjp(const Tensors&, const Tensors&, const Tensors& gradients) const override {
        return {numpy::multiply(gradients[0], factor_)};
    }
    Tensors jvp(const Tensors&, const Tensors&, const Tensors& tangents) const override {
        return {numpy::multiply(tangents[0], 2 * factor_)};
    }
    Tensors batch(const Tensors&, const std::vector<bool>&, int64_t) const override { return {}; }
    std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>&,
                                                int64_t size) const override {
        return std::make_shared<Tens>(factor_ * static_cast<double>(size));
    }

  private:
    double factor_;
};

Tensor squared(const Tensor& x) {
    const Tensor parameter = ir::input("x", x.dtype(), x.shape());
    return ruled_call("squared", {parameter}, {numpy::multiply(parameter, parameter)}, {x},
                      std::make_shared<Tens>(10))[0];
}

double value(const Tensor& x) { return numpy::values<double>(x)[0]; }

Tensor scalar(double x) { return ir::constant(ir::Array::scalar(DType::float64, x)); }
Tensor three() { return scalar(3); }

TEST(RuledCall, IsItsBodyWhenItRuns) {
    const Tensor y = squared(three());
    EXPECT_EQ(value(y), 9);
    ir::verify({y});
}

TEST(RuledCall, RulesAreAsked) {
    EXPECT_EQ(value(grad(squared)(three())), 10);
    EXPECT_EQ(value(jvp_function([](const auto& x) { return Tensors{squared(x[0])}; }, {three()},
                                 {three()})
                        .second[0]),
              60);
}

TEST(RuledCall, ABatchHasRulesOfItsOwn) {
    const auto sum = [](const Tensor& x) {
        return numpy::sum(
            vmap_function([](const auto& y) { return Tensors{squared(y[0])}; }, {x}, {0})[0]);
    };
    const Tensor x = numpy::astype(numpy::arange(4), DType::float64);
    EXPECT_EQ(value(sum(x)), 14);
    EXPECT_EQ(value(grad(sum)(x)), 40);
}

TEST(RuledCall, WithoutRulesItIsTheBody) {
    const Tensor x = ir::input("x", DType::float64, {});
    const Tensor plain = without_rules({squared(x)})[0];
    const Tensor gradient = transforms::vjp({plain}, {scalar(1)}, {x})[0];
    EXPECT_EQ(value(ir::substitute({gradient}, {x}, {three()})[0]), 6);
}

TEST(RuledCall, ErrorsSayWhatIsWrong) {
    const Tensor x = ir::input("x", DType::float64, {2});
    EXPECT_THROW((void)ruled_call("f", {x}, {x}, {three()}, std::make_shared<Tens>(1)), ValueError);
    EXPECT_THROW((void)ruled_call("f", {x}, {x}, {}, std::make_shared<Tens>(1)), TypeError);
    // Text has no rules.
    const std::string text = ir::print({squared(three())});
    EXPECT_ANY_THROW((void)ir::parse(text, {}));
}

}  // namespace
}  // namespace composit
