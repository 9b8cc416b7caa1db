// Blocks, branches and loops of `scf`: what they change goes in and out as values.
#include "composit/exporters/mlir_kernels/statements_text.h"

#include "composit/backends/c_family/procedure_heads.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <utility>

namespace composit::mlir {

using ir::DType;
using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

StatementsText::StatementsText(const Procedure& procedure, LineStyle style, Helpers& helpers)
    : procedure_(procedure),
      places_(procedure),
      homes_(homes_of_arrays(procedure)),
      naturals_(procedure),
      out_(std::move(style)),
      helpers_(helpers) {
    state_.variables.resize(procedure.variables.size());
    state_.memory.resize(procedure.arrays.size());
    state_.counts.resize(procedure.arrays.size());
}

std::string StatementsText::run(const std::string& name) {
    const std::string own = head(name);
    write_extents(places_.live_before(procedure_.body, {}));
    for (const auto& [array, home] : homes_)
        if (home == &procedure_.body) {
            const auto first = std::find_if(
                home->begin(), home->end(),
                [number = array](const Statement& each) { return each.array == number; });
            const bool is_declared = first != home->end() && first->kind == Kind::allocate;
            if (!is_declared) declare(array);
        }
    write_block(procedure_.body, {});
    return out_.whole(own);
}

// ----- the function's head

std::string StatementsText::head(const std::string& name) {
    const ir::procedure::Callable callable(procedure_);
    std::vector<std::string> arguments, results;
    const auto add_array = [&](int number) {
        memory(number) = out_.fresh(array_of(number).name);
        arguments.push_back(memory(number) + ": " + memref_type(array_of(number)));
    };
    for (const int each : c_family::head_of(procedure_)) {
        if (each < 0) {
            add_array(-1 - each);
        } else if (!callable.is_extent(static_cast<size_t>(each))) {
            Held& held = state_.variables[static_cast<size_t>(each)];
            held.plain = out_.fresh(name_of(each));
            arguments.push_back(held.plain + ": " + type_of(each));
        }
    }
    for (const int number : procedure_.arrays_of(Role::output)) add_array(number);
    for (const auto& result : procedure_.results) results.push_back(scalar_type(result.dtype));
    std::string out = text("func.func @", name, "(", join(arguments), ")");
    if (results.size() == 1) out += " -> " + results[0];
    if (results.size() > 1) out += " -> (" + join(results) + ")";
    return out + " {";
}

void StatementsText::write_extents(const std::set<int>& live) {
    const ir::procedure::Callable callable(procedure_);
    const std::vector<int> inputs = procedure_.arrays_of(Role::input);
    for (size_t i = 0; i < procedure_.parameters; ++i) {
        const auto extent = callable.extent_of(i);
        const auto number = static_cast<int>(i);
        if (extent.array < 0 || !live.contains(number)) continue;
        const int array = inputs[static_cast<size_t>(extent.array)];
        state_.variables[i].index =
            out_.add(name_of(number), text("memref.dim ", memory(array), ", ",
                                           out_.index_constant(static_cast<int64_t>(extent.axis)),
                                           " : ", memref_type(array_of(array))));
    }
}

// ----- places

std::string StatementsText::name_of(int place) const {
    if (places_.is_variable(place)) return procedure_.variables[static_cast<size_t>(place)].name;
    const std::string& array = array_of(places_.array_of(place)).name;
    return places_.is_memory(place) ? array : array + "_count";
}

std::string StatementsText::type_of(int place) const {
    if (places_.is_variable(place)) return scalar_type(dtype_of(place));
    return places_.is_memory(place) ? memref_type(array_of(places_.array_of(place))) : "index";
}

std::string StatementsText::now(int place) {
    if (places_.is_variable(place))
        return held_as_plain(out_, state_.variables[static_cast<size_t>(place)], dtype_of(place));
    const int array = places_.array_of(place);
    return places_.is_memory(place) ? memory(array) : count(array);
}

void StatementsText::become(int place, const std::string& name) {
    if (places_.is_variable(place))
        state_.variables[static_cast<size_t>(place)] = {name, ""};
    else
        (places_.is_memory(place) ? memory(places_.array_of(place))
                                  : count(places_.array_of(place))) = name;
}

std::vector<int> StatementsText::carried(const std::set<int>& written,
                                         const std::set<int>& live) const {
    std::vector<int> all;
    for (const int place : written) {
        const bool is_known =
            places_.is_variable(place)
                ? live.contains(place)
                : !state_.memory[static_cast<size_t>(places_.array_of(place))].empty();
        if (is_known) all.push_back(place);
    }
    return all;
}

std::vector<std::string> StatementsText::all_now(const std::vector<int>& places) {
    std::vector<std::string> all;
    for (const int place : places) all.push_back(now(place));
    return all;
}

std::string StatementsText::types_of(const std::vector<int>& places) const {
    std::vector<std::string> all;
    for (const int place : places) all.push_back(type_of(place));
    return join(all);
}

std::vector<std::string> StatementsText::fresh_for(const std::vector<int>& places) {
    std::vector<std::string> all;
    for (const int place : places) all.push_back(out_.fresh(name_of(place)));
    return all;
}

void StatementsText::yield(const std::vector<int>& places) {
    if (places.empty()) return;
    const std::string values = join(all_now(places));
    out_.line(text("scf.yield ", values, " : ", types_of(places)));
}

// ----- blocks

void StatementsText::write_block(const Block& block, const std::set<int>& live_behind) {
    const std::vector<std::set<int>> live = places_.live_behind_each(block, live_behind);
    for (size_t i = 0; i < block.size();) {
        if (const auto exchange = ir::procedure::exchange_at(procedure_, block, i)) {
            std::swap(memory(exchange->one), memory(exchange->other));
            i += exchange->statements;
        } else {
            write(block, i, live[i]);
            ++i;
        }
    }
    free_arrays(block);
}

void StatementsText::write(const Block& block, size_t index, const std::set<int>& live_behind) {
    const Statement& statement = block[index];
    if (statement.line != 0) out_.set_source_line(statement.line);
    switch (statement.kind) {
        case Kind::assign: {
            const std::string& name =
                procedure_.variables[static_cast<size_t>(statement.variable)].name;
            const Expr& value = statement.values[0];
            Held held;
            if (value.op() == ir::scalar::Op::argument)
                held = state_.variables[static_cast<size_t>(value.index())];
            ValuesText values(out_, state_.variables);
            if (held.is_unset() && values.is_of_indices(value))
                held.index = values.index(value, name);
            else if (held.is_unset())
                held.plain = values.plain(value, name);
            state_.variables[static_cast<size_t>(statement.variable)] = held;
            return;
        }
        case Kind::branch: return write_branch(statement, live_behind);
        case Kind::loop: return write_loop(statement, live_behind);
        case Kind::load:
        case Kind::store:
        case Kind::add: return write_element(statement);
        case Kind::allocate: return allocate(statement);
        case Kind::append: return append(statement);
        case Kind::take: return take(statement);
        case Kind::expect: return expect(statement);
        case Kind::leave: free_arrays(block); return leave(statement);
        case Kind::stop:
        case Kind::go_on: break;
    }
    fail<InternalError>("mlir: a way out of the middle of a block");
}

void StatementsText::write_branch(const Statement& branch, const std::set<int>& live_behind) {
    std::set<int> written = places_.written(branch.body);
    written.merge(places_.written(branch.otherwise));
    const std::vector<int> places = carried(written, live_behind);
    const bool has_else = !places.empty() || !branch.otherwise.empty();
    // Where both sides are said, those of what does not hold change places.
    const Expr& asked = branch.values[0];
    const bool is_turned = has_else && asked.op() == ir::scalar::Op::bit_not;
    const std::string condition =
        ValuesText(out_, state_.variables).plain(is_turned ? asked.operand(0) : asked);
    const std::vector<std::string> results = fresh_for(places);
    out_.open(places.empty()
                  ? text("scf.if ", condition, " {")
                  : text(join(results), " = scf.if ", condition, " -> (", types_of(places), ") {"));
    const State before = state_;
    write_block(is_turned ? branch.otherwise : branch.body, live_behind);
    yield(places);
    state_ = before;
    if (has_else) {
        out_.close("} else {");
        write_block(is_turned ? branch.body : branch.otherwise, live_behind);
        yield(places);
        state_ = before;
    }
    out_.close();
    for (size_t i = 0; i < places.size(); ++i) become(places[i], results[i]);
}

void StatementsText::write_loop(const Statement& loop, const std::set<int>& live_behind) {
    if (!write_counted(loop, live_behind)) write_while(loop, live_behind);
}

// for (i = begin; i < end; i += step), or down: as many turns, of which each has its i.
bool StatementsText::write_counted(const Statement& loop, const std::set<int>& live_behind) {
    const auto counted = ir::procedure::count_of(loop);
    if (!counted || dtype_of(counted->counter) != DType::int64 ||
        live_behind.contains(counted->counter))
        return false;
    const bool is_up = counted->step > 0;
    const int64_t step = is_up ? counted->step : -counted->step;
    ValuesText values(out_, state_.variables);
    const std::string begin = values.index(counted->begin);
    std::string first = begin, end;
    if (is_up) {
        end = values.index(counted->end);
    } else {
        Expr turns = ir::procedure::is_integer_constant(counted->end, -1)
                         ? ir::procedure::one_more(counted->begin)
                         : ir::procedure::minus(counted->begin, counted->end);
        if (step != 1)
            turns = Expr::make(ir::scalar::Op::divide, {turns + ir::procedure::integer(step - 1),
                                                        ir::procedure::integer(step)});
        first = out_.index_constant(0);
        end = values.index(turns);
    }
    const std::set<int> live = places_.live_in_loop(loop, live_behind);
    const std::vector<int> places = carried(places_.written(loop.body), live);
    std::vector<std::string> starts = all_now(places);
    const std::vector<std::string> results = fresh_for(places), within = fresh_for(places);
    for (size_t i = 0; i < places.size(); ++i) starts[i] = within[i] + " = " + starts[i];
    const std::string counter = out_.fresh(is_up ? name_of(counted->counter) : "turn");
    const std::string by = out_.index_constant(is_up ? step : 1);
    const std::string range = text("scf.for ", counter, " = ", first, " to ", end, " step ", by);
    out_.open(places.empty() ? range + " {"
                             : text(join(results), " = ", range, " iter_args(", join(starts),
                                    ") -> (", types_of(places), ") {"));
    const State before = state_;
    for (size_t i = 0; i < places.size(); ++i) become(places[i], within[i]);
    std::string own = counter;
    if (!is_up) {
        const std::string distance =
            step == 1 ? counter
                      : out_.add("", text("arith.muli ", counter, ", ", out_.index_constant(step),
                                          " : index"));
        own = out_.add(name_of(counted->counter),
                       text("arith.subi ", begin, ", ", distance, " : index"));
    }
    state_.variables[static_cast<size_t>(counted->counter)] = {"", own};
    write_block(loop.body, live);
    yield(places);
    state_ = before;
    out_.close();
    for (size_t i = 0; i < places.size(); ++i) become(places[i], results[i]);
    return true;
}

// The variable that a loop counts with, and that is carried as an index; -1: there is none.
int StatementsText::counter_of(const Statement& loop) const {
    if (loop.otherwise.size() != 1 || loop.otherwise[0].kind != Kind::assign) return -1;
    const Statement& step = loop.otherwise[0];
    const Expr& next = step.values[0];
    const bool counts =
        next.dtype() == DType::int64 && next.operands().size() == 2 &&
        (next.op() == ir::scalar::Op::add || next.op() == ir::scalar::Op::subtract) &&
        ir::procedure::is_variable(next.operand(0), step.variable) &&
        next.operand(1).op() == ir::scalar::Op::constant;
    return counts ? step.variable : -1;
}

void StatementsText::write_while(const Statement& loop, const std::set<int>& live_behind) {
    const std::set<int> live = places_.live_in_loop(loop, live_behind);
    write_block(loop.first, live);
    std::set<int> written = places_.written(loop.body);
    written.merge(places_.written(loop.otherwise));
    const std::vector<int> places = carried(written, live);
    const int counter = counter_of(loop);
    const auto value_of = [&](int place) {
        return place == counter ? ValuesText(out_, state_.variables)
                                      .index(procedure_.variable(static_cast<size_t>(place)))
                                : now(place);
    };
    const auto set_all = [&](const std::vector<std::string>& names) {
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] == counter)
                state_.variables[static_cast<size_t>(counter)] = {"", names[i]};
            else
                become(places[i], names[i]);
    };
    std::vector<std::string> starts, heads, all_types;
    for (const int place : places) {
        starts.push_back(value_of(place));
        all_types.push_back(place == counter ? "index" : type_of(place));
    }
    const std::vector<std::string> results = fresh_for(places), asked = fresh_for(places),
                                   within = fresh_for(places);
    for (size_t i = 0; i < places.size(); ++i) {
        starts[i] = asked[i] + " = " + starts[i];
        heads.push_back(within[i] + ": " + all_types[i]);
    }
    const std::string types = join(all_types);
    out_.open(places.empty() ? "scf.while : () -> () {"
                             : text(join(results), " = scf.while (", join(starts), ") : (", types,
                                    ") -> (", types, ") {"));
    const State before = state_;
    set_all(asked);
    const std::string condition = ValuesText(out_, state_.variables).plain(loop.values[0]);
    out_.line(text("scf.condition(", condition, ")",
                   places.empty() ? "" : " " + join(asked) + " : " + types));
    state_ = before;
    set_all(within);
    out_.close("} do {");
    if (!places.empty()) out_.label("^bb0(" + join(heads) + "):");
    write_block(loop.body, places_.live_before(loop.otherwise, live));
    write_block(loop.otherwise, live);
    std::vector<std::string> next;
    for (const int place : places) next.push_back(value_of(place));
    out_.line(places.empty() ? "scf.yield" : text("scf.yield ", join(next), " : ", types));
    state_ = before;
    out_.close();
    set_all(results);
}

void StatementsText::expect(const Statement& statement) {
    const std::string condition = ValuesText(out_, state_.variables).plain(statement.values[0]);
    out_.line(text("cf.assert ", condition, ", ", out_.failure(procedure_.name)));
}

void StatementsText::leave(const Statement& statement) {
    ValuesText values(out_, state_.variables);
    std::vector<std::string> names, types;
    for (size_t i = 0; i < statement.values.size(); ++i) {
        names.push_back(values.plain(statement.values[i], procedure_.results[i].name));
        types.push_back(scalar_type(procedure_.results[i].dtype));
    }
    out_.line(names.empty() ? "return" : text("return ", join(names), " : ", join(types)));
}

}  // namespace composit::mlir
