// Which errors of floating point the table's functions report, where values alone do not say it.
#include "composit/ir/scalar/table.h"

#include <map>

namespace composit::ir::scalar {
namespace {

const std::map<std::string, Signals, std::less<>>& signals() {
    static const auto& table = *new std::map<std::string, Signals, std::less<>>{
        {"divide", {.poles = {{1, 0}}, .may_underflow = true}},
        {"floor_divide", {.poles = {{1, 0}}}},
        {"remainder", {.poles = {{1, 0}}}},
        {"fmod", {.poles = {{1, 0}}}},
        {"reciprocal", {.poles = {{0, 0}}, .may_underflow = true}},
        {"log", {.poles = {{0, 0}}, .only_at_poles = true}},
        {"log2", {.poles = {{0, 0}}, .only_at_poles = true}},
        {"log10", {.poles = {{0, 0}}, .only_at_poles = true}},
        {"log1p", {.poles = {{0, -1}}, .only_at_poles = true}},
        {"arctanh", {.poles = {{0, 1}, {0, -1}}, .only_at_poles = true}},
        {"power", {.poles = {{0, 0}}, .may_underflow = true}},
        {"float_power", {.poles = {{0, 0}}, .may_underflow = true}},
        {"cube", {.may_underflow = true, .reported_as = "power"}},
        {"fourth", {.may_underflow = true, .reported_as = "power"}},
        {"three_halves", {.may_underflow = true, .reported_as = "power"}},
        {"square", {.may_underflow = true}},
        {"multiply", {.may_underflow = true}},
        {"exp", {.may_underflow = true}},
        {"exp2", {.may_underflow = true}},
        {"ldexp", {.may_underflow = true}},
        {"hypot", {.may_underflow = true}},
        {"logaddexp", {.refuses_nan = true}},
        {"logaddexp2", {.refuses_nan = true}},
        {"deg2rad", {.may_underflow = true}},
        {"spacing", {.is_silent = true}},
        {"nextafter", {.is_silent = true}},
        {"divmod_quotient", {.poles = {{1, 0}}, .reported_as = "divmod"}},
        {"divmod_remainder", {.poles = {{1, 0}}, .reported_as = "divmod"}},
        {"frexp_mantissa", {.reported_as = "frexp"}},
        {"modf_fraction", {.reported_as = "modf"}},
    };
    return table;
}

}  // namespace

void add_signals(std::vector<Row>& rows) {
    for (Row& row : rows)
        if (const auto found = signals().find(row.name); found != signals().end())
            row.signals = found->second;
}

}  // namespace composit::ir::scalar
