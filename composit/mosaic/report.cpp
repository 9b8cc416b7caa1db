// What a program will cost, and did; and its arena as a picture.
#include "composit/base/printable.h"
#include "composit/base/text.h"
#include "composit/mosaic/program.h"

#include <algorithm>

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

// Twelve colours that can be told apart, by the buffer's number.
std::string colour(size_t number) { return text("hsl(", number * 137 % 360, ",55%,70%)"); }

}  // namespace

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
