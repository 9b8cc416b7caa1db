// Attributes, types and locations of MLIR's text.
#include "composit/base/ascii.h"
#include "composit/base/printable.h"
#include "composit/ir/dtype_traits.h"
#include "composit/mlir/parser.h"

namespace composit::mlir::syntax {
namespace {

constexpr int most_depth = 100;  // of operations, attributes and types within one another

// Integers with a sign may say so.
std::optional<DType> element_type(std::string_view text) {
    if (text == "index") return DType::int64;
    for (const ir::DTypeTraits& row : ir::all_traits()) {
        const bool says_sign = ir::is_signed_integer(row.dtype) && text.starts_with('s');
        if (row.mlir == text.substr(says_sign ? 1 : 0) && !ir::is_complex(row.dtype))
            return row.dtype;
    }
    return {};
}

// "f8E3M4", "i4": MLIR's, and none of composit's.
bool is_scalar_type(std::string_view text) {
    if (element_type(text) || text == "none" || text == "tf32") return true;
    if (text.starts_with("ui") || text.starts_with("si")) text.remove_prefix(1);
    return text.size() > 1 && (text[0] == 'i' || text[0] == 'f') && ascii::is_digit(text[1]);
}

double real_number(const Token& token) {
    const auto value = float64_of(token.spelling);
    if (!value)
        fail_at(token.place, "found ", shown(token), ". A number that float64 has is required.");
    return *value;
}

}  // namespace

Parser::Deeper::Deeper(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > most_depth) {
        --parser_.depth_;
        fail_at(parser_.lexer_.token().place, "the text is nested more than ", most_depth,
                " deep. Less is required.");
    }
}

// ----- types

bool Parser::begins_type() const {
    if (lexer_.is(Token::Kind::type_alias)) return true;
    if (!lexer_.is(Token::Kind::word)) return false;
    const std::string_view word = lexer_.token().spelling;
    return word == "tensor" || word == "tuple" || word == "complex" || word == "memref" ||
           word == "vector" || is_scalar_type(word);
}

Type Parser::tensor_type() {
    Type made;
    made.kind = Type::Kind::tensor;
    made.tensor.shape = lexer_.take_lengths();
    const Token element = lexer_.take();
    std::string_view name = element.spelling;
    const bool is_complex = element.kind == Token::Kind::word && name == "complex";
    if (is_complex) {
        lexer_.expect("<");
        name = lexer_.expect(Token::Kind::word, "f32 or f64").spelling;
        lexer_.expect(">");
    }
    const std::optional<DType> found = element_type(name);
    if (!found || (is_complex && name != "f32" && name != "f64"))
        fail_at<NotSupported>(element.place, "a tensor has elements of the type ", shown(name),
                              ", which composit has not. i1, i8 to i64, ui8 to ui64, f16, bf16, "
                              "f32, f64, complex<f32> or complex<f64> is required.");
    made.tensor.dtype = !is_complex                ? *found
                        : *found == DType::float32 ? DType::complex64
                                                   : DType::complex128;
    if (lexer_.is(","))
        fail_at<NotSupported>(lexer_.token().place,
                              "a tensor has an encoding. Tensors of elements "
                              "in the usual order and of fixed lengths are "
                              "required.");
    lexer_.expect(">");
    return made;
}

Type Parser::type() {
    const Deeper deeper(*this);
    const Token token = lexer_.take();
    if (token.kind == Token::Kind::type_alias) {
        const auto found = type_aliases_.find(token.spelling);
        if (found != type_aliases_.end()) return meaning_of(found->second, token.place);
        Type made;
        made.kind = token.spelling == "!stablehlo.token" ? Type::Kind::token : Type::Kind::other;
        made.text = token.spelling;
        if (lexer_.is("<")) skip_brackets();
        return made;
    }
    if (token.kind == Token::Kind::word && token.spelling == "tensor") return tensor_type();
    Type made;
    made.text = token.spelling;
    if (token.kind == Token::Kind::word && token.spelling == "tuple") {
        made.kind = Type::Kind::tuple;
        made.text.clear();
        lexer_.expect("<");
        while (!lexer_.is(">")) {
            made.parts.push_back(type());
            if (!lexer_.accept(",")) break;
        }
        lexer_.expect(">");
        return made;
    }
    if (token.kind == Token::Kind::sign && token.spelling == "(") {
        // A function's, as an attribute.
        while (!lexer_.is(")")) {
            made.parts.push_back(type());
            if (!lexer_.accept(",")) break;
        }
        lexer_.expect(")");
        if (lexer_.accept("->")) {
            const std::vector<Type> results = result_types();
            Type all;
            all.kind = Type::Kind::tuple;
            all.parts = results;
            made.parts.push_back(all);
        }
        made.text = "function";
        return made;
    }
    if (token.kind != Token::Kind::word ||
        !(is_scalar_type(token.spelling) || token.spelling == "complex" ||
          token.spelling == "memref" || token.spelling == "vector"))
        fail_at(token.place, "found ", shown(token), ". A type is required, as tensor<2x3xf32>.");
    if (lexer_.is("<")) skip_brackets();
    return made;
}

std::vector<Type> Parser::types() {
    std::vector<Type> all{type()};
    while (lexer_.accept(",")) all.push_back(type());
    return all;
}

std::vector<Type> Parser::types_in_brackets() {
    lexer_.expect("(");
    std::vector<Type> all;
    if (!lexer_.is(")")) all = types();
    lexer_.expect(")");
    return all;
}

std::vector<Type> Parser::result_types() {
    return lexer_.is("(") ? types_in_brackets() : std::vector<Type>{type()};
}

// ----- attributes

void Parser::skip_brackets() {
    size_t open = 0;
    const Place place = lexer_.token().place;
    do {
        if (lexer_.is(Token::Kind::end))
            fail_at(place, "a bracket is opened that nothing closes. Its partner is required.");
        const Token token = lexer_.take();
        if (token.kind != Token::Kind::sign) continue;
        const std::string_view sign = token.spelling;
        if (sign == "<" || sign == "(" || sign == "[" || sign == "{") ++open;
        if (sign == ">" || sign == ")" || sign == "]" || sign == "}") --open;
    } while (open > 0);
}

Attribute Parser::number_attribute(bool takes_type) {
    Attribute made;
    const Token& token = lexer_.token();
    const bool is_real = token.spelling.find('.') != std::string_view::npos;
    made.kind = is_real ? Attribute::Kind::real : Attribute::Kind::integer;
    if (is_real)
        made.real = real_number(lexer_.take());
    else
        made.integer = lexer_.take_integer();
    if (takes_type && lexer_.accept(":")) made.type = std::make_shared<const Type>(type());
    return made;
}

Attribute Parser::list_attribute() {
    Attribute made;
    made.kind = Attribute::Kind::list;
    lexer_.expect("[");
    while (!lexer_.is("]")) {
        made.list.push_back(attribute());
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    if (!lexer_.is("x") && !lexer_.is("->")) return made;
    // A list for each operand, and for the result.
    Attribute all;
    all.kind = Attribute::Kind::list;
    all.list.push_back(std::move(made));
    while (lexer_.accept("x") || lexer_.accept("->")) {
        if (!lexer_.is("[")) lexer_.fail_here("'['");
        Attribute next;
        next.kind = Attribute::Kind::list;
        lexer_.take();
        while (!lexer_.is("]")) {
            next.list.push_back(attribute());
            if (!lexer_.accept(",")) break;
        }
        lexer_.expect("]");
        all.list.push_back(std::move(next));
    }
    return all;
}

Attribute::Entries Parser::entries() {
    Attribute::Entries all;
    lexer_.expect("{");
    while (!lexer_.is("}")) {
        std::string name;
        if (lexer_.is(Token::Kind::text))
            name = lexer_.take_text();
        else
            name = lexer_.expect(Token::Kind::word, "a name").spelling;
        Attribute value;
        value.place = lexer_.token().place;
        if (lexer_.accept("=")) value = attribute();
        all.emplace_back(std::move(name), std::move(value));
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect("}");
    return all;
}

Attribute Parser::record_attribute() {
    const Token name = lexer_.take();
    if (const auto found = attribute_aliases_.find(name.spelling);
        found != attribute_aliases_.end() && !lexer_.is("<"))
        return meaning_of(found->second, name.place);
    Attribute made;
    made.kind = Attribute::Kind::skipped;
    made.text = name.spelling;
    if (!lexer_.is("<")) return made;
    const Lexer before = lexer_;
    lexer_.take();
    if (made.text == "#stablehlo.conv") {
        Attribute lists = list_attribute();
        lexer_.expect(">");
        return lists;
    }
    if (!made.text.starts_with("#stablehlo") && !made.text.starts_with("#chlo")) {
        lexer_ = before;
        skip_brackets();
        return made;
    }
    Attribute::Entries all;
    while (lexer_.is(Token::Kind::word)) {
        const Token word = lexer_.take();
        if (lexer_.accept("=")) {
            all.emplace_back(word.spelling, attribute());
        } else {  // "#stablehlo<precision HIGHEST>"
            made.kind = Attribute::Kind::word;
            made.text = word.spelling;
        }
        lexer_.accept(",");
    }
    if (made.kind != Attribute::Kind::word) {
        made.kind = Attribute::Kind::record;
        made.entries = std::make_shared<const Attribute::Entries>(std::move(all));
    }
    lexer_.expect(">");
    return made;
}

Attribute Parser::dense_array() {
    Attribute made;
    made.kind = Attribute::Kind::list;
    lexer_.expect("<");
    type();
    if (lexer_.accept(":")) do
            made.list.push_back(attribute());
        while (lexer_.accept(","));
    lexer_.expect(">");
    return made;
}

Attribute Parser::attribute(bool takes_type) {
    const Deeper deeper(*this);
    const Token token = lexer_.token();
    Attribute made;
    const auto finished = [&] {
        made.place = token.place;
        return std::move(made);
    };
    switch (token.kind) {
        case Token::Kind::number: made = number_attribute(takes_type); return finished();
        case Token::Kind::text:
            made.kind = Attribute::Kind::text;
            made.text = lexer_.take_text();
            if (takes_type && lexer_.accept(":")) type();
            return finished();
        case Token::Kind::symbol:
            made.kind = Attribute::Kind::symbol;
            made.text = lexer_.take_symbol();
            while (lexer_.accept("::")) made.text += "::" + lexer_.take_symbol();
            return finished();
        case Token::Kind::alias: made = record_attribute(); return finished();
        case Token::Kind::word: break;
        default:
            if (lexer_.is("[")) {
                made = list_attribute();
                return finished();
            }
            if (lexer_.is("{")) {
                made.kind = Attribute::Kind::record;
                made.entries = std::make_shared<const Attribute::Entries>(entries());
                return finished();
            }
            if (lexer_.is("<")) {  // of a record whose kind is known
                made.kind = Attribute::Kind::skipped;
                skip_brackets();
                return finished();
            }
            if (!lexer_.is("(") && !begins_type()) lexer_.fail_here("a value of an attribute");
    }
    const std::string_view word = token.spelling;
    if (word == "dense") {
        made.kind = Attribute::Kind::literal;
        made.literal = literal();
        if (lexer_.accept(":")) made.type = std::make_shared<const Type>(type());
    } else if (word == "array") {
        lexer_.take();
        made = dense_array();
    } else if (word == "true" || word == "false") {
        lexer_.take();
        made.kind = Attribute::Kind::boolean;
        made.integer = word == "true" ? 1 : 0;
    } else if (word == "loc") {
        location();
        made.kind = Attribute::Kind::skipped;
    } else if (lexer_.is("(") || begins_type()) {
        made.kind = Attribute::Kind::type;
        made.type = std::make_shared<const Type>(type());
    } else if (word == "unit") {
        lexer_.take();
    } else {
        made.kind = Attribute::Kind::word;
        made.text = lexer_.take().spelling;
        if (lexer_.is("<")) {  // affine_map<…>, dense_resource<…>
            made.kind = Attribute::Kind::skipped;
            skip_brackets();
            if (lexer_.accept(":")) type();
        }
    }
    return finished();
}

// ----- literals

void Parser::literal_element(Literal& made, size_t depth) {
    const Deeper deeper(*this);
    const auto number = [&] {
        const Token token = lexer_.take();
        const bool is_bool = token.kind == Token::Kind::word &&
                             (token.spelling == "true" || token.spelling == "false");
        if (token.kind != Token::Kind::number && !is_bool)
            fail_at(token.place, "found ", shown(token), ". A number is required.");
        made.numbers.push_back({token.spelling, token.place});
    };
    const auto check_depth = [&] {
        if (depth != made.shape.size())
            fail_at(lexer_.token().place, "a number stands at depth ", depth,
                    " of a list of depth ", made.shape.size(), ". Equal depths are required.");
    };
    if (lexer_.is("(")) {
        check_depth();
        made.is_complex = true;
        lexer_.take();
        number();
        lexer_.expect(",");
        number();
        lexer_.expect(")");
        return;
    }
    if (!lexer_.is("[")) {
        check_depth();
        number();
        return;
    }
    const Place place = lexer_.take().place;
    const bool is_first = made.shape.size() == depth;  // its length is not known yet
    if (is_first && !made.numbers.empty())
        fail_at(place, "a list is deeper than those before it. Equal depths are required.");
    if (is_first) made.shape.push_back(-1);
    if (made.shape.size() <= depth)
        fail_at(place, "a list is deeper than those before it. Equal depths are required.");
    int64_t count = 0;
    while (!lexer_.is("]")) {
        literal_element(made, depth + 1);
        ++count;
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect("]");
    int64_t& length = made.shape[depth];
    if (length < 0) length = count;
    if (length != count)
        fail_at(place, "a list has ", count, " parts, another one ", length,
                ". Equal lengths are required.");
}

std::shared_ptr<const Literal> Parser::literal() {
    auto made = std::make_shared<Literal>();
    made->place = lexer_.take().place;
    lexer_.expect("<");
    if (lexer_.is(Token::Kind::text)) {
        const Token token = lexer_.take();
        std::string_view digits = token.spelling.substr(1, token.spelling.size() - 2);
        if (!digits.starts_with("0x"))
            fail_at(token.place,
                    "a literal is no text of hexadecimal digits. \"0x…\" is required.");
        digits.remove_prefix(2);
        made->is_hexadecimal = true;
        made->digits = digits;
    } else if (lexer_.is(">")) {
        made->is_empty = true;
    } else {
        literal_element(*made, 0);
    }
    lexer_.expect(">");
    return made;
}

// ----- locations

void Parser::location_inside(Location& into) {
    const Deeper deeper(*this);
    if (lexer_.is(Token::Kind::alias)) {
        into.aliases.emplace_back(lexer_.take().spelling);
        return;
    }
    if (lexer_.is(Token::Kind::text)) {
        const std::string name = lexer_.take_text();
        if (lexer_.accept(":")) {
            const int64_t line = lexer_.take_integer();
            lexer_.expect(":");
            lexer_.expect(Token::Kind::number, "a column");
            if (lexer_.accept("to")) {  // "to 4:9", "to :9"
                if (lexer_.is(Token::Kind::number)) lexer_.take();
                lexer_.expect(":");
                lexer_.expect(Token::Kind::number, "a column");
            }
            if (into.line.empty() && line > 0)
                into.line =
                    printable(name.substr(name.find_last_of('/') + 1)) + ":" + std::to_string(line);
        } else if (lexer_.accept("(")) {
            location_inside(into);
            lexer_.expect(")");
        } else {
            into.name = name;
        }
        return;
    }
    if (lexer_.accept("callsite")) {
        lexer_.expect("(");
        location_inside(into);
        lexer_.expect("at");
        location_inside(into);
        lexer_.expect(")");
    } else if (lexer_.accept("fused")) {
        if (lexer_.is("<")) skip_brackets();
        lexer_.expect("[");
        while (!lexer_.is("]")) {
            location_inside(into);
            if (!lexer_.accept(",")) break;
        }
        lexer_.expect("]");
    } else {
        lexer_.expect("unknown");
    }
}

Location Parser::location() {
    Location made;
    lexer_.expect("loc");
    lexer_.expect("(");
    location_inside(made);
    lexer_.expect(")");
    return made;
}

}  // namespace composit::mlir::syntax
