// A machine that follows pickles of strangers: it knows the instructions of data alone, numbers,
// texts, containers, and calls of functions that somebody allows by name. What values are is the
// builder's business.
//
// A Builder has the type Value, and these functions: none(), truth(bool), integer(bytes, little end
// first, with a sign), real(double), text(UTF-8), bytes(content), tuple(values), list(), dict(),
// set(); append(list, values), put(dict, keys and values in turn), add(set, values), which refuse
// what is no such container; named(module, name); call(function, arguments), make(class, arguments,
// names or nothing), set_state(object, state), outside(description).
#pragma once

#include "composit/base/error.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::nn {

// What is wrong with a pickle, or with the archive around it.
struct BrokenPickle {
    std::string why;
};

// The name of an instruction of Python's pickles; empty for a byte that is none.
[[nodiscard]] std::string_view name_of_pickle_instruction(unsigned char code);

template <class Builder>
class PickleMachine {
  public:
    using Value = typename Builder::Value;

    PickleMachine(Builder& builder, std::string_view content)
        : builder_(builder), content_(content) {}

    // The value of the pickle. BrokenPickle for a damaged one.
    Value run() {
        for (;;) {
            if (at_ == content_.size()) refuse("pickle exhausted before seeing STOP");
            const auto code = static_cast<unsigned char>(content_[at_++]);
            if (code == '.') break;
            follow(code);
        }
        if (stack_.size() != 1 || !stack_[0]) refuse("it does not end with one value");
        return *stack_[0];
    }

  private:
    using Values = std::vector<Value>;

    [[noreturn]] static void refuse(std::string why) { throw BrokenPickle{std::move(why)}; }

    void follow(unsigned char code) {
        switch (code) {
            case 0x80: take(1); return;  // PROTO
            case 0x95: take(8); return;  // FRAME
            case 'N': return push(builder_.none());
            case 0x88: return push(builder_.truth(true));
            case 0x89: return push(builder_.truth(false));
            case 'J': return push(builder_.integer(take(4)));
            case 'K': return push(builder_.integer(std::string(take(1)) + '\0'));
            case 'M': return push(builder_.integer(std::string(take(2)) + '\0'));
            case 0x8a: return push(builder_.integer(take(number(1))));  // LONG1
            case 'G': return push(builder_.real(real()));
            case 'X': return push(builder_.text(take(number(4))));
            case 0x8c: return push(builder_.text(take(number(1))));
            case 'B': return push(builder_.bytes(take(number(4))));
            case 'C': return push(builder_.bytes(take(number(1))));
            case ')': return push(builder_.tuple({}));
            case ']': return push(builder_.list());
            case '}': return push(builder_.dict());
            case 0x8f: return push(builder_.set());
            case '(': stack_.emplace_back(); return;
            case 'q': return remember(number(1));
            case 'r': return remember(number(4));
            case 0x94: return remember(memo_.size());
            case 'h': return recall(number(1));
            case 'j': return recall(number(4));
            case 't': return push(builder_.tuple(items()));
            case 0x85: return push(builder_.tuple(last(1)));
            case 0x86: return push(builder_.tuple(last(2)));
            case 0x87: return push(builder_.tuple(last(3)));
            default: return change(code);
        }
    }

    void change(unsigned char code) {
        switch (code) {
            case 'a': {
                Values one = last(1);
                return builder_.append(top(), std::move(one));
            }
            case 'e': {
                Values many = items();
                return builder_.append(top(), std::move(many));
            }
            case 's': {
                Values pair = last(2);
                return builder_.put(top(), std::move(pair));
            }
            case 'u': {
                Values pairs = items();
                if (pairs.size() % 2 != 0) refuse("a key has no value");
                return builder_.put(top(), std::move(pairs));
            }
            case 0x90: {
                Values many = items();
                return builder_.add(top(), std::move(many));
            }
            case 'c': {
                const std::string module = line();
                return push(builder_.named(module, line()));
            }
            case 0x93: {
                const Values names = last(2);
                return push(builder_.named_by(names[0], names[1]));
            }
            case 'R': {
                const Values call = last(2);
                return push(builder_.call(call[0], call[1]));
            }
            case 'b': {
                const Values state = last(1);
                return builder_.set_state(top(), state[0]);
            }
            case 0x81: {
                const Values call = last(2);
                return push(builder_.make(call[0], call[1], std::nullopt));
            }
            case 0x92: {
                const Values call = last(3);
                return push(builder_.make(call[0], call[1], call[2]));
            }
            case 'Q': {
                const Values described = last(1);
                return push(builder_.outside(described[0]));
            }
            default: break;
        }
        const std::string_view name = name_of_pickle_instruction(code);
        if (name.empty()) refuse(text("at position ", at_ - 1, ", the instruction is unknown"));
        refuse(text("it has the instruction ", name, ", which torch.save does not write"));
    }

    // ----- what follows an instruction

    std::string_view take(uint64_t count) {
        if (count > content_.size() - at_)
            refuse(text("it ends within a value: ", count, " bytes are missing at ", at_));
        const std::string_view taken = content_.substr(at_, count);
        at_ += count;
        return taken;
    }

    uint64_t number(size_t bytes) {
        uint64_t made = 0;
        const std::string_view taken = take(bytes);
        for (size_t i = bytes; i-- > 0;) made = made << 8 | static_cast<unsigned char>(taken[i]);
        return made;
    }

    double real() {
        uint64_t bits = 0;
        for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
        return std::bit_cast<double>(bits);
    }

    std::string line() {
        const size_t end = content_.find('\n', at_);
        if (end == content_.npos) refuse("it ends within a name");
        std::string made(content_.substr(at_, end - at_));
        at_ = end + 1;
        return made;
    }

    // ----- the stack, on which nothing is a mark: where a container's items begin

    void push(Value value) { stack_.emplace_back(std::move(value)); }

    Value& top() {
        if (stack_.empty() || !stack_.back()) refuse("it takes values that are not there");
        return *stack_.back();
    }

    Values last(size_t count) {
        if (stack_.size() < count) refuse("it takes values that are not there");
        Values taken;
        for (size_t i = stack_.size() - count; i < stack_.size(); ++i) {
            if (!stack_[i]) refuse("it takes values that are not there");
            taken.push_back(std::move(*stack_[i]));
        }
        stack_.resize(stack_.size() - count);
        return taken;
    }

    // The values above the last mark, which is taken away.
    Values items() {
        size_t begin = stack_.size();
        while (begin > 0 && stack_[begin - 1]) --begin;
        if (begin == 0) refuse("it takes values that are not there");
        Values taken = last(stack_.size() - begin);
        stack_.pop_back();
        return taken;
    }

    void remember(uint64_t number) { memo_.insert_or_assign(number, top()); }

    void recall(uint64_t number) {
        const auto found = memo_.find(number);
        if (found == memo_.end()) refuse("it takes values that are not there");
        push(found->second);
    }

    Builder& builder_;
    std::string_view content_;
    size_t at_ = 0;
    std::vector<std::optional<Value>> stack_;
    std::map<uint64_t, Value> memo_;
};

}  // namespace composit::nn
