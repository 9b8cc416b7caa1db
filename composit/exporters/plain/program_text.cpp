#include "composit/exporters/plain/program_text.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/columns.h"
#include "composit/exporters/plain/positions.h"
#include "composit/exporters/plain/shapes.h"
#include "composit/exporters/plain/values.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <set>

namespace composit::plain {

using c_family::Names;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

namespace {

// What the text uses for itself, beside the functions of support_texts.
const std::set<std::string> file_words = {
    "bool",          "true",      "false",      "restrict",        "memcpy",
    "memset",        "iteration", "_workspace", "shared",          "workspace",
    "example_value", "differ",    "status",     "inner_iteration", "inner_inner_iteration"};

Names names_of_file() {
    std::set<std::string> taken = support_names();
    taken.insert(file_words.begin(), file_words.end());
    return Names(std::move(taken));
}

// "sum", "sum_2", "sum_3"
std::string numbered(Names& names, const std::string& wish) {
    const std::string stem = c_family::identifier(wish);
    std::string name = stem;
    for (int i = 2; names.taken().contains(name); ++i) name = text(stem, "_", i);
    return names.claim(name);
}

// A name that says what a buffer holds, where the user gave none.
std::string wish_of(const Buffer& buffer, bool is_operand, bool is_added) {
    if (buffer.kind == BufferKind::constant && buffer.name.starts_with("constant"))
        return is_operand ? "weights" : is_added ? "bias" : "values";
    if (!buffer.name.empty()) return buffer.name;
    return buffer.kind == BufferKind::input    ? "input"
           : buffer.kind == BufferKind::output ? "output"
                                               : "array";
}

std::vector<ir::scalar::Expr> bodies_of(const std::vector<FunctionPlan>& functions) {
    std::vector<ir::scalar::Expr> values;
    for (const FunctionPlan& function : functions)
        for (const Kernel& kernel : function.program.kernels)
            ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
                for (const auto& value : ir::kernel::bodies(step)) values.push_back(value);
            });
    return values;
}

void check_printable(const Program& program) {
    for (const auto* numbers : {&program.inputs, &program.outputs})
        for (const int number : *numbers) {
            const Buffer& buffer = program.buffers[static_cast<size_t>(number)];
            if (!ir::is_short_float(buffer.dtype) && !ir::is_complex(buffer.dtype)) continue;
            fail<NotSupported>("export: ", buffer.name, " is of ", buffer.dtype,
                               ", which plain text does not have. bool, an integer, float32 or "
                               "float64 is required.");
        }
    for (const Kernel& kernel : program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            const auto reason = unprintable(step, program);
            if (!reason) return;
            fail<NotSupported>("export: ", step.comment.empty() ? step.name : step.comment,
                               step.lines.empty() ? "" : " (" + join(step.lines) + ")",
                               " cannot be written as plain text: ", *reason,
                               ". style='fast' or other operations are required.");
        });
}

std::vector<const Program*> programs_of(const std::vector<PlainFunction>& functions) {
    std::vector<const Program*> programs;
    for (const PlainFunction& function : functions) {
        check_printable(function.program);
        programs.push_back(&function.program);
    }
    return programs;
}

// Loops write their counters, whoever reads them.
void keep_counters(const std::vector<Step>& steps, std::set<int>& elsewhere) {
    for (const Step& step : steps) {
        if (step.repeat == nullptr) continue;
        elsewhere.erase(step.repeat->counter.buffer);
        keep_counters(step.repeated, elsewhere);
    }
}

}  // namespace

ProgramText::ProgramText(const std::vector<PlainFunction>& functions, const PlainOptions& options)
    : options_(options),
      name_(c_family::namespace_name(Names().claim(options.name.empty() ? "model" : options.name))),
      file_names_(names_of_file()),
      procedures_(options.language, programs_of(functions)) {
    user_check(!functions.empty(), "export: there is no function to export. Give at least one.");
    for (const PlainFunction& given : functions) {
        FunctionPlan plan;
        plan.program = transforms::plan_buffers(
            with_users_near(with_columns_side_by_side(
                with_positions_in_place(with_calls_prepared(given.program, procedures_)))),
            false);
        plan.given = &given;
        functions_.push_back(std::move(plan));
    }
    std::vector<ir::scalar::Expr> values = bodies_of(functions_);
    for (const auto& value : printed_values_ = procedures_.expressions()) values.push_back(value);
    for (const auto* used : c_family::functions_used(values))
        file_names_.taken().insert(used->symbol);
    for (FunctionPlan& plan : functions_) {
        plan.name = file_names_.claim(plan.program.name.empty() ? "run" : plan.program.name);
        for (const char* of_it : {"_memory", "_selfcheck", "_workspace_bytes"})
            file_names_.taken().insert(plan.name + of_it);
    }
    // Constants and kernels are of the whole file: no function has a variable of their names.
    for (FunctionPlan& plan : functions_) {
        name_buffers(plan);
        for (size_t b = 0; b < plan.names.size(); ++b)
            if (plan.program.buffers[b].kind != BufferKind::constant)
                names_of_buffers_.insert(plan.names[b]);
    }
    for (FunctionPlan& plan : functions_) place_constants(plan);
    procedures_.print(file_names_);
    for (FunctionPlan& plan : functions_) {
        print_groups(plan, plan.program.kernels, plan.steps);
        // Neither variables of functions nor what no function gets.
        std::set<int> elsewhere = plan.locals;
        for (size_t b = 0; b < plan.program.buffers.size(); ++b)
            if (std::none_of(
                    plan.together.begin(), plan.together.end(),
                    [&](const std::set<int>& each) { return each.contains(static_cast<int>(b)); }))
                elsewhere.insert(static_cast<int>(b));
        keep_counters(plan.steps, elsewhere);
        plan.memory = std::make_unique<Memory>(plan.program, plan.names, elsewhere, plan.together);
    }
    const c_family::ScalarSpelling& spelling = spelling_of(options.language);
    scalars_ =
        c_family::zeros_pragma(printed_values_) + c_family::print_tables(printed_values_, spelling);
    // Those that are called, each before its callers: a sum of no elements calls none.
    const auto functions_known = c_family::functions_used(printed_values_);
    std::string calling = procedures_.text(), printed;
    for (const PrintedFunction& kernel : kernels_) calling += kernel.text;
    for (size_t k = functions_known.size(); k-- > 0;) {
        if (!c_family::has_word(calling, functions_known[k]->symbol)) continue;
        const std::string own =
            c_family::print_function(*functions_known[k], c_family::LoopQuestion::none, spelling);
        calling += own;
        printed = own + "\n" + printed;
    }
    scalars_ += printed;
}

void ProgramText::name_buffers(FunctionPlan& plan) {
    Program& program = plan.program;
    std::set<int> operands, added, named;
    for (const Kernel& kernel : program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            const auto* contract = std::get_if<ir::kernel::Contract>(&step.body);
            if (contract == nullptr) return;
            operands.insert({contract->left.buffer, contract->right.buffer});
            for (const auto& input : contract->finish.inputs) added.insert(input.buffer);
        });
    // Temporaries are called after what is written into them first.
    for (const Kernel& kernel : program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            for (const int b : ir::kernel::buffers_written(step)) {
                Buffer& buffer = program.buffers[static_cast<size_t>(b)];
                const std::string word = word_for(step, b);
                if (buffer.kind != BufferKind::temporary || word.empty() || named.contains(b))
                    continue;
                named.insert(b);
                buffer.name = word;
            }
        });
    Names names = Names::within(file_names_);
    plan.names.resize(program.buffers.size());
    const auto claim = [&](size_t b) {
        Buffer& buffer = program.buffers[b];
        std::string wish = wish_of(buffer, operands.contains(static_cast<int>(b)),
                                   added.contains(static_cast<int>(b)));
        // A training step returns what it was given: w and new_w.
        if (buffer.kind == BufferKind::output && names.taken().contains(c_family::identifier(wish)))
            wish = "new_" + wish;
        buffer.name = wish;
        plan.names[b] = numbered(names, wish);
        if (buffer.kind != BufferKind::constant) buffer.name = plan.names[b];
    };
    for (const int b : program.inputs) claim(static_cast<size_t>(b));
    for (const int b : program.outputs) claim(static_cast<size_t>(b));
    for (size_t b = 0; b < program.buffers.size(); ++b)
        if (plan.names[b].empty()) claim(b);
}

// "weights_1", or the user's name with "_data" behind it: parameters are called so.
std::string ProgramText::constant_name(const Buffer& buffer) {
    const bool is_numbered =
        buffer.name == "weights" || buffer.name == "bias" || buffer.name == "values";
    const std::string stem =
        is_numbered ? buffer.name : c_family::identifier(buffer.name + "_data");
    int& count = counts_[stem];
    std::string name = stem;
    do {
        ++count;
        if (is_numbered || count > 1) name = text(stem, "_", count);
    } while (file_names_.taken().contains(name) || names_of_buffers_.contains(name));
    file_names_.taken().insert(name);
    return name;
}

// Constants are of the whole file: the same values are there once.
void ProgramText::place_constants(FunctionPlan& plan) {
    std::set<int> used;
    for (const Kernel& kernel : plan.program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            const auto* call = std::get_if<ir::kernel::Call>(&step.body);
            if (call == nullptr) {
                for (const int b : ir::kernel::buffers_read(step)) used.insert(b);
                return;
            }
            const auto numbers = c_family::known_numbers(*call, plan.program);
            const std::vector<int>& operands = c_family::called_in(*call).operands;
            for (size_t i = 0; i < operands.size(); ++i)
                if (!numbers.contains(operands[i])) used.insert(call->inputs[i].access.buffer);
        });
    for (size_t b = 0; b < plan.program.buffers.size(); ++b) {
        Buffer& buffer = plan.program.buffers[b];
        if (buffer.kind != BufferKind::constant || !used.contains(static_cast<int>(b))) continue;
        const ir::Array value = buffer.value.value();
        const auto [known, is_new] =
            known_constants_.try_emplace(constant_text(options_.language, "", value), "");
        if (is_new) {
            known->second = constant_name(buffer);
            constants_ += constant_text(options_.language, known->second, value);
            constant_bytes_ += buffer.bytes;
        }
        plan.names[b] = known->second;
    }
}

namespace {

// Whether a group has a large product with a constant. g++ makes a function for just that array,
// and keeps sums of it in memory: a third of the time is lost. `used` says that others may call it.
bool has_large_product(const Group& group, const Program& program) {
    constexpr int64_t large = int64_t{1} << 16;  // multiplications
    const auto is_constant = [&](const ir::kernel::Access& access) {
        return program.buffers[static_cast<size_t>(access.buffer)].kind == BufferKind::constant;
    };
    return std::any_of(group.kernels.begin(), group.kernels.end(), [&](const Kernel* kernel) {
        const auto* c = std::get_if<ir::kernel::Contract>(&kernel->body);
        return c != nullptr && (is_constant(c->left) || is_constant(c->right)) &&
               ir::element_count(
                   ir::kernel::concatenate({c->batch, c->rows, c->columns, c->depth})) >= large;
    });
}

// "float exp[3];" as the first of a function's lines; of one element "float sum;", or the statement
// that alone gives it its value declares it.
void declare_local(std::vector<std::string>& lines, const Parameter& local, bool is_scalar) {
    const std::string type = c_family::type_name(local.dtype), margin(4, ' ');
    if (is_scalar) {
        const std::string start = margin + local.name + " = ";
        const auto is_value = [&](const std::string& line) { return line.starts_with(start); };
        const auto first = std::find_if(lines.begin(), lines.end(), is_value);
        const auto assigns = [&](const std::string& line) {
            const size_t at = line.find(local.name + " ");
            return at != std::string::npos && line.find_first_not_of(' ') == at;
        };
        if (first != lines.end() && std::count_if(lines.begin(), lines.end(), assigns) == 1) {
            first->insert(4, "const " + type + " ");
            return;
        }
    }
    lines.insert(lines.begin(), text(margin, type, " ", local.name,
                                     is_scalar ? "" : extents_text(local.shape), ";"));
}

}  // namespace

void ProgramText::print_groups(FunctionPlan& plan, std::vector<Kernel>& kernels,
                               std::vector<Step>& steps) {
    std::vector<const Kernel*> run;
    const auto print_run = [&] {
        for (const Group& group : groups_of(run, plan.program)) print_group(plan, group, steps);
        run.clear();
    };
    for (Kernel& kernel : kernels) {
        auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body);
        if (repeat == nullptr) {
            run.push_back(&kernel);
            continue;
        }
        print_run();
        Step step;
        step.repeat = repeat;
        print_groups(plan, repeat->kernels, step.repeated);
        steps.push_back(std::move(step));
    }
    print_run();
}

void ProgramText::print_group(FunctionPlan& plan, const Group& group, std::vector<Step>& steps) {
    FunctionScope scope{Names::within(file_names_), {}, {}};
    std::vector<int> buffers;
    for (const Kernel* kernel : group.kernels)
        for (const c_family::Parameter& each : c_family::parameters_of(*kernel, plan.program)) {
            const int b = each.buffers[0];
            std::string& name = scope.buffers[b];
            if (name.empty())
                name = scope.names.claim(plan.program.buffers[static_cast<size_t>(b)].name);
        }
    for (const int b : group.locals)
        if (ir::element_count(plan.program.buffers[static_cast<size_t>(b)].shape) == 1)
            scope.scalars.insert(b);
    PrintedFunction made;
    std::vector<std::string> lines;
    std::vector<Parameter> all;
    std::string key;
    for (const Kernel* kernel : group.kernels) {
        const PrintedKernel printed =
            print_kernel(options_.language, *kernel, plan.program, procedures_, scope);
        if (printed.lines.empty()) continue;
        for (const auto& value : ir::kernel::bodies(*kernel)) printed_values_.push_back(value);
        key += text(ir::kernel::structural_hash(*kernel), ";");
        // The text of a call says its literals.
        if (const auto* call = std::get_if<ir::kernel::Call>(&kernel->body)) {
            const auto& variables = c_family::called_in(*call).procedure.variables;
            for (const auto& [parameter, bits] : c_family::known_numbers(*call, plan.program))
                key += literal_text(options_.language,
                                    variables[static_cast<size_t>(parameter)].dtype, bits) +
                       ";";
        }
        lines.insert(lines.end(), printed.lines.begin(), printed.lines.end());
        // What it declares outside of its loops is there for the kernels behind it, too.
        for (const std::string& line : printed.lines)
            if (line.find_first_not_of(' ') == 4 && line.compare(4, 5, "for (") != 0)
                for (const std::string& name : c_family::declared_names(line))
                    scope.names.taken().insert(name);
        made.can_fault |= printed.can_fault;
        made.has_other_faults |= printed.has_other_faults;
        for (const Parameter& each : printed.parameters) {
            const auto known = std::find_if(all.begin(), all.end(), [&](const Parameter& other) {
                return other.buffer == each.buffer;
            });
            if (known == all.end()) {
                all.push_back(each);
                continue;
            }
            if (as_declared(known->shape) != as_declared(each.shape)) {
                // Two kernels see an array in different shapes: they are functions of their own.
                for (const Kernel* one : group.kernels) print_group(plan, {{one}, {}}, steps);
                return;
            }
            known->is_written |= each.is_written;
            known->is_const &= each.is_const;
        }
    }
    if (lines.empty()) return;
    const auto is_local = [&](const Parameter& each) {
        return std::find(group.locals.begin(), group.locals.end(), each.buffer) !=
               group.locals.end();
    };
    // What is never read is there for a check of its indices.
    for (const Parameter& each : all)
        if (is_local(each) &&
            std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
                return c_family::has_word(line, each.name);
            }) == 1)
            lines.push_back("    (void)" + each.name + ";");
    for (size_t k = all.size(); k-- > 0;)
        if (is_local(all[k])) declare_local(lines, all[k], scope.scalars.contains(all[k].buffer));
    std::map<int, int> places;  // of the buffers among all: what is shared, and between whom
    for (const Parameter& each : all) {
        key += text(each.is_const ? "c" : "v", is_local(each) ? "l" : "", extents_text(each.shape));
        if (is_local(each))
            plan.locals.insert(each.buffer);
        else
            made.parameters.push_back(each);
    }
    for (const Kernel* kernel : group.kernels)
        for (const auto& accesses :
             {ir::kernel::accesses_read(*kernel), ir::kernel::accesses_written(*kernel)})
            for (const auto& moved : accesses)
                key +=
                    text(places.try_emplace(moved.access.buffer, places.size()).first->second, ",");
    const auto [known, is_new] = known_kernels_.try_emplace(key, kernels_.size());
    made.is_clearing = group.kernels.size() == 1 && made.parameters.size() == 1 &&
                       clears_an_array(*group.kernels[0], plan.program);
    if (is_new && made.is_clearing) {
        kernels_.push_back(made);
    } else if (is_new) {
        Names names = Names::within(file_names_);
        for (const std::string& each : names_of_buffers_) names.taken().insert(each);
        // With headers or without, compilers know functions of C's library: "isinf".
        const std::string wish = function_name(group);
        made.name = numbered(names, c_family::is_of_library(wish) ? wish + "_values" : wish);
        file_names_.taken().insert(made.name);
        made.text = comment_of_words(comment_for(group));
        std::vector<std::string> texts;
        for (const Parameter& each : made.parameters)
            texts.push_back(parameter_text(options_.language, each));
        if (texts.empty() && options_.language == Language::c) texts.push_back("void");
        const std::string start =
            has_large_product(group, plan.program) ? "static __attribute__((used)) " : "static ";
        made.text +=
            c_family::signature(start + (made.can_fault ? "int " : "void ") + made.name, texts);
        for (const std::string& line : lines) made.text += line + "\n";
        made.text += made.can_fault ? "    return 0;\n}\n" : "}\n";
        kernels_.push_back(made);
    }
    plan.can_fault |= made.can_fault;
    plan.has_other_faults |= made.has_other_faults;
    Step step;
    step.function = known->second;
    for (const Parameter& each : made.parameters) step.buffers.push_back(each.buffer);
    plan.together.emplace_back(step.buffers.begin(), step.buffers.end());
    steps.push_back(std::move(step));
}

std::string ProgramText::kernels() const {
    std::string result = scalars_ + procedures_.text();
    for (const PrintedFunction& kernel : kernels_)
        if (!kernel.is_clearing) result += kernel.text + "\n";
    return result;
}

}  // namespace composit::plain
