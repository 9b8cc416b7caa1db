// Operations of MLIR's text: the generic form, and those that operations have of their own.
#include "composit/base/text.h"
#include "composit/mlir/parser.h"

#include <algorithm>

namespace composit::mlir::syntax {
namespace {

// Of a bare name: calls and returns have func's, which functions need not say.
std::string full_name(std::string_view name) {
    if (name == "call" || name == "return") return "func." + std::string(name);
    return std::string(name);
}

bool is_return(const Operation& operation) { return operation.name.ends_with(".return"); }

}  // namespace

void Parser::operation(Region& region) {
    struct Result {
        Token name;
        uint32_t count = 1;
    };
    std::vector<Result> names;
    if (lexer_.is(Token::Kind::value)) {
        do {
            Result result{lexer_.expect(Token::Kind::value, "a value (%name)")};
            if (lexer_.accept(":")) {
                const Place place = lexer_.token().place;
                const int64_t count = lexer_.take_integer();
                if (count < 1 || count > 1 << 16)
                    fail_at(place, "there are ", count,
                            " results of a name. A number from 1 to 65536 is required.");
                result.count = static_cast<uint32_t>(count);
            }
            names.push_back(result);
        } while (lexer_.accept(","));
        lexer_.expect("=");
    }
    Operation made;
    made.place = lexer_.token().place;
    const bool is_generic = lexer_.is(Token::Kind::text);
    if (is_generic)
        made.name = lexer_.take_text();
    else
        made.name = full_name(lexer_.expect(Token::Kind::word, "an operation").spelling);
    if (!is_return(made) && !knows_(made.name))
        fail_at<NotSupported>(made.place, "the operation ", made.name,
                              " is not read here. Operations of StableHLO and CHLO that "
                              "composit.mlir.operations() lists are required.");
    if (is_generic)
        generic(made);
    else
        custom(made);
    size_t count = 0;
    for (const Result& result : names) count += result.count;
    if (!names.empty() && count != made.results.size())
        fail_at(made.place, made.name, " gives ", made.results.size(), " results for ", count,
                " names. As many are required.");
    made.first = static_cast<uint32_t>(function_->values.size());
    for (const Type& type : made.results) fresh(type);
    uint32_t next = made.first;
    for (const Result& result : names) {
        define(result.name.spelling, next, result.count, result.name.place);
        next += result.count;
    }
    end_location(made);
    const bool ends = is_return(made);
    const Place place = made.place;
    region.operations.push_back(std::move(made));
    if (ends && !lexer_.is("}"))
        fail_at(place, "an operation follows on the return. The end of the region is required.");
}

void Parser::end_location(Operation& operation) {
    if (lexer_.is("loc")) operation.location = location();
}

void Parser::more_entries(Operation& operation) {
    for (auto& each : entries()) operation.attributes.push_back(std::move(each));
}

void Parser::check_operands(const Operation& operation, const std::vector<Type>& types) {
    if (types.size() != operation.operands.size())
        fail_at(operation.place, operation.name, " has ", operation.operands.size(),
                " operands, and types of ", types.size(), ". As many are required.");
    for (size_t i = 0; i < types.size(); ++i)
        if (!(type_of(operation.operands[i]) == types[i]))
            fail_at(operation.place, operation.name, ": operand ", i, " is ",
                    type_text(type_of(operation.operands[i])), ", and ", type_text(types[i]),
                    " is written. Equal types are required.");
}

// "name"(%a, %b) <{…}> ({…}, {…}) {…} : (…) -> …
void Parser::generic(Operation& made) {
    lexer_.expect("(");
    while (!lexer_.is(")")) {
        made.operands.push_back(operand());
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect(")");
    if (lexer_.is("[")) skip_brackets();  // successors: refused with the block
    if (lexer_.accept("<")) {
        more_entries(made);
        lexer_.expect(">");
    }
    if (lexer_.accept("(")) {
        do {
            lexer_.expect("{");
            made.regions.emplace_back();
            region(made.regions.back(), {});
        } while (lexer_.accept(","));
        lexer_.expect(")");
    }
    if (lexer_.is("{")) more_entries(made);
    lexer_.expect(":");
    check_operands(made, types_in_brackets());
    lexer_.expect("->");
    made.results = result_types();
}

void Parser::custom(Operation& made) {
    if (made.name == "stablehlo.reduce") return reduce(made);
    if (made.name == "stablehlo.while") return loop(made);
    call_or_plain(made);
}

// "[0:2, 1:3:2]" as lists of starts, limits and strides; "[0]" as a number.
void Parser::ranges(Operation& made) {
    lexer_.expect("[");
    Attribute starts, limits, strides;
    for (Attribute* list : {&starts, &limits, &strides}) list->kind = Attribute::Kind::list;
    const auto put = [&](Attribute& list, int64_t value) {
        Attribute number;
        number.kind = Attribute::Kind::integer;
        number.integer = value;
        list.list.push_back(number);
    };
    bool is_index = false;
    while (!lexer_.is("]")) {
        put(starts, lexer_.take_integer());
        is_index = !lexer_.accept(":");
        if (is_index && starts.list.size() > 1)
            lexer_.fail_here("':' and a limit, as each axis before has one,");
        if (is_index) break;
        put(limits, lexer_.take_integer());
        put(strides, lexer_.accept(":") ? lexer_.take_integer() : 1);
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    if (is_index) {
        made.attributes.emplace_back("index", starts.list[0]);
        return;
    }
    made.attributes.emplace_back("start_indices", std::move(starts));
    made.attributes.emplace_back("limit_indices", std::move(limits));
    made.attributes.emplace_back("strides", std::move(strides));
}

// Operands, words, and attributes "name = value", in any order, then types.
void Parser::call_or_plain(Operation& made) {
    while (!lexer_.is(":")) {
        const Token token = lexer_.token();
        if (token.kind == Token::Kind::value) {
            made.operands.push_back(operand());
        } else if (lexer_.accept("(")) {
            // Operands, of top_k its number as well.
            while (!lexer_.is(")")) {
                if (lexer_.is(Token::Kind::word)) {
                    std::string name(lexer_.take().spelling);
                    lexer_.expect("=");
                    made.attributes.emplace_back(std::move(name), attribute(false));
                } else {
                    made.operands.push_back(operand());
                }
                if (!lexer_.accept(",")) break;
            }
            lexer_.expect(")");
        } else if (lexer_.is("{")) {
            more_entries(made);
        } else if (lexer_.is("[")) {
            ranges(made);
        } else if (token.kind == Token::Kind::symbol) {
            made.attributes.emplace_back("callee", attribute(false));
        } else if (token.kind == Token::Kind::text) {
            made.words.push_back(lexer_.take_text());
        } else if (lexer_.is("dense")) {
            Attribute value;
            value.kind = Attribute::Kind::literal;
            value.place = token.place;
            value.literal = literal();
            made.attributes.emplace_back("value", std::move(value));
        } else if (token.kind == Token::Kind::word) {
            lexer_.take();
            if (lexer_.accept("="))
                made.attributes.emplace_back(token.spelling, attribute(false));
            else
                made.words.emplace_back(token.spelling);
        } else if (lexer_.is("<")) {  // where devices hold it
            skip_brackets();
        } else if (is_return(made) && made.operands.empty() &&
                   (lexer_.is("}") || lexer_.is("loc"))) {
            return;
        } else {
            lexer_.fail_here("an operand, an attribute or the types of " + made.name);
        }
        lexer_.accept(",");
    }
    signature(made);
}

// "(a, b) -> c", "a, b -> c", or types from which those of the results follow.
void Parser::signature(Operation& made) {
    lexer_.expect(":");
    if (lexer_.is("(")) {
        check_operands(made, types_in_brackets());
        lexer_.expect("->");
        made.results = result_types();
        return;
    }
    const std::vector<Type> given = types();
    if (lexer_.accept("->")) {
        check_operands(made, given);
        made.results = result_types();
        return;
    }
    if (is_return(made)) return check_operands(made, given);
    if (made.name == "stablehlo.optimization_barrier") {
        check_operands(made, given);
        made.results = given;
        return;
    }
    if (made.name == "stablehlo.select") {
        if (given.size() != 2 || made.operands.size() != 3)
            fail_at(made.place, made.name, " has ", made.operands.size(), " operands and ",
                    given.size(), " types. 3 and 2 are required.");
        check_operands(made, {given[0], given[1], given[1]});
        made.results = {given[1]};
        return;
    }
    if (given.size() != 1)
        fail_at(made.place, made.name, " has ", given.size(),
                " types. One is required, or those "
                "of operands and results: (…) -> ….");
    made.results = given;
}

// stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (…) -> …
// stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1] : (…) -> …
//  reducer(%a: …, %c: …) (%b: …, %d: …) { … }
void Parser::reduce(Operation& made) {
    std::vector<uint32_t> initial;
    do {
        lexer_.expect("(");
        made.operands.push_back(operand());
        lexer_.expect("init");
        lexer_.expect(":");
        initial.push_back(operand());
        lexer_.expect(")");
    } while (lexer_.accept(","));
    made.operands.insert(made.operands.end(), initial.begin(), initial.end());
    Operation applied;
    const bool applies = lexer_.accept("applies");
    if (applies) {
        applied.place = lexer_.token().place;
        applied.name = lexer_.expect(Token::Kind::word, "an operation").spelling;
    }
    lexer_.expect("across");
    lexer_.expect("dimensions");
    lexer_.expect("=");
    made.attributes.emplace_back("dimensions", attribute(false));
    if (lexer_.is("{")) more_entries(made);
    lexer_.expect(":");
    check_operands(made, types_in_brackets());
    lexer_.expect("->");
    made.results = result_types();
    end_location(made);
    made.regions.emplace_back();
    Region& body = made.regions.back();
    if (!applies) {
        lexer_.expect("reducer");
        std::vector<std::pair<Token, Type>> before, after;
        while (lexer_.is("(")) {
            const Place place = lexer_.token().place;
            auto pair = block_arguments();
            if (pair.size() != 2)
                fail_at(place, "a reducer takes ", pair.size(),
                        " values of one operand. Two are required.");
            before.push_back(std::move(pair[0]));
            after.push_back(std::move(pair[1]));
        }
        before.insert(before.end(), after.begin(), after.end());
        if (lexer_.is("loc")) location();
        lexer_.expect("{");
        return region(body, before);
    }
    if (!knows_(applied.name) || initial.size() != 1)
        fail_at<NotSupported>(applied.place, "reduce applies ", applied.name,
                              ", of one operand. An operation of StableHLO is required, or a "
                              "region.");
    const Type element = type_of(initial[0]);
    if (element.kind != Type::Kind::tensor)
        fail_at(applied.place, made.name, " begins with ", type_text(element),
                ". A tensor is required.");
    body.arguments = {fresh(element), fresh(element)};
    applied.operands = body.arguments;
    applied.results = {element};
    applied.first = fresh(element);
    Operation end;
    end.name = "stablehlo.return";
    end.place = applied.place;
    end.operands = {applied.first};
    body.operations.push_back(std::move(applied));
    body.operations.push_back(std::move(end));
}

// stablehlo.while(%a = %x, %b = %y) : … cond { … } do { … }
void Parser::loop(Operation& made) {
    std::vector<Token> names;
    lexer_.expect("(");
    while (!lexer_.is(")")) {
        names.push_back(lexer_.expect(Token::Kind::value, "the name of a state (%name)"));
        lexer_.expect("=");
        made.operands.push_back(operand());
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect(")");
    if (!names.empty()) {
        lexer_.expect(":");
        made.results = types();
    }
    check_operands(made, made.results);
    end_location(made);
    if (lexer_.accept("attributes")) more_entries(made);
    std::vector<std::pair<Token, Type>> state;
    for (size_t i = 0; i < names.size(); ++i) state.emplace_back(names[i], made.results[i]);
    for (const char* const word : {"cond", "do"}) {
        lexer_.expect(word);
        lexer_.expect("{");
        made.regions.emplace_back();
        region(made.regions.back(), state);
    }
}

}  // namespace composit::mlir::syntax
