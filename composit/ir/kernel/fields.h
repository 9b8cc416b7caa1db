// The fields of each kind of kernel, its text and its work, said once. What reads the fields,
// writes them, loops over them, hashes them, prints them, estimates their time, cuts them into
// parts of a Fused, shows them in Python and lists them in the docs follows from here.
//
// describe(kernel, visitor) calls, in this order and with each field's name:
//
//   loops(name, extents, role)            then, of the loops that it moves along, outermost first:
//   reads(name, access, loops…)           an Access or several of them
//   reads_again(name, access, times, loops…)   the whole of the loops so often
//   updates(name, access, times, loops…)  read and written
//   writes(name, access, loops…)
//   values(name, expressions, loops…)     scalar bodies over the elements of `inputs`; or one
//   says(name, value)                     anything else that decides what is computed
//
// form(kernel) is its text, for print: `{rows m, columns n}` are loops with the letters of their
// indices (`ijk`: i, j, k, …), `{left}` is an access or an expression. A line with a field of
// several elements stands once for each. Kinds whose text depends on more are printed by print.cpp.
//
// work(kernel) is what it does beside computing its values.
//
// Fused, Repeat and Foreign hold kernels, or operands of a library, and are not described.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cmath>
#include <concepts>
#include <string_view>
#include <type_traits>

namespace composit::ir::kernel {

// outer: each index has a part of the output of its own, and some indices alone are a kernel of the
// same kind, such as a member of a Fused. inner: not so. Both may be cut into a loop of loops, in
// the same order. fixed: neither. outer_but_last: outer loops and a fixed one.
enum class LoopRole : uint8_t { outer, inner, fixed, outer_but_last };

// Counts, for estimates of time.
struct Work {
    double combined = 0;  // elements that are joined to others: by sums, by maxima
    double products = 0;  // multiplications and additions of matrix products
    double placed = 0;    // elements found by an index, or only after the one before
    double compared = 0;  // comparisons whose outcome nothing foretells
};
template <class Kind>
Work work(const Kind&) {
    return {};
}

inline double count_of(const Extents& extents) {
    return static_cast<double>(element_count(extents));
}
inline double halvings(double length) { return std::log2(length + 2); }

// Whether it is one or several, as several.
template <class T>
std::vector<T> several(const T& one) {
    return {one};
}
template <class T>
const std::vector<T>& several(const std::vector<T>& all) {
    return all;
}

template <class Given, class Kind>
concept Is = std::same_as<std::remove_const_t<Given>, Kind>;

template <Is<Map> K, class V>
void describe(K& k, V&& v) {
    v.loops("extents", k.extents, LoopRole::outer);
    v.reads("inputs", k.inputs, k.extents);
    v.values("values", k.values, k.extents);
    v.writes("outputs", k.outputs, k.extents);
}
inline std::string_view form(const Map&) { return "{extents ijk}:\n{outputs} = {values}"; }

template <Is<Reduce> K, class V>
void describe(K& k, V&& v) {
    v.loops("kept", k.kept, LoopRole::outer);
    v.loops("reduced", k.reduced, LoopRole::inner);
    v.reads("inputs", k.inputs, k.kept, k.reduced);
    v.values("value", k.value, k.kept, k.reduced);
    v.says("combiner", k.combiner);
    v.writes("output", k.output, k.kept);
}
inline std::string_view form(const Reduce&) {
    return "{kept i}:\n{output} = {combiner} {reduced r} of {value}";
}
inline Work work(const Reduce& k) { return {.combined = count_of(k.kept) * count_of(k.reduced)}; }

template <Is<Scan> K, class V>
void describe(K& k, V&& v) {
    v.loops("extents", k.extents, LoopRole::outer_but_last);
    v.reads("inputs", k.inputs, k.extents);
    v.values("value", k.value, k.extents);
    v.says("combiner", k.combiner);
    v.writes("output", k.output, k.extents);
}
inline std::string_view form(const Scan&) {
    return "{extents ijk}:\n{output} = running {combiner} of {value}";
}
inline Work work(const Scan& k) {
    return {.combined = count_of(k.extents), .placed = count_of(k.extents)};
}

template <Is<Contract> K, class V>
void describe(K& k, V&& v) {
    const bool is_packed = k.left_is_packed || k.right_is_packed;
    v.loops("batch", k.batch, is_packed ? LoopRole::fixed : LoopRole::outer);
    v.loops("rows", k.rows, is_packed ? LoopRole::fixed : LoopRole::outer);
    v.loops("depth", k.depth, LoopRole::inner);
    v.loops("columns", k.columns, LoopRole::inner);
    v.reads("left", k.left, k.batch, k.rows, k.depth);
    v.reads("right", k.right, k.batch, k.depth, k.columns);
    v.reads("finish.inputs", k.finish.inputs, k.batch, k.rows, k.columns);
    v.values("finish.values", k.finish.values, k.batch, k.rows, k.columns);
    v.says("left_is_packed", k.left_is_packed);
    v.says("right_is_packed", k.right_is_packed);
    v.writes("output", k.output, k.batch, k.rows, k.columns);
    v.writes("finish.outputs", k.finish.outputs, k.batch, k.rows, k.columns);
}
inline Work work(const Contract& k) {
    return {.products =
                2 * count_of(k.batch) * count_of(k.rows) * count_of(k.columns) * count_of(k.depth)};
}

template <Is<Gather> K, class V>
void describe(K& k, V&& v) {
    v.loops("outer", k.outer, LoopRole::inner);
    v.loops("inner", k.inner, LoopRole::inner);
    v.reads_again("data", k.data, k.outer, k.inner);
    v.reads("indices", k.indices, k.outer);
    v.says("axis_strides", k.axis_strides);
    v.says("axis_lengths", k.axis_lengths);
    v.says("axis_numbers", k.axis_numbers);
    v.writes("output", k.output, k.outer, k.inner);
}
inline Work work(const Gather& k) { return {.placed = count_of(k.outer)}; }

template <Is<Scatter> K, class V>
void describe(K& k, V&& v) {
    v.loops("outer", k.outer, LoopRole::inner);
    v.loops("inner", k.inner, LoopRole::inner);
    v.reads("update", k.update, k.outer, k.inner);
    v.reads("indices", k.indices, k.outer);
    v.says("axis_strides", k.axis_strides);
    v.says("axis_lengths", k.axis_lengths);
    v.says("axis_numbers", k.axis_numbers);
    v.says("add", k.add);
    v.updates("data", k.data, k.outer, k.inner);
}
inline Work work(const Scatter& k) {
    return {.combined = k.add ? count_of(k.outer) * count_of(k.inner) : 0,
            .placed = count_of(k.outer)};
}

template <Is<Fold> K, class V>
void describe(K& k, V&& v) {
    v.loops("outer", k.outer, LoopRole::outer);
    v.loops("positions", k.positions, LoopRole::fixed);
    v.loops("counts", k.counts, LoopRole::fixed);
    v.loops("window", k.window, LoopRole::fixed);
    v.says("steps", k.steps);
    v.says("dilations", k.dilations);
    v.reads("input", k.input, k.outer, k.counts, k.window);
    v.writes("output", k.output, k.outer, k.positions);
}
inline Work work(const Fold& k) {
    const double count = count_of(k.outer) * count_of(k.counts) * count_of(k.window);
    return {.combined = count, .placed = count};
}

template <Is<Sort> K, class V>
void describe(K& k, V&& v) {
    v.loops("extents", k.extents, LoopRole::outer_but_last);
    v.reads("input", k.input, k.extents);
    v.says("gives_values", k.gives_values);
    v.writes("output", k.output, k.extents);
    v.writes("spare", k.spare, k.extents);
}
inline std::string_view form(const Sort& k) {
    return k.gives_values
               ? "{extents i} in the order of {input}:\n{output} = that element"
               : "{extents i} in the order of {input}:\n{output} = position along the last loop";
}
inline Work work(const Sort& k) {
    const auto row = k.extents.empty() ? 1 : static_cast<double>(k.extents.back());
    return {.compared = count_of(k.extents) * halvings(row)};
}

template <Is<Search> K, class V>
void describe(K& k, V&& v) {
    v.loops("extents", k.extents, LoopRole::outer);
    v.loops("row", k.row, LoopRole::fixed);
    v.reads("sorted", k.sorted, k.extents, k.row);
    v.reads("values", k.values, k.extents);
    v.says("is_right", k.is_right);
    v.writes("output", k.output, k.extents);
}
inline std::string_view form(const Search& k) {
    return k.is_right
               ? "{extents i}:\n{output} = count {row j} where {sorted} is not behind {values}"
               : "{extents i}:\n{output} = count {row j} where {sorted} is before {values}";
}
inline Work work(const Search& k) {
    return {.compared = count_of(k.extents) * halvings(count_of(k.row))};
}

// The panels that a Pack writes, and their depth: tiles of a right operand have up to 32 columns,
// the last one of rows has at most three too many.
inline Extents panels_of(const Pack& pack) {
    const int64_t count = element_count(pack.across);
    const int64_t width = pack.panel_width > 0 ? pack.panel_width : 64;
    return {pack.is_left && pack.panel_width == 0 ? count + 3 : (count + width - 1) / width * width,
            element_count(pack.depth)};
}

// The buffer that it writes: of a constant, memory that belongs to the constant.
inline Buffer buffer_of_copy(const Pack& pack, std::string name) {
    Buffer to;
    to.name = std::move(name);
    to.kind = pack.is_of_constant ? BufferKind::packed : BufferKind::temporary;
    to.dtype = pack.from.dtype;
    to.shape = panels_of(pack);
    to.bytes = element_count(to.shape) * size_of(to.dtype);
    return to;
}

template <Is<Pack> K, class V>
void describe(K& k, V&& v) {
    v.loops("across", k.across, LoopRole::fixed);
    v.loops("depth", k.depth, LoopRole::fixed);
    v.says("is_left", k.is_left);
    v.says("is_of_constant", k.is_of_constant);
    v.says("panel_width", k.panel_width);
    v.reads("from", k.from, k.across, k.depth);
    v.writes("to", k.to, panels_of(k));
}
inline Work work(const Pack& k) { return {.placed = count_of(k.across) * count_of(k.depth)}; }

template <Is<DecodedContract> K, class V>
void describe(K& k, V&& v) {
    v.loops("rows", k.rows, LoopRole::fixed);
    v.loops("depth", k.depth, LoopRole::fixed);
    v.loops("columns", k.columns, LoopRole::fixed);
    v.says("last_columns", k.last_columns);
    v.says("is_packed", k.is_packed);
    v.reads("left", k.left, k.rows, k.depth);
    v.reads("inputs", k.inputs, k.depth, k.columns);
    v.values("value", k.value, k.depth, k.columns);
    v.writes("output", k.output, k.rows, k.columns);
}
inline std::string_view form(const DecodedContract&) {
    return "{rows m, columns n}:\n{output} = sum {depth k} of {left} * {value}";
}
inline Work work(const DecodedContract& k) {
    return {.products = 2 * count_of(k.rows) * count_of(k.columns) * count_of(k.depth)};
}

template <Is<ByteContract> K, class V>
void describe(K& k, V&& v) {
    v.loops("batch", k.batch, LoopRole::fixed);
    v.loops("rows", k.rows, LoopRole::fixed);
    v.loops("depth", k.depth, LoopRole::fixed);
    v.loops("columns", k.columns, LoopRole::fixed);
    v.reads("left", k.left, k.batch, k.rows, k.depth);
    v.reads("right", k.right, k.batch, k.depth, k.columns);
    v.reads("finish.inputs", k.finish.inputs, k.batch, k.rows, k.columns);
    v.values("finish.values", k.finish.values, k.batch, k.rows, k.columns);
    v.says("left_is_packed", k.left_is_packed);
    v.says("right_is_packed", k.right_is_packed);
    v.writes("output", k.output, k.batch, k.rows, k.columns);
    v.writes("finish.outputs", k.finish.outputs, k.batch, k.rows, k.columns);
}
inline Work work(const ByteContract& k) {
    return {.products =
                2 * count_of(k.batch) * count_of(k.rows) * count_of(k.columns) * count_of(k.depth)};
}

template <Is<Call> K, class V>
void describe(K& k, V&& v) {
    v.loops("batch", k.batch, LoopRole::fixed);
    v.says("procedure", k.procedure);
    for (auto& input : k.inputs) {
        v.loops("extents", input.extents, LoopRole::fixed);
        v.reads("inputs", input.access, k.batch, input.extents);
    }
    for (auto& output : k.outputs) {
        v.loops("extents", output.extents, LoopRole::fixed);
        v.writes("outputs", output.access, k.batch, output.extents);
    }
}

// Accepts what describe says and ignores it: a visitor of some fields derives from it.
struct NoFields {
    template <class... Rest>
    void loops(const Rest&...) {}
    template <class... Rest>
    void reads(const Rest&...) {}
    template <class... Rest>
    void writes(const Rest&...) {}
    template <class... Rest>
    void values(const Rest&...) {}
    template <class... Rest>
    void says(const Rest&...) {}
    template <class... Rest>
    void reads_again(const Rest&...) {}
    template <class... Rest>
    void updates(const Rest&...) {}
};

template <class Kind>
concept IsDescribed = requires(Kind& kind, NoFields& visitor) { describe(kind, visitor); };

// All kinds with their fields, in Markdown.
std::string kinds_table();

}  // namespace composit::ir::kernel
