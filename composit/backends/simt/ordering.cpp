#include "composit/backends/simt/ordering.h"

#include "composit/base/text.h"

#include <algorithm>

namespace composit::simt {
namespace {

constexpr int64_t run_length = 8;  // of the first runs

std::string type_of_elements(const SortedRows& sorted) {
    return sorted.are_keys ? memory_type(sorted.dtype) : "int64_t";
}

// The row and the index in it of a thread.
struct PlaceInRow {
    std::string row, i;
};
PlaceInRow place_of_thread(FunctionText& f, int64_t rows, int64_t length) {
    f.index_type({rows, length}, {});
    const std::string number = f.thread_number(rows * length);
    if (rows == 1) return {"0", number};
    return {f.declare("row", text(number, " / ", length)),
            f.declare("place", text(number, " % ", length))};
}

// Insertion, in private memory.
void print_runs(KernelText& kernel, const SortedRows& sorted, bool into_spare) {
    FunctionText f(kernel, kernel.name + "_runs");
    const int64_t runs = (sorted.length + run_length - 1) / run_length;
    const PlaceInRow at = place_of_thread(f, sorted.rows, runs);
    if (sorted.rows * sorted.length > INT32_MAX / 2) f.index_type({INT64_MAX}, {});
    const std::string& index = f.index();
    const std::string begin = f.declare("begin", text("(", index, ")", at.i, " * ", run_length));
    const std::string count =
        f.declare("count", text(sorted.length, " - ", begin, " < ", run_length, " ? ",
                                sorted.length, " - ", begin, " : ", run_length));
    const std::string keys = f.names.claim("keys"), places = f.names.claim("places");
    const std::string i = f.names.claim("i"), j = f.names.claim("j");
    f.code.add(text(memory_type(sorted.dtype), " ", keys, "[", run_length, "];"));
    if (!sorted.are_keys) f.code.add(text(index, " ", places, "[", run_length, "];"));
    f.code.open(text("for (", index, " ", i, " = 0; ", i, " < ", count, "; ++", i, ")"));
    const std::string key = f.declare(memory_type(sorted.dtype), "key",
                                      sorted.key(f, at.row, text("(", begin, " + ", i, ")")));
    f.code.add(text(index, " ", j, " = ", i, ";"));
    const std::string before = text(keys, "[", j, " - 1]");
    f.code.open(
        text("for (; ", j, " > 0 && (", is_before(key, before, sorted.dtype), "); --", j, ")"));
    f.code.add(text(keys, "[", j, "] = ", before, ";"));
    if (!sorted.are_keys) f.code.add(text(places, "[", j, "] = ", places, "[", j, " - 1];"));
    f.code.close();
    f.code.add(text(keys, "[", j, "] = ", key, ";"));
    if (!sorted.are_keys) f.code.add(text(places, "[", j, "] = ", begin, " + ", i, ";"));
    f.code.close();
    f.code.open(text("for (", index, " ", i, " = 0; ", i, " < ", count, "; ++", i, ")"));
    f.code.add(text(sorted.element(f, into_spare, true, at.row, text("(", begin, " + ", i, ")")),
                    " = ", sorted.are_keys ? keys : places, "[", i, "];"));
    f.code.close();
    f.launch_over(sorted.rows * runs);
}

// Neighbouring runs of `width` become one: an element of the left one stands behind those of the
// right one that come before it, one of the right behind those of the left that it does not come
// before.
void print_merge(KernelText& kernel, const SortedRows& sorted, bool into_spare) {
    FunctionText f(kernel, kernel.name + "_merge");
    const PlaceInRow at = place_of_thread(f, sorted.rows, sorted.length);
    const std::string& index = f.index();
    const ir::DType dtype = sorted.dtype;
    const std::string width =
        f.declare("width", text("(", index, ")", f.number_parameter("length", 0)));
    const auto element = [&](const std::string& i) {
        return sorted.element(f, !into_spare, false, at.row, i);
    };
    const auto key_of = [&](const std::string& from) {
        return sorted.are_keys ? from : sorted.key(f, at.row, from);
    };
    const std::string begin =
        f.declare("begin", text(at.i, " / (2 * ", width, ") * (2 * ", width, ")"));
    const std::string is_left =
        f.declare("bool", "is_left", text(at.i, " - ", begin, " < ", width));
    const std::string own = f.declare(type_of_elements(sorted), "own", element(at.i));
    const std::string key = f.declare(memory_type(dtype), "key", key_of(own));
    const std::string length = text(sorted.length);
    const std::string first =
        f.declare("first", text(is_left, " ? (", begin, " + ", width, " < ", length, " ? ", begin,
                                " + ", width, " : ", length, ") : ", begin));
    const std::string low = f.names.claim("low"), high = f.names.claim("high");
    f.code.add(text(index, " ", low, " = ", first, ";"));
    f.code.add(text(index, " ", high, " = ", low, " + ", width, " < ", length, " ? ", low, " + ",
                    width, " : ", length, ";"));
    f.code.open(text("while (", low, " < ", high, ")"));
    const std::string middle = f.declare("middle", text(low, " + (", high, " - ", low, ") / 2"));
    const std::string from = f.declare(type_of_elements(sorted), "from", element(middle));
    const std::string other = f.declare(memory_type(dtype), "other", key_of(from));
    f.code.add(text("if (", is_left, " ? (", is_before(other, key, dtype), ") : !(",
                    is_before(key, other, dtype), "))"));
    f.code.add(text("    ", low, " = ", middle, " + 1;"));
    f.code.add("else");
    f.code.add(text("    ", high, " = ", middle, ";"));
    f.code.close();
    const std::string rank = f.declare("rank", text(low, " - ", first));
    const std::string to =
        f.declare("to", text(at.i, " + ", rank, " - (", is_left, " ? 0 : ", width, ")"));
    f.code.add(text(sorted.element(f, into_spare, true, at.row, to), " = ", own, ";"));
    f.launch_over(sorted.rows * sorted.length);
}

}  // namespace

void print_sort(KernelText& kernel, const SortedRows& sorted) {
    std::vector<int64_t> widths;
    for (int64_t width = run_length; width < sorted.length; width *= 2) widths.push_back(width);
    bool into_spare = widths.size() % 2 == 1;
    print_runs(kernel, sorted, into_spare);
    const auto functions = std::min<size_t>(widths.size(), 2);
    for (size_t k = 0; k < functions; ++k) {
        into_spare = !into_spare;
        print_merge(kernel, sorted, into_spare);
    }
    // The two functions by turns.
    std::vector<PrintedLaunch>& launches = kernel.printed.launches;
    const std::vector<PrintedLaunch> turns(launches.end() - static_cast<std::ptrdiff_t>(functions),
                                           launches.end());
    launches.resize(launches.size() - functions);
    for (size_t k = 0; k < widths.size(); ++k) {
        launches.push_back(turns[k % 2]);
        launches.back().numbers = {widths[k]};
    }
}

}  // namespace composit::simt
