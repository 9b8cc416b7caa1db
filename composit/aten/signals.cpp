// Overlapping frames, transformed each by itself.
#include "composit/aten/signals.h"

#include "composit/aten/rank.h"
#include "composit/aten/series.h"
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/numpy/fft.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"

#include <algorithm>

namespace composit::aten {
namespace {

// The options with their defaults, checked.
struct Frames {
    int64_t size, hop, window_length;
    Tensor window;  // of window_length

    // Where the elements of so many frames are: (frames, size).
    [[nodiscard]] Tensor places(int64_t count) const {
        return numpy::expand_dims(numpy::arange(count), 1) * hop + numpy::arange(size);
    }
    // The window in the middle of a frame.
    [[nodiscard]] Tensor padded_window() const {
        const int64_t left = (size - window_length) / 2;
        return numpy::pad(window, {{left, size - window_length - left}});
    }
};

Frames frames_of(std::string_view name, const StftOptions& o, DType real) {
    const int64_t hop = o.hop_length.value_or(o.n_fft / 4);
    const int64_t length = o.win_length.value_or(o.n_fft);
    user_check<RuntimeError>(hop > 0, name, ": expected hop_length > 0, but got hop_length=", hop);
    user_check<RuntimeError>(0 < length && length <= o.n_fft, name,
                             ": expected 0 < win_length <= n_fft, but got win_length=", length,
                             " and n_fft=", o.n_fft);
    const Tensor window = o.window ? o.window : numpy::ones({length}, real);
    user_check<RuntimeError>(window.shape() == ir::Shape{length}, name,
                             ": expected a 1D window tensor of size equal to win_length=", length,
                             ", but got window with size ", sizes_of(window));
    return {o.n_fft, hop, length, window};
}

numpy::fft::Norm norm_of(const StftOptions& o) {
    return numpy::fft::norm_named(o.is_normalized ? "ortho" : "backward");
}

void check_whole(bool is_complex, bool is_onesided) {
    user_check<RuntimeError>(!is_complex || !is_onesided,
                             "Cannot have onesided output if window or input is complex");
}

// RuntimeError where a part of the signal is seen through no window, as far as values are known.
void check_overlap(const Tensor& share, const Tensor& window) {
    if (window.node().is_open()) return;  // it depends on placeholders
    const Tensor least = numpy::min(numpy::apply("absolute", {share}));
    const double found =
        execute::evaluate({ops::astype(least, DType::float64)})[0].data_as<double>()[0];
    user_check<RuntimeError>(!(found < 1e-11), "istft: window overlap add min: ", found,
                             ". Windows that cover each element are required.");
}

}  // namespace

Tensor stft(const Tensor& given, const StftOptions& o) {
    const DType real = ir::real_part_of(given.dtype());
    user_check<RuntimeError>(ir::is_floating(real),
                             "stft: expected a tensor of floating point or complex values");
    user_check<RuntimeError>(given.rank() == 1 || given.rank() == 2,
                             "stft: expected a 1D or 2D tensor");
    user_check<RuntimeError>(!o.is_centred || !o.is_aligned_to_window,
                             "stft align_to_window should only be set when center = false");
    const bool is_alone = given.rank() != 2;
    Tensor x = is_alone ? numpy::expand_dims(given, 0) : given;
    if (o.is_centred) x = numpy::pad(x, {{0, 0}, {o.n_fft / 2, o.n_fft / 2}}, o.pad_mode);
    int64_t length = x.shape().back();
    user_check<RuntimeError>(0 < o.n_fft && o.n_fft <= length, "stft: expected 0 < n_fft < ",
                             length, ", but got n_fft=", o.n_fft);
    const Frames frames = frames_of("stft", o, real);
    if (o.is_aligned_to_window.value_or(false)) {
        const int64_t left = (o.n_fft - frames.window_length) / 2;
        const int64_t right = o.n_fft - frames.window_length - left;
        x = numpy::pad(x, {{0, 0}, {left, right}});
        length += left + right;
    }
    const bool is_complex = ir::is_complex(x.dtype()) || ir::is_complex(frames.window.dtype());
    const bool is_half = o.is_onesided.value_or(!is_complex);
    check_whole(is_complex, is_half);
    const Tensor places = frames.places(1 + (length - o.n_fft) / frames.hop);
    const Tensor parts = numpy::get_item(x, {numpy::Slice{}, places}) * frames.padded_window();
    const Tensor found = is_half ? numpy::fft::rfft(parts, {}, -1, norm_of(o))
                                 : numpy::fft::fft(parts, {}, -1, norm_of(o));
    const bool is_single = ir::real_part_of(parts.dtype()) == DType::float32;
    const DType to = is_single ? DType::complex64 : DType::complex128;
    const Tensor made = numpy::swapaxes(ops::astype(found, to), 1, 2);
    return is_alone ? numpy::get_item(made, {int64_t{0}}) : made;
}

Tensor istft(const Tensor& given, const StftOptions& o, std::optional<int64_t> length,
             bool is_complex) {
    user_check<RuntimeError>(ir::is_complex(given.dtype()),
                             "istft requires a complex-valued input tensor matching the output "
                             "from stft with return_complex=True.");
    user_check<RuntimeError>(given.size() > 0, "istft: input tensor cannot be empty.");
    user_check<RuntimeError>(given.rank() == 2 || given.rank() == 3,
                             "istft: expected a tensor with 2 or 3 dimensions, but got ",
                             given.rank());
    const bool is_alone = given.rank() != 3;
    const Tensor x = is_alone ? numpy::expand_dims(given, 0) : given;
    const int64_t batch = x.shape()[0], frequencies = x.shape()[1], count = x.shape().back();
    const Frames frames = frames_of("istft", o, ir::real_part_of(x.dtype()));
    user_check<RuntimeError>(frames.hop <= frames.window_length,
                             "istft: expected 0 < hop_length <= win_length, but got hop_length=",
                             frames.hop, " and win_length=", frames.window_length);
    const bool is_half = o.is_onesided.value_or(frequencies != o.n_fft);
    user_check<RuntimeError>(
        frequencies == (is_half ? o.n_fft / 2 + 1 : o.n_fft),
        "istft: expected the frequency dimension (3rd to the last) of the input tensor to match ",
        is_half ? "n_fft / 2 + 1 when onesided=True" : "n_fft when onesided=False", ", but got ",
        frequencies);
    if (is_complex) check_whole(true, is_half);
    user_check<RuntimeError>(is_complex || !ir::is_complex(frames.window.dtype()),
                             "Complex windows are incompatible with return_complex=False");
    const Tensor rows = numpy::swapaxes(x, 1, 2);
    const Tensor signals = is_complex ? numpy::fft::ifft(rows, {}, -1, norm_of(o))
                                      : numpy::fft::irfft(rows, o.n_fft, -1, norm_of(o));
    const DType to = is_complex ? x.dtype() : ir::real_part_of(x.dtype());
    const Tensor weights = frames.padded_window(), parts = ops::astype(signals, to) * weights;
    const int64_t size = o.n_fft + frames.hop * (count - 1);
    const Tensor places = numpy::reshape(frames.places(count), {-1});
    const Tensor total =
        numpy::add_at(numpy::zeros({batch, size}, parts.dtype()), {numpy::Slice{}, places},
                      numpy::reshape(parts, {batch, -1}));
    const Tensor squares = numpy::tile(numpy::apply("square", {weights}), {count});
    const Tensor shares = numpy::add_at(numpy::zeros({size}, weights.dtype()), {places}, squares);
    const int64_t first = o.is_centred ? o.n_fft / 2 : 0;
    const int64_t wanted = length ? first + *length : o.is_centred ? size - first : size;
    const int64_t last = std::min(wanted, size);
    user_check<RuntimeError>(first < last,
                             "istft: the signal would have no element. A length "
                             "greater than 0 is required.");
    const Tensor share = numpy::get_item(shares, {numpy::Slice{first, last}});
    check_overlap(share, frames.window);
    Tensor found = numpy::get_item(total, {numpy::Slice{}, numpy::Slice{first, last}}) / share;
    if (wanted > size) found = numpy::pad(found, {{0, 0}, {0, wanted - size}});
    return is_alone ? numpy::get_item(found, {int64_t{0}}) : found;
}

}  // namespace composit::aten
