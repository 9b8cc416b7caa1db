// Statements of procedures as C without a heap.
#include "composit/backends/c_family/procedure_in_c.h"

#include "composit/backends/c_family/known_values.h"
#include "composit/backends/c_family/lines_in_c.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/procedure_room.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/backends/c_family/procedure_sums.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace composit::c_family {

using ir::DType;
using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Bits;
using ir::scalar::Expr;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

namespace {

// A thread's stack is memory of the device, too, but for the smallest arrays; controllers have
// little.
constexpr int64_t most_bytes_of_array = 1024, most_bytes_of_stack = 4096;

}  // namespace

Procedure for_c(const Procedure& procedure) {
    return with_names(ir::procedure::without_zero_gradients(without_unread(procedure)));
}

ProcedureInC::ProcedureInC(const Procedure& procedure, const TakenNames& taken, SettingInC setting)
    : BlockWriter(procedure, TakenNames::within(taken)),
      setting_(std::move(setting)),
      roundings_(setting_.is_function ? std::optional(roundings_of(procedure)) : std::nullopt),
      sums_in_order_(setting_.is_function ? sums_in_order(procedure)
                                          : std::set<const Statement*>()),
      naturals_(procedure),
      mentioned_(mentioned_in(procedure)) {
    find_places();
    can_fail_ = finds_failure();
}

// What the kernel's head declares has its name first.
void ProcedureInC::find_names() {
    const Scope whole{0, std::numeric_limits<int>::max()};
    names_.resize(homes_.count());
    arrays_.resize(procedure_.arrays.size());
    for (const bool is_of_head : {true, false}) {
        for (size_t i = 0; i < names_.size(); ++i)
            if ((i < procedure_.parameters) == is_of_head)
                names_[i] = scoped_.name(procedure_.variables[i].name, homes_.scope_of(i));
        for (size_t i = 0; i < arrays_.size(); ++i) {
            const ArrayVariable& array = procedure_.arrays[i];
            if ((array.role != Role::local) != is_of_head) continue;
            const bool is_place = places_.contains(static_cast<int>(i));
            const bool has_count = array.role == Role::local && array.grows;
            std::string name = scoped_.name(
                array.name, is_place || has_count ? whole : homes_.scope_of(homes_.count() + i));
            if (is_place || has_count)  // it has a room and, if it grows, a count beside it
                while (!taken_.insert(name + "_room") || !taken_.insert(name + "_count"))
                    name = scoped_.name(array.name, whole);
            arrays_[i] = std::move(name);
        }
    }
}

void ProcedureInC::find_places() {
    std::vector<KnownValues> calls;
    for (const auto& parameters : setting_.known) calls.emplace_back(procedure_, parameters);
    // The most that any call needs.
    const auto most = [&](const auto& count_in) {
        std::optional<int64_t> found = 0;
        for (const KnownValues& call : calls) {
            const std::optional<int64_t> own = count_in(call);
            found = found && own ? std::optional(std::max(*found, *own)) : std::nullopt;
        }
        return found;
    };
    const auto bounds =
        setting_.is_function ? most_elements(procedure_) : std::map<int, SumOfProducts>();
    int64_t bytes_of_stack = 0;
    for (size_t i = 0; i < procedure_.arrays.size(); ++i) {
        const ArrayVariable& array = procedure_.arrays[i];
        if (array.role != Role::local || !homes_.of_array(i).block) continue;
        const auto number = static_cast<int>(i);
        std::optional<int64_t> count;
        if (!array.grows)
            count = most([&](const KnownValues& call) { return call.count_of(array.shape); });
        if (count) sure_.insert(number);
        const auto bound = bounds.find(number);
        if (!count && bound != bounds.end())
            count = most([&](const KnownValues& call) { return call.most_of(bound->second); });
        if (!count && setting_.is_function) unbounded_.push_back(number);
        const int64_t bytes = count.value_or(0) * ir::size_of(array.dtype);
        if (count && bytes <= most_bytes_of_array &&
            bytes_of_stack + bytes <= most_bytes_of_stack) {
            bytes_of_stack += bytes;
            on_stack_[number] = std::max<int64_t>(*count, 1);
            continue;
        }
        places_[number] = count.value_or(1);
        constexpr int64_t to_begin_with = 1024;
        workspace_bytes_ += count ? (bytes + 7) / 8 * 8 : to_begin_with;
        may_grow_ |= !count;
    }
}

bool ProcedureInC::finds_failure() const {
    if (!setting_.extents.empty()) return true;
    const auto all = ir::procedure::all_statements(procedure_.body);
    return std::any_of(all.begin(), all.end(), [&](const Statement* each) {
        if (each->kind != Kind::allocate) return each->kind == Kind::expect;
        const ArrayVariable& array = array_of(each->array);
        return !array.grows && !sure_.contains(each->array) &&
               !std::all_of(array.shape.begin(), array.shape.end(),
                            [&](const Expr& extent) { return naturals_.contains(extent); });
    });
}

std::string ProcedureInC::run(const std::vector<std::string>& results) {
    results_ = results;
    find_names();
    for (const auto& [extent, wanted] : setting_.extents) {
        std::vector<std::string> before;
        const std::string own = integer(extent, before);
        for (const std::string& text : before) line(text);
        require(text(own, " == ", wanted), procedure_.line, false);
    }
    declare_places();
    print_block(procedure_.body);
    if (setting_.is_function && can_fail_ && !ir::procedure::always_leaves(procedure_.body))
        line("return 0;");
    const auto all = ir::procedure::all_statements(procedure_.body);
    const bool is_derived = std::any_of(all.begin(), all.end(), [](const Statement* each) {
        return each->line.sweep != ir::procedure::Sweep::value;
    });
    if (setting_.is_function) lines_ = without_unread_variables(std::move(lines_));
    std::vector<PrintedLine> lines = gathered(std::move(lines_), is_derived, true);
    for (PrintedLine& each : lines)
        each.text = setting_.is_function
                        ? with_status(with_status(each.text, "assert(", fault_of_index), "require(",
                                      fault_of_others)
                        : with_require(each.text, "assert(", "require(");
    return printed(lines, procedure_.file);
}

void ProcedureInC::declare_places() {
    for (const auto& [place, count] : places_) {
        const std::string& name = arrays_[static_cast<size_t>(place)];
        if (!setting_.is_function) {
            line(text(setting_.memory, type_of_elements(array_of(place).dtype), "* ", name,
                      " = 0;"));
            line(text("int64_t ", name, "_room = 0;"));
        }
        if (array_of(place).grows) line(text("int64_t ", name, "_count = 0;"));
    }
    for (const auto& [number, count] : on_stack_) {
        if (!array_of(number).grows || begins_with_allocation(number)) continue;
        const std::string& name = arrays_[static_cast<size_t>(number)];
        has_unset_arrays_ = true;
        line(text(type_of_elements(array_of(number).dtype), " ", name, "[", count, "];"));
        line(text("int64_t ", name, "_count = 0;"));
    }
}

// ----- values and places

std::vector<std::string> ProcedureInC::values(const std::vector<Expr>& given,
                                              std::vector<std::string>& before) {
    const ScalarSpelling& spelling = setting_.scalars;
    const Statements printed = print_statements(
        given, names_, taken_, roundings_ ? &roundings_->variables : nullptr, spelling);
    for (const std::string& text : printed.lines)
        before.push_back(plain(text, spelling.long_suffix));
    std::vector<std::string> results;
    for (const std::string& text : printed.results)
        results.push_back(plain(text, spelling.long_suffix));
    return results;
}

std::string ProcedureInC::with_dtype(const std::string& statement, const std::string& place,
                                     DType dtype) {
    if (!roundings_) return statement;
    std::string made = statement;
    for (const auto& [word, sign] :
         {std::pair("add_in_order(", " + "), {"subtract_in_order(", " - "}})
        if (const std::string head = word + place + ", "; statement.starts_with(head)) {
            const size_t size = statement.size() - head.size() - 2;
            made = text(place, " = in_order(", place, sign,
                        factor(statement.substr(head.size(), size)), ");");
        }
    for (const std::string word : {"rounded", "in_order"})
        for (size_t at = 0; (at = made.find(word + "(", at)) != std::string::npos;
             at += word.size())
            made.insert(at + word.size(), text("_", dtype));
    return made;
}

std::string ProcedureInC::integer(const Expr& value, std::vector<std::string>& before) {
    const std::string simple = plain_integer(value, names_);
    return simple.empty() ? factor(values({value}, before)[0]) : simple;
}

std::string ProcedureInC::place_of(const Statement& statement, std::vector<std::string>& before) {
    const std::vector<Expr>& shape = array_of(statement.array).shape;
    const bool is_of_axes = statement.index.size() == shape.size();
    std::vector<std::string> indices, extents;
    for (size_t axis = 0; axis < statement.index.size(); ++axis) {
        indices.push_back(integer(statement.index[axis], before));
        extents.push_back(axis == 0 ? "" : integer(shape[axis], before));
    }
    const auto strides = setting_.strides.find(statement.array);
    if (strides == setting_.strides.end()) return flat_place(indices, extents);
    if (!is_of_axes) {  // the number of the element among all
        const std::string number = factor(indices[0]);
        indices.clear();
        std::string inner;
        for (size_t axis = shape.size(); axis-- > 0;) {
            const std::string extent = factor(integer(shape[axis], before));
            const std::string whole = inner.empty() ? number : text(number, " / (", inner, ")");
            indices.insert(indices.begin(), axis == 0 ? whole : text(whole, " % ", extent));
            inner = inner.empty() ? extent : text(inner, " * ", extent);
        }
    }
    std::string sum;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
        const int64_t stride = strides->second[axis];
        if (stride == 0) continue;
        sum += sum.empty() ? "" : " + ";
        sum += stride == 1 ? factor(indices[axis]) : text(factor(indices[axis]), " * ", stride);
    }
    return sum.empty() ? "0" : sum;
}

std::string ProcedureInC::element(const Statement& statement, std::vector<std::string>& before) {
    return text(arrays_[static_cast<size_t>(statement.array)], "[", place_of(statement, before),
                "]");
}

std::string ProcedureInC::count_of(int array, std::vector<std::string>& before) {
    std::string count;
    for (const Expr& extent : array_of(array).shape) {
        if (ir::procedure::is_integer_constant(extent, 1)) continue;
        count += (count.empty() ? "" : " * ") + factor(integer(extent, before));
    }
    return count.empty() ? "1" : count;
}

// ----- statements

// The lines of a text join neighbouring assertions. A function tells those of indices from others.
void ProcedureInC::require(const std::string& condition, int source_line, bool is_of_index) {
    const bool is_told_apart = setting_.is_function && !is_of_index;
    line((is_told_apart ? "require(" : "assert(") + condition + ");", source_line);
}

bool ProcedureInC::begins_with_allocation(int array) const {
    const Home& home = homes_.of_array(static_cast<size_t>(array));
    const Statement& first = (*home.block)[home.first];
    return first.kind == Kind::allocate && first.array == array;
}

bool ProcedureInC::is_declaration(const Block& block, size_t index) const {
    const Statement& statement = block[index];
    if (statement.kind != Kind::allocate || !is_on_stack(statement.array)) return false;
    const Home& home = homes_.of_array(static_cast<size_t>(statement.array));
    return home.block == &block && home.first == index;
}

// Those on the stack where they are used; others for the whole of the work, so that room that they
// once had is theirs again, and so are those that grow before they are allocated.
void ProcedureInC::declare_arrays(const Block& block, size_t index) {
    for (const auto& [number, count] : on_stack_) {
        const Home& home = homes_.of_array(static_cast<size_t>(number));
        if (home.block != &block || home.first != index) continue;
        const bool grows = array_of(number).grows;
        if (grows && !begins_with_allocation(number)) continue;
        const Statement& statement = block[index];
        const bool is_zeroed = !grows && is_declaration(block, index) &&
                               statement.array == number && statement.is_zeroed;
        has_unset_arrays_ |= !is_zeroed;
        const std::string& name = arrays_[static_cast<size_t>(number)];
        line(text(type_of_elements(array_of(number).dtype), " ", name, "[", count, "]",
                  is_zeroed ? " = {0};" : ";"),
             statement.line);
        if (grows) line(text("int64_t ", name, "_count = 0;"), statement.line);
    }
}

size_t ProcedureInC::print_at(const Block& block, size_t index) {
    declare(block, index);
    print_statement(block, index);
    return 1;
}

void ProcedureInC::print_statement(const Block& block, size_t index) {
    const Statement& statement = block[index];
    std::vector<std::string> before;
    const auto say_before = [&] {
        for (const std::string& text : before) line(text, statement.line);
    };
    switch (statement.kind) {
        case Kind::load: {
            const std::string value = element(statement, before);
            say_before();
            if (homes_.of(statement.variable).mentions == 1) return;
            if (homes_.is_read_in_place(block, index)) {
                names_[static_cast<size_t>(statement.variable)] = value;
                return;
            }
            return line(target_of(block, index) + " = " + value + ";", statement.line);
        }
        case Kind::take: {
            const std::string& name = arrays_[static_cast<size_t>(statement.array)];
            if (homes_.of(statement.variable).mentions == 1)
                return line(text("--", name, "_count;"), statement.line);
            return line(text(target_of(block, index), " = ", name, "[--", name, "_count];"),
                        statement.line);
        }
        case Kind::store: {
            const std::string value = values(statement.values, before)[0];
            const std::string place = element(statement, before);
            say_before();
            return line(place + " = " + value + ";", statement.line);
        }
        case Kind::add: {
            const DType dtype = array_of(statement.array).dtype;
            const std::string place = element(statement, before);
            const Expr& added = statement.values[0];
            if (ir::is_floating(dtype)) {
                const bool is_less = subtracts(statement);
                const std::string value = values({is_less ? added.operand(0) : added}, before)[0];
                say_before();
                if (roundings_)
                    return line(with_dtype(addition(statement, place, value, *roundings_,
                                                    sums_in_order_.contains(&statement), true),
                                           place, dtype),
                                statement.line);
                return line(text(place, is_less ? " -= " : " += ", value, ";"), statement.line);
            }
            // Integers wrap, bools are joined.
            names_.push_back(place);
            const Expr own = Expr::argument(static_cast<int>(names_.size()) - 1, dtype, "element");
            const std::string sum = values({own + added}, before)[0];
            names_.pop_back();
            say_before();
            return line(text(place, " = ", sum, ";"), statement.line);
        }
        case Kind::append: {
            const std::string value = values(statement.values, before)[0];
            say_before();
            const std::string& name = arrays_[static_cast<size_t>(statement.array)];
            const std::string type = type_of_elements(array_of(statement.array).dtype);
            return line(setting_.is_function ? text(name, "[", name, "_count++] = ", value, ";")
                                             : text("append(", type, ", ", name, ", ", value, ");"),
                        statement.line);
        }
        case Kind::allocate: return print_allocation(block, index);
        case Kind::assign: {
            if (is_own_value(statement)) return;
            const std::string value = values(statement.values, before)[0];
            say_before();
            const std::string target = target_of(block, index);
            const bool in_order = sums_in_order_.contains(&statement);
            return line(with_dtype(assignment(statement, target, value, in_order), target,
                                   variable(statement.variable).dtype),
                        statement.line);
        }
        case Kind::branch: print_branch(statement); return;
        case Kind::loop: print_loop(block, index); return;
        case Kind::stop: line("break;", statement.line); return;
        case Kind::go_on: line("continue;", statement.line); return;
        case Kind::leave:
            return print_results(statement,
                                 &block == &procedure_.body && index + 1 == block.size());
        case Kind::expect: {
            const std::string holds = values(statement.values, before)[0];
            say_before();
            const bool is_of_index =
                statement.claim && statement.claim->kind == ir::procedure::Claim::Kind::index;
            return require(holds, statement.line, is_of_index);
        }
    }
}

void ProcedureInC::print_results(const Statement& leave, bool is_last) {
    std::vector<std::string> before;
    const std::vector<std::string> made = values(leave.values, before);
    for (const std::string& text : before) line(text, leave.line);
    if (returns_result()) return line(text("return ", made[0], ";"), leave.line);
    for (size_t i = 0; i < made.size(); ++i)
        line(text(results_[i], " = ", made[i], ";"), leave.line);
    if (setting_.is_function && can_fail_) return line("return 0;", leave.line);
    if (!is_last) line("return;", leave.line);
}

void ProcedureInC::print_allocation(const Block& block, size_t index) {
    const Statement& statement = block[index];
    const ArrayVariable& known = array_of(statement.array);
    const std::string& name = arrays_[static_cast<size_t>(statement.array)];
    std::vector<std::string> before;
    if (known.grows) {
        if (!is_declaration(block, index)) line(text(name, "_count = 0;"), statement.line);
        return;
    }
    const bool is_outside = known.role != Role::local;
    if (!sure_.contains(statement.array))
        for (const Expr& extent : known.shape)
            if (!naturals_.contains(extent)) {
                const std::string own = integer(extent, before);
                for (const std::string& text : before) line(text, statement.line);
                before.clear();
                require(own + " >= 0", statement.line, false);
            }
    const std::string count = count_of(statement.array, before);
    for (const std::string& text : before) line(text, statement.line);
    if (places_.contains(statement.array) && !setting_.is_function)
        line(text("allocate(", type_of_elements(known.dtype), ", ", name, ", ", count, ");"),
             statement.line);
    // Of one that nothing mentions there is no pointer.
    const bool is_said = is_declaration(block, index) ||
                         (is_outside && !mentioned_.arrays.contains(statement.array));
    if (!statement.is_zeroed || is_said) return;
    TakenNames inner = TakenNames::within(taken_);
    const std::string k = unique_name("k", inner, true);
    line(text("for (int64_t ", k, " = 0; ", k, " < ", count, "; ++", k, ") ", name, "[", k,
              "] = ", zero_of(known.dtype), ";"),
         statement.line);
}

}  // namespace composit::c_family
