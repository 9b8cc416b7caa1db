// Names of called functions.
#include "composit/backends/c_family/called_functions.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {

std::string CalledFunctions::name_of(
    const std::string& wanted, const std::string& types, const std::string& key,
    const std::function<std::string(const std::string& name)>& text, bool is_of_library) {
    const std::string whole = wanted + "\n" + types + "\n" + key;
    if (const auto known = names_.find(whole); known != names_.end()) return known->second;
    TakenNames nothing;
    const std::string stem = unique_name(wanted, nothing, true);
    std::string name = stem;
    const auto is_free = [&] { return !taken_.contains(name) && !types_[name].contains(types); };
    for (int i = 2; !is_free(); ++i) name = composit::text(stem, "_", i);
    types_[name].insert(types);
    names_[whole] = name;
    const std::string made = text(name) + "\n";
    text_ += made;
    if (!is_of_library) text_of_users_ += made;
    return name;
}

}  // namespace composit::c_family
