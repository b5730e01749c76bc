#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pliant/core/error.h"
#include "pliant/core/progress.h"

namespace pliant::cli {

class Arguments;

[[nodiscard]] std::string grouped(std::int64_t number);  ///< 41,208
/// `1 triangle`, `41,208 triangles`.
[[nodiscard]] std::string counted(std::int64_t number, const std::string& singular,
                                  const std::string& plural);
[[nodiscard]] std::string byte_size(double bytes);  ///< 9.8 MB
/// Of a fraction near one: 99.98 %, or all but 2e-07.
[[nodiscard]] std::string share(double fraction);
/// printf for short texts.
[[nodiscard]] std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/// From here on standard output passes printable() but for line breaks and tabs, whoever prints:
/// what comes out of files cannot speak to the terminal.
void protect_terminal();
/// A line that stays the last one on the terminal until something else is printed; empty: none.
void show_status(const std::string& line);
/// `error: …` on standard error, with the line breaks of sentences, but none in the file's name.
void print_error(const InputError& error);

/// Columns aligned for a terminal: numbers to the right, text to the left.
class Table {
public:
    explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    void print() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] bool has_extension(const std::string& path,
                                 const std::string& extension);  ///< in any case
/// How an output comes to be: renamed when it is whole (AtomicFile), or filled from the start.
enum class Writing { Renamed, InPlace };
/// Before long work: throws InputError unless the name ends in one of the extensions, its folder
/// exists, and it can be written.
void check_output(const std::string& path, const std::vector<std::string>& extensions,
                  Writing writing = Writing::Renamed);

/// `out`, with the second file where a format has two: `a.node and a.ele`.
[[nodiscard]] std::string written_files(const std::string& out);

/// Where a page called `name` goes: `out` itself if it ends in .html, else into the folder `out`,
/// which is made if need be; empty: here. Throws InputError if that cannot be.
[[nodiscard]] std::filesystem::path page_path(const std::string& out, const std::string& name);

/// The same of an option -o; empty: no page is wanted. Before long work.
[[nodiscard]] std::string wanted_page(const Arguments& arguments, const std::string& name);
/// Writes a page whole or not at all and says so, as --json wants it.
void write_page(const Arguments& arguments, const std::string& path, const std::string& page);
/// For -o of commands that use both.
inline constexpr const char* kPageHelp = "a page of plots: an .html file, or a folder for it";

/// Runs `work`. An InputError that begins with a name of the library is said with the option that
/// sets it: `kind = disk (expected …)` becomes `--kind = disk (expected …)`.
void with_option_names(const std::map<std::string, std::string>& option_of_name,
                       const std::function<void()>& work);
/// The same; an InputError about neither an option nor a file is said with the name of `file`.
void with_option_names(const std::map<std::string, std::string>& option_of_name,
                       const std::string& file, const std::function<void()>& work);

[[nodiscard]] ProgressStyle progress_style(const Arguments& arguments);

}  // namespace pliant::cli
