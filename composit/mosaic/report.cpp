// What a program will cost, and did; and its arena as a picture.
#include "composit/base/aligned_columns.h"
#include "composit/base/printable.h"
#include "composit/base/text.h"
#include "composit/mosaic/program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace composit::mosaic {

using ir::kernel::BufferKind;

std::vector<Program::Explained> Program::explain(const std::vector<Array>* arguments,
                                                 int runs) const {
    const ir::kernel::Program& program = compiled_->program();
    const Machine& machine = this_machine(options_.target, compiled_->options().threads);
    std::vector<double> least;
    for (int r = 0; arguments != nullptr && r < std::max(runs, 1); ++r) {
        const std::vector<double> seconds = compiled_->seconds_of_kernels(*arguments);
        if (least.empty()) least = seconds;
        for (size_t k = 0; k < seconds.size(); ++k) least[k] = std::min(least[k], seconds[k]);
    }
    std::vector<Explained> rows;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const ir::kernel::Kernel& kernel = program.kernels[k];
        const auto* pack = std::get_if<ir::kernel::Pack>(&kernel.body);
        if (pack != nullptr && pack->is_of_constant) continue;
        rows.push_back({kernel.name, std::string(ir::kernel::kind_name(kernel)),
                        roofline(kernel, machine), least.empty() ? -1 : least[k]});
    }
    return rows;
}

namespace {

std::string fixed(double number, int digits) {
    std::array<char, 64> made{};
    std::snprintf(made.data(), made.size(), "%.*f", digits, number);
    return made.data();
}

using Row = std::vector<std::string>;

// The time, and the limit's share of it.
void add_time(Row& row, double limit, double seconds) {
    row.push_back(fixed(seconds * 1e6, 1));
    row.push_back(fixed(seconds > 0 ? 100 * limit / seconds : 0, 0));
}

// Twelve colours that can be told apart, by the buffer's number.
std::string colour(size_t number) { return text("hsl(", number * 137 % 360, ",55%,70%)"); }

}  // namespace

std::string table(const std::vector<Program::Explained>& kernels) {
    double limit = 0, seconds = 0;
    bool is_measured = true;
    for (const Program::Explained& kernel : kernels) {
        limit += kernel.limit.seconds;
        seconds += kernel.seconds;
        is_measured = is_measured && kernel.seconds >= 0;
    }
    std::vector<Row> rows{{"kernel", "kind", "MFLOP", "MB", "limit us", "bound"}};
    if (is_measured) rows[0].insert(rows[0].end(), {"us", "% of limit"});
    for (const Program::Explained& kernel : kernels) {
        const Roofline& roofline = kernel.limit;
        rows.push_back({kernel.name, kernel.kind, fixed(roofline.flops / 1e6, 3),
                        fixed(roofline.bytes / 1e6, 3), fixed(roofline.seconds * 1e6, 1),
                        roofline.is_bound_by_memory ? "memory" : "compute"});
        if (is_measured) add_time(rows.back(), roofline.seconds, kernel.seconds);
    }
    rows.push_back({"total", "", "", "", fixed(limit * 1e6, 1), ""});
    if (is_measured) add_time(rows.back(), limit, seconds);
    return aligned_columns(rows, 2);
}

std::string Program::buffer_picture() const {
    const auto kernels =
        static_cast<double>(std::max<size_t>(1, compiled_->program().kernels.size()));
    const auto bytes = static_cast<double>(std::max<int64_t>(1, compiled_->program().arena_bytes));
    constexpr double width = 800, height = 320, margin = 40;
    std::string svg =
        text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width + 2 * margin, " ",
             height + 2 * margin, "\" font-family=\"sans-serif\" font-size=\"11\">\n");
    for (size_t b = 0; b < buffers_.size(); ++b) {
        const PlannedBuffer& buffer = buffers_[b];
        if (buffer.kind != BufferKind::temporary || buffer.offset < 0 || buffer.first < 0) continue;
        const double x = margin + width * buffer.first / kernels,
                     w = width * (buffer.last - buffer.first + 1) / kernels,
                     h = height * static_cast<double>(buffer.bytes) / bytes,
                     y = margin + height - height * static_cast<double>(buffer.offset) / bytes - h;
        svg += text("<rect x=\"", x, "\" y=\"", y, "\" width=\"", w, "\" height=\"", h,
                    "\" fill=\"", colour(b), "\" stroke=\"white\"><title>", in_markup(buffer.name),
                    ": ", buffer.bytes, " bytes at ", buffer.offset, ", kernels ", buffer.first,
                    " to ", buffer.last, "</title></rect>\n");
        if (w > 40 && h > 12)
            svg += text("<text x=\"", x + 4, "\" y=\"", y + 12, "\">", in_markup(buffer.name),
                        "</text>\n");
    }
    svg +=
        text("<text x=\"", margin, "\" y=\"", margin - 12,
             "\">arena: ", compiled_->program().arena_bytes, " bytes</text>\n<text x=\"", margin,
             "\" y=\"", margin + height + 20, "\">kernels 0 to ", kernels - 1, "</text>\n</svg>\n");
    return svg;
}

}  // namespace composit::mosaic
