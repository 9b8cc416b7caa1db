// Procedures while they are written.
#include "composit/knossos/code.h"

#include "composit/ir/procedure/interpret.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

std::string replaced(std::string text, std::string_view old, std::string_view made) {
    for (size_t at = text.find(old); at != text.npos; at = text.find(old, at + made.size()))
        text.replace(at, old.size(), made);
    return text;
}

bool is_among(const std::vector<BlockRef>& blocks, const BlockRef& block) {
    return std::find(blocks.begin(), blocks.end(), block) != blocks.end();
}

}  // namespace

std::string whole_of(const std::string& name) { return name.substr(0, name.find('.')); }

Code::Code(Operators& operators, std::set<std::string> assigned, std::map<std::string, int> counts)
    : operators(operators),
      assigned(std::move(assigned)),
      count_of_assignments(std::move(counts)) {}

void Code::add(Statement statement) { out->statements.push_back(std::move(statement)); }

void Code::add(const std::vector<Statement>& statements) {
    out->statements.insert(out->statements.end(), statements.begin(), statements.end());
}

void Code::assign(int number, const Expr& value) { assign(number, value, line); }

void Code::assign(int number, const Expr& value, int line) {
    add(Statement::assign(number, value, line));
}

void Code::expect(const Expr& condition, const std::string& error, std::string claim,
                  std::vector<Expr> values) {
    std::string place;
    if (construct) {
        place = ", in `" + replaced(first_line_shown(*construct), "{}", "{ }") + "`";
    }
    Statement made;
    made.kind = Statement::Kind::expect;
    made.line = line;
    made.values = {condition};
    if (!claim.empty())
        made.claim = std::make_shared<const ir::procedure::Claim>(ir::procedure::Claim{
            ir::procedure::claim_kind(error), replaced(claim, "%s", place), std::move(values)});
    add(std::move(made));
}

void Code::assign_number(int number, const Value& value) {
    assign(number, operators.cast(value, kind_of_number(value)));
}

Kind Code::kind_by_trial(const std::function<Value()>& compute) {
    const Emitting nowhere(*this);
    return kind_of_number(compute());
}

int Code::add_variable(const std::string& name, Kind kind) {
    const int number = static_cast<int>(variables.size());
    numbers[name] = number;
    kinds[name] = kind;
    variables.push_back({name, operators.dtype_of(kind)});
    return number;
}

std::string Code::hidden_variable(const std::string& wanted, Kind kind) {
    std::string name = wanted;
    const auto is_taken = [&] {
        return numbers.contains(name) || assigned.contains(name) ||
               std::any_of(arrays.begin(), arrays.end(),
                           [&](const auto& array) { return array.name == name; });
    };
    while (is_taken()) name = wanted + "_" + std::to_string(++hidden_);
    shown[add_variable(name, kind)] = wanted;
    return name;
}

Expr Code::hidden(const std::string& wanted, Kind kind) {
    return leaf(hidden_variable(wanted, kind));
}

Expr Code::held(const Value& value, const std::string& wanted) {
    const Kind kind = kind_of_number(value);
    const Expr here = hidden(wanted, kind);
    assign(here.index(), operators.cast(value, kind));
    return here;
}

Expr Code::leaf(const std::string& name) const {
    const int number = numbers.at(name);
    return Expr::argument(number, variables[static_cast<size_t>(number)].dtype, name);
}

Expr Code::integer(const Value& value) const { return operators.cast(value, Kind::integer); }

std::string Code::whole(int number) const {
    return whole_of(variables[static_cast<size_t>(number)].name);
}

bool Code::is_assigned_once(const Expr& value) const {
    if (loaded.contains(value.index())) return true;
    return times_assigned(whole(value.index())) == (value.index() < parameter_count ? 0 : 1);
}

std::optional<Kind> Code::kind_named(const std::string& name) const {
    const auto found = kinds.find(name);
    return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

int Code::times_assigned(const std::string& name) const {
    const auto found = count_of_assignments.find(name);
    return found == count_of_assignments.end() ? 0 : found->second;
}

const std::string& Code::shown_name(int number) const {
    const auto found = shown.find(number);
    return found == shown.end() ? variables[static_cast<size_t>(number)].name : found->second;
}

bool Code::is_at_home(int number, const BlockRef& block) const {
    const auto found = homes.find(number);
    return found != homes.end() && found->second == block;
}

bool Code::is_within(const BlockRef& block) const { return is_among(blocks, block); }

Emitting::Emitting(Code& code, BlockRef block)
    : code_(code), block_(std::move(block)), before_(code.out) {
    code_.out = block_;
    code_.blocks.push_back(block_);
}

Emitting::~Emitting() {
    code_.blocks.pop_back();
    code_.out = before_;
}

EmittingFurtherOut::EmittingFurtherOut(Code& code, const BlockRef& home)
    : code_(code), before_(code.out) {
    if (!home || code.blocks.empty()) return;
    size_t place = code.blocks.size() - 1;
    while (place > 0 && code.blocks[place] != home && is_among(code.certain, code.blocks[place]))
        --place;
    for (size_t i = 0; i <= place; ++i)
        if (code.blocks[i] == home) {
            code.out = code.blocks[place];
            return;
        }
}

EmittingFurtherOut::~EmittingFurtherOut() { code_.out = before_; }

Value within_call_of_library(Code& code, const std::string& name,
                             const std::function<Value()>& compute) {
    Value made;
    BlockRef block;
    {
        const Emitting call(code);
        block = call.block();
        code.certain.push_back(block);
        made = compute();
    }
    const auto call =
        std::make_shared<ir::procedure::InlinedCall>(ir::procedure::InlinedCall{name, true, {}});
    for (Statement& each : block->statements) ir::procedure::join_call(each, call);
    code.add(block->statements);
    return made;
}

}  // namespace composit::knossos
