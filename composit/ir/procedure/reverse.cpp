// reverse: the adjoints of statements, from the last to the first.
#include "composit/base/error.h"
#include "composit/ir/procedure/given_derivative.h"
#include "composit/ir/procedure/logged_loops.h"
#include "composit/ir/procedure/pairs_once.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/quotients_off_chains.h"
#include "composit/ir/procedure/reverse_again.h"
#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/stand_ins.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/procedure/undo.h"
#include "composit/ir/scalar/function.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;

class Reverser : private LoggedLoops {
  public:
    explicit Reverser(const Procedure& procedure) : LoggedLoops(procedure) {}

    Procedure run(bool returns_results) {
        std::vector<Record> records;
        Block sweep = forward(body_, records);
        std::vector<int> returned;
        if (returns_results) returned = copy_results(sweep);
        Block back;
        Zeros zeros;
        for (size_t i = 0, k = 0; i < p_.results.size(); ++i) {
            if (!is_floating(p_.results[i].dtype)) continue;
            const Expr received = out_.variable(received_[k++]);
            contribute(results_[i], received, back, zeros, 0);
        }
        backward(body_, records, back, zeros);
        set_sweep(back, Sweep::gradient);
        Block whole = std::move(start_);
        whole.insert(whole.end(), sweep.begin(), sweep.end());
        whole.insert(whole.end(), back.begin(), back.end());
        std::vector<Expr> values;
        for (size_t i = 0; i < p_.parameters; ++i) {
            const Variable& parameter = p_.variables[i];
            if (!is_floating(parameter.dtype)) continue;
            const int own = static_cast<int>(moved(i));
            const bool is_zero = !adjoints_.contains(own) || zeros.contains(adjoints_.at(own));
            values.push_back(is_zero ? zero(parameter.dtype) : adjoint(own));
            out_.results.push_back({"d" + parameter.name, parameter.dtype});
        }
        for (const int copy : returned) {
            const auto place = static_cast<size_t>(copy);
            values.push_back(out_.variable(place));
            out_.results.push_back(out_.variables[place]);
        }
        whole.push_back(Statement::leave(std::move(values), p_.line));
        out_.body = std::move(whole);
        with_values_alone(out_);
        if (changing_.empty()) return tidied(without_dead_code(std::move(out_)), names_);
        // What is not needed may stand between two stores.
        out_ = without_dead_code(std::move(out_));
        drop_idle_stores(out_.body);
        return tidied(without_dead_code(std::move(out_)), names_);
    }

  private:
    // ----- the forward sweep

    // The statements themselves, as the iterations run the first time, but for elements that
    // are there already.
    Block plain(const Block& block, const Undos& undos) override {
        Block out;
        for (const Statement& statement : block) {
            const bool is_write = statement.kind == Kind::store || statement.kind == Kind::add;
            if (is_write && is_there_.contains(statement.array)) continue;
            const auto undo = is_write ? undos.find(statement.array) : undos.end();
            if (undo != undos.end()) note_old_element(out_, statement, undo->second, out);
            Statement copy = statement;
            copy.body = plain(statement.body, undos);
            copy.otherwise = statement.kind == Kind::loop ? statement.otherwise
                                                          : plain(statement.otherwise, undos);
            compute(std::move(copy), out);
        }
        return out;
    }

    // A statement; of a value that is kept, its place, from which it is read when it is there.
    void compute(Statement statement, Block& out) const {
        const auto own = kept_.values.find(statement.variable);
        if (statement.kind != Kind::assign || own == kept_.values.end()) {
            out.push_back(std::move(statement));
            return;
        }
        const auto& [array, index] = own->second;
        const int variable = statement.variable;
        const SourceLine line = statement.line;
        if (is_there_.contains(array)) {
            out.push_back(Statement::load(variable, array, index, line));
            return;
        }
        out.push_back(std::move(statement));
        out.push_back(Statement::write(Kind::store, array, index,
                                       out_.variable(static_cast<size_t>(variable)), line));
    }

    Block forward(const Block& block, std::vector<Record>& records) override {
        Block out;
        for (const Statement& statement : block) {
            Record& record = records.emplace_back();
            switch (statement.kind) {
                case Kind::assign:
                    if (there_.contains(statement.variable)) break;
                    if (loads_stored(block, statement, out)) break;
                    [[fallthrough]];
                case Kind::load:
                    if (assignments_[statement.variable] > 1 || is_parameter(statement.variable))
                        record.saved = copy_of(statement.variable, "_before", out, statement.line);
                    compute(statement, out);
                    break;
                case Kind::store:
                case Kind::add:
                    if (changing_.contains(statement.array))
                        record.saved = old_element(out_, statement, out);
                    if (!is_there_.contains(statement.array)) out.push_back(statement);
                    break;
                case Kind::allocate: {
                    out.push_back(statement);
                    const auto found = array_adjoints_.find(statement.array);
                    const bool is_output =
                        p_.arrays[static_cast<size_t>(statement.array)].role == Role::output;
                    if (found != array_adjoints_.end() && !is_output &&
                        !kept_.lives.contains(statement.array))
                        out.push_back(Statement::allocate(found->second, true, statement.line));
                    break;
                }
                case Kind::branch: {
                    record.taken = out_.add_variable("is_taken", DType::boolean);
                    out.push_back(
                        Statement::assign(record.taken, statement.values[0], statement.line));
                    Statement copy = statement;
                    copy.values = {out_.variable(static_cast<size_t>(record.taken))};
                    copy.body = forward(statement.body, record.body);
                    copy.otherwise = forward(statement.otherwise, record.otherwise);
                    out.push_back(std::move(copy));
                    break;
                }
                case Kind::loop: forward_loop(statement, record, out); break;
                case Kind::expect: out.push_back(statement); break;
                case Kind::stop:
                case Kind::go_on: break;  // what would follow is not there
                default: refuse(statement, "this statement has no derivative");
            }
        }
        return out;
    }

    bool is_parameter(int variable) const { return static_cast<size_t>(variable) < p_.parameters; }

    void forward_loop(const Statement& loop, Record& record, Block& out) {
        if (is_logged(loop)) return forward_logged_loop(loop, record, out);
        const auto count = count_of(loop);
        const std::map<int, int> inside = assignments_in({loop});
        std::set<int> carried = exposed_in(p_, loop.body);
        std::erase_if(carried, [&](int variable) { return !inside.contains(variable); });
        for (const auto& [variable, times] : inside)
            if (times < assignments_[variable] || is_parameter(variable))
                record.saves[variable] = copy_of(variable, "_before", out, loop.line);
        record.undos = begin_undos(out_, loop, changing_, out);
        Statement copy = loop;
        copy.body = plain(loop.body, record.undos);
        ArrayVariable tape;
        Expr place;
        if (count) {
            carried.erase(count->counter);
            record.begin = count->begin;
            for (const int variable : variables_in({count->begin}))
                if (assignments_[variable] > 0) {
                    const int kept_begin = out_.add_variable("begin", DType::int64);
                    out.push_back(Statement::assign(kept_begin, count->begin, loop.line));
                    record.begin = out_.variable(static_cast<size_t>(kept_begin));
                    break;
                }
            tape.shape = {trips_of(p_, *count, record.begin)};
            place = trip_of(p_, *count, record.begin);
        } else {
            record.trips = out_.add_variable("trips", DType::int64);
            out.push_back(Statement::assign(record.trips, integer(0), loop.line));
            tape.shape = {integer(0)};
            tape.grows = true;
        }
        for (const auto& [array, undo] : record.undos) carried.insert(undo.count);
        Block tapes;
        if (count) record.sums = sums_in(p_, loop.body, carried);
        for (const int variable : carried) {
            const Variable own = out_.variables[static_cast<size_t>(variable)];
            tape.dtype = own.dtype;
            const int made = out_.add_array(own.name + "_at", tape);
            record.tapes[variable] = made;
            out.push_back(Statement::allocate(made, false, loop.line));
            const Expr value = out_.variable(static_cast<size_t>(variable));
            const Statement keep =
                count ? Statement::write(Kind::store, made, {place}, value, loop.line)
                      : Statement::write(Kind::append, made, {}, value, loop.line);
            if (record.sums.contains(variable))
                copy.body.insert(assignment_of(copy.body, variable) + 1, keep);
            else
                tapes.push_back(keep);
        }
        if (!count) {
            const Expr trips = out_.variable(static_cast<size_t>(record.trips));
            tapes.push_back(Statement::assign(record.trips, trips + integer(1), loop.line));
        }
        for (auto& [array, undo] : record.undos) {
            undo.tape = record.tapes.at(undo.count);
            record.tapes.erase(undo.count);
        }
        copy.body.insert(copy.body.begin(), tapes.begin(), tapes.end());
        out.push_back(std::move(copy));
    }

    // ----- the backward sweep

    void contribute(int variable, const Expr& value, Block& out, Zeros& zeros,
                    const SourceLine& line) {
        const auto found = adjoints_.find(variable);
        if (found == adjoints_.end() || !value) return;
        const bool is_zero = zeros.contains(found->second);
        const Expr total = is_zero ? value : adjoint(variable) + value;
        out.push_back(Statement::assign(found->second, scalar::simplify({total})[0], line));
        zeros.set(found->second, false);
    }

    // What `variable` receives of g, the gradient of `value`.
    Expr received_by(int variable, const Expr& value, const Expr& g, const Expr& known,
                     const Statement& statement) const {
        std::vector<Expr> seeds(out_.variables.size());
        seeds[static_cast<size_t>(variable)] = g;
        try {
            const int to = is_write(statement) ? -1 - statement.array : statement.variable;
            const bool is_infinite = infinite_.contains(to);
            return tangent_of(value, seeds, known, false,
                              is_infinite ? std::set<int>{variable} : std::set<int>{});
        } catch (const Error& error) {
            refuse(statement, error.what());
        }
    }

    void contribute_all(const Expr& value, const Expr& g, const Expr& known, int except,
                        const Statement& statement, Block& out, Zeros& zeros) {
        for (const int variable : derived_from({value}))
            if (variable != except && adjoints_.contains(variable))
                contribute(variable, received_by(variable, value, g, known, statement), out, zeros,
                           statement.line);
    }

    void backward(const Block& block, const std::vector<Record>& records, Block& out,
                  Zeros& zeros) override {
        for (size_t i = block.size(); i-- > 0;) {
            const Statement& statement = block[i];
            const Record& record = records[i];
            switch (statement.kind) {
                case Kind::assign: backward_assign(statement, record, out, zeros); break;
                case Kind::load: {
                    const auto own = adjoints_.find(statement.variable);
                    if (own != adjoints_.end() && !zeros.contains(own->second) &&
                        array_adjoints_.contains(statement.array)) {
                        out.push_back(Statement::write(
                            Kind::add, array_adjoints_.at(statement.array),
                            adjoint_index(statement), adjoint(statement.variable), statement.line));
                        zeros.set(own->second, true);
                    }
                    restore(statement.variable, record.saved, out, statement.line);
                    break;
                }
                case Kind::store:
                case Kind::add:
                    backward_write(statement, out, zeros);
                    if (record.saved >= 0)
                        out.push_back(Statement::write(
                            Kind::store, statement.array, statement.index,
                            out_.variable(static_cast<size_t>(record.saved)), statement.line));
                    break;
                case Kind::branch: backward_branch(statement, record, out, zeros); break;
                case Kind::loop: backward_loop(statement, record, out, zeros); break;
                default: break;
            }
        }
    }

    void backward_assign(const Statement& statement, const Record& record, Block& out,
                         Zeros& zeros) {
        const int variable = statement.variable;
        const Expr& value = statement.values[0];
        const auto own = adjoints_.find(variable);
        const bool has_gradient = own != adjoints_.end() && !zeros.contains(own->second);
        const bool reads_itself = variables_in({value}).contains(variable);
        if (reads_itself) restore(variable, record.saved, out, statement.line);
        if (has_gradient) {
            const Expr g = adjoint(variable);
            const bool is_plain = scalar::arity_of(value.op()) == 0;
            const Expr known =
                reads_itself || is_plain ? Expr() : out_.variable(static_cast<size_t>(variable));
            contribute_all(value, g, known, variable, statement, out, zeros);
            const Expr rest =
                reads_itself ? received_by(variable, value, g, {}, statement) : Expr();
            zeros.set(own->second, !rest);
            if (rest && !(rest == g))
                out.push_back(
                    Statement::assign(own->second, scalar::simplify({rest})[0], statement.line));
        }
        if (!reads_itself) restore(variable, record.saved, out, statement.line);
    }

    // Where the adjoint of an element is.
    std::vector<Expr> adjoint_index(const Statement& statement) const {
        std::vector<Expr> index = statement.index;
        if (const auto own = kept_.lives.find(statement.array); own != kept_.lives.end())
            index.erase(index.begin(), index.begin() + own->second.axes);
        return index;
    }

    void backward_write(const Statement& statement, Block& out, Zeros& zeros) {
        const auto found = array_adjoints_.find(statement.array);
        if (found == array_adjoints_.end()) return;
        const DType dtype = statement.values[0].dtype();
        const int g = out_.add_variable("g", dtype);
        const std::vector<Expr> index = adjoint_index(statement);
        out.push_back(Statement::load(g, found->second, index, statement.line));
        out.back().is_zeroed = true;  // a gradient, of which what follows is a multiple
        if (statement.kind == Kind::store && !use_->is_written_once(statement.array))
            out.push_back(
                Statement::write(Kind::store, found->second, index, zero(dtype), statement.line));
        contribute_all(statement.values[0], out_.variable(static_cast<size_t>(g)), {}, -1,
                       statement, out, zeros);
    }

    // The adjoints that statements mention.
    std::set<int> touched(const Block& block) const {
        std::set<int> found;
        for (const Statement* statement : all_statements(block)) {
            if (is_adjoint_.contains(statement->variable)) found.insert(statement->variable);
            for (const Expr& value : statement->values)
                for (const int variable : variables_in({value}))
                    if (is_adjoint_.contains(variable)) found.insert(variable);
        }
        return found;
    }

    void backward_branch(const Statement& statement, const Record& record, Block& out,
                         Zeros& zeros) override {
        Block sides[2];
        Zeros after[2] = {zeros, zeros};
        backward_either(statement.body, record.is_logged, record.body, sides[0], after[0]);
        backward_either(statement.otherwise, record.is_logged, record.otherwise, sides[1],
                        after[1]);
        std::set<int> mentioned = touched(sides[0]);
        for (const int variable : touched(sides[1])) mentioned.insert(variable);
        // What one side sets to zero, it need not mention.
        for (const int variable : is_adjoint_)
            if (after[0].contains(variable) != zeros.contains(variable) ||
                after[1].contains(variable) != zeros.contains(variable))
                mentioned.insert(variable);
        for (const int variable : mentioned) {
            const bool is_zero = after[0].contains(variable) && after[1].contains(variable);
            zeros.set(variable, is_zero);
            if (is_zero) continue;
            for (int side : {0, 1})
                if (after[side].contains(variable)) clear(variable, sides[side], statement.line);
        }
        out.push_back(Statement::branch(out_.variable(static_cast<size_t>(record.taken)),
                                        std::move(sides[0]), std::move(sides[1]), statement.line));
    }

    // Whether a variable lives within one iteration.
    bool is_of_iteration(int variable, const Statement& loop, const std::set<int>& exposed) {
        return !exposed.contains(variable) && !is_parameter(variable) &&
               mentions_in(p_, loop.body)[variable] == mentions_[variable];
    }

    // Variables with the gradient 0 that only they themselves take values from: it stays 0.
    std::set<int> read_by_themselves(const Block& block, const Zeros& zeros) const {
        std::set<int> found;
        for (const auto& [variable, own] : adjoints_)
            if (zeros.contains(own)) found.insert(variable);
        for (const Statement* each : all_statements(block)) {
            const bool has_value = each->kind == Kind::assign || is_write(*each);
            if (!has_value) continue;
            for (const int variable : derived_from(each->values))
                if (each->variable != variable) found.erase(variable);
        }
        return found;
    }

    void backward_either(const Block& block, bool is_logged, const std::vector<Record>& records,
                         Block& out, Zeros& zeros) {
        if (is_logged)
            backward_logged(block, records, out, zeros);
        else
            backward(block, records, out, zeros);
    }

    void backward_loop(const Statement& loop, const Record& record, Block& out,
                       Zeros& zeros) override {
        const auto count = count_of(loop);
        const Block body = logged_body(loop);
        Logs* const around = logs_;
        if (record.is_logged && record.logs) logs_ = record.logs.get();
        const std::set<int> was_there = is_there_;
        is_there_.merge(found_written_by(loop, record.is_logged));
        if (count)
            for (const auto& [array, within] : kept_.loops)
                if (within == count->counter) is_there_.insert(array);
        int counter = count ? count->counter : out_.add_variable("trip", DType::int64);
        const Expr here = out_.variable(static_cast<size_t>(counter));
        const Expr place = count ? trip_of(p_, *count, record.begin) : here;
        Block inner;
        if (record.is_logged && !count) take_head(loop, here, inner);
        take_back(out_, record.undos, place, loop.line, inner);
        for (const auto& [variable, tape] : record.tapes)
            inner.push_back(Statement::load(variable, tape, {place}, loop.line));
        if (count)
            for (const auto& [array, life] : kept_.lives)
                if (life.counter == count->counter && array_adjoints_.contains(array))
                    inner.push_back(
                        Statement::allocate(array_adjoints_.at(array), true, loop.line));
        std::vector<Record> records = record.body;
        if (!record.is_logged) {
            const std::set<int> around = std::exchange(there_, record.sums);
            const Block again = forward(body, records);
            there_ = around;
            inner.insert(inner.end(), again.begin(), again.end());
        }
        const std::set<int> exposed = exposed_in(p_, loop.body);
        Zeros within{false, {}};
        for (const auto& [variable, own] : adjoints_)
            if (is_of_iteration(variable, loop, exposed)) within.set(own, true);
        for (const int variable : read_by_themselves(loop.body, zeros))
            within.set(adjoints_.at(variable), true);
        const Zeros locals = within;
        backward_either(body, record.is_logged, records, inner, within);
        logs_ = around;
        std::set<int> changed = touched(inner);
        for (const int variable : is_adjoint_)
            if (within.contains(variable) && !zeros.contains(variable)) changed.insert(variable);
        std::set<int> outliving;
        for (const int variable : changed) {
            if (locals.contains(variable)) continue;
            if (within.contains(variable)) clear(variable, inner, loop.line);
            if (zeros.contains(variable)) clear(variable, out, loop.line);
            zeros.set(variable, false);
            outliving.insert(variable);
        }
        if (count && record.undos.empty() && !record.is_logged &&
            is_in_any_order(out_, inner, count->counter, outliving)) {
            out.push_back(Statement::loop({Statement::assign(counter, record.begin, loop.line)},
                                          loop.values[0], inner, loop.otherwise, loop.line));
        } else if (count) {
            out.push_back(counted_back(out_, *count, record.begin, inner, loop.line));
        } else {
            const auto set = [&](const Expr& value) {
                return Block{Statement::assign(counter, value, loop.line)};
            };
            out.push_back(Statement::loop(set(trips(record) - integer(1)), here >= integer(0),
                                          inner, set(here - integer(1)), loop.line));
        }
        for (const auto& [variable, saved] : record.saves) restore(variable, saved, out, loop.line);
        is_there_ = was_there;
    }

    Expr trips(const Record& record) const {
        return out_.variable(static_cast<size_t>(record.trips));
    }

    std::set<int> there_;  // variables that have their values already when an iteration runs again
};

}  // namespace

Procedure reverse(const Procedure& procedure) {
    if (procedure.of_each_row) return reverse_over_rows(*procedure.of_each_row);
    if (procedure.derivative) return given_vjp(procedure);
    if (procedure.for_derivatives) return reverse(*procedure.for_derivatives);
    Procedure made =
        keeps_tapes(procedure) ? reverse_again(procedure) : Reverser(procedure).run(false);
    made = with_quotients_off_chains(std::move(made));
    made.reverse_of = std::make_shared<const Procedure>(procedure);
    made.as_written = procedure.as_written;
    return with_pairs_met_once(std::move(made));
}

Procedure reverse_with_results(const Procedure& procedure) { return Reverser(procedure).run(true); }

}  // namespace composit::ir::procedure
