#include "composit/exporters/plain/language.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/support_texts.h"

#include <algorithm>

namespace composit::plain {
namespace {

constexpr const char* types[] = {"double",   "float",   "int",     "int32_t",
                                 "uint32_t", "int64_t", "uint64_t"};

bool is_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char c) { return ascii::is_of_word(c) || c == '.'; });
}

// "(float)(x + y)" is "float(x + y)" in C++, and "(float)(x)" is "(float)x" in C.
std::string with_casts(Language language, std::string text) {
    for (const char* type : types) {
        const std::string cast = composit::text("(", type, ")(");
        for (size_t at = 0; (at = text.find(cast, at)) != std::string::npos; ++at) {
            const size_t begin = at + cast.size(), end = text.find(')', begin);
            const std::string inner = text.substr(begin, end - begin);
            if (language == Language::cpp)
                text.replace(at, cast.size(), std::string(type) + "(");
            else if (is_name(inner))
                text.replace(begin - 1, end - begin + 2, inner);
        }
    }
    return text;
}

}  // namespace

Language language_of(const std::string& name) {
    user_check(name == "c" || name == "cpp", "export: there is no language '", name,
               "'. One of c, cpp is required.");
    return name == "c" ? Language::c : Language::cpp;
}

const c_family::ScalarSpelling& spelling_of(Language language) {
    static const std::set<std::string>& words =
        *new std::set<std::string>(support_names().begin(), support_names().end());
    static const c_family::ScalarSpelling c{.is_c = true,
                                            .function_start = "static ",
                                            .table_start = "static const ",
                                            .long_suffix = "ll",
                                            .words = &words,
                                            .is_plain = true,
                                            .has_cpp_casts = false};
    static const c_family::ScalarSpelling cpp = [] {
        c_family::ScalarSpelling made = c;
        made.has_cpp_casts = true;
        return made;
    }();
    return language == Language::c ? c : cpp;
}

std::string converted(Language language, const std::string& type, const std::string& x) {
    const bool is_cpp = language == Language::cpp;
    if (is_cpp && x.front() == '(') return type + x;
    return is_cpp ? type + "(" + x + ")" : "(" + type + ")" + x;
}

std::string_view restrict_word(Language language) {
    return language == Language::c ? "restrict" : "__restrict";
}

const std::set<std::string>& support_names() {
    static const std::set<std::string>& names = *new std::set<std::string>([] {
        std::set<std::string> all = {"restrict", "memory"};
        for (const SupportText& each : support_texts()) all.insert(each.name);
        return all;
    }());
    return names;
}

namespace {

// Whether a function may be all that uses another one, and that only where the processor lacks an
// instruction.
bool is_software(const std::string& name) {
    return name == "fma_float64" || name == "sqrt_float32" || name == "sqrt_float64";
}

}  // namespace

std::string support_text(Language language, const std::string& text) {
    const auto& all = support_texts();
    // Those that use others stand behind them.
    std::vector<bool> is_used(all.size(), false), is_always_used(all.size(), false);
    for (size_t k = all.size(); k-- > 0;) {
        is_used[k] = is_always_used[k] = c_family::has_word(text, all[k].name);
        for (size_t user = k + 1; user < all.size(); ++user) {
            if (!is_used[user] || !c_family::has_word(all[user].text, all[k].name)) continue;
            is_used[k] = true;
            is_always_used[k] =
                is_always_used[k] || (is_always_used[user] && !is_software(all[user].name));
        }
    }
    std::string result;
    bool is_line_before = false;
    for (size_t k = 0; k < all.size(); ++k) {
        if (!is_used[k]) continue;
        const bool is_cpp = language == Language::cpp && !all[k].text_of_cpp.empty();
        std::string own = with_casts(language, is_cpp ? all[k].text_of_cpp : all[k].text);
        if (!is_always_used[k]) own.insert(own.find("static "), "__attribute__((unused))\n");
        // Functions of one line stand together.
        const bool is_line = own.find('\n') + 1 == own.size();
        if (is_line_before && !is_line) result += "\n";
        is_line_before = is_line;
        result += own + (is_line ? "" : "\n");
    }
    return result + (is_line_before ? "\n" : "");
}

}  // namespace composit::plain
