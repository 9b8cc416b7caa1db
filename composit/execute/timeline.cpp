#include "composit/execute/timeline.h"

#include "composit/base/json_text.h"
#include "composit/base/printable.h"
#include "composit/base/text.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace composit::execute {
namespace {

double milliseconds(double seconds) { return seconds * 1e3; }

std::string in_json(const std::string& text) { return json_string(printable(text)); }

}  // namespace

double Timeline::seconds() const {
    double last = 0;
    for (const TimelineStep& step : steps) last = std::max(last, step.end);
    return last;
}

std::vector<std::string> Timeline::devices() const {
    std::vector<std::string> names;
    for (const TimelineStep& step : steps)
        if (std::ranges::find(names, step.device) == names.end()) names.push_back(step.device);
    return names;
}

double Timeline::busy_seconds(const std::string& device) const {
    double busy = 0, until = 0;
    for (const TimelineStep& step : steps) {
        if (step.device != device) continue;
        busy += std::max(0.0, step.end - std::max(step.begin, until));
        until = std::max(until, step.end);
    }
    return busy;
}

std::string Timeline::print() const {
    std::ostringstream out;
    out << std::fixed << std::setprecision(3);
    size_t width = 6;
    for (const TimelineStep& step : steps) width = std::max(width, step.device.size());
    const auto column = static_cast<int>(width);
    out << std::left << std::setw(column) << "device" << std::right << std::setw(11) << "begin ms"
        << std::setw(11) << "end ms" << "  what\n";
    for (const TimelineStep& step : steps) {
        out << std::left << std::setw(column) << step.device << std::right << std::setw(11)
            << milliseconds(step.begin) << std::setw(11) << milliseconds(step.end) << "  "
            << step.what;
        if (step.bytes > 0) out << ", " << step.bytes << " bytes";
        out << '\n';
    }
    for (const std::string& device : devices())
        out << std::left << std::setw(column) << device << "  busy for "
            << milliseconds(busy_seconds(device)) << " of " << milliseconds(seconds()) << " ms\n";
    return out.str();
}

std::string Timeline::picture() const {
    constexpr double width = 800, row = 34, margin = 90;
    const std::vector<std::string> rows = devices();
    const double scale = width / std::max(seconds(), 1e-9);
    std::string svg = text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
                           width + margin + 10, " ", row * static_cast<double>(rows.size()) + 24,
                           "\" font-family=\"sans-serif\" font-size=\"11\">\n");
    for (size_t r = 0; r < rows.size(); ++r) {
        const double y = row * static_cast<double>(r);
        svg += text("<text x=\"4\" y=\"", y + 20, "\">", in_markup(rows[r]), "</text>\n");
        for (const TimelineStep& step : steps) {
            if (step.device != rows[r]) continue;
            svg += text("<rect x=\"", margin + scale * step.begin, "\" y=\"", y + 4, "\" width=\"",
                        std::max(0.5, scale * (step.end - step.begin)), "\" height=\"", row - 8,
                        "\" fill=\"", step.bytes > 0 ? "#777" : "#8ab4d8",
                        "\" stroke=\"white\" stroke-width=\"0.5\"><title>", in_markup(step.what),
                        "</title></rect>\n");
        }
    }
    svg += text("<text x=\"", margin, "\" y=\"", row * static_cast<double>(rows.size()) + 14,
                "\">0 to ", milliseconds(seconds()), " ms</text>\n</svg>\n");
    return svg;
}

std::string Timeline::trace() const {
    std::ostringstream out;
    out << std::fixed << std::setprecision(3) << "{\"traceEvents\": [\n";
    const std::vector<std::string> rows = devices();
    const auto row_of = [&](const std::string& device) {
        return std::ranges::find(rows, device) - rows.begin();
    };
    for (size_t r = 0; r < rows.size(); ++r)
        out << "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": " << r
            << ", \"args\": {\"name\": " << in_json(rows[r]) << "}}"
            << (steps.empty() ? "\n" : ",\n");
    for (size_t s = 0; s < steps.size(); ++s) {
        const TimelineStep& step = steps[s];
        out << "{\"ph\": \"X\", \"name\": " << in_json(step.what) << ", \"cat\": \""
            << (step.bytes > 0 ? "copy" : "work")
            << "\", \"pid\": 0, \"tid\": " << row_of(step.device)
            << ", \"ts\": " << step.begin * 1e6 << ", \"dur\": " << (step.end - step.begin) * 1e6
            << "}" << (s + 1 < steps.size() ? ",\n" : "\n");
    }
    out << "]}\n";
    return out.str();
}

}  // namespace composit::execute
