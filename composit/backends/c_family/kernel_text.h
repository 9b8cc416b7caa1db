// What the printers of the kinds of kernels share: lines, parameters, names and scalar bodies.
#pragma once

#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/kernel_printer.h"
#include "composit/backends/c_family/scalar_spelling.h"
#include "composit/ir/kernel/by_kind.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace composit::c_family {

// Lines of code with indentation.
class Lines {
  public:
    void add(const std::string& line);
    void open(const std::string& header);     // header + " {"
    void close(const std::string& end = "");  // "}" + end
    // Loops one inside the other, of which the innermost alone needs braces; and their end.
    void open_nest(const std::vector<std::string>& headers);
    void close_nest(size_t count);
    // `headers` one inside the other around `body`: with braces only where they are needed.
    void nest(const std::vector<std::string>& headers, const std::vector<std::string>& body);
    const std::vector<std::string>& lines() const { return lines_; }

  private:
    std::vector<std::string> lines_;
    int depth_ = 1;
};

// A value that an expression reads: a name for it, and how it is written.
struct ValueRead {
    std::string wish, text;
    ir::DType dtype;
    bool may_change = true;  // when a result is stored
};
// Statements that compute `values`, the texts of the results, and the names of the block around.
struct ComputedValues {
    std::vector<std::string> lines, results;
    Names names;
};
// `values` over argument(k) = read[k], in a block of a scope with these names.
ComputedValues compute_values(const std::vector<ir::scalar::Expr>& values,
                              const std::vector<ValueRead>& read, const Names& names,
                              const ScalarSpelling& spelling);

// A kernel's function while it is printed.
class KernelText {
  public:
    KernelText(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program,
               const Names& file_names);

    Lines code;
    Names names;            // of the function's scope
    PrintedKernel printed;  // the kinds' printers fill in tasks, scratch_bytes, can_fault, prelude
    const PrintedKernel* finish = nullptr;  // of a product: the function that print_finish made

    // The pointer that an access starts from.
    const std::string& pointer(const ir::kernel::Access& access) const;
    // "x[i * 8 + j]", or the address itself for positions.
    std::string element(const ir::kernel::Access& access,
                        const std::vector<std::string>& indices) const;
    // "x + i * 8", as a pointer to `type`, which is of the same size as the elements.
    std::string place(const ir::kernel::Access& access, const std::vector<std::string>& indices,
                      const std::string& type, bool is_written) const;

    std::vector<std::string> claim_indices(size_t count, const std::string& letters);

    // `values` of the inputs' elements. The first argument may be something else, in front of them.
    ComputedValues compute(const std::vector<ir::scalar::Expr>& values,
                           const std::vector<ir::kernel::Access>& inputs,
                           const std::vector<std::string>& indices,
                           const std::optional<ValueRead>& first = {});

    // An array of constants; returns its name, or "nullptr" when it is empty.
    std::string constants(const std::string& name, const std::vector<int64_t>& values);
    // The same as an initialiser of the prelude's Loops: "{2, rows}".
    std::string loops(const std::string& name, const ir::kernel::Extents& extents);
};

// "a < b || (b != b && a == a)": whether a comes before b. Names or what binds as tightly.
std::string is_before(const std::string& a, const std::string& b, ir::DType dtype);

// The pointers that the kernel's function takes, yet without names; what is read comes first.
std::vector<Parameter> parameters_of(const ir::kernel::Kernel& kernel,
                                     const ir::kernel::Program& program);

// "for (int64_t i = 0; i < 8; ++i)"
std::string loop_header(const std::string& index, int64_t extent);
// One header per loop; loop `split` runs from begin to end.
std::vector<std::string> loop_headers(const std::vector<std::string>& indices,
                                      const ir::kernel::Extents& extents, int split);

// The first element of an access, for tables of loops that take its strides apart.
inline ir::kernel::Access start_of(ir::kernel::Access access) {
    access.strides.clear();
    return access;
}

// Which loop to share out among threads; -1 when `work` (element operations) is too little for
// that.
int choose_split(const ir::kernel::Extents& extents, double work);

// The type in which elements are combined: integers wrap in their unsigned twins for sums and
// products, bool is a byte.
std::string combining_type(ir::kernel::Combiner combiner, ir::DType dtype);

// "static void f(a, b, c) {", its parameters in as many lines as they need.
std::string signature(const std::string& start, const std::vector<std::string>& parameters);
// "const float* __restrict x", without the name where `body` does not use it.
std::string parameter_text(const Parameter& parameter, const std::vector<std::string>& body);
// Whether any line has `word` as a word of its own.
bool uses(const std::vector<std::string>& lines, const std::string& word);

// Operations that wait for one another longer than a processor looks ahead: vectors go through them
// by turns.
inline constexpr int long_chain = 12;

// The four groups of a contraction's loops, each merged: accesses of batch are left, right, output;
// of rows left, output; of columns right, output; of depth left, right. Behind the output come the
// finish's inputs and outputs.
struct ContractGroups {
    LoopNest batch, rows, columns, depth;

    explicit ContractGroups(const ir::kernel::Contract& contract);
    int64_t batch_count() const { return ir::element_count(batch.extents); }
    int64_t row_count() const { return ir::element_count(rows.extents); }
    int64_t column_count() const { return ir::element_count(columns.extents); }
};
// Parts of a contraction's output begin at multiples of so many rows or columns: whole register
// tiles of any CPU.
inline constexpr int64_t rows_per_task = 12, columns_per_task = 32;

// Declares the prelude's description of a product, a `type` that begins as Contraction does, and
// its finish. Returns its name.
std::string declare_product(KernelText& text, const ir::kernel::Product& product,
                            const ContractGroups& groups, const std::string& type);
// Which side of a product is shared out among threads.
enum class ProductSplit { none, rows, columns };
// "contract_bytes(product, {b, b + 1, first, last, 0, 10}, scratch);", of the bounds of a part.
using ProductCall =
    std::function<std::string(const std::vector<std::string>& bounds, ProductSplit split)>;
// Keeps the names that print_product_parts uses free of others.
void reserve_names_of_parts(KernelText& text);
// Prints calls of a product's parts, for threads where it is large. `together`: how many rows, or
// columns, one call should have.
void print_product_parts(KernelText& text, const ContractGroups& groups, double work,
                         const ProductCall& call,
                         const std::function<int64_t(ProductSplit)>& together);
// So many rows or columns repay a copy of what the other side holds.
inline constexpr int64_t length_worth_a_copy = 1024;

// The name of a contraction's ProductReading; "" for loops that are written out.
std::string product_template(const ir::kernel::Contract& contract);

// Whether a function is called that finishes a few sums; other sums are finished where they are
// written.
bool is_finished_in_tiles(const ir::kernel::Product& product);
PrintedKernel print_finish(const ir::kernel::Product& product, const std::string& function,
                           const ir::kernel::Program& program, const Names& file_names);
// Declares the prelude's Finish that calls it; returns its name, or "" where there is none.
std::string declare_finish(KernelText& text, const ir::kernel::Product& product);

// What prints the body of each kind, in kernel_printer_<kind>.cpp. Products and a Fused consist of
// functions of their own, whose texts come before: that of print_finish, or none; those of the
// members.
using Printers = ir::kernel::ByKind<void, KernelText&>;
Printers& printers();
void print_fused(KernelText& text, const ir::kernel::Fused& fused,
                 const ir::kernel::Program& program, const std::vector<PrintedKernel>& members);

}  // namespace composit::c_family
