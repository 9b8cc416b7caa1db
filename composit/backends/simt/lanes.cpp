#include "composit/backends/simt/lanes.h"

#include "composit/base/text.h"

namespace composit::simt {

bool needs_shared(const Dialect& dialect, const std::string& apart) {
    return !dialect.has_warps || !apart.empty();
}

void print_halving(FunctionText& f, const Combining& c, const Combining::State& state,
                   const std::string& thread, const std::string& lane, const std::string& apart,
                   int64_t first, const Combining::State& shared) {
    const auto add = [&f](const std::vector<std::string>& lines) {
        for (const std::string& line : lines) f.code.add(line);
    };
    const std::string half = f.names.claim("half");
    const std::string header =
        text("for (int ", half, " = ", first, "; ", half, " > 0; ", half, " /= 2)");
    if (!needs_shared(f.dialect(), apart)) {
        const Combining::State below = c.claim(f.names, "below");
        f.code.add("#pragma unroll");
        f.code.open(header);
        f.code.add(text("const ", c.type(), " ", below.value, " = lane_below(", state.value, ", ",
                        half, ");"));
        if (c.finds_position())
            f.code.add(text("const ", c.position_type(), " ", below.position, " = lane_below(",
                            state.position, ", ", half, ");"));
        add(c.combine(state, below));
        f.code.close();
        return;
    }
    const Combining::State own = Combining::at(shared, "[" + thread + "]");
    add(c.assign(own, state));
    f.code.open(header);
    f.code.add(std::string(f.dialect().barrier));
    f.code.open(text("if (", lane, " < ", half, ")"));
    add(c.combine(own, Combining::at(shared, text("[", thread, " + ", half, apart, "]"))));
    f.code.close();
    f.code.close();
    add(c.assign(state, own));
}

}  // namespace composit::simt
