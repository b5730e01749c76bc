#pragma once

#include <map>
#include <string>
#include <vector>

namespace pliant::cli {

/// One `--name VALUE` or, with an empty value name, one `--name` switch.
struct Option {
    std::string name, value, help;
};

class Arguments;

/// A subcommand: what it takes, what it says about itself, and what it runs.
struct Command {
    std::string name, summary;
    std::string operands;  ///< "IN -o OUT", as shown after the name
    std::string example;   ///< works when pasted
    int min_operands = 0, max_operands = 0;
    std::vector<Option> options;
    int (*run)(const Arguments&);
};

/// Parsed command line of one subcommand. Wrong values throw InputError naming the option.
class Arguments {
public:
    Arguments(const Command& command, const std::vector<std::string>& words);

    [[nodiscard]] const std::vector<std::string>& operands() const noexcept { return operands_; }
    [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
    [[nodiscard]] std::string text(const std::string& name, const std::string& fallback = {}) const;
    [[nodiscard]] std::string required(const std::string& name) const;
    /// Every value of an option that may be repeated.
    [[nodiscard]] std::vector<std::string> all(const std::string& name) const;
    [[nodiscard]] int integer(const std::string& name, int fallback, int low, int high) const;
    [[nodiscard]] double real(const std::string& name, double fallback, double low,
                              double high) const;
    /// All options but `-o`, as given: what provenance records.
    [[nodiscard]] std::string options_text() const;
    [[nodiscard]] bool json() const { return has("--json"); }
    [[nodiscard]] bool wants_help() const { return has("--help"); }

private:
    std::string command_;
    std::vector<std::string> operands_;
    std::map<std::string, std::vector<std::string>> values_;
};

/// Options that every command takes.
[[nodiscard]] const std::vector<Option>& common_options();
[[nodiscard]] std::string help_text(const Command& command);

}  // namespace pliant::cli
