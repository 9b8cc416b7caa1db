// Text of places in arrays.
#include "composit/backends/c_family/procedure_elements.h"

#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::ArrayVariable;
using ir::scalar::Expr;

std::string Elements::integer(const Expr& value, std::vector<std::string>& before) const {
    const std::string simple = plain_integer(value, names_);
    if (!simple.empty()) return simple;
    const Statements printed = print_statements({value}, names_, taken_);
    for (const std::string& text : printed.lines) before.push_back(plain(text));
    const std::string text = plain(printed.results[0]);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string Elements::place(int array, const std::vector<Expr>& index,
                            std::vector<std::string>& before) const {
    const std::vector<Expr>& shape = procedure_.arrays[static_cast<size_t>(array)].shape;
    std::vector<std::string> places, extents;
    std::vector<Expr> by = ir::procedure::all_variables(procedure_);
    for (const int counter : left_out_)
        by[static_cast<size_t>(counter)] = ir::procedure::integer(0);
    for (size_t axis = 0; axis < index.size(); ++axis) {
        const std::set<int> read = ir::procedure::variables_in({index[axis]});
        const bool changes = std::any_of(left_out_.begin(), left_out_.end(),
                                         [&](int counter) { return read.contains(counter); });
        const Expr own = changes
                             ? ir::scalar::simplify(ir::scalar::substitute({index[axis]}, by))[0]
                             : index[axis];
        places.push_back(integer(own, before));
        extents.push_back(axis == 0 ? "" : integer(shape[axis], before));
    }
    return flat_place(places, extents);
}

std::string Elements::element(const ir::procedure::Statement& statement,
                              std::vector<std::string>& before) const {
    const std::string& array = arrays_[static_cast<size_t>(statement.array)];
    if (statement.kind == ir::procedure::Statement::Kind::take) return "take_last(" + array + ")";
    return array + "[" + place(statement.array, statement.index, before) + "]";
}

std::string Elements::count_of(size_t array, const Naturals& naturals,
                               std::vector<std::string>& before) const {
    const std::vector<Expr>& shape = procedure_.arrays[array].shape;
    std::string count;
    for (const Expr& extent : shape) {
        if (ir::procedure::is_integer_constant(extent, 1)) continue;
        std::string own = integer(extent, before);
        if (!naturals.contains(extent)) own = "checked_extent(" + own + ")";
        count += (count.empty() ? "" : " * ") + (shape.size() > 1 ? factor(own) : own);
    }
    return count.empty() ? "1" : count;
}

std::vector<std::string> Elements::checks_of(size_t array, const Naturals& naturals) const {
    std::vector<std::string> checks, before;
    for (const Expr& extent : procedure_.arrays[array].shape)
        if (!naturals.contains(extent))
            checks.push_back("checked_extent(" + integer(extent, before) + ");");
    checks.insert(checks.begin(), before.begin(), before.end());
    return checks;
}

std::string Elements::run(const Run& run, std::vector<std::string>& before) const {
    const ArrayVariable& array = procedure_.arrays[static_cast<size_t>(run.array)];
    const bool is_given = array.role != ArrayVariable::Role::local && !array.grows;
    const bool is_pointer = is_given || has_fixed_size(array);
    const std::string first =
        arrays_[static_cast<size_t>(run.array)] + (is_pointer ? "" : ".data()");
    const std::string offset = place(run.array, run.index, before);
    return offset == "0" ? first : first + " + " + offset;
}

std::string Elements::dot(const Dot& dot, std::vector<std::string>& before) const {
    return text("dot_product(", run(dot.a, before), ", ", run(dot.b, before), ", ",
                integer(dot.count, before), ")");
}

std::string Elements::multiple(const Multiple& multiple, const std::string& factor,
                               const Expr& count, std::vector<std::string>& before) const {
    return text(multiple.adds ? "add_multiple(" : "set_multiple(", run(multiple.to, before), ", ",
                run(multiple.from, before), ", ", factor, ", ", integer(count, before), ")");
}

std::string Elements::extreme(const Extreme& extreme, std::vector<std::string>& before) const {
    const Run all{extreme.array, {ir::scalar::Expr::constant_integer(ir::DType::int64, 0)}};
    return text(extreme.is_largest ? "place_of_largest(" : "place_of_least(", run(all, before),
                ", ", integer(extreme.count, before), ")");
}

}  // namespace composit::c_family
