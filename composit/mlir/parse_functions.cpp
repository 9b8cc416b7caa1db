// Modules and functions of MLIR's text, and the names of values within.
#include "composit/base/text.h"
#include "composit/base/utf8.h"
#include "composit/mlir/parser.h"

#include <algorithm>
#include <charconv>

namespace composit::mlir::syntax {
namespace {

constexpr uint32_t most_results = 1 << 16;  // of one operation
constexpr int most_followed = 100;          // locations that name one another
constexpr size_t most_parts = 1 << 16;      // of what an alias stands for
constexpr int most_alias_depth = 100;
// What all uses of aliases stand for: each is a copy. Texts use those of a part or two as often as
// they have operations.
constexpr size_t most_copied = size_t{1} << 20;

// What composit's writer says of outputs: "// Made by composit. @main returns a, b."
std::vector<std::string> names_of_outputs(std::string_view text) {
    constexpr std::string_view head = "// Made by composit. @main returns ";
    if (!text.starts_with(head)) return {};
    text = text.substr(head.size(), text.find('\n') - head.size());
    if (!text.ends_with('.')) return {};
    text.remove_suffix(1);
    std::vector<std::string> names;
    for (size_t comma = 0; comma != std::string_view::npos; text = text.substr(comma + 2)) {
        comma = text.find(", ");
        names.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) break;
    }
    return names;
}

// Names become Python's texts.
std::string checked_name(std::string name, const Place& place) {
    if (const auto broken = broken_utf8(name))
        fail_at(place, "the name '", name, "' is no UTF-8 from byte ", *broken,
                " on. UTF-8 is required of names.");
    return name;
}

std::string result_name(const Attribute::Entries& entries) {
    for (const auto& [name, value] : entries)
        if (name == "jax.result_info" && value.kind == Attribute::Kind::text)
            return checked_name(value.text, value.place);
    return "";
}

}  // namespace

std::string type_text(const Type& type) {
    switch (type.kind) {
        case Type::Kind::tensor: return mlir::type_text(type.tensor);
        case Type::Kind::token: return "!stablehlo.token";
        case Type::Kind::tuple: {
            std::vector<std::string> parts;
            for (const Type& part : type.parts) parts.push_back(type_text(part));
            return "tuple<" + join(parts) + ">";
        }
        default: return type.text;
    }
}

void append_tensors(const Type& type, std::vector<ValueType>& tensors) {
    if (type.kind == Type::Kind::tensor) tensors.push_back(type.tensor);
    if (type.kind == Type::Kind::tuple)
        for (const Type& part : type.parts) append_tensors(part, tensors);
}

std::vector<ValueType> tensors_of(const std::vector<Type>& types) {
    std::vector<ValueType> tensors;
    for (const Type& type : types) append_tensors(type, tensors);
    return tensors;
}

namespace {

const Attribute* found_in(const Attribute::Entries& entries, std::string_view name) {
    for (const auto& [each, value] : entries)
        if (each == name) return &value;
    return nullptr;
}

}  // namespace

const Attribute* Attribute::find(std::string_view name) const {
    return entries ? found_in(*entries, name) : nullptr;
}
const Attribute* Operation::find(std::string_view name) const { return found_in(attributes, name); }
const Function* Module::find(std::string_view name) const {
    const auto found = places.find(name);
    return found == places.end() ? nullptr : &functions[found->second];
}

std::shared_ptr<const Module> parse(std::string source, Knows knows) {
    const auto module = std::make_shared<Module>();
    module->source = std::move(source);
    Parser(*module, knows).parse();
    const std::vector<std::string> names = names_of_outputs(module->source);
    if (const auto main = module->places.find("main"); main != module->places.end()) {
        Function& function = module->functions[main->second];
        for (const std::string& name : names) checked_name(name, {});
        if (names.size() == function.results.size()) function.result_names = names;
    }
    return module;
}

// ----- the module

void Parser::parse() {
    while (!lexer_.is(Token::Kind::end)) top_level();
    user_check(!module_.functions.empty(),
               "mlir.load: the text has no function. One or more are required (func.func).");
    for (Function& function : module_.functions) end_locations(function.body);
}

void Parser::Extent::add(const Extent& part) {
    parts += part.parts;
    depth = std::max(depth, part.depth + 1);
}

Parser::Extent Parser::extent_of(const Type& type) {
    Extent all;
    for (const Type& part : type.parts) all.add(extent_of(part));
    return all;
}

Parser::Extent Parser::extent_of(const Attribute& attribute) {
    Extent all;
    for (const Attribute& part : attribute.list) all.add(extent_of(part));
    if (attribute.entries)
        for (const auto& [name, value] : *attribute.entries) all.add(extent_of(value));
    if (attribute.type) all.add(extent_of(*attribute.type));
    return all;
}

template <class Meaning>
void Parser::define_alias(Aliases<Meaning>& aliases, const Token& name, Meaning meaning) {
    const Extent extent = extent_of(meaning);
    if (extent.parts > most_parts)
        fail_at(name.place, "the alias ", shown(name), " stands for ", extent.parts,
                " parts. At most ", most_parts, " are required.");
    if (extent.depth > most_alias_depth)
        fail_at(name.place, "the parts of the alias ", shown(name), " lie ", extent.depth,
                " deep within one another. At most ", most_alias_depth, " levels are required.");
    aliases.emplace(name.spelling, Alias<Meaning>{std::move(meaning), extent.parts});
}

template <class Meaning>
const Meaning& Parser::meaning_of(const Alias<Meaning>& alias, const Place& place) {
    copied_ += alias.parts;
    if (copied_ > most_copied)
        fail_at(place, "the aliases of the text stand for more than ", most_copied,
                " parts, wherever they are used. Fewer are required.");
    return alias.meaning;
}

template const Type& Parser::meaning_of(const Alias<Type>&, const Place&);
template const Attribute& Parser::meaning_of(const Alias<Attribute>&, const Place&);

void Parser::alias() {
    const Token name = lexer_.take();
    lexer_.expect("=");
    if (lexer_.is("loc"))
        locations_[std::string(name.spelling)] = location();
    else if (name.kind == Token::Kind::type_alias)
        define_alias(type_aliases_, name, type());
    else
        define_alias(attribute_aliases_, name, attribute());
}

void Parser::top_level() {
    const Deeper deeper(*this);
    if (lexer_.is(Token::Kind::alias) || lexer_.is(Token::Kind::type_alias)) return alias();
    if (lexer_.is(Token::Kind::text)) {
        const Token name = lexer_.token();
        if (name.spelling == "\"builtin.module\"") return generic_module();
        if (name.spelling == "\"func.func\"") return generic_function();
        fail_at<NotSupported>(name.place, "the operation ", name.spelling,
                              " stands outside of functions. builtin.module or func.func is "
                              "required there.");
    }
    if (lexer_.accept("module") || lexer_.accept("builtin.module")) {
        const Place place = lexer_.token().place;
        if (lexer_.is(Token::Kind::symbol))
            module_.name = checked_name(lexer_.take_symbol(), place);
        if (lexer_.accept("attributes")) entries();
        lexer_.expect("{");
        while (!lexer_.is("}")) top_level();
        lexer_.take();
        if (lexer_.is("loc")) location();
        return;
    }
    if (lexer_.accept("sdy.mesh")) {  // of devices
        lexer_.expect(Token::Kind::symbol, "the name of a mesh");
        lexer_.expect("=");
        attribute();
        if (lexer_.is("{")) entries();
        return;
    }
    if (!lexer_.accept("func.func") && !lexer_.accept("func"))
        lexer_.fail_here("a module or a function (module, func.func)");
    function();
}

void Parser::generic_module() {
    lexer_.take();
    lexer_.expect("(");
    lexer_.expect(")");
    const auto take_name = [&](const Attribute::Entries& all) {
        const Attribute* const name = found_in(all, "sym_name");
        if (name && name->kind == Attribute::Kind::text)
            module_.name = checked_name(name->text, name->place);
    };
    if (lexer_.accept("<")) {
        take_name(entries());
        lexer_.expect(">");
    }
    lexer_.expect("(");
    lexer_.expect("{");
    if (lexer_.is(Token::Kind::label)) {
        lexer_.take();
        if (lexer_.is("(")) skip_brackets();
        lexer_.expect(":");
    }
    while (!lexer_.is("}")) top_level();
    lexer_.take();
    lexer_.expect(")");
    if (lexer_.is("{")) take_name(entries());
    lexer_.expect(":");
    type();
    if (lexer_.is("loc")) location();
}

// ----- functions

void Parser::begin_function(Function& function) {
    function_ = &function;
    names_.clear();
    scopes_.clear();
}

void Parser::end_function(Function function) {
    function_ = nullptr;
    names_.clear();
    function.result_names.resize(function.results.size());
    function.name = checked_name(std::move(function.name), function.place);
    for (std::string& name : function.argument_names)
        name = checked_name(std::move(name), function.place);
    const auto [place, is_new] = module_.places.emplace(function.name, module_.functions.size());
    if (!is_new)
        fail_at(function.place, "the function @", function.name,
                " is there twice. Different names are required.");
    module_.functions.push_back(std::move(function));
}

void Parser::function() {
    Function made;
    made.place = lexer_.token().place;
    if (lexer_.accept("private") || lexer_.accept("nested"))
        made.is_public = false;
    else
        lexer_.accept("public");
    made.name = lexer_.take_symbol();
    begin_function(made);
    lexer_.expect("(");
    std::vector<std::pair<Token, Type>> arguments;
    std::vector<std::string> said;  // names in locations
    while (!lexer_.is(")")) {
        Token name;
        if (lexer_.is(Token::Kind::value)) {
            name = lexer_.take();
            lexer_.expect(":");
        }
        arguments.emplace_back(name, type());
        if (lexer_.is("{")) entries();
        said.push_back(lexer_.is("loc") ? location().name : "");
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect(")");
    if (lexer_.accept("->")) {
        if (lexer_.accept("(")) {
            while (!lexer_.is(")")) {
                made.results.push_back(type());
                made.result_names.push_back(lexer_.is("{") ? result_name(entries()) : "");
                if (!lexer_.accept(",")) break;
            }
            lexer_.expect(")");
        } else {
            made.results.push_back(type());
        }
    }
    if (lexer_.accept("attributes")) entries();
    for (const auto& [name, type] : arguments) {
        made.arguments.push_back(type);
        const std::string& own = said[made.argument_names.size()];
        made.argument_names.emplace_back(!own.empty()            ? own
                                         : name.spelling.empty() ? name.spelling
                                                                 : name.spelling.substr(1));
    }
    made.has_body = lexer_.accept("{");
    if (made.has_body) region(made.body, arguments);
    if (lexer_.is("loc")) location();
    end_function(std::move(made));
}

void Parser::generic_function() {
    Function made;
    made.place = lexer_.take().place;
    begin_function(made);
    lexer_.expect("(");
    lexer_.expect(")");
    Attribute::Entries all;
    const auto more = [&] {
        for (auto& each : entries()) all.push_back(std::move(each));
    };
    if (lexer_.accept("<")) {
        more();
        lexer_.expect(">");
    }
    lexer_.expect("(");
    lexer_.expect("{");
    made.has_body = !lexer_.is("}");
    if (made.has_body) {
        region(made.body, {});
        for (const uint32_t argument : made.body.arguments)
            made.arguments.push_back(made.values[argument]);
    } else {
        lexer_.take();
    }
    lexer_.expect(")");
    if (lexer_.is("{")) more();
    lexer_.expect(":");
    type();
    if (lexer_.is("loc")) location();
    const Attribute *const name = found_in(all, "sym_name"),
                           *const visibility = found_in(all, "sym_visibility"),
                           *const function_type = found_in(all, "function_type");
    if (!name || name->kind != Attribute::Kind::text || !function_type || !function_type->type ||
        function_type->type->text != "function")
        fail_at(made.place, "func.func has no sym_name or no function_type. Both are required.");
    made.name = name->text;
    made.is_public = !visibility || visibility->text != "private";
    const std::vector<Type>& parts = function_type->type->parts;
    const std::vector<Type> given(parts.begin(), parts.end() - (parts.empty() ? 0 : 1));
    if (!parts.empty()) made.results = parts.back().parts;
    if (made.has_body && given != made.arguments)
        fail_at(made.place, "the function @", made.name,
                " has other arguments than its function_type says. Equal types are required.");
    made.arguments = given;
    for (size_t i = 0; i < given.size(); ++i)
        made.argument_names.push_back("arg" + std::to_string(i));
    end_function(std::move(made));
}

// ----- names

uint32_t Parser::fresh(const Type& type) {
    function_->values.push_back(type);
    return static_cast<uint32_t>(function_->values.size() - 1);
}

void Parser::define(std::string_view name, uint32_t first, uint32_t count, const Place& place) {
    const std::string own(name);
    std::vector<std::string>& scope = scopes_.back();
    std::vector<Name>& known = names_[own];
    // MLIR has no name twice within a function, unless the first one is in a region that has ended.
    if (!known.empty())
        fail_at(place, "the value ", own, " is defined twice. Different names are required.");
    known.push_back({first, count});
    scope.push_back(own);
}

uint32_t Parser::used(const Token& token) {
    const auto found = names_.find(token.spelling);
    if (found == names_.end() || found->second.empty())
        fail_at(token.place, "the value ", token.spelling,
                " is not known here. A value that is defined before is required.");
    const Name& name = found->second.back();
    if (!lexer_.is(Token::Kind::alias)) {
        if (name.count != 1)
            fail_at(token.place, token.spelling, " has ", name.count,
                    " parts. One of them is required, as ", token.spelling, "#0.");
        return name.first;
    }
    const Token part = lexer_.take();
    uint32_t number = 0;
    const char* const end = part.spelling.data() + part.spelling.size();
    const auto read = std::from_chars(part.spelling.data() + 1, end, number);
    if (read.ptr != end || read.ec != std::errc() || number >= name.count)
        fail_at(part.place, token.spelling, " has ", name.count, " parts, and no ", part.spelling,
                ". One of them is required.");
    return name.first + number;
}

uint32_t Parser::operand() {
    const Token token = lexer_.expect(Token::Kind::value, "a value (%name)");
    return used(token);
}

const Type& Parser::type_of(uint32_t value) const { return function_->values[value]; }

std::vector<std::pair<Token, Type>> Parser::block_arguments() {
    std::vector<std::pair<Token, Type>> arguments;
    lexer_.expect("(");
    while (!lexer_.is(")")) {
        const Token name = lexer_.expect(Token::Kind::value, "the name of an argument (%name)");
        lexer_.expect(":");
        arguments.emplace_back(name, type());
        if (lexer_.is("loc")) location();
        if (!lexer_.accept(",")) break;
    }
    lexer_.expect(")");
    return arguments;
}

// Its "{" was taken.
void Parser::region(Region& made, const std::vector<std::pair<Token, Type>>& given) {
    const Deeper deeper(*this);
    scopes_.emplace_back();
    const auto define_all = [&](const std::vector<std::pair<Token, Type>>& arguments) {
        for (const auto& [name, type] : arguments) {
            made.arguments.push_back(fresh(type));
            if (!name.spelling.empty()) define(name.spelling, made.arguments.back(), 1, name.place);
        }
    };
    define_all(given);
    if (lexer_.is(Token::Kind::label)) {
        lexer_.take();
        if (lexer_.is("(")) define_all(block_arguments());
        lexer_.expect(":");
    }
    while (!lexer_.is("}")) {
        if (lexer_.is(Token::Kind::label))
            fail_at<NotSupported>(lexer_.token().place,
                                  "a region has several blocks. One is required: loops and choices "
                                  "are StableHLO's operations.");
        operation(made);
    }
    const Place place = lexer_.take().place;
    if (made.operations.empty() || !made.operations.back().name.ends_with(".return"))
        fail_at(place,
                "a region ends without returning. stablehlo.return, or func.return of a "
                "function, is required.");
    for (const std::string& name : scopes_.back()) names_[name].pop_back();
    scopes_.pop_back();
}

// ----- locations

std::string Parser::line_of(const Location& location, int followed) {
    if (!location.line.empty() || followed == most_followed) return location.line;
    for (const std::string& alias : location.aliases) {
        const auto found = locations_.find(alias);
        if (found == locations_.end()) continue;
        // Each alias is followed once; one that names itself has no line.
        const auto [line, is_new] = lines_.try_emplace(alias);
        if (is_new) line->second = line_of(found->second, followed + 1);
        if (!line->second.empty()) return line->second;
    }
    return "";
}

void Parser::end_locations(Region& region) {
    for (Operation& operation : region.operations) {
        operation.line = line_of(operation.location);
        for (Region& inner : operation.regions) end_locations(inner);
    }
}

}  // namespace composit::mlir::syntax
