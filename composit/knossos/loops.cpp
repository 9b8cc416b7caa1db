// Loops, and what holds behind them.
#include "composit/knossos/loops.h"

#include <algorithm>

namespace composit::knossos {
namespace {

NameSet common_to_all(const std::vector<NameSet>& all) {
    NameSet found = all.at(0);
    for (const NameSet& each : all) found = common(found, each);
    return found;
}

Statement jump(Statement::Kind kind, int line) {
    Statement made;
    made.kind = kind;
    made.line = line;
    return made;
}

}  // namespace

void Loops::do_loop(const SyntaxRef& statement) {
    const Body behind = statement->all(Field::otherwise);
    if (behind.empty()) {
        loop(statement);
        return;
    }
    if (!any_jumps(statement->all(Field::body), true)) {
        loop(statement);
        statements.run(behind);
        return;
    }
    Code& code = arrays.code;
    const std::string name = code.hidden_variable("is_left", Kind::boolean);
    code.assign(code.number_of(name), arrays.operators.cast(false, Kind::boolean),
                statement->line());
    flag = code.number_of(name);
    loop(statement);
    if (flag) {  // the loop never runs
        flag.reset();
        statements.run(behind);
        return;
    }
    otherwise(*statement, name);
}

void Loops::otherwise(const Syntax& statement, const std::string& flag_name) {
    Sharing& sharing = arrays.sharing;
    const Body behind = statement.all(Field::otherwise);
    const LoopRef loop = std::exchange(left, nullptr);
    if (!loop || loop->defined_at_stops.empty()) {  // no break is reached
        statements.run(behind);
        return;
    }
    NameSet defined = common_to_all(loop->defined_at_stops);
    const State parts = joined(loop->parts_at_stops);
    ++scope.nesting;
    const BlockRef block = statements.block(behind);
    --scope.nesting;
    arrays.code.add(
        Statement::branch(arrays.code.leaf(flag_name), {}, block->statements, statement.line()));
    const bool is_over = !scope.defined;
    if (scope.defined) defined = common(defined, *scope.defined);
    scope.defined = defined;
    sharing.parts = joined({parts, is_over ? State() : sharing.parts});
}

void Loops::loop(const SyntaxRef& statement) {
    if (statement->form == Form::repeat)
        run_while(*statement);
    else
        run_for(statement);
}

void Loops::run_while(const Syntax& statement) {
    Code& code = arrays.code;
    const Operators& operators = arrays.operators;
    const SyntaxRef& test = statement.at(Field::test);
    const Body body = statement.all(Field::body);
    const int line = statement.line();
    Value condition;
    BlockRef needed;
    {
        const Emitting emitting(code);
        needed = emitting.block();
        condition = operators.truth(expressions.value(test));
    }
    const bool* known = condition.as<bool>();
    if (known && !*known) return;
    if (!needed->statements.empty()) {
        // What the condition reads is read in each iteration.
        std::vector<Statement> whole;
        const auto inner = body_of(body, {.test = test});
        const Value is_over = operators.unary("not", condition);
        whole = needed->statements;
        whole.push_back(Statement::branch(operators.cast(is_over, Kind::boolean),
                                          {jump(Statement::Kind::stop, line)}, {}, line));
        whole.insert(whole.end(), inner.begin(), inner.end());
        code.add(Statement::loop({}, operators.cast(true, Kind::boolean), whole, {}, line));
        return;
    }
    const bool for_ever = known != nullptr;
    if (for_ever && !any_leaves(body))
        scope.refuse(statement, "the loop never ends",
                     "A break, a return, or a condition is required.");
    auto inner = body_of(body, {.runs_for_ever = for_ever, .test = test});
    if (!for_ever) condition = operators.truth(expressions.value(test));
    code.add(
        Statement::loop({}, operators.cast(condition, Kind::boolean), std::move(inner), {}, line));
}

std::vector<Statement> Loops::body_of(const Body& body, const BodyOptions& options) {
    Code& code = arrays.code;
    Sharing& sharing = arrays.sharing;
    const auto [number, state] = sharing.begin_of_loop();
    const int first = code.count_of_arrays();
    const auto translated = std::make_shared<Block>();
    const bool hands_on = std::any_of(state.begin(), state.end(),
                                      [](const auto& each) { return !each.second.empty(); });
    if (options.begin) {
        const Emitting emitting(code, translated);
        options.begin();
    } else if (options.test && hands_on) {
        const Emitting nowhere(code);  // reads nothing that an iteration has changed
        (void)expressions.value(options.test);
    }
    NameSet before = scope.defined_names();
    scope.loops->push_back(std::make_shared<Loop>(
        Loop{.runs_for_ever = options.runs_for_ever, .flag = flag, .trips = options.trips}));
    const auto growing = lists.begin_loop(body);
    flag.reset();
    ++scope.nesting;
    extend(*translated, statements.block(body, options.is_certain)->statements);
    --scope.nesting;
    const LoopRef here = scope.loops->back();
    scope.loops->pop_back();
    if (here->flag) left = here;
    std::vector<State> again = here->parts_at_continues;
    if (scope.defined) again.push_back(sharing.parts);
    sharing.end_of_loop(number, state, again, here->parts_at_stops);
    if (!growing.numbers.empty()) lists.end_loop(growing, options.trips, !any_passes_over(body));
    for (int i = first; i < code.count_of_arrays(); ++i) sharing.ended.insert(i);
    end_body(*here, options, std::move(before));
    return std::move(translated->statements);
}

// What has a value behind the loop.
void Loops::end_body(const Loop& loop, const BodyOptions& options, NameSet before) {
    std::vector<NameSet> ends = loop.defined_at_stops;
    ends.insert(ends.end(), loop.defined_at_continues.begin(), loop.defined_at_continues.end());
    if (scope.defined) ends.push_back(*scope.defined);
    if (options.runs && !ends.empty()) before.merge(numbers_among(common_to_all(ends)));
    scope.defined = std::move(before);
    if (!options.runs_for_ever) return;
    scope.defined.reset();
    if (!loop.defined_at_stops.empty()) scope.defined = common_to_all(loop.defined_at_stops);
}

NameSet Loops::numbers_among(const NameSet& names) const {
    NameSet found;
    for (const std::string& name : names)
        if (const StructureRef structure = scope.structure_named(name);
            structure && structure->sort == Structure::Sort::number)
            found.insert(name);
    return found;
}

void Loops::run_for(const SyntaxRef& statement) {
    const Body body = statement->all(Field::body);
    const Changes changes = mentions.changes_in(body, found.changing_calls);
    const Sequence items = sequences.sequence(statement->at(Field::iterated), changes);
    if (const Range* range = std::get_if<Range>(&items))
        over_range(statement, *range);
    else if (const ArrayRef* array = std::get_if<ArrayRef>(&items))
        over_array(statement, *array);
    else if (!any_jumps(body))
        written_out(statement, std::get<Items>(items), changes);
    else if (!std::get<Items>(items).empty())
        over_array(statement, sequences.choosing(std::get<Items>(items), changes));
}

bool Loops::is_own(const std::string& name, const SyntaxRef& loop, const Changes& changes) {
    const bool is_free = !arrays.code.has(name) && !scope.structure_named(name);
    return is_free && !changes.names.contains(name) && !is_used_outside_of(loop, name);
}

bool Loops::is_used_outside_of(const SyntaxRef& loop, const std::string& name) const {
    return is_used_outside(*scope.source->tree, *loop, name);
}

Loops::Counter Loops::counter_of(const SyntaxRef& loop, const Range& items) {
    Code& code = arrays.code;
    const SyntaxRef& target = loop->at(Field::target);
    if (target->form != Form::name)
        scope.refuse(*target, "the loop over a range has several names", "One name is required.");
    Counter made{.name = target->name, .own = target->name, .is_own = false, .here = {}, .end = {}};
    Changes changes = mentions.changes_in(loop->all(Field::body), found.changing_calls);
    made.is_own = is_own(made.name, loop, changes);
    changes.names.insert(made.name);
    made.end = items.end.expr() ? kept(*items.end.expr(), changes.names) : items.end;
    if (made.is_own)
        code.add_variable(made.name, Kind::integer);
    else
        made.own = code.hidden_variable("next_" + made.name, Kind::integer);
    made.here = code.leaf(made.own);
    return made;
}

// What is known of the counter within the loop.
void Loops::bound_counter(const Counter& counter, const Range& items) {
    if (!counter.is_own) return;
    Integers& integers = arrays.integers;
    const int number = counter.here.index();
    if (const auto least = integers.least(items.begin); items.step > 0 && least && *least >= 0) {
        const Value known = integers.resolved_within(items.end);
        integers.bounds[number] = {*least, integers.is_of_parameters(known) ? known : counter.end};
    }
    const auto least = integers.least(items.end);
    const Value known = integers.resolved_within(items.begin);
    if (items.step >= 0 || !least || *least < -1 || !integers.is_of_parameters(known)) return;
    const auto first = known.integer();
    const Value above = first ? Value(*first + 1)
                              : Value(Expr::make(Op::add, {*known.expr(), arrays.code.integer(1)}));
    integers.bounds[number] = {*least + 1, above};
}

Statement Loops::set_counter(const Counter& counter, const Value& value, int line) const {
    return Statement::assign(counter.here.index(), arrays.operators.cast(value, Kind::integer),
                             line);
}

// Down to -1 the last one is said, i >= 0, as people write it.
Expr Loops::condition_of(const Counter& counter, bool is_upwards) const {
    if (is_upwards || !counter.end.is(-1))
        return Expr::make(is_upwards ? Op::less : Op::greater,
                          {counter.here, arrays.operators.cast(counter.end, Kind::integer)});
    return Expr::make(Op::greater_equal, {counter.here, arrays.operators.cast(0, Kind::integer)});
}

void Loops::over_range(const SyntaxRef& loop, const Range& items) {
    Code& code = arrays.code;
    const Operators& operators = arrays.operators;
    const Body body = loop->all(Field::body);
    const int line = loop->line();
    std::optional<Value> trips;
    // As the counter is made before it, its number is the smaller one.
    const bool grows = !common(scope.appended, mentions.appended_in(body)).empty();
    if (grows) trips = trips_of(items);
    const Counter counter = counter_of(loop, items);
    bound_counter(counter, items);
    const bool is_upwards = items.step > 0;
    const Statement first = set_counter(counter, items.begin, line);
    const Expr condition = condition_of(counter, is_upwards);
    const Expr step = operators.cast(std::abs(items.step), Kind::integer);
    const Expr moved = Expr::make(is_upwards ? Op::add : Op::subtract, {counter.here, step});
    const Statement next = set_counter(counter, moved, line);
    const std::string& name = counter.name;
    const auto whole = std::make_shared<Block>();
    NameSet before = scope.defined_names();
    const auto known_begin = items.begin.integer(), known_end = items.end.integer();
    const bool runs = known_begin && known_end &&
                      (is_upwards ? *known_begin < *known_end : *known_begin > *known_end);
    if (counter.is_own) {
        scope.structures[name] = number_structure(Kind::integer);
        scope.defined = before;
        scope.defined->insert(name);
    } else {
        {
            const Emitting emitting(code, whole);
            assignments.assign(loop->at(Field::target), counter.here);
        }
        if (runs && !before.contains(name)) {  // has a value behind the loop
            code.assign(code.number_of(name), operators.cast(items.begin, Kind::integer), line);
            before.insert(name);
        }
    }
    const bool is_certain = runs && !any_passes_over(body);
    extend(*whole, body_of(body, {.is_certain = is_certain, .runs = runs, .trips = trips}));
    NameSet added;
    if (runs)
        for (const std::string& each : scope.defined_names())
            if (!before.contains(each) && each != name && is_used_outside_of(loop, each))
                added.insert(each);
    begin_with_values(added, line);
    before.merge(added);
    scope.defined = before;
    if (counter.is_own) {
        scope.structures.erase(name);
        code.numbers.erase(name);
    }
    code.add(Statement::loop({first}, condition, std::move(whole->statements), {next}, line));
}

Value Loops::trips_of(const Range& items) {
    const Value count = arrays.makers.counted(items)->shape[0];
    const Expr* expression = count.expr();
    if (!expression || expression->op() == Op::select || arrays.integers.is_natural(count))
        return count;
    const Operators& operators = arrays.operators;
    return operators.select(operators.compare(">", count, 0), count, 0);
}

void Loops::begin_with_values(const NameSet& names, int line) {
    Code& code = arrays.code;
    for (const std::string& name : names)
        code.assign(code.number_of(name), arrays.operators.cast(0, *code.kind_named(name)), line);
}

void Loops::over_array(const SyntaxRef& loop, const ArrayRef& items) {
    Code& code = arrays.code;
    const Operators& operators = arrays.operators;
    const SyntaxRef& target = loop->at(Field::target);
    const int line = loop->line();
    const std::string own = enumerating(loop);
    std::string counter = own, letter;
    if (!own.empty()) {
        code.add_variable(own, Kind::integer);
        scope.structures[own] = number_structure(Kind::integer);
    } else {
        letter = arrays.storage.begin_counter();
        counter = code.hidden_variable(letter, Kind::integer);
    }
    const int number = code.number_of(counter);
    const Expr here = code.leaf(counter);
    const Value& count = items->shape[0];
    arrays.integers.bounds[number] = {0, count};
    const NameSet before = scope.defined_names();
    if (!own.empty()) {
        scope.defined = before;
        scope.defined->insert(own);
    }
    const auto begin = [&] {
        const Value item = items->at({here});
        if (own.empty())
            assignments.assign(target, item);
        else
            assignments.assign(target->all(Field::element)[1], item.tuple()->parts[1]);
    };
    auto body = body_of(loop->all(Field::body), {.begin = begin, .trips = count});
    scope.defined = before;
    arrays.storage.end_counter(letter);
    if (!own.empty()) {
        scope.structures.erase(own);
        code.numbers.erase(own);
    }
    const auto set = [&](const Value& value) {
        return Statement::assign(number, operators.cast(value, Kind::integer), line);
    };
    const Expr moved = Expr::make(Op::add, {here, operators.cast(1, Kind::integer)});
    const Expr condition = Expr::make(Op::less, {here, operators.cast(count, Kind::integer)});
    code.add(Statement::loop({set(0)}, condition, std::move(body), {set(moved)}, line));
}

std::string Loops::enumerating(const SyntaxRef& loop) {
    const Syntax &call = *loop->at(Field::iterated), &target = *loop->at(Field::target);
    const auto elements = target.all(Field::element);
    const bool is_pair =
        (target.form == Form::tuple || target.form == Form::list) && elements.size() == 2;
    if (!is_pair || elements[0]->form != Form::name || scope.name_of_called(call) != "enumerate" ||
        call.all(Field::argument).size() != 1 || call.at(Field::keyword))
        return "";
    const Changes changes = mentions.changes_in(loop->all(Field::body), found.changing_calls);
    return is_own(elements[0]->name, loop, changes) ? elements[0]->name : "";
}

void Loops::written_out(const SyntaxRef& loop, const Items& given, const Changes& changes) {
    Code& code = arrays.code;
    const SyntaxRef& target = loop->at(Field::target);
    const Body body = loop->all(Field::body);
    NameSet names;
    for (const Syntax* each : parts_by_level(*target))
        if (each->form == Form::name) names.insert(each->name);
    if (given.size() > 1) {  // what is assigned in the text once is assigned several times
        NameSet assigned = mentions.assigned_in(body);
        assigned.insert(names.begin(), names.end());
        for (const std::string& name : assigned)
            code.count_of_assignments[name] =
                code.times_assigned(name) + static_cast<int>(given.size());
    }
    const bool are_own = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return is_own(name, loop, changes);
    });
    const Value once = sequences.as_before(tuple_of(given), changes);
    for (const Value& item : once.tuple()->parts) {
        if (!scope.defined) return;
        code.line = loop->line();
        if (!are_own) {
            assignments.assign(target, item);
            statements.run(body);
            continue;
        }
        targets.bind(target, item);
        statements.run(body);
        scope.bound.pop_back();
    }
}

Value Loops::kept(const Expr& end, const NameSet& changed) {
    const auto variables = variables_of(end);
    const bool changes = std::any_of(variables.begin(), variables.end(), [&](int each) {
        return changed.contains(arrays.code.whole(each));
    });
    const bool is_at_hand = end.op() == Op::argument || arrays.integers.is_next_of_counter(end);
    if (!changes && is_at_hand) return end;
    const Value known = arrays.integers.resolved_within(end);
    if (arrays.integers.is_of_parameters(known)) return known;
    return arrays.code.held(arrays.code.integer(end), "stop");
}

void Loops::do_break(const SyntaxRef& statement) {
    Loop& loop = *scope.loops->back();
    if (loop.flag)
        arrays.code.assign(*loop.flag, arrays.operators.cast(true, Kind::boolean),
                           statement->line());
    loop.defined_at_stops.push_back(scope.defined_names());
    loop.parts_at_stops.push_back(arrays.sharing.parts);
    arrays.code.add(jump(Statement::Kind::stop, statement->line()));
    scope.defined.reset();
}

void Loops::do_continue(const SyntaxRef& statement) {
    Loop& loop = *scope.loops->back();
    loop.parts_at_continues.push_back(arrays.sharing.parts);
    loop.defined_at_continues.push_back(scope.defined_names());
    arrays.code.add(jump(Statement::Kind::go_on, statement->line()));
    scope.defined.reset();
}

}  // namespace composit::knossos
