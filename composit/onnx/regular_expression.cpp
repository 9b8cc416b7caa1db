// Patterns as programs whose threads run side by side, so that no pattern takes exponential time.
#include "composit/onnx/regular_expression.h"

#include "composit/base/error.h"
#include "composit/base/utf8.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace composit::onnx {
namespace {

using Step = RegularExpression::Step;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr size_t most_steps = 100'000;
constexpr int most_depth = 200;
constexpr uint32_t last_character = 0x10ffff;

std::vector<uint32_t> characters_of(std::string_view text) {
    std::vector<uint32_t> all;
    while (!text.empty()) {
        const auto character = first_character(text);
        // A byte that is no UTF-8 stands for itself.
        all.push_back(character ? character->value : static_cast<unsigned char>(text[0]));
        text.remove_prefix(character ? character->bytes : 1);
    }
    return all;
}

const Ranges digits{{'0', '9'}};
const Ranges spaces{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
const Ranges words{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

Ranges complement(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end());
    Ranges others;
    uint32_t next = 0;
    for (const auto& [low, high] : ranges) {
        if (low > next) others.emplace_back(next, low - 1);
        next = std::max(next, high + 1);
    }
    if (next <= last_character) others.emplace_back(next, last_character);
    return others;
}

bool holds(const Ranges& ranges, uint32_t character) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
        return character >= range.first && character <= range.second;
    });
}

// What a pattern is made of.
struct Part {
    enum class Kind { step, sequence, choice, repeat };
    Kind kind = Kind::sequence;
    Step step = {};
    std::vector<Part> parts = {};
    int64_t least = 0, most = 0;  // of repeats; most -1: any number
};

class Parser {
  public:
    explicit Parser(std::string_view pattern) : pattern_(pattern), text_(characters_of(pattern)) {}

    Part parse() {
        Part whole = choice(0);
        if (at_ != text_.size()) fail_here("a ) closes no group");
        return whole;
    }

  private:
    [[noreturn]] void fail_here(std::string_view what) const {
        fail("onnx: the pattern '", pattern_, "': ", what, " at character ", at_,
             ". A regular expression in RE2's syntax is required.");
    }
    [[noreturn]] void refuse(std::string_view what) const {
        fail<NotSupported>("onnx: the pattern '", pattern_, "': ", what, " at character ", at_,
                           ". Classes, groups, choices and repetitions are required.");
    }
    bool is_at(char c) const {
        return at_ < text_.size() && text_[at_] == static_cast<uint32_t>(c);
    }
    bool accept(char c) {
        if (!is_at(c)) return false;
        ++at_;
        return true;
    }
    uint32_t take() {
        if (at_ == text_.size()) fail_here("the pattern ends");
        return text_[at_++];
    }

    Part choice(int depth) {
        if (depth > most_depth) refuse("groups are nested too deep");
        Part all{Part::Kind::choice};
        do all.parts.push_back(sequence(depth));
        while (accept('|'));
        return all.parts.size() == 1 ? std::move(all.parts[0]) : all;
    }

    Part sequence(int depth) {
        Part all;
        while (at_ < text_.size() && !is_at('|') && !is_at(')'))
            all.parts.push_back(repeated(atom(depth)));
        return all;
    }

    std::optional<int64_t> number() {
        if (at_ == text_.size() || !holds(digits, text_[at_])) return std::nullopt;
        int64_t value = 0;
        while (at_ < text_.size() && holds(digits, text_[at_])) {
            value = value * 10 + (text_[at_++] - '0');
            if (value > 1000) refuse("a repetition of more than 1000");
        }
        return value;
    }

    // {m}, {m,} or {m,n}; what is none of them stands for itself.
    std::optional<std::pair<int64_t, int64_t>> counts() {
        const size_t before = at_;
        if (accept('{'))
            if (const auto least = number()) {
                int64_t most = *least;
                if (accept(',')) most = number().value_or(-1);
                if (accept('}')) return std::pair(*least, most);
            }
        at_ = before;
        return std::nullopt;
    }

    std::optional<std::pair<int64_t, int64_t>> repetition() {
        if (accept('*')) return std::pair<int64_t, int64_t>(0, -1);
        if (accept('+')) return std::pair<int64_t, int64_t>(1, -1);
        if (accept('?')) return std::pair<int64_t, int64_t>(0, 1);
        return counts();
    }

    Part repeated(Part part) {
        const auto range = repetition();
        if (!range) return part;
        if (range->second >= 0 && range->second < range->first)
            fail_here("a repetition has a greatest count below its least one");
        accept('?');  // lazy: the same texts match
        if (repetition()) fail_here("a repetition is repeated");
        Part repeat{Part::Kind::repeat};
        repeat.least = range->first;
        repeat.most = range->second;
        repeat.parts.push_back(std::move(part));
        return repeat;
    }

    static Part of_ranges(Ranges ranges, bool is_negated = false) {
        Part part{Part::Kind::step};
        part.step.kind = Step::Kind::character;
        part.step.ranges = std::move(ranges);
        part.step.is_negated = is_negated;
        return part;
    }
    static Part of_assertion(char assertion) {
        Part part{Part::Kind::step};
        part.step.kind = Step::Kind::assertion;
        part.step.assertion = assertion;
        return part;
    }

    Part atom(int depth) {
        if (accept('(')) {
            if (accept('?') && !accept(':')) refuse("a group with flags or a name");
            Part group = choice(depth + 1);
            if (!accept(')')) fail_here("a group is not closed");
            return group;
        }
        if (is_at('*') || is_at('+') || is_at('?')) fail_here("a repetition of nothing");
        if (accept('[')) return of_class();
        if (accept('.')) return of_ranges({{'\n', '\n'}}, true);
        if (accept('^')) return of_assertion('^');
        if (accept('$')) return of_assertion('$');
        if (accept('\\')) {
            if (accept('b')) return of_assertion('b');
            if (accept('B')) return of_assertion('B');
            if (accept('A')) return of_assertion('^');
            if (accept('z')) return of_assertion('$');
            return of_ranges(escaped());
        }
        const uint32_t character = take();
        return of_ranges({{character, character}});
    }

    // What follows a backslash.
    Ranges escaped() {
        const uint32_t c = take();
        switch (c) {
            case 'd': return digits;
            case 'D': return complement(digits);
            case 's': return spaces;
            case 'S': return complement(spaces);
            case 'w': return words;
            case 'W': return complement(words);
            case 'n': return {{'\n', '\n'}};
            case 't': return {{'\t', '\t'}};
            case 'r': return {{'\r', '\r'}};
            case 'f': return {{'\f', '\f'}};
            case 'v': return {{'\v', '\v'}};
            default: break;
        }
        if (c < 0x80 && holds(words, c) && c != '_') refuse("an escape");
        return {{c, c}};
    }

    Part of_class() {
        const bool is_negated = accept('^');
        Ranges ranges;
        bool is_first = true;
        while (is_first || !is_at(']')) {
            is_first = false;
            if (is_at('[') && at_ + 1 < text_.size() && text_[at_ + 1] == ':')
                refuse("a named class");
            Ranges low = accept('\\') ? escaped() : Ranges{take_character()};
            const bool is_one = low.size() == 1 && low[0].first == low[0].second;
            if (is_one && is_at('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
                ++at_;
                const Ranges high = accept('\\') ? escaped() : Ranges{take_character()};
                if (high.size() != 1 || high[0].first != high[0].second ||
                    high[0].first < low[0].first)
                    fail_here("a range ends before it begins");
                low = {{low[0].first, high[0].first}};
            }
            ranges.insert(ranges.end(), low.begin(), low.end());
        }
        ++at_;
        return of_ranges(std::move(ranges), is_negated);
    }
    std::pair<uint32_t, uint32_t> take_character() {
        const uint32_t c = take();
        return {c, c};
    }

    std::string_view pattern_;
    std::vector<uint32_t> text_;
    size_t at_ = 0;
};

// Steps of a part, after which the program goes on behind them.
class Compiler {
  public:
    void emit(const Part& part) {
        ++parts_;
        check();
        switch (part.kind) {
            case Part::Kind::step:
                steps.push_back(part.step);
                steps.back().next = steps.size();
                return;
            case Part::Kind::sequence:
                for (const Part& each : part.parts) emit(each);
                return;
            case Part::Kind::choice: return choice(part);
            case Part::Kind::repeat: return repeat(part);
        }
    }

    std::vector<Step> steps;

  private:
    size_t parts_ = 0;  // repeated ones, which may have no steps, count each time

    void check() const {
        user_check<NotSupported>(std::max(steps.size(), parts_) < most_steps,
                                 "onnx: a pattern of more than ", most_steps,
                                 " steps. A shorter one is required.");
    }
    size_t split() {
        check();
        Step step;
        step.kind = Step::Kind::split;
        steps.push_back(step);
        return steps.size() - 1;
    }
    void choice(const Part& part) {
        std::vector<size_t> ends;
        for (size_t i = 0; i < part.parts.size(); ++i) {
            const bool is_last = i + 1 == part.parts.size();
            const size_t fork = is_last ? 0 : split();
            if (!is_last) steps[fork].next = steps.size();
            emit(part.parts[i]);
            if (is_last) break;
            ends.push_back(split());
            steps[fork].other = steps.size();
        }
        for (const size_t end : ends) steps[end].next = steps[end].other = steps.size();
    }
    void repeat(const Part& part) {
        for (int64_t i = 0; i < part.least; ++i) emit(part.parts[0]);
        if (part.most < 0) {
            const size_t fork = split();
            steps[fork].next = steps.size();
            emit(part.parts[0]);
            const size_t back = split();
            steps[back].next = steps[back].other = fork;
            steps[fork].other = steps.size();
            return;
        }
        std::vector<size_t> forks;
        for (int64_t i = part.least; i < part.most; ++i) {
            forks.push_back(split());
            steps[forks.back()].next = steps.size();
            emit(part.parts[0]);
        }
        for (const size_t fork : forks) steps[fork].other = steps.size();
    }
};

bool is_word(const std::vector<uint32_t>& text, size_t at) {
    return at < text.size() && holds(words, text[at]);
}

bool is_true(char assertion, const std::vector<uint32_t>& text, size_t at) {
    if (assertion == '^') return at == 0;
    if (assertion == '$') return at == text.size();
    const bool is_edge = is_word(text, at) != (at > 0 && is_word(text, at - 1));
    return is_edge == (assertion == 'b');
}

}  // namespace

RegularExpression::RegularExpression(std::string_view pattern) {
    Compiler compiler;
    compiler.emit(Parser(pattern).parse());
    steps_ = std::move(compiler.steps);
    steps_.emplace_back();
}

// The steps at which a thread waits that comes to one: characters, and the end.
void RegularExpression::follow(size_t first, const std::vector<uint32_t>& text, size_t at,
                               std::vector<size_t>& reached, std::vector<char>& is_reached) const {
    std::vector<size_t> waiting{first};
    while (!waiting.empty()) {
        const size_t place = waiting.back();
        waiting.pop_back();
        if (is_reached[place]) continue;
        is_reached[place] = 1;
        const Step& step = steps_[place];
        if (step.kind == Step::Kind::split) {
            waiting.push_back(step.next);
            waiting.push_back(step.other);
        } else if (step.kind == Step::Kind::assertion) {
            if (is_true(step.assertion, text, at)) waiting.push_back(step.next);
        } else {
            reached.push_back(place);
        }
    }
}

bool RegularExpression::matches(std::string_view text) const {
    const std::vector<uint32_t> characters = characters_of(text);
    std::vector<size_t> now, next;
    std::vector<char> is_reached(steps_.size(), 0);
    follow(0, characters, 0, now, is_reached);
    for (size_t at = 0; at < characters.size(); ++at) {
        next.clear();
        std::fill(is_reached.begin(), is_reached.end(), 0);
        for (const size_t place : now) {
            const Step& step = steps_[place];
            if (step.kind == Step::Kind::character &&
                holds(step.ranges, characters[at]) != step.is_negated)
                follow(step.next, characters, at + 1, next, is_reached);
        }
        std::swap(now, next);
    }
    return std::any_of(now.begin(), now.end(),
                       [&](size_t place) { return steps_[place].kind == Step::Kind::done; });
}

}  // namespace composit::onnx
