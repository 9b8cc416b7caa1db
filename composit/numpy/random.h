// NumPy's legacy random numbers: the same seed gives the same numbers, bit for bit.
//
// Draws are made when they are asked for; each is one leaf that keeps its values, named as the
// call: "random((2, 3))". There is no global state here: front doors that need one own a
// RandomState.
#pragma once

#include "composit/numpy/operand.h"

#include <array>
#include <cstdint>
#include <vector>

namespace composit::numpy {

// numpy.random.RandomState: MT19937 (Matsumoto and Nishimura 1998) and the distributions of NumPy's
// frozen legacy stream. Not thread-safe.
class RandomState {
  public:
    // ValueError: "Seed must be between 0 and 2**32 - 1".
    explicit RandomState(int64_t seed);
    explicit RandomState(const std::vector<uint32_t>& key);  // init_by_array
    void seed(int64_t seed);
    void seed(const std::vector<uint32_t>& key);

    // ----- float64 draws of this shape
    [[nodiscard]] Tensor random(const Shape& size);  // [0, 1); random_sample
    [[nodiscard]] Tensor rand(const Shape& size);
    [[nodiscard]] Tensor uniform(double low, double high, const Shape& size);
    [[nodiscard]] Tensor standard_normal(const Shape& size);  // polar method
    [[nodiscard]] Tensor randn(const Shape& size);
    [[nodiscard]] Tensor normal(double mean, double deviation,
                                const Shape& size);                     // ValueError: scale < 0
    [[nodiscard]] Tensor exponential(double scale, const Shape& size);  // ValueError: scale < 0

    // ----- integers
    // low <= value < high; int64, int32, uint32 or uint64. ValueError: "low >= high"; NotSupported:
    // other dtypes.
    [[nodiscard]] Tensor randint(int64_t low, int64_t high, const Shape& size,
                                 DType dtype = DType::int64);
    [[nodiscard]] Tensor permutation(int64_t n);  // int64

    // ----- numpy.random.get_state: what a draw changes
    struct State {
        std::array<uint32_t, 624> key{};
        int position = 624;
        bool has_gauss = false;
        double gauss = 0;
    };
    [[nodiscard]] const State& state() const { return state_; }
    void set_state(const State& state) { state_ = state; }

  private:
    uint32_t next_uint32();
    uint64_t next_uint64();
    double next_double();
    double next_gauss();
    uint32_t bounded(uint32_t limit);  // 0 <= value <= limit, by masked rejection
    void refill();

    State state_;
};

}  // namespace composit::numpy
