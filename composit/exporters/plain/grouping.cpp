#include "composit/exporters/plain/grouping.h"

#include "composit/backends/c_family/called_items.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <map>

namespace composit::plain {

using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

constexpr int64_t most_passed_on = 4096;  // bytes of what joins two kernels
constexpr int64_t most_local = 1024;      // bytes of a function's variables

bool can_join(const Kernel& kernel) {
    return std::holds_alternative<ir::kernel::Map>(kernel.body) ||
           std::holds_alternative<ir::kernel::Reduce>(kernel.body) ||
           std::holds_alternative<ir::kernel::Scan>(kernel.body) ||
           std::holds_alternative<ir::kernel::Gather>(kernel.body) ||
           std::holds_alternative<ir::kernel::Scatter>(kernel.body);
}

std::set<int> touched_by(const Kernel& kernel) {
    std::set<int> result;
    for (const auto& buffers :
         {ir::kernel::buffers_read(kernel), ir::kernel::buffers_written(kernel)})
        result.insert(buffers.begin(), buffers.end());
    return result;
}

// Loops write their counters.
void count_loops(const Kernel& kernel, std::map<int, int>& touches) {
    const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body);
    if (repeat == nullptr) return;
    ++touches[repeat->counter.buffer];
    for (const Kernel& each : repeat->kernels) count_loops(each, touches);
}

// Whether `kernel` reads little, in a temporary, that `before` writes.
bool hands_on_little(const Kernel& before, const Kernel& kernel, const Program& program) {
    const std::vector<int> read = ir::kernel::buffers_read(kernel);
    for (const int b : ir::kernel::buffers_written(before)) {
        const ir::kernel::Buffer& buffer = program.buffers[static_cast<size_t>(b)];
        if (buffer.kind == BufferKind::temporary && buffer.bytes <= most_passed_on &&
            std::find(read.begin(), read.end(), b) != read.end())
            return true;
    }
    return false;
}

// Whether one of two kernels writes what the other touches.
bool depend(const Kernel& one, const Kernel& other) {
    const auto meets = [](const Kernel& writer, const Kernel& user) {
        const std::set<int> touched = touched_by(user);
        const std::vector<int> written = ir::kernel::buffers_written(writer);
        return std::any_of(written.begin(), written.end(),
                           [&](int b) { return touched.contains(b); });
    };
    return meets(one, other) || meets(other, one);
}

void move_users(std::vector<Kernel>& kernels, const Program& program) {
    for (size_t k = 0; k < kernels.size(); ++k) {
        if (auto* repeat = std::get_if<ir::kernel::Repeat>(&kernels[k].body))
            move_users(repeat->kernels, program);
        if (!can_join(kernels[k])) continue;
        size_t place = k;
        while (place > 0 && !depend(kernels[place - 1], kernels[k])) --place;
        if (place == k || place == 0 || !can_join(kernels[place - 1]) ||
            !hands_on_little(kernels[place - 1], kernels[k], program))
            continue;
        const auto at = [&](size_t i) { return kernels.begin() + static_cast<std::ptrdiff_t>(i); };
        std::rotate(at(place), at(k), at(k + 1));
    }
}

std::string word_of(const Expr& value) {
    switch (value.op()) {
        case Op::call: return value.row()->name;
        case Op::add:
        case Op::fma: return "sum";
        case Op::subtract: return "difference";
        case Op::multiply: return "product";
        case Op::divide: return "quotient";
        case Op::negate: return "negative";
        case Op::cast: return word_of(value.operand(0));
        case Op::select: return "chosen";
        case Op::argument: return "copy";
        case Op::constant: return "filled";
        default: return std::string(ir::scalar::name(value.op()));
    }
}

std::string word_of_sums(const std::string& name) {
    if (name == "add") return "sum";
    if (name == "subtract") return "difference";
    if (name == "multiply") return "product";
    if (name == "divide" || name == "true_divide") return "quotient";
    return name;
}

std::string without_number(std::string name) {
    while (!name.empty() && ascii::is_digit(name.back())) name.pop_back();
    while (name.ends_with('_')) name.pop_back();
    return name;
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

}  // namespace

Program with_users_near(Program program) {
    move_users(program.kernels, program);
    return program;
}

std::vector<Group> groups_of(const std::vector<const Kernel*>& kernels, const Program& program) {
    std::map<int, int> touches;  // kernels of the program that do, however deep, and loops
    for (const Kernel& kernel : program.kernels) {
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            for (const int b : touched_by(step)) ++touches[b];
        });
        count_loops(kernel, touches);
    }
    const auto buffer_of = [&](int b) -> const ir::kernel::Buffer& {
        return program.buffers[static_cast<size_t>(b)];
    };
    std::vector<Group> groups;
    std::set<int> written;
    for (const Kernel* kernel : kernels) {
        const std::vector<int> read = ir::kernel::buffers_read(*kernel);
        const bool joins = !groups.empty() && can_join(*kernel) &&
                           can_join(*groups.back().kernels[0]) &&
                           std::any_of(read.begin(), read.end(), [&](int b) {
                               return written.contains(b) && buffer_of(b).bytes <= most_passed_on &&
                                      buffer_of(b).kind == BufferKind::temporary;
                           });
        // What fills the array that the kernel before began to fill: the middle of a padded image.
        const std::vector<int> own = ir::kernel::buffers_written(*kernel);
        const bool completes =
            !groups.empty() && std::holds_alternative<ir::kernel::Map>(kernel->body) &&
            std::holds_alternative<ir::kernel::Map>(groups.back().kernels.back()->body) &&
            ir::kernel::buffers_written(*groups.back().kernels.back()) == own;
        if (!joins && !completes) {
            groups.emplace_back();
            written.clear();
        }
        groups.back().kernels.push_back(kernel);
        written.insert(own.begin(), own.end());
    }
    for (Group& group : groups) {
        std::map<int, int> own;
        for (const Kernel* kernel : group.kernels)
            for (const int b : touched_by(*kernel)) ++own[b];
        int64_t bytes = 0;
        for (const auto& [b, count] : own) {
            if (b < 0 || buffer_of(b).kind != BufferKind::temporary || count != touches[b] ||
                bytes + buffer_of(b).bytes > most_local)
                continue;
            bytes += buffer_of(b).bytes;
            group.locals.push_back(b);
        }
    }
    return groups;
}

std::string word_for(const Kernel& kernel, int buffer) {
    const auto of_map = [&](const std::vector<Expr>& values,
                            const std::vector<ir::kernel::Access>& outputs) {
        for (size_t j = 0; j < outputs.size(); ++j)
            if (outputs[j].buffer == buffer) return word_of_sums(word_of(values[j]));
        return std::string();
    };
    if (kernel.comment == "transpose") return "transposed";
    if (const auto* map = std::get_if<ir::kernel::Map>(&kernel.body))
        return of_map(map->values, map->outputs);
    if (const auto* contract = std::get_if<ir::kernel::Contract>(&kernel.body)) {
        if (contract->finish.values.empty()) return "product";
        std::vector<ir::kernel::Access> outputs = {contract->output};
        outputs.insert(outputs.end(), contract->finish.outputs.begin(),
                       contract->finish.outputs.end());
        return of_map(contract->finish.values, outputs);
    }
    if (const auto* reduce = std::get_if<ir::kernel::Reduce>(&kernel.body))
        return std::string(ir::kernel::name(reduce->combiner));
    if (const auto* scan = std::get_if<ir::kernel::Scan>(&kernel.body))
        return "running_" + std::string(ir::kernel::name(scan->combiner));
    if (std::holds_alternative<ir::kernel::Gather>(kernel.body)) return "gathered";
    if (std::holds_alternative<ir::kernel::Fold>(kernel.body)) return "folded";
    if (const auto* sort = std::get_if<ir::kernel::Sort>(&kernel.body))
        return buffer != sort->output.buffer ? "spare" : sort->gives_values ? "sorted" : "order";
    if (std::holds_alternative<ir::kernel::Search>(kernel.body)) return "places";
    if (const auto* call = std::get_if<ir::kernel::Call>(&kernel.body)) {
        const c_family::CalledForItems& called = c_family::called_in(*call);
        for (size_t k = 0; k < called.outputs.size(); ++k)
            if (const int output = called.outputs[k]; call->outputs[k].access.buffer == buffer)
                return output < 0 ? called.procedure.arrays[static_cast<size_t>(-1 - output)].name
                                  : called.procedure.results[static_cast<size_t>(output)].name;
    }
    return "";
}

std::string function_name(const Group& group) {
    if (group.kernels.size() == 1 && group.kernels[0]->comment == "transpose") return "transpose";
    if (const auto* call = std::get_if<ir::kernel::Call>(&group.kernels[0]->body)) {
        const bool is_one = ir::element_count(c_family::items_of(*call)) == 1;
        return c_family::called_in(*call).procedure.name + (is_one ? "_call" : "_batch");
    }
    if (group.kernels.size() == 1)
        return without_number(replaced(group.kernels[0]->name, "contract", "product"));
    std::vector<std::string> words;
    for (const Kernel* kernel : group.kernels) {
        const auto written = ir::kernel::buffers_written(*kernel);
        const std::string word = written.empty() ? "" : word_for(*kernel, written[0]);
        if (!word.empty() && (words.empty() || words.back() != word)) words.push_back(word);
    }
    return join(words, "_");
}

std::string comment_for(const Group& group) {
    std::vector<std::string> lines, words;
    const auto add = [](std::vector<std::string>& to, const std::string& one) {
        if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
    };
    for (const Kernel* kernel : group.kernels) {
        for (const std::string& line : kernel->lines) add(lines, line);
        const std::string comment = kernel->comment.empty() ? kernel->name : kernel->comment;
        for (size_t at = 0; at <= comment.size();) {
            const size_t end = std::min(comment.find("; ", at), comment.size());
            const std::string word = comment.substr(at, end - at);
            add(words, word == "contract" ? "matrix product" : word);
            at = end + 2;
        }
    }
    return lines.empty() ? join(words) : join(lines) + ": " + join(words);
}

}  // namespace composit::plain
