#include "composit/execute/placement.h"

#include "composit/base/ascii.h"
#include "composit/base/entry_diff.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/text.h"
#include "composit/base/utf8.h"
#include "composit/base/whole_file.h"
#include "composit/runtime/backend.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace composit::execute {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

// As programs spell names.
std::string spelled(const std::string& name) {
    std::string result = name;
    for (char& c : result)
        if (!ascii::is_of_word(c) && c != '*') c = '_';
    return result;
}

// Whether the pattern, in which * stands for any characters, is all of the text.
bool is_all(std::string_view pattern, std::string_view text) {
    constexpr size_t none = std::string_view::npos;
    size_t at = 0, star = none, after_star = 0;  // where the text goes on behind the last star
    for (size_t t = 0; t < text.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            after_star = t;
        } else if (at < pattern.size() && pattern[at] == text[t]) {
            ++at, ++t;
        } else if (star != none) {
            at = star + 1;
            t = ++after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == none;
}

// The same, or of a text that goes on with _ behind it.
bool matches(const std::string& pattern, std::string_view text) {
    return is_all(pattern, text) || is_all(pattern + "_*", text);
}

bool is_given(const Buffer& buffer) {
    return buffer.kind == BufferKind::constant || buffer.kind == BufferKind::input;
}

// How a rule fits a kernel: as one of the kernels that use a constant, whose neighbours follow, or
// by its own name.
enum class Fit { none, by_constant, by_name };

// `pattern`: the name as it is spelled here.
Fit fit_of(const std::string& name, const std::string& pattern, const Kernel& kernel,
           const Program& program) {
    const auto is_fit = [&](int number) {
        return matches(pattern, program.buffers[static_cast<size_t>(number)].name);
    };
    const std::vector<int> written = buffers_written(kernel), read = buffers_read(kernel);
    if (matches(pattern, kernel.name) || std::ranges::count(kernel.lines, name) > 0 ||
        std::ranges::any_of(written, is_fit))
        return Fit::by_name;
    const bool uses = std::ranges::any_of(read, [&](int number) {
        return number >= 0 && is_given(program.buffers[static_cast<size_t>(number)]) &&
               is_fit(number);
    });
    return uses ? Fit::by_constant : Fit::none;
}

// Some of the names that rules can give.
std::string names_of(const Program& program) {
    constexpr size_t most = 12;
    std::vector<std::string> names;
    for (const Buffer& buffer : program.buffers)
        if (buffer.kind == BufferKind::constant) names.push_back(buffer.name);
    for (const Kernel& kernel : program.kernels) names.push_back(kernel.name);
    const bool is_long = names.size() > most;
    if (is_long) names.resize(most);
    return join(names, ", ") + (is_long ? ", …" : "");
}

// The devices that kernels follow: of those that are known, of what they read, and, where that says
// nothing, of what reads them. `home` is where arguments lie; empty: unknown.
class Flow {
  public:
    Flow(const Program& program, std::vector<std::string> known, const std::string& home)
        : program_(program), devices_(std::move(known)) {
        for (int number : program.inputs)
            if (!home.empty()) made_[number] = {home, 0};
        for (size_t k = 0; k < devices_.size(); ++k) {
            if (devices_[k].empty()) devices_[k] = of_most_bytes(program.kernels[k]);
            if (devices_[k].empty()) continue;
            for (int number : buffers_written(program.kernels[k])) made_[number] = {devices_[k], k};
        }
        std::map<int, std::string> read;
        for (size_t k = devices_.size(); k-- > 0;) {
            if (devices_[k].empty())
                for (int number : buffers_written(program.kernels[k]))
                    if (devices_[k].empty() && read.contains(number)) devices_[k] = read[number];
            if (devices_[k].empty()) continue;
            for (int number : buffers_read(program.kernels[k])) read[number] = devices_[k];
        }
    }
    [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }

  private:
    std::string of_most_bytes(const Kernel& kernel) const {
        // Of as many bytes those that were made last decide.
        std::map<std::string, std::pair<int64_t, size_t>> found;
        for (int number : buffers_read(kernel)) {
            const auto made = made_.find(number);
            if (made == made_.end()) continue;
            auto& [bytes, last] = found[made->second.device];
            bytes += program_.buffers[static_cast<size_t>(number)].bytes;
            last = std::max(last, made->second.kernel);
        }
        const auto most = std::ranges::max_element(
            found, [](const auto& a, const auto& b) { return a.second < b.second; });
        return most == found.end() ? "" : most->first;
    }

    struct Made {
        std::string device;
        size_t kernel;
    };
    const Program& program_;
    std::vector<std::string> devices_;
    std::map<int, Made> made_;  // where each buffer was written, and by which kernel
};

}  // namespace

Placement& Placement::put(const std::string& name, const std::string& device) {
    user_check(!name.empty() && !device.empty(), "Placement: name '", name, "', device '", device,
               "'. Both are required.");
    user_check(name.find_first_of("\n") == std::string::npos &&
                   device.find_first_of("\n ") == std::string::npos &&
                   name.find(": ") == std::string::npos,
               "Placement: '", name, "' at '", device,
               "': names without line ends and ': ', devices without spaces are required.");
    rules_.push_back({name, device});
    return *this;
}

std::string Placement::print() const {
    std::string result;
    for (const Rule& rule : rules_) result += rule.name + ": " + rule.device + "\n";
    return result;
}

Placement Placement::parse(const std::string& text, const std::string& where) {
    if (const auto at = broken_utf8(text))
        fail<ValueError>(where, "byte ", *at, " begins no character of UTF-8. Text is required.");
    Placement placement;
    std::istringstream lines(text);
    std::string line;
    for (size_t number = 1; std::getline(lines, line); ++number) {
        if (line.empty()) continue;
        const size_t colon = line.find(": ");
        const bool is_rule = colon != std::string::npos && colon > 0 && colon + 2 < line.size() &&
                             line.find(' ', colon + 2) == std::string::npos;
        user_check(is_rule, where, "line ", number, ": '", line,
                   "'. A name and a device are required: 'layer.0: opencl:0'.");
        placement.put(line.substr(0, colon), line.substr(colon + 2));
    }
    return placement;
}

void Placement::save(const std::filesystem::path& path) const {
    write_whole_file("Placement.save", path, print());
}

Placement Placement::load(const std::filesystem::path& path) {
    constexpr size_t most_bytes = size_t{1} << 26;
    const std::string where = composit::text("Placement.load: ", path.string(), ": ");
    return parse(read_whole_file(where, path, most_bytes), where);
}

std::string Placement::diff(const Placement& from, const Placement& to) {
    const auto texts_of = [](const Placement& placement) {
        NamedTexts texts;
        for (const Rule& rule : placement.rules_) texts.emplace_back(rule.name, rule.device);
        return texts;
    };
    return diff_of_entries(texts_of(from), texts_of(to));
}

std::vector<std::string> Placement::backends_of(const Program& program,
                                                const std::string& otherwise,
                                                const std::string& host) const {
    const auto backend_of = [&](const std::string& device) {
        if (device != "cpu") return runtime::backend(device)->name();
        return runtime::backend(host)->device() ? std::string("cpp") : host;
    };
    // Arrays that nobody moved lie on the cpu: that places kernels only beside others that lie
    // elsewhere.
    const bool is_placed = std::ranges::any_of(program.kernels, [](const Kernel& kernel) {
        return !kernel.device.empty() && kernel.device != "cpu";
    });
    if (rules_.empty() && !is_placed)
        return std::vector<std::string>(program.kernels.size(), otherwise);
    std::vector<std::string> flow(program.kernels.size()), own(program.kernels.size());
    for (size_t k = 0; is_placed && k < flow.size(); ++k) {
        const std::string& device = program.kernels[k].device;
        if (!device.empty()) flow[k] = device == "cpu" ? host : backend_of(device);
    }
    for (const Rule& rule : rules_) {
        const std::string backend = backend_of(rule.device), pattern = spelled(rule.name);
        bool is_used = false;
        for (size_t k = 0; k < own.size(); ++k) {
            const Fit fit = fit_of(rule.name, pattern, program.kernels[k], program);
            if (fit == Fit::none) continue;
            is_used = true;
            own[k] = fit == Fit::by_name ? backend : "";
            if (fit == Fit::by_constant) flow[k] = backend;
        }
        user_check(is_used, program.name, ": the placement names '", rule.name,
                   "', which is no kernel, constant, tensor or line. There are ", names_of(program),
                   ".");
    }
    std::vector<std::string> result =
        Flow(program, std::move(flow), is_placed ? "" : otherwise).devices();
    for (size_t k = 0; k < result.size(); ++k) {
        if (!own[k].empty()) result[k] = own[k];
        if (result[k].empty()) result[k] = otherwise;
    }
    return result;
}

}  // namespace composit::execute
