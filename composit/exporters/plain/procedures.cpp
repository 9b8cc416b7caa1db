#include "composit/exporters/plain/procedures.h"

#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/kernel/loops.h"
#include "composit/ir/procedure/content.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace composit::plain {

using c_family::CalledForItems;
using c_family::Names;
using c_family::ProcedureInC;
using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::Call;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::procedure::ArrayVariable;
using ir::procedure::Procedure;
using ir::scalar::Bits;
using Argument = ProcedureFunction::Argument;

namespace {

c_family::SettingInC setting_of(Language language, std::vector<std::map<int, Bits>> known) {
    return {.scalars = spelling_of(language), .is_function = true, .known = std::move(known)};
}

std::map<int, Bits> known_of_call(const Call& call, const Program& program) {
    std::map<int, Bits> known = c_family::known_extents(call);
    known.merge(c_family::known_numbers(call, program));
    return known;
}

// "const double* x", "double* restrict y"
std::string pointer_text(Language language, ir::DType dtype, const std::string& name,
                         bool is_written) {
    const std::string type = c_family::type_name(dtype);
    return is_written ? text(type, "* ", restrict_word(language), " ", name)
                      : text("const ", type, "* ", name);
}

// "train.py:12: what the kernel's docstring says"
std::string comment_for(const Procedure& procedure) {
    const std::string words = procedure.doc.empty() ? procedure.name : procedure.doc;
    return procedure.file.empty() ? words : text(procedure.file, ":", procedure.line, ": ", words);
}

// Copies operands, and adds memory.
class CallPreparing {
  public:
    CallPreparing(Program program, const Procedures& procedures)
        : program_(std::move(program)), procedures_(procedures) {}

    Program run() {
        visit(program_.kernels);
        for (const Kernel& kernel : program_.kernels)
            ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
                for (const int b : ir::kernel::buffers_read(step)) is_read_.insert(b);
            });
        leave_out(program_.kernels);
        return std::move(program_);
    }

  private:
    void visit(std::vector<Kernel>& kernels) {
        for (size_t k = 0; k < kernels.size(); ++k) {
            if (auto* repeat = std::get_if<ir::kernel::Repeat>(&kernels[k].body))
                visit(repeat->kernels);
            if (!std::holds_alternative<Call>(kernels[k].body)) continue;
            std::vector<Kernel> copies = prepare(kernels[k]);
            const auto place = kernels.begin() + static_cast<std::ptrdiff_t>(k);
            k += copies.size();
            kernels.insert(place, std::make_move_iterator(copies.begin()),
                           std::make_move_iterator(copies.end()));
        }
    }

    std::vector<Kernel> prepare(Kernel& kernel) {
        Call& call = std::get<Call>(kernel.body);
        const Extents items = c_family::items_of(call);
        const CalledForItems& called = c_family::called_in(call);
        std::vector<Kernel> copies;
        const auto known = c_family::known_numbers(call, program_);
        for (size_t i = 0; i < call.inputs.size(); ++i) {
            Call::Operand& operand = call.inputs[i];
            if (const auto number = known.find(called.operands[i]); number != known.end()) {
                is_known_.insert(operand.access.buffer);
                operand.access = literal(operand.access, number->second);
                continue;
            }
            const Extents extents = ir::kernel::concatenate({call.batch, operand.extents});
            const auto first = static_cast<std::ptrdiff_t>(items.size());
            const bool is_in_order = ir::kernel::is_row_major(
                {extents.begin() + first, extents.end()},
                {operand.access.strides.begin() + first, operand.access.strides.end()});
            if (called.operands[i] < 0 && !is_in_order)
                copies.push_back(copy(operand.access, extents, items.size(), kernel));
        }
        for (const auto& [array, count] : procedures_.memory_of(call)) {
            const ArrayVariable& own = called.procedure.arrays[static_cast<size_t>(array)];
            Access access{add_buffer(own.name, own.dtype, {count}), own.dtype, 0,
                          std::vector<int64_t>(items.size(), 0)};
            access.strides.push_back(1);
            Extents extents(items.begin() + static_cast<std::ptrdiff_t>(call.batch.size()),
                            items.end());
            extents.push_back(count);
            call.outputs.push_back({std::move(access), std::move(extents)});
        }
        return copies;
    }

    Access literal(const Access& access, const Bits& bits) {
        ir::Array value = ir::Array::zeros(access.dtype, {});
        std::memcpy(value.mutable_data(), bits.data(),
                    static_cast<size_t>(ir::size_of(access.dtype)));
        const int buffer = add_buffer("literal", access.dtype, {});
        program_.buffers.back().kind = ir::kernel::BufferKind::constant;
        program_.buffers.back().value = std::move(value);
        return {buffer, access.dtype, 0, std::vector<int64_t>(access.strides.size(), 0)};
    }

    // Kernels that fill what calls read no more.
    void leave_out(std::vector<Kernel>& kernels) const {
        for (Kernel& kernel : kernels)
            if (auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body))
                leave_out(repeat->kernels);
        std::erase_if(kernels, [&](const Kernel& kernel) {
            if (!std::holds_alternative<ir::kernel::Map>(kernel.body)) return false;
            const std::vector<int> written = ir::kernel::buffers_written(kernel);
            return std::all_of(written.begin(), written.end(), [&](int b) {
                return program_.buffers[static_cast<size_t>(b)].kind ==
                           ir::kernel::BufferKind::temporary &&
                       is_known_.contains(b) && !is_read_.contains(b);
            });
        });
    }

    // The kernel that makes what the access reads from now on: what all items share once.
    Kernel copy(Access& access, const Extents& extents, size_t items, const Kernel& kernel) {
        Extents loops;
        Access read = access;
        read.strides.clear();
        for (size_t d = 0; d < extents.size(); ++d) {
            if (d < items && access.strides[d] == 0) continue;
            loops.push_back(extents[d]);
            read.strides.push_back(access.strides[d]);
        }
        const std::vector<int64_t> steps = ir::row_major_strides(loops);
        const std::string name = program_.buffers[static_cast<size_t>(access.buffer)].name;
        const Access written{
            add_buffer(name.empty() ? "copy" : name + "_copy", access.dtype, loops), access.dtype,
            0, steps};
        size_t next = 0;
        for (size_t d = 0; d < extents.size(); ++d)
            if (d >= items || access.strides[d] != 0) access.strides[d] = steps[next++];
        access.buffer = written.buffer;
        access.offset = 0;
        Kernel made;
        made.name = kernel.name + "_copy";
        made.comment = "copy";
        made.lines = kernel.lines;
        made.body = ir::kernel::Map{
            loops, {read}, {ir::scalar::Expr::argument(0, access.dtype)}, {written}};
        return made;
    }

    int add_buffer(const std::string& name, ir::DType dtype, const Extents& shape) {
        Buffer made;
        made.name = name;
        made.dtype = dtype;
        made.shape = shape;
        made.bytes = ir::element_count(shape) * ir::size_of(dtype);
        program_.buffers.push_back(std::move(made));
        return static_cast<int>(program_.buffers.size()) - 1;
    }

    Program program_;
    const Procedures& procedures_;
    std::set<int> is_known_, is_read_;  // buffers
};

}  // namespace

Procedures::Procedures(Language language, const std::vector<const Program*>& programs)
    : language_(language) {
    std::map<std::string, size_t> by_content;
    const auto add = [&](const Call& call, const Program& program) {
        const CalledForItems& called = c_family::called_in(call);
        const auto [place, is_new] =
            by_content.try_emplace(ir::procedure::content_name(called.procedure), all_.size());
        if (is_new) {
            all_.push_back(std::make_unique<Known>());
            all_.back()->called = &called;
        }
        places_[call.procedure] = place->second;
        all_[place->second]->known.push_back(known_of_call(call, program));
    };
    for (const Program* program : programs)
        for (const Kernel& kernel : program->kernels)
            ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
                if (const auto* call = std::get_if<Call>(&step.body)) add(*call, *program);
            });
    for (const auto& each : all_)
        each->memory =
            ProcedureInC(each->called->procedure, {}, setting_of(language, each->known)).places();
}

const Procedures::Known& Procedures::known_of(const Call& call) const {
    return *all_[places_.at(call.procedure)];
}

const ProcedureFunction& Procedures::function_of(const Call& call) const {
    return known_of(call).function;
}

const std::map<int, int64_t>& Procedures::memory_of(const Call& call) const {
    return known_of(call).memory;
}

std::vector<ir::scalar::Expr> Procedures::expressions() const {
    std::vector<ir::scalar::Expr> all;
    for (const auto& each : all_)
        for (const auto& value : c_family::expressions_of(each->called->procedure))
            all.push_back(value);
    return all;
}

std::string Procedures::text() const {
    std::string all;
    for (const auto& each : all_) all += each->function.text + "\n";
    return all;
}

bool Procedures::has_unset_arrays() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const auto& each) { return each->function.has_unset_arrays; });
}

void Procedures::print(Names& file_names) {
    for (const auto& each : all_) print(*each, file_names);
}

void Procedures::print(Known& own, Names& file_names) const {
    const Procedure& procedure = own.called->procedure;
    ProcedureFunction& made = own.function;
    const std::string wish =
        c_family::is_of_library(procedure.name) ? procedure.name + "_values" : procedure.name;
    made.name = file_names.claim(wish);
    Names names = Names::within(file_names);
    std::vector<std::string> results, places;
    for (const auto& result : procedure.results) {
        results.push_back(
            names.claim(procedure.results.size() == 1 ? "result" : "result_" + result.name));
        places.push_back("*" + results.back());
    }
    ProcedureInC item(procedure, names.taken(), setting_of(language_, own.known));
    const std::string body = item.run(places);
    std::vector<std::string> heads;
    const auto add = [&](Argument::Of of, int number, const std::string& name,
                         const std::string& head) {
        if (!c_family::has_word(body, name)) return;
        heads.push_back(head);
        made.arguments.push_back({of, number});
    };
    const auto add_array = [&](int number, bool is_written) {
        const ArrayVariable& array = procedure.arrays[static_cast<size_t>(number)];
        const std::string& name = item.array(number);
        add(array.role == ArrayVariable::Role::local ? Argument::Of::memory : Argument::Of::array,
            number, name, pointer_text(language_, array.dtype, name, is_written));
    };
    for (const int each : c_family::head_of(procedure)) {
        if (each < 0) {
            add_array(-1 - each, false);
            continue;
        }
        const std::string& name = item.parameter(each);
        const ir::DType dtype = procedure.variables[static_cast<size_t>(each)].dtype;
        add(Argument::Of::variable, each, name, c_family::type_name(dtype) + " " + name);
    }
    made.returns_result = item.returns_result();
    made.can_fault = item.can_fail();
    made.has_unset_arrays = item.has_unset_arrays();
    made.has_other_faults =
        body.find(composit::text(" return ", c_family::fault_of_others, ";")) != std::string::npos;
    for (size_t k = 0; k < results.size() && !made.returns_result; ++k)
        add(Argument::Of::result, static_cast<int>(k), results[k],
            pointer_text(language_, procedure.results[k].dtype, results[k], true));
    for (const int each : procedure.arrays_of(ArrayVariable::Role::output)) add_array(each, true);
    for (const auto& [array, count] : own.memory) add_array(array, true);
    if (heads.empty() && language_ == Language::c) heads.emplace_back("void");
    const std::string type = made.returns_result ? c_family::type_name(procedure.results[0].dtype)
                                                 : std::string(made.can_fault ? "int" : "void");
    made.text = comment_of_words(comment_for(procedure)) +
                c_family::signature("static " + type + " " + made.name, heads) + body + "}\n";
}

std::optional<std::string> unprintable_call(const Call& call, const Program& program) {
    const CalledForItems& called = c_family::called_in(call);
    const ProcedureInC item(called.procedure, {},
                            setting_of(Language::c, {known_of_call(call, program)}));
    const auto refuse = [&](int array, const std::string& reason) {
        return text("it calls the kernel ", called.procedure.name, ", whose array `",
                    called.procedure.arrays[static_cast<size_t>(array)].name, "` ", reason);
    };
    if (!item.unbounded().empty())
        return refuse(item.unbounded()[0],
                      "has a size that only its values tell, for which there is no heap");
    constexpr int64_t most_bytes = int64_t{1} << 30;
    for (const auto& [array, count] : item.places())
        if (count > most_bytes / 8)
            return refuse(array, text("may need ", count, " elements, too many for plain text"));
    return {};
}

std::string literal_text(Language language, ir::DType dtype, const Bits& bits) {
    const c_family::ScalarSpelling& spelling = spelling_of(language);
    return c_family::plain(c_family::literal(dtype, bits, spelling), spelling.long_suffix);
}

Program with_calls_prepared(Program program, const Procedures& procedures) {
    return CallPreparing(std::move(program), procedures).run();
}

}  // namespace composit::plain
