#include "arguments.h"

#include <charconv>
#include <cmath>

#include "pliant/core/error.h"
#include "pliant/core/nearest_name.h"

namespace pliant::cli {
namespace {

template <class Number>
Number parse(const std::string& name, const std::string& text, Number low, Number high) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || !(number >= low && number <= high)) {
        const auto bound = [](Number x) {
            std::string digits(32, '\0');
            digits.resize(static_cast<std::size_t>(
                std::to_chars(digits.data(), digits.data() + digits.size(), x).ptr -
                digits.data()));
            return digits;
        };
        throw InputError("", name, text, "a number from " + bound(low) + " to " + bound(high));
    }
    return number;
}

}  // namespace

const std::vector<Option>& common_options() {
    static const std::vector<Option> options{
        {"--json", "", "machine-readable output on standard output"},
        {"--progress", "STYLE",
         "bar, lines, json or none (default: bar on a terminal, else lines)"},
        {"--threads", "N", "number of threads (default: all cores)"},
        {"--help", "", "this text"},
    };
    return options;
}

Arguments::Arguments(const Command& command, const std::vector<std::string>& words)
    : command_(command.name) {
    std::vector<Option> known = command.options;
    known.insert(known.end(), common_options().begin(), common_options().end());

    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        if (word.size() < 2 || word[0] != '-') {
            operands_.push_back(word);
            continue;
        }
        if (word == "-h") word = "--help";
        // --name=value is the same as --name value
        std::string value;
        const std::size_t equals = word.find('=');
        const bool attached = equals != std::string::npos && word.starts_with("--");
        if (attached) {
            value = word.substr(equals + 1);
            word.resize(equals);
        }
        const Option* option = nullptr;
        std::vector<std::string> names;
        for (const Option& candidate : known) {
            if (candidate.name == word) option = &candidate;
            names.push_back(candidate.name);
        }
        if (!option) {
            const std::string near = nearest_name(word, names);
            throw InputError("", "unknown option " + word +
                                     (near.empty() ? "; see pliant " + command_ + " --help"
                                                   : "; did you mean " + near + "?"));
        }
        if (option->value.empty()) {
            if (attached) throw InputError("", word, value, "no value");
        } else if (!attached) {
            if (i + 1 == words.size())
                throw InputError("", word + " needs a value: " + word + " " + option->value);
            value = words[++i];
        }
        values_[word].push_back(value);
    }

    if (wants_help()) return;
    const int count = static_cast<int>(operands_.size());
    if (count < command.min_operands)
        throw InputError("", "pliant " + command_ + " needs more operands: pliant " + command_ +
                                 " " + command.operands);
    if (count > command.max_operands)
        throw InputError("", "unexpected operand '" +
                                 operands_[static_cast<std::size_t>(command.max_operands)] +
                                 "'; usage: pliant " + command_ + " " + command.operands);
}

std::string Arguments::text(const std::string& name, const std::string& fallback) const {
    const auto found = values_.find(name);
    return found == values_.end() ? fallback : found->second.back();
}

std::string Arguments::required(const std::string& name) const {
    if (!has(name))
        throw InputError(
            "", "pliant " + command_ + " needs " + name + "; see pliant " + command_ + " --help");
    return text(name);
}

std::vector<std::string> Arguments::all(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
}

int Arguments::integer(const std::string& name, int fallback, int low, int high) const {
    return has(name) ? parse(name, text(name), low, high) : fallback;
}

double Arguments::real(const std::string& name, double fallback, double low, double high) const {
    return has(name) ? parse(name, text(name), low, high) : fallback;
}

std::string Arguments::options_text() const {
    std::string text;
    for (const auto& [name, values] : values_)
        for (const std::string& value : values)
            if (name != "-o")
                text += (text.empty() ? "" : " ") + name + (value.empty() ? "" : " " + value);
    return text;
}

std::string help_text(const Command& command) {
    std::string text = "Example:  " + command.example + "\n\n" + command.summary +
                       "\n\nUsage:  pliant " + command.name +
                       (command.operands.empty() ? "" : " " + command.operands) + " [options]\n\n";
    std::vector<Option> options = command.options;
    options.insert(options.end(), common_options().begin(), common_options().end());
    for (const Option& option : options) {
        std::string left = "  " + option.name + (option.value.empty() ? "" : " " + option.value);
        left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
        text += left + option.help + "\n";
    }
    return text;
}

}  // namespace pliant::cli
