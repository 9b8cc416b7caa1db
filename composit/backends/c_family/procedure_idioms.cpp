// Recognising what has a short way to be said.
#include "composit/backends/c_family/procedure_idioms.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/structure.h"

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::is_positive_zero;
using ir::procedure::is_variable;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using ir::scalar::structurally_equal;
using Kind = Statement::Kind;

namespace {

// Whether the statement asserts that the variable is in order with another value.
bool asserts(const Block& block, size_t index, Op op, int variable, const Expr& other) {
    if (index >= block.size() || block[index].kind != Kind::expect) return false;
    const Expr& holds = block[index].values[0];
    return holds.op() == op && is_variable(holds.operand(0), variable) &&
           structurally_equal({holds.operand(1)}, {other});
}

}  // namespace

std::optional<PrintedIndex> index_at(const Block& block, size_t index) {
    const Statement& statement = block[index];
    if (statement.kind != Kind::assign) return {};
    const auto wrapped = ir::procedure::wrapped_index(statement.values[0]);
    if (!wrapped) return {};
    const int variable = statement.variable;
    const bool is_checked =
        asserts(block, index + 1, Op::greater_equal, variable, ir::procedure::integer(0)) &&
        asserts(block, index + 2, Op::less, variable, wrapped->extent);
    return PrintedIndex{wrapped->from, wrapped->extent, is_checked};
}

bool is_exchange_at(const Block& block, size_t index) {
    if (index + 1 >= block.size() || block[index].kind != Kind::load) return false;
    const Statement &load = block[index], &store = block[index + 1];
    return store.kind == Kind::store && store.array == load.array &&
           store.index.size() == load.index.size() && is_positive_zero(store.values[0]) &&
           is_floating(store.values[0].dtype()) && structurally_equal(store.index, load.index);
}

std::string assignment(const Statement& statement, const std::string& target,
                       const std::string& value, bool in_order) {
    const Expr& expr = statement.values[0];
    const bool is_own =
        expr.operands().size() == 2 && is_variable(expr.operand(0), statement.variable);
    if (in_order) {
        for (const std::string symbol : {"+", "-"})
            if (is_own && value.starts_with(target + " " + symbol + " "))
                return added_in_order(target, symbol, value.substr(target.size() + 3));
        return target + " = in_order(" + value + ");";
    }
    for (const std::string symbol : {"+", "-", "*", "/"})
        if (is_own && value.starts_with(target + " " + symbol + " "))
            return target + " " + symbol + "= " + value.substr(target.size() + 3) + ";";
    return target + " = " + value + ";";
}

std::string added_in_order(const std::string& place, const std::string& sign,
                           const std::string& term) {
    int depth = 0;
    size_t closed = 0;  // where what opens with the term closes
    for (size_t i = 0; i < term.size(); ++i) {
        depth += (term[i] == '(') - (term[i] == ')');
        if (depth == 0) break;
        closed = i + 1;
    }
    const bool is_in_parentheses = term[0] == '(' && closed + 1 == term.size();
    const std::string value = is_in_parentheses ? term.substr(1, term.size() - 2) : term;
    return (sign == "+" ? "add_in_order(" : "subtract_in_order(") + place + ", " + value + ");";
}

bool is_own_value(const Statement& statement) {
    return is_variable(statement.values[0], statement.variable);
}

std::string_view element_functions() {
    // Halves with literal places: a loop over more values than compilers unroll would be a copy of
    // memory, and the loop around it none of vectors.
    return R"(// Elements from the one that x points to on, which become values, or get them added.
template <class T>
struct Same {
    using type = T;
};
template <bool adds, int64_t begin, int64_t end, class T>
inline __attribute__((always_inline)) void change_elements(T* x, const T* values) {
    if constexpr (end - begin > 1) {
        change_elements<adds, begin, (begin + end) / 2>(x, values);
        change_elements<adds, (begin + end) / 2, end>(x, values);
    } else if constexpr (adds) {
        x[begin] += values[begin];
    } else {
        x[begin] = values[begin];
    }
}
template <class T, int64_t n>
inline __attribute__((always_inline)) void set_elements(
        T* x, const typename Same<T>::type (&values)[n]) {
    change_elements<false, 0, n>(x, values);
}
template <class T, int64_t n>
inline __attribute__((always_inline)) void add_elements(
        T* x, const typename Same<T>::type (&values)[n]) {
    change_elements<true, 0, n>(x, values);
}

)";
}

std::string_view vector_conversion() {
    return R"(// double(x). Where processors convert no vectors of such integers, both halves
// stand in the digits of a float as they are, and the last sum alone rounds.
#if defined(__AVX2__) && !defined(__AVX512DQ__)
static inline __attribute__((always_inline, const)) double vector_float64(int64_t x) {
    const uint64_t low = uint64_t(x) & 0xffffffffull, high = (uint64_t(x) >> 32) ^ 0x80000000ull;
    return bits_as<double>(high | 0x4530000000000000ull) - 19342822341709703277445120.0
            + bits_as<double>(low | 0x4330000000000000ull);
}
#else
static inline __attribute__((always_inline, const)) double vector_float64(int64_t x) {
    return double(x);
}
#endif

)";
}

std::string_view slope_functions() {
    return R"(// What a factor leaves of a slope that may be infinite: nothing where it is 0.
template <class T>
inline __attribute__((always_inline, const)) T unless_zero(T factor, T slope) {
    return factor == T() ? factor : slope;
}
template <class T>
inline __attribute__((always_inline, const)) T scaled_slope(T factor, T slope) {
    return unless_zero(factor, factor * slope);
}
template <class T, class... Slope>
inline __attribute__((always_inline, const)) T scaled_slope(T factor, T next, Slope... slope) {
    return scaled_slope(factor, scaled_slope(next, slope...));
}
template <class T>
inline __attribute__((always_inline, const)) T product_or_zero(T factor, T slope) {
    return unless_zero(slope, scaled_slope(factor, slope));
}

)";
}

std::string_view extreme_functions() {
    return R"(// x or y: y where neither is greater, and of a NaN.
template <class T>
inline __attribute__((always_inline, const)) T greater_of(T x, T y) {
    return x > y ? x : y;
}
template <class T>
inline __attribute__((always_inline, const)) T lesser_of(T x, T y) {
    return x < y ? x : y;
}

)";
}

std::string_view zero_choices() {
    return R"(// x, which is computed in any case, or 0.
template <class T>
inline __attribute__((always_inline, const)) T zero_unless(bool holds, T x) {
    return holds ? x : T();
}
template <class T>
inline __attribute__((always_inline, const)) T zero_if(bool holds, T x) {
    return holds ? T() : x;
}

)";
}

std::string_view rounded_addition() {
    return R"(// x += y of an x that is no product which compilers may fuse.
template <class T>
inline __attribute__((always_inline)) void add_to_rounded(T& x, T y) {
    x = rounded(x) + y;
}
template <class T>
inline __attribute__((always_inline)) void add_to_rounded_in_order(T& x, T y) {
    x = in_order(rounded(x) + y);
}

)";
}

std::string_view exchange_function() {
    return R"(// What x has, which is 0 then.
template <class T>
inline __attribute__((always_inline)) T taken(T& x) {
    const T had = x;
    x = T();
    return had;
}

)";
}

std::string_view functions_in_order() {
    return R"(// x += y and x -= y, as a sum in order.
template <class T>
inline __attribute__((always_inline)) void add_in_order(T& x, T y) {
    x = in_order(x + y);
}
template <class T>
inline __attribute__((always_inline)) void subtract_in_order(T& x, T y) {
    x = in_order(x - y);
}

)";
}

std::string power_slope_function(ir::DType dtype) {
    const std::string type = type_name(dtype);
    return text("// The derivative of x^n with respect to x: 0 where n is, even of infinity.\n",
                "[[maybe_unused]] inline __attribute__((always_inline, const)) ", type,
                " slope_of_power_", dtype, "(", type, " x, ", type, " n) {\n    const ", type,
                " slope = n * power_", dtype, "(x, n - 1);\n    return n == 0 ? 0 : slope;\n}\n",
                "// The same times g, unless either is 0.\n",
                "[[maybe_unused]] inline __attribute__((always_inline, const)) ", type,
                " power_slope(", type, " x, ", type, " n, ", type,
                " g) {\n    return product_or_zero(g, slope_of_power_", dtype, "(x, n));\n}\n\n");
}

std::string_view room_function() {
    return R"(// Memory for what loops are about to append, unless it is very much.
template <class T, class... Counts>
std::vector<T> room_for(Counts... counts) {
    double all = 1;
    for (const int64_t n : {int64_t(counts)...}) all *= n > 0 ? double(n) : 0;
    std::vector<T> x;
    if (all < 2e7) x.reserve(std::size_t(all));
    return x;
}

)";
}

std::string_view fetching_function() {
    return R"(// Elements so many bytes from x on, soon, to the first cache.
template <class T>
inline void fetch_ahead(const T* x, int64_t n, int64_t bytes) {
    constexpr int64_t line = 64 / int64_t(sizeof(T));
    for (int64_t i = line; i <= n; i += line)
        __builtin_prefetch(reinterpret_cast<const void*>(
            uintptr_t(x) + uintptr_t(bytes + (i - line) * int64_t(sizeof(T)))));
}

)";
}

std::string taking_functions(bool fetches) {
    const std::string to_end = fetches ? "    fetch_ahead(x.data() + x.size(), n, 4096);\n" : "";
    const std::string from_end = fetches ? "    fetch_ahead(from, n, -2048);\n" : "";
    return R"(// The last element, which x has no more then.
template <class T>
T take_last(std::vector<T>& x) {
    const T last = x.back();
    x.pop_back();
    return last;
}

// What is about to be overwritten, which the end of x keeps, or a place in a log.
template <class T>
inline T& logged(std::vector<T>& x, T& element) {
    x.push_back(element);
    return element;
}
template <class T>
inline __attribute__((always_inline)) T& logged(T& place, T& element) {
    place = element;
    return element;
}

// n more elements at the end, and the last n ones, which x has no more then.
template <class T>
inline T* add_row(std::vector<T>& x, int64_t n) {
    const std::size_t before = x.size();
    x.resize(before + std::size_t(n > 0 ? n : 0));
    return x.data() + before;
}
template <class T>
inline const T* take_row(std::vector<T>& x, int64_t n) {
    x.resize(x.size() - std::size_t(n > 0 ? n : 0));
    return x.data() + x.size();
}

// n elements of an array to the end of x, and from there back to where they were.
template <class T>
inline void add_run(std::vector<T>& x, const T* from, int64_t n) {
)" + to_end +
           R"(    if (n > 0) x.insert(x.end(), from, from + n);
}
template <class T>
inline void take_run(std::vector<T>& x, T* to, int64_t n) {
    const T* const from = take_row(x, n);
)" + from_end +
           R"(    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

)";
}

std::string array_functions(bool throws, bool has_vectors) {
    const std::string filling = R"(// Arrays and how many elements of each become 0.
template <class T>
void fill_zeros(T* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] = T();
}
)";
    const std::string filling_vectors = R"(template <class T>
void fill_zeros(std::vector<T>& x, int64_t n) {
    auto to = x.begin();
    for (const auto end = to + n; to != end; ++to) *to = T();
}
)";
    const std::string filling_several = R"(template <class Array, class... Others>
void fill_zeros(Array&& x, int64_t n, Others&&... others) {
    fill_zeros(x, n);
    fill_zeros(others...);
}

// Where element i of n is; negative ones count from the end.
[[maybe_unused]] inline int64_t wrapped_index(int64_t i, int64_t n) { return i < 0 ? i + n : i; }
)";
    const std::string throwing = R"([[maybe_unused]] inline int64_t checked_index(
        int64_t i, int64_t n, int line = __builtin_LINE()) {
    if (i < -n || i >= n) throw line;
    return wrapped_index(i, n);
}

// An extent of an array that is made.
[[maybe_unused]] inline int64_t checked_extent(int64_t n, int line = __builtin_LINE()) {
    if (n < 0) throw -line;
    return n;
}

)";
    const std::string asserting =
        R"([[maybe_unused]] inline int64_t checked_index(int64_t i, int64_t n) {
    assert(i >= -n && i < n);
    return wrapped_index(i, n);
}

// An extent of an array that is made.
[[maybe_unused]] inline int64_t checked_extent(int64_t n) {
    assert(n >= 0);
    return n;
}

)";
    return filling + (has_vectors ? filling_vectors : "") + filling_several +
           (throws ? throwing : asserting);
}

}  // namespace composit::c_family
