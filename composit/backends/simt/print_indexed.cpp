// Prints Gather and Scatter: integer indexing, with indices out of bounds reported.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/backends/simt/ordering.h"
#include "composit/base/text.h"

namespace composit::simt {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::Extents;
using ir::kernel::Gather;
using ir::kernel::Scatter;

Access over(const Access& access, size_t before, size_t behind) {
    Access result = access;
    result.strides.insert(result.strides.begin(), before, 0);
    result.strides.insert(result.strides.end(), behind, 0);
    return result;
}

// The number of an outer index, as the address of an access.
Access number_of_outer(const Extents& outer) {
    Access number;
    number.strides = ir::row_major_strides(outer);
    return number;
}

// Declares the place that the indices select, in elements; what is out of bounds is reported, and
// `otherwise` done.
template <class Indexed>
std::string print_selected(FunctionText& f, const Indexed& indexed,
                           const std::vector<Access>& indices, const std::string& number,
                           const std::vector<std::string>& at,
                           const std::vector<std::string>& otherwise) {
    const FunctionText::FaultNames fault = f.fault_parameters();
    std::string sum;
    for (size_t j = 0; j < indices.size(); ++j) {
        const int64_t length = indexed.axis_lengths[j];
        const std::string given = f.declare("int64_t", "given", f.element(indices[j], at));
        const std::string place = f.declare(
            "int64_t", "place", text(given, " < 0 ? ", given, " + ", length, " : ", given));
        f.code.open(text("if (", place, " < 0 || ", place, " >= ", length, ")"));
        f.code.add(text("report_fault(", fault.record, ", ", fault.launch, ", ", number, ", ", j,
                        ", ", given, ");"));
        for (const std::string& line : otherwise) f.code.add(line);
        f.code.close();
        const int64_t apart = indexed.axis_strides[j];
        sum += text(j == 0 ? "" : " + ", place, apart == 1 ? "" : text(" * ", apart));
    }
    return f.declare("int64_t", "selected", sum.empty() ? "0" : sum);
}

// The element `selected` places behind an access's.
std::string behind(FunctionText& f, const Access& access, const std::vector<std::string>& at,
                   const std::string& selected) {
    const std::string address = c_family::address_text(access, at);
    return text(f.pointer(access), "[", selected, address == "0" ? "" : " + " + address, "]");
}

// Outer indices that are compared with one another, which takes a device some 100 microseconds at
// most; more of them are sorted.
constexpr int64_t most_compared = 1 << 14;

// Adds and replacements whose destinations may be equal: for each outer index which of the later
// ones is the next with the same destination, then one thread for each destination and inner
// element, in the order of the outer indices.
class ScatterPrinter {
  public:
    ScatterPrinter(KernelText& kernel, const Scatter& scatter)
        : kernel_(kernel),
          scatter_(scatter),
          outer_(ir::element_count(scatter.outer)),
          inner_(ir::element_count(scatter.inner)),
          destinations_(kernel.scratch(outer_ * 8)),
          next_(kernel.scratch(outer_ * 8)),
          is_first_(kernel.scratch(outer_)) {}

    void print() {
        print_destinations();
        if (outer_ <= most_compared)
            print_comparisons();
        else
            print_sorted();
        print_updates();
    }

  private:
    std::string name(const char* part) const { return kernel_.name + part; }

    void print_destinations() {
        FunctionText f(kernel_, name("_destinations"));
        Extents outer = scatter_.outer;
        f.index_type(outer, scatter_.indices);
        const LoopNest nest = c_family::merge_loops({outer, scatter_.indices});
        const std::string o = f.thread_number(outer_, "o");
        const std::vector<std::string> at = f.unflatten(o, nest.extents, "jklmno");
        const std::string to = f.scratch_pointer("destinations", "int64_t", destinations_, true);
        const std::string selected = print_selected(
            f, scatter_, nest.accesses, o, at, {text(to, "[", o, "] = -1 - ", o, ";"), "return;"});
        f.code.add(text(to, "[", o, "] = ", selected, ";"));
        f.launch_over(outer_);
    }

    void print_comparisons() {
        FunctionText f(kernel_, name("_next"));
        f.index_type({outer_}, {});
        const std::string o = f.thread_number(outer_, "o");
        const std::string from = f.scratch_pointer("destinations", "int64_t", destinations_, false);
        const std::string next = f.scratch_pointer("next", "int64_t", next_, true);
        const std::string first = f.scratch_pointer("is_first", "uint8_t", is_first_, true);
        const std::string own = f.declare("int64_t", "own", text(from, "[", o, "]"));
        const std::string found = f.names.claim("found"), before = f.names.claim("before");
        const std::string k = f.names.claim("k");
        f.code.add(text("int ", found, " = -1, ", before, " = 0;"));
        f.code.open(text("for (int ", k, " = 0; ", k, " < ", outer_, "; ++", k, ")"));
        const std::string is_equal =
            f.declare("bool", "is_equal", text(from, "[", k, "] == ", own));
        f.code.add(text("if (", is_equal, " && ", k, " < ", o, ") ", before, " = 1;"));
        f.code.add(text("if (", is_equal, " && ", k, " > ", o, " && ", found, " < 0) ", found,
                        " = ", k, ";"));
        f.code.close();
        f.code.add(text(next, "[", o, "] = ", found, ";"));
        f.code.add(text(first, "[", o, "] = 1 - ", before, ";"));
        f.launch_over(outer_);
    }

    // The outer indices in the order of their destinations, then of their own.
    void print_sorted() {
        const int64_t order = kernel_.scratch(outer_ * 8), spare = kernel_.scratch(outer_ * 8);
        SortedRows sorted;
        sorted.length = outer_;
        sorted.key = [&](FunctionText& f, const std::string&, const std::string& position) {
            return text(f.scratch_pointer("destinations", "int64_t", destinations_, false), "[",
                        position, "]");
        };
        sorted.element = [&](FunctionText& f, bool is_spare, bool is_written, const std::string&,
                             const std::string& i) {
            return text(f.scratch_pointer(is_spare ? "spare" : "order", "int64_t",
                                          is_spare ? spare : order, is_written),
                        "[", i, "]");
        };
        print_sort(kernel_, sorted);
        FunctionText f(kernel_, name("_next"));
        f.index_type({outer_}, {});
        const std::string k = f.thread_number(outer_, "k");
        const std::string from = f.scratch_pointer("destinations", "int64_t", destinations_, false);
        const std::string places = f.scratch_pointer("order", "int64_t", order, false);
        const std::string next = f.scratch_pointer("next", "int64_t", next_, true);
        const std::string first = f.scratch_pointer("is_first", "uint8_t", is_first_, true);
        const std::string o = f.declare("int64_t", "o", text(places, "[", k, "]"));
        const std::string own = f.declare("int64_t", "own", text(from, "[", o, "]"));
        f.code.add(text(next, "[", o, "] = ", k, " + 1 < ", outer_, " && ", from, "[", places, "[",
                        k, " + 1]] == ", own, " ? ", places, "[", k, " + 1] : -1;"));
        f.code.add(text(first, "[", o, "] = ", k, " == 0 || ", from, "[", places, "[", k,
                        " - 1]] != ", own, ";"));
        f.launch_over(outer_);
    }

    void print_updates() {
        FunctionText f(kernel_, kernel_.name);
        const size_t outer_loops = scatter_.outer.size();
        // The inner loops in the order of the data's memory.
        LoopNest inner{scatter_.inner, {scatter_.data}};
        Access update = scatter_.update, outer_update = scatter_.update;
        const auto middle = static_cast<std::ptrdiff_t>(outer_loops);
        update.strides.erase(update.strides.begin(), update.strides.begin() + middle);
        outer_update.strides.resize(outer_loops);
        outer_update.offset = 0;
        inner.accesses.push_back(update);
        inner = c_family::sort_and_merge_loops(std::move(inner), 0);
        const LoopNest outer = c_family::merge_loops({scatter_.outer, {outer_update}});
        f.index_type({INT64_MAX}, {});
        const std::string number = f.thread_number(outer_ * inner_);
        const std::string from = f.scratch_pointer("destinations", "int64_t", destinations_, false);
        const std::string next = f.scratch_pointer("next", "int64_t", next_, false);
        const std::string first = f.scratch_pointer("is_first", "uint8_t", is_first_, false);
        const std::string o = f.names.claim("o");
        f.code.add(text("int64_t ", o, " = ", number, " / ", inner_, ";"));
        f.code.add(text("if (", first, "[", o, "] == 0 || ", from, "[", o, "] < 0) return;"));
        std::vector<std::string> at = {f.declare("element", text(number, " % ", inner_))};
        at = f.unflatten(at[0], inner.extents, "jklmno");
        const std::string type = c_family::combining_type(
            scatter_.add ? ir::kernel::Combiner::sum : ir::kernel::Combiner::maximum,
            scatter_.data.dtype);
        const std::string place = f.declare("int64_t", "to", text(from, "[", o, "]"));
        const std::string target = behind(f, inner.accesses[0], at, place);
        const std::string value = f.names.claim("value");
        f.code.add(text(type, " ", value, " = ", target, ";"));
        const std::string plus =  // of bools, which are 0 or 1
            scatter_.data.dtype == ir::DType::boolean ? " | " : " + ";
        const std::string sum_with = scatter_.add ? value + plus : "";
        f.code.open(text("for (; ", o, " >= 0; ", o, " = ", next, "[", o, "])"));
        const std::vector<std::string> rows = f.unflatten(o, outer.extents, "pqrstu");
        std::vector<std::string> all = at;
        Access moved = inner.accesses[1];
        all.insert(all.end(), rows.begin(), rows.end());
        moved.strides.insert(moved.strides.end(), outer.accesses[0].strides.begin(),
                             outer.accesses[0].strides.end());
        const std::string next_value = text("(", type, ")", f.element(moved, all));
        f.code.add(text(value, " = ", sum_with, next_value, ";"));
        f.code.close();
        f.code.add(text(target, " = ", value, ";"));
        f.launch_over(outer_ * inner_);
    }

    KernelText& kernel_;
    const Scatter& scatter_;
    int64_t outer_, inner_;
    int64_t destinations_, next_, is_first_;  // in scratch memory, of each outer index
};

void print_body(KernelText& kernel, const Gather& gather) {
    const size_t outer = gather.outer.size(), inner = gather.inner.size();
    // Behind the output and the data, the number of the outer index, and the indices.
    LoopNest nest{ir::kernel::concatenate({gather.outer, gather.inner}),
                  {gather.output, over(gather.data, outer, 0),
                   over(number_of_outer(gather.outer), 0, inner)}};
    for (const Access& index : gather.indices) nest.accesses.push_back(over(index, 0, inner));
    nest = c_family::sort_and_merge_loops(std::move(nest), 0);
    const int64_t count = ir::element_count(nest.extents);
    if (count == 0) return;
    FunctionText f(kernel, kernel.name);
    f.index_type(nest.extents, nest.accesses);
    const std::string element = f.thread_number(count);
    const std::vector<std::string> at = f.unflatten(element, nest.extents, "jklmno");
    const std::string selected =
        print_selected(f, gather, {nest.accesses.begin() + 3, nest.accesses.end()},
                       c_family::address_text(nest.accesses[2], at), at, {"return;"});
    f.code.add(text(f.element(nest.accesses[0], at), " = ",
                    behind(f, nest.accesses[1], at, selected), ";"));
    f.launch_over(count);
}

void print_body(KernelText& kernel, const Scatter& scatter) {
    if (ir::element_count(scatter.outer) == 0 || ir::element_count(scatter.inner) == 0) return;
    ScatterPrinter(kernel, scatter).print();
}

const bool prints_gather = printers().add<Gather, print_body>();
const bool prints_scatter = printers().add<Scatter, print_body>();

}  // namespace

}  // namespace composit::simt
