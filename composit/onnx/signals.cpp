// Transforms of signals, and windows for them.
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/fft.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <numbers>

namespace composit::onnx {
namespace signals {
namespace {

using numpy::apply;

// Real and imaginary parts in the last axis, of 1 or 2, as numbers.
Tensor joined_parts(const Call& call, const Tensor& x) {
    const int64_t parts = x.shape().back();
    call.check(x.rank() >= 2 && (parts == 1 || parts == 2), "a signal of shape ", x.shape(),
               ". A last axis of 1 or 2 is required.");
    const Tensor real = numpy::get_item(x, {numpy::Ellipsis{}, int64_t{0}});
    if (parts == 1) return real;
    const Tensor imaginary = numpy::get_item(x, {numpy::Ellipsis{}, int64_t{1}});
    return apply("add", {real, apply("multiply", {imaginary, std::complex<double>(0, 1)})});
}
Tensor split_parts(const Tensor& x) { return numpy::stack({numpy::real(x), numpy::imag(x)}, -1); }

Values dft(Call& call) {
    const Tensor& x = call.tensor(0);
    int64_t axis = call.opset() < 20 ? call.integer("axis", 1)
                   : call.has(2)     ? call.known_integer(2)
                                     : -2;
    call.check(axis >= -x.rank() && axis < x.rank() && axis != -1 && axis != x.rank() - 1, "axis ",
               axis, " of a tensor of rank ", x.rank(),
               ". An axis before the last one is required.");
    if (axis < 0) axis += x.rank();
    const Tensor signal = joined_parts(call, x);
    std::optional<int64_t> length;
    if (call.has(1)) length = call.known_integer(1);
    const bool is_half = call.flag("onesided");
    if (call.flag("inverse")) {
        if (is_half) return {numpy::expand_dims(numpy::fft::irfft(signal, length, axis), -1)};
        return {numpy::astype(split_parts(numpy::fft::ifft(signal, length, axis)), x.dtype())};
    }
    const Tensor result =
        is_half ? numpy::fft::rfft(signal, length, axis) : numpy::fft::fft(signal, length, axis);
    return {numpy::astype(split_parts(result), x.dtype())};
}

// (batch, length, 1 or 2) -> (batch, frames, frequencies, 2)
Values stft(Call& call) {
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 3 || x.rank() == 2, "a signal of shape ", x.shape(),
               ". (batch, length, 1 or 2) is required.");
    const Tensor signal = x.rank() == 2 ? x : joined_parts(call, x);
    const int64_t step = call.known_integer(1);
    const int64_t length = call.has(3)   ? call.known_integer(3)
                           : call.has(2) ? call.tensor(2).size()
                                         : signal.shape()[1];
    call.check(step > 0 && length > 0 && length <= signal.shape()[1], "frames of ", length,
               " with steps of ", step, " in a signal of shape ", x.shape(),
               ". Positive lengths within the signal are required.");
    Tensor frames = ops::windows(signal, {length}, {step}, {1});
    if (call.has(2)) frames = frames * call.tensor(2);
    const bool is_half = call.flag("onesided", true) && !ir::is_complex(signal.dtype());
    const Tensor result = is_half ? numpy::fft::rfft(frames) : numpy::fft::fft(frames);
    return {numpy::astype(split_parts(result), x.dtype())};
}

// Sums of cosines, as many as there are coefficients.
template <int kind>
Values window(Call& call) {
    const int64_t size = call.known_integer(0);
    call.check(size >= 0, "the size is ", size, ". 0 or more is required.");
    constexpr double hann[] = {0.5, -0.5, 0}, hamming[] = {25.0 / 46, -21.0 / 46, 0},
                     blackman[] = {0.42, -0.5, 0.08};
    const double* terms = kind == 0 ? hann : kind == 1 ? hamming : blackman;
    const double period = static_cast<double>(call.flag("periodic", true) ? size : size - 1);
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) {
        const double angle =
            period == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / period;
        values.push_back(terms[0] + terms[1] * std::cos(angle) + terms[2] * std::cos(2 * angle));
    }
    const ElementType type = call.element("output_datatype", ElementType::float32);
    return {Value(cast(numpy::array<double>(values), type), type)};
}

// Triangles, evenly spaced on the mel scale.
Values mel_weights(Call& call) {
    const int64_t bands = call.known_integer(0), length = call.known_integer(1);
    const int64_t rate = call.known_integer(2);
    const double low = call.known_number(3), high = call.known_number(4);
    call.check(bands > 0 && length > 0 && rate > 0, bands, " bands, a transform of ", length,
               " and a rate of ", rate, ". Positive numbers are required.");
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const int64_t bins = length / 2 + 1;
    const double step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);
    std::vector<int64_t> edges;
    for (int64_t i = 0; i < bands + 2; ++i) {
        const double hertz =
            700 * (std::pow(10.0, (mel(low) + static_cast<double>(i) * step) / 2595) - 1);
        edges.push_back(static_cast<int64_t>(
            std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
        call.check(edges[i] >= 0 && edges[i] <= bins, "frequencies from ", low, " to ", high,
                   " at a rate of ", rate, ". Frequencies up to half the rate are required.");
    }
    std::vector<double> weights(static_cast<size_t>(bins * bands), 0);
    const auto weight = [&](int64_t bin, int64_t band) -> double& {
        return weights[static_cast<size_t>(bin * bands + band)];
    };
    for (int64_t band = 0; band < bands; ++band) {
        const int64_t first = edges[band], middle = edges[band + 1], last = edges[band + 2];
        if (first == middle && middle < bins) weight(middle, band) = 1;
        for (int64_t i = first; i <= middle && i < bins && first < middle; ++i)
            weight(i, band) = static_cast<double>(i - first) / static_cast<double>(middle - first);
        for (int64_t i = middle; i < last && i < bins; ++i)
            weight(i, band) = static_cast<double>(last - i) / static_cast<double>(last - middle);
    }
    const ElementType type = call.element("output_datatype", ElementType::float32);
    return {Value(cast(numpy::array<double>(weights, {bins, bands}), type), type)};
}

}  // namespace
}  // namespace signals

void add_signals(Registry& registry) {
    using namespace signals;
    registry.add("BlackmanWindow", window<2>);
    registry.add("DFT", dft);
    registry.add("HammingWindow", window<1>);
    registry.add("HannWindow", window<0>);
    registry.add("MelWeightMatrix", mel_weights);
    registry.add("STFT", stft);
}

}  // namespace composit::onnx
