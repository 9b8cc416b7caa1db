// Bins and grids of pictures.
#include "composit/aten/summaries.h"

#include "composit/base/error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace composit::aten {
namespace {

using ir::Shape;

std::string capitals(std::string_view letters) {
    std::string made(letters);
    for (char& letter : made)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    return made;
}

}  // namespace

std::vector<double> edges_of_bins() {
    std::vector<double> above;
    for (double edge = 1e-12; edge < 1e20; edge *= 1.1) above.push_back(edge);
    std::vector<double> edges;
    for (size_t i = above.size(); i-- > 0;) edges.push_back(-above[i]);
    edges.push_back(0);
    edges.insert(edges.end(), above.begin(), above.end());
    return edges;
}

ShownBins shown_bins(const std::vector<double>& given, const std::vector<double>& given_edges,
                     std::optional<int64_t> most) {
    user_check(given_edges.size() == given.size() + 1 && !given.empty(),
               "shown_bins: ", given.size(), " counts and ", given_edges.size(),
               " edges. One edge more than counts is required.");
    user_check(!most || *most > 0, "shown_bins: at most ", most.value_or(0),
               " bins. A number above zero is required.");
    std::vector<double> counts = given, edges = given_edges;
    if (most && counts.size() > static_cast<size_t>(*most)) {
        const size_t step = given.size() / static_cast<size_t>(*most);
        counts.clear();
        edges.clear();
        for (size_t i = 0; i < given.size(); ++i) {
            if (i % step == 0) {
                counts.push_back(0);
                edges.push_back(given_edges[i]);
            }
            counts.back() += given[i];
        }
        edges.push_back(given_edges.back());
    }
    size_t first = 0, last = 0;
    const auto is_used = [](double count) { return count != 0; };
    const auto found = std::ranges::find_if(counts, is_used);
    if (found != counts.end()) {
        first = static_cast<size_t>(found - counts.begin());
        for (size_t i = 0; i < counts.size(); ++i)
            if (is_used(counts[i])) last = i;
    }
    ShownBins made{{}, {0}};
    for (size_t i = first; i < std::min(last + 2, edges.size()); ++i)
        made.limits.push_back(edges[i]);
    made.counts.insert(made.counts.end(), counts.begin() + static_cast<std::ptrdiff_t>(first),
                       counts.begin() + static_cast<std::ptrdiff_t>(last + 1));
    return made;
}

ir::Array pixel_rows(const ir::Array& pixels, std::string_view given) {
    const std::string letters = capitals(given);
    const Shape& shape = pixels.shape();
    bool fits = letters.size() == shape.size();
    for (const char letter : letters)
        fits = fits && std::string_view("NCHW").find(letter) != std::string_view::npos &&
               std::ranges::count(letters, letter) == 1;
    fits = fits && letters.find('H') != letters.npos && letters.find('W') != letters.npos;
    user_check(fits, "dataformats is '", letters, "', and the picture has shape ", shape,
               ". A letter of N, C, H and W for each dimension is required.");
    // The length and the stride, in elements, of each letter.
    const auto strides = ir::row_major_strides(shape);
    const auto along = [&](char letter) {
        const size_t place = letters.find(letter);
        return place == letters.npos ? std::array<int64_t, 2>{1, 0}
                                     : std::array<int64_t, 2>{shape[place], strides[place]};
    };
    const auto [count, by_count] = along('N');
    const auto [height, by_height] = along('H');
    const auto [width, by_width] = along('W');
    const auto [channels, by_channel] = along('C');
    const int64_t columns = std::max<int64_t>(std::min<int64_t>(count, 8), 1);
    const int64_t rows = (count + columns - 1) / columns;
    const auto size = static_cast<size_t>(ir::size_of(pixels.dtype()));
    ir::Array made = ir::Array::zeros(pixels.dtype(), {rows * height, columns * width, channels});
    auto* const grid = static_cast<std::byte*>(made.mutable_data());
    const auto* const source = static_cast<const std::byte*>(pixels.data());
    for (int64_t n = 0; n < count; ++n)
        for (int64_t y = 0; y < height; ++y)
            for (int64_t x = 0; x < width; ++x)
                for (int64_t c = 0; c < channels; ++c) {
                    const int64_t row = n / columns * height + y, column = n % columns * width + x;
                    const int64_t to = (row * columns * width + column) * channels + c;
                    const int64_t from =
                        n * by_count + y * by_height + x * by_width + c * by_channel;
                    std::memcpy(grid + static_cast<size_t>(to) * size,
                                source + static_cast<size_t>(from) * size, size);
                }
    return made;
}

}  // namespace composit::aten
