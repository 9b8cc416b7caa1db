// What Generator and RandomState share: draws from a bit generator, under its lock.
#pragma once

#include "composit/numpy/random/distribution.h"

#include <memory>
#include <vector>

namespace composit::numpy::random {

__extension__ using int128 = __int128;

// How a range of integers is met: Lemire's products, or masks that are drawn again.
enum class Bounding { product, mask };

class Stream {
  public:
    explicit Stream(std::shared_ptr<BitGenerator> bits);
    virtual ~Stream() = default;
    Stream(const Stream&) = default;
    Stream& operator=(const Stream&) = default;
    [[nodiscard]] const std::shared_ptr<BitGenerator>& bit_generator() const { return bits_; }

    // A draw of any distribution; `name` in place of the distribution's call.
    [[nodiscard]] Tensor draw(const Distribution& distribution,
                              std::initializer_list<Operand> parameters, const Size& size,
                              std::string_view name = {});
    virtual void run(Draw& draw);

    // ----- integers from low to high, both included, for a call that is to be named.
    // ValueError: bounds that the dtype does not hold, or the greater one first.
    [[nodiscard]] Array between(std::string_view function, int128 low, int128 high,
                                const Shape& size, DType dtype, Bounding bounding);
    // The same of tensors, which are broadcast; the high ones included if `is_closed`.
    [[nodiscard]] Array between(std::string_view function, const Tensor& low, const Tensor& high,
                                bool is_closed, const Size& size, DType dtype, Bounding bounding);

    // ----- orders
    [[nodiscard]] Array order(int64_t n);  // of 0 to n - 1, int64
    // Orders of the axis, others for each of the rows: int64, of this shape.
    [[nodiscard]] Array orders(const Shape& shape, size_t axis);
    // Places with replacement, or all different, with these probabilities: int64, of this shape.
    // The probabilities are right, checked_probabilities says so. ValueError: too few are positive.
    [[nodiscard]] Array weighted_places(const std::vector<double>& p, const Shape& shape,
                                        bool with_replacement);

    // ----- counts, int64
    // The last axis of p holds the probabilities. ValueError: sums above 1, and what Draw refuses.
    [[nodiscard]] Array multinomial(const Tensor& n, const Tensor& p, const Size& size);
    [[nodiscard]] Array multivariate_hypergeometric(const Tensor& colors, int64_t samples,
                                                    const Size& size, std::string_view method);

  protected:
    using Locked = std::lock_guard<BitGenerator>;
    std::shared_ptr<BitGenerator> bits_;
    Source source_;
};

// The sum of the numbers, with Kahan's correction.
[[nodiscard]] double compensated_sum(const double* numbers, int64_t count);
// The float64 values of p, checked as numpy.random.choice does. ValueError.
[[nodiscard]] std::vector<double> checked_probabilities(const Tensor& p, int64_t population);
// The values of a parameter in another dtype, evaluated if need be (Draw's conversion and errors).
[[nodiscard]] Array known(std::string_view function, std::string_view name, const Tensor& x,
                          DType dtype);

}  // namespace composit::numpy::random
