// A recursive-descent parser without recursion: the text form does not nest.
#include "composit/ir/parse.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/lexer.h"
#include "composit/ir/listing.h"
#include "composit/ir/operation.h"
#include "composit/ir/print.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

namespace composit::ir {
namespace {

template <class T>
bool read_number(std::string_view digits, T& value) {
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, value);
    return end == last && error == std::errc();
}

// Sums and products of numbers of at least 0, which stay at the largest number.
constexpr int64_t largest = std::numeric_limits<int64_t>::max();
int64_t sum_of(int64_t a, int64_t b) { return a > largest - b ? largest : a + b; }
int64_t product_of(int64_t a, int64_t b) { return b != 0 && a > largest / b ? largest : a * b; }

// What evaluating some nodes takes, as TextLimits count it.
struct Cost {
    int64_t nodes = 0, bytes = 0, iterations = 0, depth = 0;
};

// How often a node runs its bodies: a loop has these attributes.
int64_t runs_of_bodies(const Attributes& attributes) {
    const Attribute* const begin = attributes.find("begin");
    const Attribute* const end = attributes.find("end");
    const int64_t* const first = begin ? std::get_if<int64_t>(begin) : nullptr;
    const int64_t* const last = end ? std::get_if<int64_t>(end) : nullptr;
    if (!first || !last) return 0;
    if (*last <= *first) return 0;
    return *first < 0 && *last > largest + *first ? largest : *last - *first;
}

Cost cost_of(const Node& node, const std::unordered_map<const Body*, Cost>& bodies) {
    Cost cost{1, 0, 0, 0};
    for (const TensorType& type : node.types())
        cost.bytes = sum_of(cost.bytes, product_of(element_count(type.shape), size_of(type.dtype)));
    for (const BodyRef& body : bodies_of(node)) {
        const Cost& inner = bodies.at(body.get());
        cost.nodes = sum_of(cost.nodes, inner.nodes);
        cost.bytes = sum_of(cost.bytes, inner.bytes);
        const int64_t runs = runs_of_bodies(node.attributes());
        const int64_t within = product_of(std::max<int64_t>(runs, 1), inner.iterations);
        cost.iterations = sum_of(cost.iterations, sum_of(runs, within));
        cost.depth = std::max(cost.depth, inner.depth + 1);
    }
    return cost;
}

class Parser {
  public:
    Parser(std::string_view text, const std::map<std::string, Array>& data,
           const TextLimits& limits)
        : lexer_(text), data_(data), limits_(limits) {
        input("", DType::boolean, {});  // leaves register themselves when first made
        constant(Array::zeros(DType::boolean, {}));
    }

    std::vector<Tensor> parse() {
        for (const char* word : {"composit", "graph"}) lexer_.expect(word, "at the beginning");
        const Token at = lexer_.token();
        if (const int64_t version = lexer_.take_integer("the version"); version != text_version)
            Lexer::fail_at(
                at, text("found version ", version, ". Version ", text_version, " is required."));
        while (lexer_.is("body")) parse_body();
        parse_nodes();
        std::vector<Tensor> outputs = parse_return();
        if (lexer_.token().kind != TokenKind::end) lexer_.fail_here("The end of the text");
        return outputs;
    }

  private:
    void parse_body() {
        lexer_.take();
        const Token at = lexer_.token();
        const int64_t number = lexer_.take_integer("The number of the body");
        auto body = std::make_shared<Body>();
        body->name = lexer_.take_text("The name of the body");
        const std::vector<Token> parameters = parse_references();
        lexer_.expect("{", "before the nodes of the body");
        parse_nodes();
        body->results = parse_return();
        lexer_.expect("}", "after the results of the body");
        for (const Token& parameter : parameters) {
            body->parameters.push_back(tensor_of(parameter));
            if (!is_input(body->parameters.back().node()))
                Lexer::fail_at(parameter,
                               "found a parameter that is not an input. An input of "
                               "this body is required.");
        }
        costs_.emplace(body.get(), cost_);
        end_section();
        if (!bodies_.emplace(number, std::move(body)).second)
            Lexer::fail_at(at, text("body ", number, " exists already. A new number is required."));
    }

    void parse_nodes() {
        while (lexer_.is("%")) parse_node();
    }

    void end_section() {
        costs_of_sections_.push_back(std::exchange(cost_, {}));
        sections_used_.clear();
    }

    void parse_node() {
        const Token at = lexer_.take();
        const int64_t number = lexer_.take_integer("The number of the node");
        if (nodes_.contains(number))
            Lexer::fail_at(at, text("%", number, " exists already. A new number is required."));
        lexer_.expect("=", "after the number of the node");
        const Token operation_at = lexer_.token();
        const std::string name = lexer_.take_word_or_text("The name of an operation");
        const Operation* operation = find_operation(name);
        if (!operation)
            Lexer::fail_at(operation_at, text("there is no operation ", quoted(name),
                                              ". A registered one is required."));
        if (operation->is_unchecked)
            Lexer::fail_at(operation_at,
                           text(name,
                                " calls a function that does not check what the text says of "
                                "its operands. An operation that does is required."));
        std::vector<Tensor> operands;
        if (lexer_.is("("))
            for (const Token& reference : parse_references())
                operands.push_back(tensor_of(reference));
        Attributes attributes = parse_attributes();
        lexer_.expect(":", "before the types of the node");
        std::vector<TensorType> types;
        do types.push_back(parse_type());
        while (lexer_.accept(","));
        std::string user_name, location;
        if (lexer_.token().kind == TokenKind::text) user_name = lexer_.take_text("A name");
        if (lexer_.accept("at")) location = lexer_.take_text("A source line");
        Ref<Node> node = make(operation_at, *operation, std::move(operands), std::move(attributes),
                              types, user_name, location);
        add_cost(operation_at, cost_of(*node, costs_));
        nodes_.emplace(number, Known{std::move(node), costs_of_sections_.size()});
    }

    void add_cost(const Token& at, const Cost& cost) {
        cost_.nodes = sum_of(cost_.nodes, cost.nodes);
        cost_.bytes = sum_of(cost_.bytes, cost.bytes);
        cost_.iterations = sum_of(cost_.iterations, cost.iterations);
        cost_.depth = std::max(cost_.depth, cost.depth);
        const auto check_limit = [&](std::string_view what, int64_t asked, int64_t most) {
            if (asked > most)
                Lexer::fail_at(at, text("up to here the graph takes ", asked, " ", what,
                                        ". At most ", most, " are required, or another limit."));
        };
        check_limit("nodes", cost_.nodes, limits_.nodes);
        check_limit("bytes", cost_.bytes, limits_.bytes);
        check_limit("iterations of loops", cost_.iterations, limits_.iterations);
        check_limit("bodies within one another", cost_.depth, limits_.depth);
    }

    Ref<Node> make(const Token& at, const Operation& operation, std::vector<Tensor> operands,
                   Attributes attributes, const std::vector<TensorType>& types,
                   const std::string& name, const std::string& location) {
        Ref<Node> node;
        try {
            const LocationScope scope(intern(location));
            if (operation.check) operation.check(operands, attributes);
            node = make_node(operation, std::move(operands), std::move(attributes), name);
            for (const TensorType& type : node->types()) check_shape(operation.name, type.shape);
        } catch (const std::exception& error) {
            Lexer::fail_at(at, error.what());
        }
        if (node->types() != types)
            Lexer::fail_at(at, text("the types written are ", join(types), ", but ", operation.name,
                                    " gives ", join(node->types()), ". The latter is required."));
        return node;
    }

    // ( %1, %2.1 )
    std::vector<Token> parse_references() {
        std::vector<Token> references;
        lexer_.expect("(", "before a list of nodes");
        if (lexer_.accept(")")) return references;
        do references.push_back(parse_reference());
        while (lexer_.accept(","));
        lexer_.expect(")", "after a list of nodes");
        return references;
    }

    Token parse_reference() {
        if (!lexer_.is("%")) lexer_.fail_here("'%' and the number of a node");
        lexer_.take();
        if (lexer_.token().kind != TokenKind::number) lexer_.fail_here("The number of a node");
        return lexer_.take();
    }

    Tensor tensor_of(const Token& reference) {
        const size_t dot = reference.spelling.find('.');
        int64_t number = -1;
        int output = 0;
        bool is_number = read_number(reference.spelling.substr(0, dot), number);
        if (dot != std::string_view::npos)
            is_number = is_number && read_number(reference.spelling.substr(dot + 1), output);
        const auto found = nodes_.find(number);
        if (!is_number || found == nodes_.end())
            Lexer::fail_at(reference,
                           text("there is no node %", reference.spelling,
                                " before this line. One of an earlier line is required."));
        const auto& [node, section] = found->second;
        if (output < 0 || output >= node->output_count())
            Lexer::fail_at(reference, text("%", number, " has ", node->output_count(),
                                           " outputs. Output ", output, " is not one of them."));
        // A node of another section counts here, too, with all that stands there.
        if (section < costs_of_sections_.size() && sections_used_.insert(section).second)
            add_cost(reference, costs_of_sections_[section]);
        return {node, output};
    }

    std::vector<Tensor> parse_return() {
        lexer_.expect("return", "after the nodes");
        std::vector<Tensor> results;
        if (!lexer_.is("%")) return results;
        do results.push_back(tensor_of(parse_reference()));
        while (lexer_.accept(","));
        return results;
    }

    Attributes parse_attributes() {
        std::vector<std::pair<std::string, Attribute>> items;
        if (!lexer_.accept("{") || lexer_.accept("}")) return {};
        do {
            const Token at = lexer_.token();
            std::string key = lexer_.take_word_or_text("The name of an attribute");
            for (const auto& [other, value] : items)
                if (other == key)
                    Lexer::fail_at(at, text("attribute ", quoted(key),
                                            " is given twice. Once is "
                                            "required."));
            lexer_.expect("=", "after the name of an attribute");
            items.emplace_back(std::move(key), parse_attribute());
        } while (lexer_.accept(","));
        lexer_.expect("}", "after the attributes");
        return Attributes::from(std::move(items));
    }

    Attribute parse_attribute() {
        const Token& at = lexer_.token();
        if (at.kind == TokenKind::text) return lexer_.take_text("A text");
        if (lexer_.is("[")) return parse_integers();
        if (lexer_.accept("true")) return true;
        if (lexer_.accept("false")) return false;
        if (lexer_.is("row")) return parse_row();
        if (lexer_.is("body")) return parse_body_reference();
        if (at.kind == TokenKind::number) {
            if (at.spelling.find_first_not_of("-0123456789") == std::string_view::npos)
                return lexer_.take_integer("An integer of 64 bits");
            return parse_double();
        }
        if (lexer_.is("nan") || lexer_.is("inf") || lexer_.is("bits")) return parse_double();
        if (at.kind != TokenKind::word) lexer_.fail_here("The value of an attribute");
        const DType dtype = parse_dtype();
        if (!lexer_.is("[")) return dtype;
        return parse_array(dtype);
    }

    Attribute parse_double() {
        scalar::Bits bits = parse_element(DType::float64);
        double value = 0;
        std::memcpy(&value, bits.data(), sizeof value);
        return value;
    }

    std::vector<int64_t> parse_integers() {
        std::vector<int64_t> values;
        lexer_.expect("[", "before a list of integers");
        if (lexer_.accept("]")) return values;
        do values.push_back(lexer_.take_integer("An integer of 64 bits"));
        while (lexer_.accept(","));
        lexer_.expect("]", "after a list of integers");
        return values;
    }

    Attribute parse_row() {
        lexer_.take();
        lexer_.expect("(", "before the name of a row");
        const Token at = lexer_.token();
        const std::string name = lexer_.take_text("The name of a row");
        const scalar::RowRef row = scalar::find_row(name);
        if (!row)
            Lexer::fail_at(at, text("there is no row ", quoted(name),
                                    " in the scalar table. A "
                                    "registered one is required."));
        lexer_.expect(")", "after the name of a row");
        return row;
    }

    Attribute parse_body_reference() {
        lexer_.take();
        lexer_.expect("(", "before the number of a body");
        const Token at = lexer_.token();
        const auto found = bodies_.find(lexer_.take_integer("The number of a body"));
        if (found == bodies_.end())
            Lexer::fail_at(at,
                           "there is no such body before this line. The number of one is "
                           "required.");
        lexer_.expect(")", "after the number of a body");
        return found->second;
    }

    DType parse_dtype() {
        const Token at = lexer_.token();
        if (at.kind != TokenKind::word) lexer_.fail_here("A dtype");
        const std::optional<DType> dtype = find_dtype(at.spelling);
        if (!dtype) lexer_.fail_here("A dtype (float32, int64, …)");
        lexer_.take();
        return *dtype;
    }

    Shape parse_shape() {
        const Token at = lexer_.token();
        Shape shape = parse_integers();
        try {
            check_shape("array", shape);
        } catch (const Error& error) {
            Lexer::fail_at(at, error.what());
        }
        return shape;
    }

    TensorType parse_type() {
        const bool weak = lexer_.accept("weak");
        const DType dtype = parse_dtype();
        return {parse_shape(), dtype, weak};
    }

    Attribute parse_array(DType dtype) {
        const Shape shape = parse_shape();
        const Token at = lexer_.token();
        if (lexer_.accept("data")) {
            lexer_.expect("(", "before the name of the data");
            const std::string name = lexer_.take_text("The name of the data");
            lexer_.expect(")", "after the name of the data");
            const auto found = data_.find(name);
            if (found == data_.end())
                Lexer::fail_at(at, text("no data named ", quoted(name),
                                        " were given. They are "
                                        "required beside the text."));
            const Array& array = found->second;
            if (array.dtype() != dtype || array.shape() != shape)
                Lexer::fail_at(at, text("the data are ", TensorType{array.shape(), array.dtype()},
                                        ". ", TensorType{shape, dtype}, " is required."));
            return array;
        }
        lexer_.expect("{", "before the elements");
        std::vector<scalar::Bits> elements;
        if (!lexer_.is("}")) {
            do elements.push_back(parse_element(dtype));
            while (lexer_.accept(","));
        }
        lexer_.expect("}", "after the elements");
        if (static_cast<int64_t>(elements.size()) != element_count(shape))
            Lexer::fail_at(at, text("found ", elements.size(), " elements. ", element_count(shape),
                                    " are required for shape ", shape, "."));
        Array array(dtype, shape);
        char* place = static_cast<char*>(array.mutable_data());
        for (const scalar::Bits& bits : elements) {
            std::memcpy(place, bits.data(), static_cast<size_t>(size_of(dtype)));
            place += size_of(dtype);
        }
        return array;
    }

    scalar::Bits parse_element(DType dtype) {
        scalar::Bits bits{};
        if (is_complex(dtype)) {
            const DType part = real_part_of(dtype);
            lexer_.expect("(", "before the real part");
            const scalar::Bits real = parse_element_of_real(part);
            lexer_.expect(",", "between real and imaginary part");
            const scalar::Bits imaginary = parse_element_of_real(part);
            lexer_.expect(")", "after the imaginary part");
            const auto bytes = static_cast<size_t>(size_of(part));
            std::memcpy(bits.data(), real.data(), bytes);
            std::memcpy(reinterpret_cast<char*>(bits.data()) + bytes, imaginary.data(), bytes);
            return bits;
        }
        return parse_element_of_real(dtype);
    }

    scalar::Bits parse_element_of_real(DType dtype) {
        if (dtype == DType::boolean) {
            const bool value = lexer_.is("true");
            if (!value && !lexer_.is("false")) lexer_.fail_here("true or false");
            lexer_.take();
            return {value ? 1u : 0u, 0};
        }
        if (is_integer(dtype)) return parse_integer_element(dtype);
        if (lexer_.accept("bits")) return parse_bits(dtype);
        const Token at = lexer_.token();
        const bool is_word = at.kind == TokenKind::word || at.kind == TokenKind::number;
        scalar::Bits bits{};
        if (is_word && at.spelling == "nan") {
            bits = scalar::bits_of(dtype, std::numeric_limits<double>::quiet_NaN());
        } else if (dtype == DType::float64 || !is_word) {
            double value = 0;
            if (!is_word || !read_number(at.spelling, value) || std::isnan(value))
                lexer_.fail_here(text("A number of dtype ", dtype));
            std::memcpy(bits.data(), &value, sizeof value);
        } else {
            float value = 0;
            if (!read_number(at.spelling, value) || std::isnan(value))
                lexer_.fail_here(text("A number of dtype ", dtype));
            if (dtype == DType::float32)
                std::memcpy(bits.data(), &value, sizeof value);
            else
                bits = scalar::bits_of(dtype, value);
        }
        lexer_.take();
        return bits;
    }

    scalar::Bits parse_integer_element(DType dtype) {
        const std::string_view digits = lexer_.token().spelling;
        const int width = 8 * size_of(dtype);
        uint64_t positive = 0;
        int64_t negative = 0;
        bool fits = lexer_.token().kind == TokenKind::number;
        if (!digits.empty() && digits[0] == '-') {
            fits = fits && is_signed_integer(dtype) && read_number(digits, negative) &&
                   negative >= -(int64_t{1} << (width - 2)) - (int64_t{1} << (width - 2));
            positive = static_cast<uint64_t>(negative);
        } else {
            const int value_bits = width - (is_signed_integer(dtype) ? 1 : 0);
            fits = fits && read_number(digits, positive) &&
                   (value_bits == 64 || positive >> value_bits == 0);
        }
        if (!fits) lexer_.fail_here(text("An integer that fits ", dtype));
        lexer_.take();
        return {width == 64 ? positive : positive & ((uint64_t{1} << width) - 1), 0};
    }

    // bits(0x7fc00001), after `bits`
    scalar::Bits parse_bits(DType dtype) {
        lexer_.expect("(", "before the bits");
        const std::string_view digits = lexer_.token().spelling;
        uint64_t value = 0;
        if (digits.substr(0, 2) != "0x" ||
            digits.size() != 2 + 2 * static_cast<size_t>(size_of(dtype)))
            lexer_.fail_here(text("0x and ", 2 * size_of(dtype), " hexadecimal digits"));
        const auto [end, error] =
            std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, 16);
        if (error != std::errc() || end != digits.data() + digits.size())
            lexer_.fail_here(text("0x and ", 2 * size_of(dtype), " hexadecimal digits"));
        lexer_.take();
        lexer_.expect(")", "after the bits");
        return {value, 0};
    }

    Lexer lexer_;
    const std::map<std::string, Array>& data_;
    // A node, and the body that it stands in, counted from 0; behind them comes the graph itself.
    struct Known {
        Ref<Node> node;
        size_t section;
    };
    std::unordered_map<int64_t, Known> nodes_;
    std::unordered_map<int64_t, BodyRef> bodies_;
    const TextLimits limits_;
    Cost cost_;  // of the section that is read
    std::vector<Cost> costs_of_sections_;
    std::set<size_t> sections_used_;  // by the one that is read
    std::unordered_map<const Body*, Cost> costs_;
};

}  // namespace

std::vector<Tensor> parse(std::string_view text, const std::map<std::string, Array>& data,
                          const TextLimits& limits) {
    const DefaultFloatingPoint floating_point;
    return Parser(text, data, limits).parse();
}

}  // namespace composit::ir
