// Finds the stretches of calls that come from one module, from the outermost inwards.
#include "composit/exporters/cpp_project/sections.h"

#include "composit/ir/node.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace composit::cpp_project {
namespace {

// Whether `path` is that of the module `around` or of one within.
bool is_within(std::string_view path, std::string_view around) {
    return around.empty() || path == around ||
           (path.size() > around.size() && path.starts_with(around) && path[around.size()] == '.');
}

// The first so many characters of the path and what follows up to the next point: a module and the
// one within it, on the way to `path`.
std::string_view next_module(std::string_view path, std::string_view around) {
    const size_t begin = around.empty() ? 0 : around.size() + 1;
    return path.substr(0, path.find('.', begin));
}

std::string_view common(std::string_view a, std::string_view b) {
    while (!is_within(b, a)) {
        const size_t point = a.rfind('.');
        a = a.substr(0, point == std::string_view::npos ? 0 : point);
    }
    return a;
}

class Finder {
  public:
    Finder(const std::vector<std::string>& paths, size_t least, size_t most)
        : paths_(paths), least_(least), most_(most) {}

    Section section(size_t begin, size_t end, std::string_view path) const {
        // What all have in common needs no section of its own.
        std::string_view all = paths_[begin];
        for (size_t i = begin + 1; i < end; ++i) all = common(all, paths_[i]);
        if (is_within(all, path)) path = all;
        Section result;
        result.path = path;
        for (size_t i = begin; i < end;) {
            const size_t last = end_of_module(i, end, path);
            if (last - i >= least_ && paths_[i] != path)
                result.items.push_back(section(i, last, next_module(paths_[i], path)));
            else
                for (size_t k = i; k < last; ++k) result.items.push_back(call(k));
            i = last;
        }
        while (result.items.size() > most_) cut(result);
        return result;
    }

  private:
    Section call(size_t number) const {
        Section result;
        result.path = paths_[number];
        result.call = number;
        return result;
    }

    // The end of the calls from `begin` that come from the same module within `path`.
    size_t end_of_module(size_t begin, size_t end, std::string_view path) const {
        if (paths_[begin] == path || !is_within(paths_[begin], path)) return begin + 1;
        const std::string_view module = next_module(paths_[begin], path);
        size_t last = begin + 1;
        while (last < end && is_within(paths_[last], module)) ++last;
        return last;
    }

    // Its items in sections of at most so many.
    void cut(Section& section) const {
        std::vector<Section> parts;
        for (size_t i = 0; i < section.items.size(); ++i) {
            if (i % most_ == 0) parts.emplace_back();
            parts.back().items.push_back(std::move(section.items[i]));
        }
        section.items = std::move(parts);
    }

    const std::vector<std::string>& paths_;
    size_t least_, most_;
};

}  // namespace

std::string module_of(const ir::kernel::Kernel& kernel) {
    std::optional<std::string_view> path;
    for (const std::string& line : kernel.lines) {
        const std::string_view part = ir::part_of(line);
        path = path ? common(*path, part) : part;
    }
    return std::string(path.value_or(""));
}

Section sections_of(std::vector<std::string> paths, size_t least, size_t most) {
    if (paths.empty()) return {};
    // A call of no module belongs to what comes before it.
    for (size_t i = 1; i < paths.size(); ++i)
        if (paths[i].empty()) paths[i] = paths[i - 1];
    return Finder(paths, std::max<size_t>(least, 2), most).section(0, paths.size(), "");
}

}  // namespace composit::cpp_project
