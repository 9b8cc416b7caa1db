// The kinds of kernels as a table, from what fields.h says of them.
#include "composit/base/text.h"
#include "composit/ir/kernel/fields.h"

#include <map>

namespace composit::ir::kernel {
namespace {

// "inputs (depth, columns)", with the names of the loops that it moves along.
struct Columns {
    std::map<const Extents*, std::string> names = {};
    std::vector<std::string> loops_of = {}, read = {}, written = {}, bodies = {}, other = {};

    template <class... Loops>
    std::string along(std::string_view name, const Loops&... loops) const {
        std::vector<std::string> found;
        for (const Extents* each : {&loops...})
            found.push_back(names.contains(each) ? names.at(each) : "panels");
        return text("`", name, "` (", join(found), ")");
    }
    void loops(std::string_view name, const Extents& extents, LoopRole) {
        names.emplace(&extents, name);
        if (loops_of.empty() || loops_of.back() != name) loops_of.push_back(std::string(name));
    }
    void reads(std::string_view name, const auto&, const auto&... loops) {
        read.push_back(along(name, loops...));
    }
    void reads_again(std::string_view name, const auto&, const Extents& times,
                     const auto&... loops) {
        read.push_back(text(along(name, loops...), " for each of ", names.at(&times)));
    }
    void updates(std::string_view name, const auto&, const Extents& times, const auto&... loops) {
        const std::string all = text(along(name, loops...), " for each of ", names.at(&times));
        read.push_back(all), written.push_back(all);
    }
    void writes(std::string_view name, const auto&, const auto&... loops) {
        written.push_back(along(name, loops...));
    }
    void values(std::string_view name, const auto&...) { bodies.push_back(text("`", name, "`")); }
    void says(std::string_view name, const auto&) { other.push_back(text("`", name, "`")); }
};

template <size_t number>
std::string row() {
    using Kind = std::variant_alternative_t<number, Body>;
    Kernel kernel{"", "", {}, Kind()};
    const std::string name = text("| ", kind_name(kernel), " |");
    if constexpr (!IsDescribed<Kind>) {
        return text(name, " see kernel.h | | | | |\n");
    } else {
        if constexpr (std::same_as<Kind, Call>)  // an operand of each kind, to be described
            for (Call& call = std::get<Call>(kernel.body); call.inputs.empty();)
                call.inputs.emplace_back(), call.outputs.emplace_back();
        Columns columns;
        describe(std::get<Kind>(kernel.body), columns);
        return text(name, " ", join(columns.loops_of), " | ", join(columns.read), " | ",
                    join(columns.written), " | ", join(columns.bodies), " | ", join(columns.other),
                    " |\n");
    }
}

template <size_t... numbers>
std::string rows(std::index_sequence<numbers...>) {
    return (row<numbers>() + ...);
}

}  // namespace

std::string kinds_table() {
    return text("| kind | loops | reads (along) | writes (along) | scalar bodies | says |\n",
                "|---|---|---|---|---|---|\n",
                rows(std::make_index_sequence<std::variant_size_v<Body>>()));
}

}  // namespace composit::ir::kernel
