#include "composit/backends/simt/loops.h"

#include "composit/base/text.h"

namespace composit::simt {
namespace {

constexpr int64_t lane_count = 32;

void add_lines(FunctionText& f, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) f.code.add(line);
}

std::string loop(const std::string& type, const std::string& index, std::string_view begin,
                 std::string_view end) {
    return text("for (", type, " ", index, " = ", begin, "; ", index, " < ", end, "; ++", index,
                ")");
}

// The states of `count` places, each with the one that many further, again and again until `last`
// places are left.
void print_halving_of_array(FunctionText& f, const Combining& c, const Combining::State& lanes,
                            int64_t count, int64_t last) {
    const std::string i = f.names.claim("i");
    for (int64_t half = count / 2; half >= last; half /= 2) {
        f.code.open(loop("int", i, "0", text(half)));
        add_lines(f, c.combine(Combining::at(lanes, text("[", i, "]")),
                               Combining::at(lanes, text("[", i, " + ", half, "]"))));
        f.code.close();
    }
}

Combining::State cleared_array(FunctionText& f, const Combining& c, int64_t count) {
    const Combining::State lanes = c.claim(f.names, "lanes");
    add_lines(f, c.declare_array(lanes, count));
    const std::string i = f.names.claim("i");
    f.code.open(loop("int", i, "0", text(count)));
    add_lines(f, c.clear(Combining::at(lanes, text("[", i, "]"))));
    f.code.close();
    return lanes;
}

}  // namespace

std::string open_share(FunctionText& f, int64_t count, int64_t at_a_time, const std::string& wish) {
    const std::string group = f.group();
    if (at_a_time == 1) return f.declare(wish, group);
    const std::string begin = f.declare("begin", text(group, " * ", at_a_time));
    std::string end = text(begin, " + ", at_a_time);
    if (count % at_a_time != 0)
        end = f.declare("end", text(end, " < ", count, " ? ", end, " : ", count));
    const std::string index = f.names.claim(wish);
    f.code.open(loop(f.index(), index, begin, end));
    return index;
}

void close_share(FunctionText& f, int64_t at_a_time) {
    if (at_a_time != 1) f.code.close();
}

void print_loops(FunctionText& f, const ir::kernel::Extents& extents, const std::string& letters,
                 const Body& body) {
    if (extents.empty()) {  // a block all the same: what `body` declares ends with it
        f.code.open(loop("int", f.names.claim("once"), "0", "1"));
        body({});
        return f.code.close();
    }
    std::vector<std::string> indices;
    for (size_t d = 0; d < extents.size(); ++d) {
        indices.push_back(f.names.claim(d < letters.size() ? std::string(1, letters[d])
                                                           : text(letters.back(), d)));
        f.code.open(loop(f.index(), indices.back(), "0", text(extents[d])));
    }
    body(indices);
    for (size_t d = 0; d < extents.size(); ++d) f.code.close();
}

Combining::State print_lanes(FunctionText& f, const Combining& c, const std::string& begin,
                             const std::string& end, int64_t length, const AddElement& add) {
    const Combining::State lanes = cleared_array(f, c, lane_count);
    const std::string first = f.names.claim("first"), lane = f.names.claim("lane"),
                      step = f.names.claim("step"), e = f.names.claim("e");
    const Combining::State own = Combining::at(lanes, text("[", lane, "]"));
    // Compilers keep the array in memory: a lane is loaded and stored once for several elements.
    constexpr int64_t steps = 8;
    const auto print_steps = [&](int64_t count) {
        f.code.open(text("for (; ", first, " + ", count * lane_count, " <= ", end, "; ", first,
                         " += ", count * lane_count, ")"));
        f.code.open(loop("int", lane, "0", text(lane_count)));
        if (count > 1) {
            f.code.add("#pragma unroll");
            f.code.open(loop("int", step, "0", text(count)));
        }
        f.code.add(text("const ", f.index(), " ", e, " = ", first, " + ", lane,
                        count > 1 ? text(" + ", step, " * ", lane_count) : "", ";"));
        add(own, e);
        if (count > 1) f.code.close();
        f.code.close();
        f.code.close();
    };
    const bool is_known = length >= 0;
    f.code.add(text(f.index(), " ", first, " = ", begin, ";"));
    if (!is_known || length >= steps * lane_count) print_steps(steps);
    if (!is_known || length % (steps * lane_count) >= lane_count) print_steps(1);
    if (!is_known || length % lane_count != 0) {
        f.code.open(loop(f.index(), e, first, end));
        add(Combining::at(lanes, text("[", e, " - ", first, "]")), e);
        f.code.close();
    }
    print_halving_of_array(f, c, lanes, lane_count, 1);
    return Combining::at(lanes, "[0]");
}

Combining::State print_lanes_of_columns(FunctionText& f, const Combining& c,
                                        const std::string& begin, const std::string& end,
                                        int64_t stride, const std::string& width,
                                        const AddOfColumn& add) {
    const Combining::State lanes = cleared_array(f, c, lane_count * stride);
    const std::string e = f.names.claim("e"), column = f.names.claim("c"),
                      lane = f.names.claim("lane");
    f.code.open(loop(f.index(), e, begin, end));
    f.code.add(text("const int ", lane, " = (int)((", e, " - ", begin, ") % ", lane_count, ") * ",
                    stride, ";"));
    f.code.open(loop("int", column, "0", width));
    add(Combining::at(lanes, text("[", lane, " + ", column, "]")), e, column);
    f.code.close();
    f.code.close();
    print_halving_of_array(f, c, lanes, lane_count * stride, stride);
    return lanes;
}

}  // namespace composit::simt
