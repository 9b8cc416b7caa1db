// Groups kernels into modules and writes down, once each, what their functions use.
#include "composit/backends/c_family/kernel_module.h"

#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/prelude.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/hash.h"
#include "composit/base/text.h"
#include "composit/version.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace composit::c_family {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::scalar::Expr;

constexpr size_t graph_lines = 40;

// Loops of which compilers may assume that no iteration needs another, though pointers may be
// equal.
constexpr std::string_view any_order_macro = R"macro(#if defined(__clang__)
#define COMPOSIT_ANY_ORDER _Pragma("clang loop vectorize(assume_safety)")
#else
#define COMPOSIT_ANY_ORDER _Pragma("GCC ivdep")
#endif
)macro";

// Functions whose loops are to become vectors, and loops of long chains of operations: several
// vectors go through them by turns, so that none waits long for the operation before. g++ makes
// branches of choices, which no vector can follow, when it threads jumps or looks for partial
// redundancies, and orders instructions freely only before registers are given out.
constexpr std::string_view in_vectors_macros = R"macro(#if defined(__clang__)
#define COMPOSIT_IN_VECTORS
#define COMPOSIT_IN_TURNS _Pragma("clang loop interleave_count(4)")
#else
#define COMPOSIT_IN_VECTORS \
    __attribute__((optimize("no-thread-jumps,no-tree-pre,schedule-insns,sched-pressure")))
#define COMPOSIT_IN_TURNS _Pragma("GCC unroll 2")
#endif
)macro";

// The names that no kernel's function or parameter may take: those of all preludes.
const std::set<std::string>& prelude_names() {
    static const std::set<std::string>& names = *new std::set<std::string>([] {
        std::set<std::string> all = declared_names(scalar_prelude());
        for (const std::string& file : prelude_files())
            all.merge(declared_names(prelude_text(file)));
        for (std::string& name : reading_names()) all.insert(std::move(name));
        all.insert("Fault");
        all.insert("Entry");
        return all;
    }());
    return names;
}

// Equal for kernels that one function serves: the same work on the same pattern of shared memory.
uint64_t sharing_key(const Kernel& kernel, const std::vector<Parameter>& parameters) {
    uint64_t key = ir::kernel::structural_hash(kernel);
    for (const Parameter& parameter : parameters)
        key = hash_combine(key, parameter.buffers.size() * 2 + (parameter.may_overlap ? 1 : 0));
    return key;
}

// Kernels that are to be printed, each for one of the programs that it is of.
struct Draft {
    std::vector<const Kernel*> kernels;
    std::vector<const Program*> programs;
};

std::vector<Expr> values_of(const Draft& draft) {
    std::vector<Expr> values;
    for (const Kernel* kernel : draft.kernels)
        for (const Expr& value : ir::kernel::bodies(*kernel)) values.push_back(value);
    return values;
}

// With `loops`, the files of the prelude that loops need which ask if they are to end.
std::string scalar_text(const std::vector<Expr>& values, const std::vector<std::string>& loops) {
    if (values.empty()) return "";
    std::string text = zeros_pragma(values);
    text += scalar_prelude();
    text += print_tables(values);
    for (const std::string& file : loops) (text += prelude_text(file)) += "\n";
    const LoopQuestion question = loops.empty() ? LoopQuestion::none : LoopQuestion::ending;
    for (const auto* specialisation : functions_used(values))
        text += "\n" + print_function(*specialisation, question);
    return text + "\n";
}

// Whether what is in this file of the prelude is compiled with composit, too.
bool is_ready(const std::string& file) {
    return file == "contract.h" || file == "contract_pack.h" || file == "contract_bytes.h";
}
constexpr const char* ready_file = "contract_ready.h";

// Without the files of the prelude that are `there`.
std::string prelude_text_for(const std::vector<PrintedKernel>& functions,
                             const ModuleOptions& options, const std::vector<std::string>& there) {
    std::vector<std::string> files;
    bool is_any_order = false, needs_vectors = false;
    for (const PrintedKernel& function : functions) {
        files.insert(files.end(), function.prelude.begin(), function.prelude.end());
        is_any_order |= function.is_any_order;
        needs_vectors |= function.needs_vectors;
    }
    if (options.has_ready_products)
        std::replace_if(files.begin(), files.end(), is_ready, ready_file);
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    std::string text;
    bool is_product = false;
    for (const std::string& file : prelude_dependencies(files)) {
        if (std::find(there.begin(), there.end(), file) != there.end()) continue;
        if (is_product != (file.rfind("contract", 0) == 0)) {
            is_product = !is_product;
            text += is_product ? options.products.begin : options.products.end;
        }
        text += prelude_text(file);
        text += "\n";
    }
    if (is_product) text += options.products.end;
    if (is_any_order) text += any_order_macro;
    if (needs_vectors) text += in_vectors_macros;
    return text;
}

// "using PackLeft = Reading<true, false, false, Counts<8, 16>, Counts<0>, false>;": each way of
// reading with the numbers of rows and columns of all products that use it, if it is compiled.
std::string text_of_readings(const std::vector<PrintedKernel>& functions, bool is_compiled) {
    struct Products {
        std::string ways;
        std::set<int64_t> rows, columns;
        bool is_whole = false;
    };
    std::map<std::string, Products> readings;
    for (const PrintedKernel& function : functions)
        for (const ProductReading& reading : function.readings) {
            Products& products = readings[reading.name];
            products.ways = reading.ways;
            products.rows.insert(reading.rows.begin(), reading.rows.end());
            products.columns.insert(reading.columns.begin(), reading.columns.end());
            products.is_whole |= reading.is_whole;
        }
    std::string result;
    for (const auto& [name, products] : readings)
        result += text("using ", name, " = Reading<", products.ways,
                       !is_compiled ? ""
                                    : text(", Counts<", join(products.rows), ">, Counts<",
                                           join(products.columns), ">, ",
                                           products.is_whole ? "true" : "false"),
                       ">;\n");
    return result.empty() ? "" : "// How products read their operands.\n" + result + "\n";
}

Module print_module(const Draft& draft, Names& function_names, const ModuleOptions& options) {
    Module module;
    const std::vector<Expr> values = values_of(draft);
    std::vector<std::string> loops;
    if (options.asks && has_long_loop(values)) loops = prelude_dependencies({"loops.h"});
    std::string scalars = scalar_text(values, loops);
    std::set<std::string> declared = declared_names(scalars);
    for (const std::string& name : declared) function_names.taken().insert(name);
    for (size_t f = 0; f < draft.kernels.size(); ++f)
        module.functions.push_back(
            print_kernel(*draft.kernels[f], *draft.programs[f], function_names));
    module.text = scalars + prelude_text_for(module.functions, options, loops) +
                  text_of_readings(module.functions, !options.has_ready_products);
    module.calls_ready_products =
        options.has_ready_products &&
        std::any_of(
            module.functions.begin(), module.functions.end(), [](const PrintedKernel& function) {
                return std::any_of(function.prelude.begin(), function.prelude.end(), is_ready);
            });
    for (const PrintedKernel& function : module.functions)
        if (!function.text.empty()) module.text += function.text + "\n";
    return module;
}

// The first of the user's lines in alphabetical order, and "…" where there are more. Every file of
// a large program asks: no set of all lines is made.
std::vector<std::string> first_lines(const Program& program, size_t most) {
    std::set<std::string_view> first;
    for (const Kernel& kernel : program.kernels)
        for (const std::string& line : kernel.lines) {
            if (first.size() > most && *first.rbegin() <= line) continue;
            first.insert(line);
            if (first.size() > most + 1) first.erase(std::prev(first.end()));
        }
    std::vector<std::string> lines(first.begin(), first.end());
    if (lines.size() > most) lines.back() = "…";
    return lines;
}

// The templates of products that the text of a kernel instantiates, each once.
std::set<std::string> templates_of(const Kernel& kernel) {
    std::set<std::string> found;
    const auto add = [&](const auto& body) {
        if constexpr (std::is_same_v<std::decay_t<decltype(body)>, ir::kernel::Contract>)
            found.insert(product_template(body));
    };
    std::visit(add, kernel.body);
    if (const auto* fused = std::get_if<ir::kernel::Fused>(&kernel.body))
        for (const ir::kernel::Member& member : fused->members) std::visit(add, member.kernel.body);
    found.erase("");
    return found;
}

// Divides functions into modules: in the order of the programs unless there are too many for one:
// then those that instantiate the same templates of products, which take compilers most of their
// time, stand together, for each module would instantiate them again.
class Drafts {
  public:
    Drafts(size_t limit, bool compiles_products)
        : limit_(limit), compiles_products_(compiles_products) {}

    // Of the kernels in the order of the programs, for each its module and its number there.
    std::vector<std::pair<size_t, size_t>> place(const Draft& all) {
        const size_t count = all.kernels.size();
        std::vector<std::set<std::string>> templates(count);
        std::vector<size_t> order(count);
        std::iota(order.begin(), order.end(), size_t{0});
        if (count > limit_ && compiles_products_) {
            for (size_t k = 0; k < count; ++k) templates[k] = templates_of(*all.kernels[k]);
            std::stable_sort(order.begin(), order.end(),
                             [&](size_t a, size_t b) { return templates[a] < templates[b]; });
        }
        std::vector<std::pair<size_t, size_t>> places(count);
        for (const size_t k : order) {
            open_for(templates[k]);
            places[k] = {drafts_.size() - 1, drafts_.back().kernels.size()};
            drafts_.back().kernels.push_back(all.kernels[k]);
            drafts_.back().programs.push_back(all.programs[k]);
        }
        return places;
    }

    const std::vector<Draft>& drafts() const { return drafts_; }

  private:
    // A template takes compilers as long as a twelfth of a full module of other kernels, and more
    // where it stands alone: templates share tiles.
    void open_for(const std::set<std::string>& templates) {
        const auto cost = [&] {
            size_t fresh = 0;
            for (const std::string& one : templates) fresh += 1 - instantiated_.count(one);
            return 1 + fresh * (limit_ / 12);
        };
        if (drafts_.empty() || taken_ + cost() > limit_) {
            drafts_.emplace_back();
            instantiated_.clear();
            taken_ = 0;
        }
        taken_ += cost();
        instantiated_.insert(templates.begin(), templates.end());
    }

    const bool compiles_products_;
    size_t limit_, taken_ = 0;  // taken: of the limit, by the last draft
    std::vector<Draft> drafts_;
    std::set<std::string> instantiated_;  // by the last draft
};

// Finds the functions that programs need while they are walked. A call's `function` is a number
// among all of them, until `place` says where they are.
class Sorting {
  public:
    std::vector<KernelCall> calls_of(const std::vector<Kernel>& kernels, const Program& program) {
        std::vector<KernelCall> calls;
        for (size_t k = 0; k < kernels.size(); ++k) {
            calls.push_back(call_of(kernels[k], program));
            number(calls.back(), k);
        }
        return calls;
    }

    const Draft& functions() const { return functions_; }

    static void place(std::vector<KernelCall>& calls,
                      const std::vector<std::pair<size_t, size_t>>& places) {
        for (KernelCall& call : calls) {
            place(call.repeated, places);
            if (call.has_function()) std::tie(call.module, call.function) = places[call.function];
        }
    }

  private:
    static void number(KernelCall& call, size_t k) {
        call.number = k;
        for (KernelCall& inner : call.repeated) number(inner, k);
    }

    KernelCall call_of(const Kernel& kernel, const Program& program) {
        if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
            KernelCall call{&kernel};
            if (repeat->counter.buffer != ir::kernel::Access::position)
                call.buffers.push_back(repeat->counter.buffer);
            call.repeated = calls_of(repeat->kernels, program);
            return call;
        }
        if (!KernelCall{&kernel}.has_function()) {
            KernelCall call{&kernel};
            for (const auto& accesses :
                 {ir::kernel::accesses_read(kernel), ir::kernel::accesses_written(kernel)})
                for (const auto& each : accesses) call.buffers.push_back(each.access.buffer);
            return call;
        }
        const std::vector<Parameter> parameters = parameters_of(kernel, program);
        const uint64_t key = sharing_key(kernel, parameters);
        const auto [known, is_new] = known_.try_emplace(key, functions_.kernels.size());
        if (is_new) {
            functions_.kernels.push_back(&kernel);
            functions_.programs.push_back(&program);
        }
        KernelCall call{&kernel, 0, 0, known->second};
        for (const Parameter& parameter : parameters) call.buffers.push_back(parameter.buffers[0]);
        return call;
    }

    Draft functions_;
    std::map<uint64_t, size_t> known_;  // key -> number in functions_
};

// Calls of functions with nothing to do.
void erase_idle(std::vector<KernelCall>& calls, const std::vector<Module>& modules) {
    for (KernelCall& call : calls) erase_idle(call.repeated, modules);
    std::erase_if(calls, [&](const KernelCall& call) {
        return call.has_function() && modules[call.module].functions[call.function].tasks == 0;
    });
}

}  // namespace

Modules print_modules(const std::vector<const Program*>& programs, const ModuleOptions& options) {
    Modules result;
    Sorting sorting;
    for (const Program* program : programs)
        result.calls.push_back(sorting.calls_of(program->kernels, *program));
    Drafts drafts(std::max<size_t>(options.kernels, 1), !options.has_ready_products);
    const std::vector<std::pair<size_t, size_t>> places = drafts.place(sorting.functions());
    for (std::vector<KernelCall>& calls : result.calls) Sorting::place(calls, places);
    Names function_names(prelude_names());
    for (const Draft& draft : drafts.drafts())
        result.modules.push_back(print_module(draft, function_names, options));
    for (std::vector<KernelCall>& calls : result.calls) erase_idle(calls, result.modules);
    return result;
}

bool KernelCall::has_function() const {
    return !is_repeat() && !std::holds_alternative<ir::kernel::Foreign>(kernel->body) &&
           !std::holds_alternative<ir::kernel::Call>(kernel->body);
}

void for_each_function(const std::vector<KernelCall>& calls,
                       const std::function<void(const KernelCall&)>& visit) {
    for (const KernelCall& call : calls)
        if (call.is_repeat())
            for_each_function(call.repeated, visit);
        else if (call.has_function())
            visit(call);
}

std::string file_comment(const Program& program, const std::vector<std::string>& notes) {
    const std::string owner = program.name.empty() ? "" : " of " + program.name;
    std::string result =
        comment_line(text("Made by composit ", version, " from the graph", owner, ":")) + "//\n";
    size_t at = 0, count = 0;
    for (; at < program.graph_text.size() && count < graph_lines; ++count) {
        size_t end = program.graph_text.find('\n', at);
        if (end == std::string::npos) end = program.graph_text.size();
        result += comment_line("    " + program.graph_text.substr(at, end - at));
        at = end + 1;
    }
    if (at < program.graph_text.size()) {
        auto rest = std::count(program.graph_text.begin() + static_cast<std::ptrdiff_t>(at),
                               program.graph_text.end(), '\n') +
                    1;
        result += text("//     … and ", rest, " more lines\n");
    }
    const std::vector<std::string> lines = first_lines(program, 8);
    if (!lines.empty()) result += "//\n" + comment_line("From " + join(lines));
    result += "//\n";
    for (const std::string& note : notes) result += comment_line(note);
    return result;
}

std::string exactness_pragmas(std::string_view optimisation) {
    // Somebody else compiles an export, with flags of their own.
    const std::string refusal =
        optimisation.empty() ? ""
                             : "#if defined(__FAST_MATH__) || __FLT_EVAL_METHOD__ > 0\n"
                               "#error \"Compile without -ffast-math, and with arithmetic of float "
                               "and double that is exact.\"\n#endif\n";
    return refusal + text(R"(#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wpsabi"
#pragma clang diagnostic ignored "-Wtautological-compare"
#pragma clang diagnostic ignored "-Wunknown-pragmas"
#elif defined(__GNUC__)
)",
                          optimisation.empty()
                              ? ""
                              : text("#pragma GCC optimize(\"", optimisation,
                                     ",no-math-errno,no-trapping-math,fp-contract=off\")\n"),
                          R"(#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
)");
}

}  // namespace composit::c_family
