// Texts of functions, and errors that name their lines.
#include "composit/knossos/outside.h"

#include "composit/base/text.h"

#include <algorithm>

namespace composit::knossos {

std::vector<std::string> Source::parameters() const {
    std::vector<std::string> names;
    for (const SyntaxRef& each : tree->all(Field::parameter)) names.push_back(each->name);
    return names;
}

std::vector<Value> Source::with_defaults(std::vector<Value> arguments) const {
    const auto names = parameters();
    for (size_t i = arguments.size(); i < names.size(); ++i) {
        const auto found = std::find_if(defaults.begin(), defaults.end(),
                                        [&](const auto& each) { return each.first == names[i]; });
        if (found == defaults.end()) break;
        arguments.push_back(found->second);
    }
    return arguments;
}

void Source::refuse(const Syntax& part, const std::string& wrong, const std::string& instead,
                    Refusal::Class kind) const {
    const int at = part.line() > 0 ? part.line() : line;
    throw Refusal(kind, text(name, ": ", wrong, ". ", instead, " [", path, ":", at, "]"));
}

std::shared_ptr<SourceWithin> SourceWithin::inner(SourceRef outer, SyntaxRef tree) {
    auto made = std::make_shared<SourceWithin>();
    made->name = tree->name;
    made->path = outer->path;
    made->file = outer->file;
    made->line = tree->line();
    made->function = tree.get();
    made->tree = std::move(tree);
    made->outer_ = std::move(outer);
    return made;
}

std::shared_ptr<SourceWithin> SourceWithin::of_library(const SourceRef& of, const Source& around,
                                                       const Syntax& call, std::string called) {
    auto made = std::make_shared<SourceWithin>();
    made->name = around.name;
    made->path = around.path;
    made->file = around.file;
    made->line = call.line();
    made->function = of->function;
    made->tree = placed(*of->tree, call.place);
    made->outer_ = of;
    made->is_in_library = true;
    made->called = std::move(called);
    return made;
}

}  // namespace composit::knossos
