// PyTorch's formats: a width for all numbers, scientific notation where they differ much.
#include "composit/aten/printing.h"

#include "composit/base/text.h"
#include "composit/ir/scalar/values.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using ir::Array;
using ir::DType;

// A number that is shown: its text where it is an integer or a bool, else its value.
std::string integer_text(const Array& array, int64_t place) {
    if (array.dtype() == DType::boolean) return array.data_as<bool>()[place] ? "True" : "False";
    return ir::scalar::with_type(array.dtype(), "text_of", [&]<class T>(T) -> std::string {
        if constexpr (std::is_integral_v<T>)
            return std::to_string(array.data_as<T>()[place]);
        else
            return {};
    });
}

double float_at(const Array& array, int64_t place) {
    return ir::scalar::with_type(array.dtype(), "text_of", [&]<class T>(T) -> double {
        if constexpr (ir::scalar::is_short<T>)
            return ir::scalar::load<T>(ir::scalar::element_bits(array.dtype(), array.data(), place))
                .value;
        else
            return static_cast<double>(array.data_as<T>()[place]);
    });
}

std::string formatted(const char* format, int precision, double value) {
    char text[512];
    std::snprintf(text, sizeof text, format, precision, value);
    return text;
}

std::string right(std::string text, size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
    return text;
}

// One notation and one width for floats.
class Floats {
  public:
    Floats(const std::vector<double>& values, const PrintOptions& options)
        : precision_(options.precision) {
        double largest = 0, smallest = std::numeric_limits<double>::infinity();
        std::vector<double> shown;
        for (const double value : values) {
            if (!std::isfinite(value) || value == 0) continue;
            shown.push_back(value);
            largest = std::max(largest, std::abs(value));
            smallest = std::min(smallest, std::abs(value));
            is_integral_ = is_integral_ && value == std::ceil(value);
        }
        if (!shown.empty()) {
            is_scientific_ =
                largest / smallest > 1000 || largest > 1e8 || (!is_integral_ && smallest < 1e-4);
            is_scientific_ = options.scientific.value_or(is_scientific_);
        }
        for (const double value : shown.empty() ? values : shown)
            width_ = std::max(width_, text(value).size());
    }

    [[nodiscard]] std::string text(double value) const {
        if (is_scientific_) {
            if (std::isfinite(value)) return formatted("%.*e", precision_, value);
        } else if (std::isfinite(value)) {
            return is_integral_ ? formatted("%.*f", 0, value) + "."
                                : formatted("%.*f", precision_, value);
        }
        return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    }
    [[nodiscard]] size_t width() const { return width_; }

  private:
    int precision_;
    bool is_integral_ = true, is_scientific_ = false;
    size_t width_ = 1;
};

// The text of the element at a place, in the width of all.
struct Column {
    std::function<std::string(int64_t)> text;
    size_t width;
};

Column integers(const Array& array, const std::vector<int64_t>& shown) {
    size_t width = 1;
    for (const int64_t place : shown) width = std::max(width, integer_text(array, place).size());
    return {[array, width](int64_t place) { return right(integer_text(array, place), width); },
            width};
}

Column floats(const Array& array, const std::vector<int64_t>& shown, const PrintOptions& options) {
    std::vector<double> values;
    for (const int64_t place : shown) values.push_back(float_at(array, place));
    const Floats notation(values, options);
    return {[array, notation](int64_t place) {
                return right(notation.text(float_at(array, place)), notation.width());
            },
            notation.width()};
}

std::complex<double> complex_at(const Array& array, int64_t place) {
    if (array.dtype() == DType::complex64) return array.data_as<std::complex<float>>()[place];
    return array.data_as<std::complex<double>>()[place];
}

// a+bj: both parts by a notation of their own.
Column complex_numbers(const Array& array, const std::vector<int64_t>& shown,
                       const PrintOptions& options) {
    std::vector<double> reals, imaginaries;
    for (const int64_t place : shown) {
        reals.push_back(complex_at(array, place).real());
        imaginaries.push_back(complex_at(array, place).imag());
    }
    const Floats real(reals, options), imaginary(imaginaries, options);
    return {[=](int64_t place) {
                const std::complex<double> value = complex_at(array, place);
                const std::string second = imaginary.text(value.imag());
                return right(real.text(value.real()), real.width()) +
                       (second.front() == '-' ? "" : "+") + second + "j";
            },
            real.width() + imaginary.width() + 1};
}

class Printer {
  public:
    Printer(const Array& array, const PrintOptions& options)
        : array_(array),
          options_(options),
          is_cut_(static_cast<double>(array.size()) > options.threshold) {
        std::vector<int64_t> shown;
        gather(shown, 0, 0);
        if (ir::is_complex(array.dtype()))
            column_ = complex_numbers(array, shown, options);
        else if (ir::is_floating(array.dtype()))
            column_ = floats(array, shown, options);
        else
            column_ = integers(array, shown);
    }

    // The part of the array from `place` on that has the axes from `axis` on.
    [[nodiscard]] std::string text(size_t axis, int64_t place, int64_t indent) const {
        const size_t left = array_.shape().size() - axis;
        if (left == 0) return column_.text(place);
        std::vector<std::string> parts;
        visit(axis, [&](int64_t i) {
            parts.push_back(i < 0 ? (left == 1 ? " ..." : "...")
                                  : text(axis + 1, place + i * stride(axis), indent + 1));
        });
        const std::string start = std::string(static_cast<size_t>(indent) + 1, ' ');
        if (left > 1) return "[" + joined(parts, "," + std::string(left - 1, '\n') + start) + "]";
        const auto per_line = static_cast<size_t>(std::max<int64_t>(
            1, (options_.line_width - indent) / static_cast<int64_t>(column_.width + 2)));
        std::vector<std::string> rows;
        for (size_t i = 0; i < parts.size(); i += per_line)
            rows.push_back(joined(
                {parts.begin() + static_cast<ptrdiff_t>(i),
                 parts.begin() + static_cast<ptrdiff_t>(std::min(i + per_line, parts.size()))},
                ", "));
        return "[" + joined(rows, ",\n" + start) + "]";
    }

  private:
    static std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
        std::string made;
        for (size_t i = 0; i < parts.size(); ++i) made += (i ? separator : "") + parts[i];
        return made;
    }

    [[nodiscard]] int64_t stride(size_t axis) const {
        int64_t count = 1;
        for (size_t i = axis + 1; i < array_.shape().size(); ++i) count *= array_.shape()[i];
        return count;
    }

    // The numbers of the elements of an axis that are shown; -1 for dots.
    void visit(size_t axis, const std::function<void(int64_t)>& each) const {
        const int64_t length = array_.shape()[axis], edge = options_.edge_items;
        const bool is_short = is_cut_ && length > 2 * edge;
        for (int64_t i = 0; i < (is_short ? edge : length); ++i) each(i);
        if (!is_short) return;
        each(-1);
        for (int64_t i = length - edge; i < length; ++i) each(i);
    }

    void gather(std::vector<int64_t>& places, size_t axis, int64_t place) const {
        if (axis == array_.shape().size()) {
            places.push_back(place);
            return;
        }
        visit(axis, [&](int64_t i) {
            if (i >= 0) gather(places, axis + 1, place + i * stride(axis));
        });
    }

    const Array& array_;
    const PrintOptions& options_;
    bool is_cut_;
    Column column_;
};

}  // namespace

std::string text_of(const Array& values, const PrintOptions& options, int64_t indent) {
    return values.size() == 0 ? "[]" : Printer(values, options).text(0, 0, indent);
}

std::string tensor_text(const ir::Array& values, const TensorText& of,
                        const PrintOptions& options) {
    const std::string prefix = "tensor(";
    std::string shown = prefix + "[]";
    std::vector<std::string> parts;
    bool is_usual = of.dtype == of.default_dtype || of.dtype == "int64" || of.dtype == "bool" ||
                    (of.dtype == "complex64" && of.default_dtype == "float32");
    if (!of.device.empty()) parts.push_back("device='" + of.device + "'");
    if (values.size() == 0) {
        if (values.shape().size() != 1) parts.push_back(text("size=", values.shape()));
        is_usual = of.dtype == of.default_dtype;
    } else {
        shown = prefix + text_of(values, options, static_cast<int64_t>(prefix.size()));
    }
    if (!is_usual) parts.push_back("dtype=torch." + of.dtype);
    if (of.requires_grad)
        parts.emplace_back("requires_grad=True");
    else if (!of.grad_fn.empty())
        parts.push_back("grad_fn=<" + of.grad_fn + ">");
    // A shape and what follows it are one part.
    if (values.size() == 0 && values.shape().size() != 1) {
        std::string joined;
        for (const std::string& part : parts) joined += (joined.empty() ? "" : ", ") + part;
        parts = {joined};
    }
    for (const std::string& part : parts) {
        const size_t begin = shown.rfind('\n');
        const auto last = static_cast<int64_t>(
            begin == std::string::npos ? shown.size() : shown.size() - begin - 1);
        const bool fits = last + static_cast<int64_t>(part.size()) + 2 < options.line_width;
        shown += (fits ? ", " : ",\n       ") + part;
    }
    shown += ")";
    return of.is_parameter ? "Parameter containing:\n" + shown : shown;
}

}  // namespace composit::aten
