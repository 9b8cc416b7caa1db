// Values in order come first, those by name behind them.
#include "composit/cg/call_arguments.h"

#include "composit/base/error.h"

#include <algorithm>

namespace composit::cg {
namespace {

std::string quoted(const std::vector<std::string>& names) {
    std::vector<std::string> words;
    for (const std::string& name : names) words.push_back("'" + name + "'");
    return join(words);
}

}  // namespace

std::vector<size_t> places_of_values(const std::string& function,
                                     const std::vector<std::string>& inputs, size_t count,
                                     const std::vector<std::string>& named) {
    const auto place_in = [](const std::vector<std::string>& names, const std::string& name) {
        return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    for (const std::string& name : named) {
        const size_t place = place_in(inputs, name);
        user_check<TypeError>(place >= count && place < inputs.size(), function, ": '", name, "' ",
                              place < inputs.size() ? "is given twice" : "is no input",
                              ". Each of its inputs once is required: ",
                              inputs.empty() ? "it has none" : quoted(inputs), ".");
    }
    std::vector<size_t> places;
    std::vector<std::string> missing;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const size_t by_name = place_in(named, inputs[i]);
        if (i >= count && by_name == named.size()) missing.push_back(inputs[i]);
        places.push_back(i < count ? i : count + by_name);
    }
    user_check(missing.empty(), function, ": ", inputs.size() - missing.size(), " of ",
               inputs.size(), " inputs are given; without: ", quoted(missing),
               ". When a function is called, all its inputs must be instantiated.");
    return places;
}

}  // namespace composit::cg
