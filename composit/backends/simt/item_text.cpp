// Statements of procedures for devices.
#include "composit/backends/simt/item_text.h"

#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/backends/c_family/procedure_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace composit::simt {

using c_family::Home;
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

// A thread's stack is memory of the device, too, but for the smallest arrays.
constexpr int64_t most_bytes_of_array = 1024, most_bytes_of_stack = 4096;

std::string with_word(const std::string& text, std::string_view word, std::string_view by) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t found = text.find(word, at);
        const bool is_word = found != std::string::npos &&
                             (found == 0 || text[found - 1] == ' ' || text[found - 1] == '\n');
        const size_t end = found == std::string::npos ? text.size() : found;
        out += text.substr(at, end - at);
        if (found == std::string::npos) break;
        out += is_word ? by : word;
        at = found + word.size();
    }
    return out;
}

// The values of variables that are known when the text is made: parameters, and what is computed of
// those alone.
class KnownValues {
  public:
    KnownValues(const Procedure& procedure, const std::map<int, Bits>& parameters)
        : bits_(procedure.variables.size()), known_(parameters) {
        std::map<int, std::vector<const Statement*>> assigned;
        for (const Statement* each : ir::procedure::all_statements(procedure.body))
            if (each->variable >= 0) assigned[each->variable].push_back(each);
        for (const auto& [variable, statements] : assigned) known_.erase(variable);
        for (const auto& [variable, bits] : known_) bits_[static_cast<size_t>(variable)] = bits;
        for (bool is_new = true; is_new;) {
            is_new = false;
            for (const auto& [variable, statements] : assigned) {
                if (statements.size() != 1 || statements[0]->kind != Kind::assign ||
                    known_.contains(variable))
                    continue;
                if (const auto value = of(statements[0]->values[0])) {
                    known_[variable] = bits_[static_cast<size_t>(variable)] = *value;
                    is_new = true;
                }
            }
        }
    }

    std::optional<Bits> of(const Expr& value) const {
        for (const Expr& part : ir::scalar::topological_order({value}))
            if (part.op() == ir::scalar::Op::argument && !known_.contains(part.index())) return {};
        return ir::scalar::evaluate({value}, bits_)[0];
    }

    // How many elements an array of the shape has; none where that is not known, or an extent is
    // negative.
    std::optional<int64_t> count_of(const std::vector<Expr>& shape) const {
        int64_t count = 1;
        for (const Expr& extent : shape) {
            const std::optional<Bits> bits = of(extent);
            if (!bits) return {};
            const auto own = static_cast<int64_t>((*bits)[0]);
            constexpr int64_t most = int64_t{1} << 40;
            if (own < 0 || own > most || count * own > most) return {};
            count *= own;
        }
        return count;
    }

  private:
    std::vector<Bits> bits_;
    std::map<int, Bits> known_;
};

}  // namespace

Procedure for_items(const Procedure& procedure) {
    return c_family::with_names(
        ir::procedure::without_zero_gradients(c_family::without_unread(procedure)));
}

ItemText::ItemText(const Procedure& procedure, const Dialect& dialect,
                   const c_family::TakenNames& taken, ItemSetting setting)
    : BlockWriter(procedure, c_family::TakenNames::within(taken)),
      dialect_(dialect),
      setting_(std::move(setting)),
      naturals_(procedure),
      mentioned_(c_family::mentioned_in(procedure)) {
    find_places();
}

// What the kernel's head declares has its name first.
void ItemText::find_names() {
    const c_family::Scope whole{0, std::numeric_limits<int>::max()};
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
            std::string name =
                scoped_.name(array.name, is_place ? whole : homes_.scope_of(homes_.count() + i));
            if (is_place)  // it has a room and, if it grows, a count beside it
                while (!taken_.insert(name + "_room") || !taken_.insert(name + "_count"))
                    name = scoped_.name(array.name, whole);
            arrays_[i] = std::move(name);
        }
    }
}

void ItemText::find_places() {
    const KnownValues known(procedure_, setting_.known);
    int64_t bytes_of_stack = 0;
    for (size_t i = 0; i < procedure_.arrays.size(); ++i) {
        const ArrayVariable& array = procedure_.arrays[i];
        if (array.role != Role::local || !homes_.of_array(i).block) continue;
        const std::optional<int64_t> count =
            array.grows ? std::nullopt : known.count_of(array.shape);
        const int64_t bytes = count.value_or(0) * ir::size_of(array.dtype);
        const auto number = static_cast<int>(i);
        if (count && bytes <= most_bytes_of_array &&
            bytes_of_stack + bytes <= most_bytes_of_stack) {
            bytes_of_stack += bytes;
            on_stack_[number] = std::max<int64_t>(*count, 1);
            continue;
        }
        places_.insert(number);
        constexpr int64_t to_begin_with = 1024;
        workspace_bytes_ += count ? (bytes + 7) / 8 * 8 : to_begin_with;
        may_grow_ |= !count;
    }
}

std::string ItemText::run(const std::vector<std::string>& results) {
    results_ = results;
    find_names();
    for (const auto& [extent, wanted] : setting_.extents) {
        std::vector<std::string> before;
        const std::string own = integer(extent, before);
        for (const std::string& text : before) line(text);
        assert_that(text(own, " == ", wanted), procedure_.line);
    }
    for (const int place : places_) {
        const std::string& name = arrays_[static_cast<size_t>(place)];
        line(text(dialect_.global, c_family::type_of_elements(array_of(place).dtype), "* ", name,
                  " = 0;"));
        line(text("int64_t ", name, "_room = 0;"));
        if (array_of(place).grows) line(text("int64_t ", name, "_count = 0;"));
    }
    print_block(procedure_.body);
    const auto all = ir::procedure::all_statements(procedure_.body);
    const bool is_derived = std::any_of(all.begin(), all.end(), [](const Statement* each) {
        return each->line.sweep != ir::procedure::Sweep::value;
    });
    return with_word(
        c_family::printed(c_family::gathered(std::move(lines_), is_derived, true), procedure_.file),
        "assert(", "require(");
}

// ----- values and places

std::vector<std::string> ItemText::values(const std::vector<Expr>& given,
                                          std::vector<std::string>& before) {
    const c_family::ScalarSpelling& spelling = dialect_.scalars;
    const auto printed = c_family::print_statements(given, names_, taken_, nullptr, spelling);
    const auto plain = [&](const std::string& text) {
        return c_family::plain(text, spelling.long_suffix);
    };
    for (const std::string& text : printed.lines) before.push_back(plain(text));
    std::vector<std::string> results;
    for (const std::string& text : printed.results) results.push_back(plain(text));
    return results;
}

std::string ItemText::integer(const Expr& value, std::vector<std::string>& before) {
    const std::string simple = c_family::plain_integer(value, names_);
    return simple.empty() ? c_family::factor(values({value}, before)[0]) : simple;
}

std::string ItemText::place_of(const Statement& statement, std::vector<std::string>& before) {
    const std::vector<Expr>& shape = array_of(statement.array).shape;
    const bool is_of_axes = statement.index.size() == shape.size();
    std::vector<std::string> indices, extents;
    for (size_t axis = 0; axis < statement.index.size(); ++axis) {
        indices.push_back(integer(statement.index[axis], before));
        extents.push_back(axis == 0 ? "" : integer(shape[axis], before));
    }
    const auto strides = setting_.strides.find(statement.array);
    if (strides == setting_.strides.end()) return c_family::flat_place(indices, extents);
    if (!is_of_axes) {  // the number of the element among all
        const std::string number = c_family::factor(indices[0]);
        indices.clear();
        std::string inner;
        for (size_t axis = shape.size(); axis-- > 0;) {
            const std::string extent = c_family::factor(integer(shape[axis], before));
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
        sum += stride == 1 ? c_family::factor(indices[axis])
                           : text(c_family::factor(indices[axis]), " * ", stride);
    }
    return sum.empty() ? "0" : sum;
}

std::string ItemText::element(const Statement& statement, std::vector<std::string>& before) {
    return text(arrays_[static_cast<size_t>(statement.array)], "[", place_of(statement, before),
                "]");
}

std::string ItemText::count_of(int array, std::vector<std::string>& before) {
    std::string count;
    for (const Expr& extent : array_of(array).shape) {
        if (ir::procedure::is_integer_constant(extent, 1)) continue;
        count += (count.empty() ? "" : " * ") + c_family::factor(integer(extent, before));
    }
    return count.empty() ? "1" : count;
}

// ----- statements

void ItemText::assert_that(const std::string& condition, int source_line) {
    has_assertions_ = true;
    line("assert(" + condition + ");", source_line);
}

bool ItemText::is_declaration(const Block& block, size_t index) const {
    const Statement& statement = block[index];
    if (statement.kind != Kind::allocate || !is_on_stack(statement.array)) return false;
    const Home& home = homes_.of_array(static_cast<size_t>(statement.array));
    return home.block == &block && home.first == index;
}

// Those on the stack where they are used; others for the whole of the work, so that room that they
// once had is theirs again.
void ItemText::declare_arrays(const Block& block, size_t index) {
    for (const auto& [number, count] : on_stack_) {
        const Home& home = homes_.of_array(static_cast<size_t>(number));
        if (home.block != &block || home.first != index) continue;
        const Statement& statement = block[index];
        const bool is_zeroed =
            is_declaration(block, index) && statement.array == number && statement.is_zeroed;
        line(text(c_family::type_of_elements(array_of(number).dtype), " ",
                  arrays_[static_cast<size_t>(number)], "[", count, "]",
                  is_zeroed ? " = {0};" : ";"),
             statement.line);
    }
}

size_t ItemText::print_at(const Block& block, size_t index) {
    declare(block, index);
    print_statement(block, index);
    return 1;
}

void ItemText::print_statement(const Block& block, size_t index) {
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
                const bool subtracts = c_family::subtracts(statement);
                const std::string value = values({subtracts ? added.operand(0) : added}, before)[0];
                say_before();
                return line(text(place, subtracts ? " -= " : " += ", value, ";"), statement.line);
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
            return line(
                text("append(", c_family::type_of_elements(array_of(statement.array).dtype), ", ",
                     arrays_[static_cast<size_t>(statement.array)], ", ", value, ");"),
                statement.line);
        }
        case Kind::allocate: return print_allocation(block, index);
        case Kind::assign: {
            if (c_family::is_own_value(statement)) return;
            const std::string value = values(statement.values, before)[0];
            say_before();
            return line(c_family::assignment(statement, target_of(block, index), value, false),
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
            return assert_that(holds, statement.line);
        }
    }
}

void ItemText::print_results(const Statement& leave, bool is_last) {
    std::vector<std::string> before;
    const std::vector<std::string> made = values(leave.values, before);
    for (const std::string& text : before) line(text, leave.line);
    for (size_t i = 0; i < made.size(); ++i)
        line(text(results_[i], " = ", made[i], ";"), leave.line);
    if (!is_last) line("return;", leave.line);
}

void ItemText::print_allocation(const Block& block, size_t index) {
    const Statement& statement = block[index];
    const ArrayVariable& known = array_of(statement.array);
    const std::string& name = arrays_[static_cast<size_t>(statement.array)];
    std::vector<std::string> before;
    if (known.grows) return line(text(name, "_count = 0;"), statement.line);
    const bool is_outside = known.role != Role::local;
    if (!is_on_stack(statement.array))
        for (const Expr& extent : known.shape)
            if (!naturals_.contains(extent)) {
                const std::string own = integer(extent, before);
                for (const std::string& text : before) line(text, statement.line);
                before.clear();
                assert_that(own + " >= 0", statement.line);
            }
    const std::string count = count_of(statement.array, before);
    for (const std::string& text : before) line(text, statement.line);
    if (places_.contains(statement.array))
        line(text("allocate(", c_family::type_of_elements(known.dtype), ", ", name, ", ", count,
                  ");"),
             statement.line);
    // Of one that nothing mentions there is no pointer.
    const bool is_said = is_declaration(block, index) ||
                         (is_outside && !mentioned_.arrays.contains(statement.array));
    if (!statement.is_zeroed || is_said) return;
    c_family::TakenNames inner = c_family::TakenNames::within(taken_);
    const std::string k = c_family::unique_name("k", inner, true);
    line(text("for (int64_t ", k, " = 0; ", k, " < ", count, "; ++", k, ") ", name, "[", k,
              "] = ", c_family::zero_of(known.dtype), ";"),
         statement.line);
}

}  // namespace composit::simt
