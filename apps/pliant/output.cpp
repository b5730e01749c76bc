#include "output.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "arguments.h"
#include "core/printable.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/error.h"
#include "pliant/core/json_writer.h"
#include "pliant/geometry/mesh_io.h"

namespace pliant::cli {
namespace {

// columns on the terminal: bytes less UTF-8 continuation bytes
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool starts_a_number(const std::string& text) { return text.find_first_of("+-0123456789") == 0; }

/// False: the output takes no more.
bool write_out(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Throws InputError where `path` cannot be written, which is known before the work. A file that is
/// renamed into place needs its folder, and the file that is there matters only when it is written
/// itself, as devices are.
void check_place(const std::filesystem::path& path, Writing writing) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (fs::is_directory(status))
        throw InputError(path.string(), "cannot be written: it is a directory; name a file");
    const bool needs_folder =
        !fs::exists(status) || (writing == Writing::Renamed && fs::is_regular_file(status));
    fs::path place = needs_folder ? followed_links(path).parent_path() : path;
    if (place.empty()) place = ".";
    if (access(place.c_str(), needs_folder ? W_OK | X_OK : W_OK) != 0)
        throw InputError(path.string(), std::string("cannot be written: ") + std::strerror(errno) +
                                            "; choose another place");
}

/// For a stream: all bytes are taken, or none and it has failed.
ssize_t write_printable(void* held, const char* bytes, std::size_t size) {
    std::string& first = *static_cast<std::string*>(held);
    std::string text = std::exchange(first, {}) + std::string(bytes, size);
    // the first half of a character that is judged with the other one
    if (text.ends_with('\xc2')) {
        first = "\xc2";
        text.pop_back();
    }
    return write_out(printable(text, "\n\t")) ? static_cast<ssize_t>(size) : 0;
}

}  // namespace

void protect_terminal() {
    // never deleted: the stream is flushed after everything else has ended
    static std::string* const held = new std::string;
    if (std::FILE* const out = fopencookie(
            held, "w",
            {.read = nullptr, .write = write_printable, .seek = nullptr, .close = nullptr})) {
        std::setvbuf(out, nullptr, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
        stdout = out;
    }
}

void show_status(const std::string& line) {
    std::fflush(stdout);
    (void)write_out("\r" + printable(line) + "\x1b[K");
}

void print_error(const InputError& error) {
    const std::string_view text = error.what();
    const std::size_t name = std::min(error.file().size(), text.size());
    std::fprintf(stderr, "error: %s%s\n", printable(text.substr(0, name)).c_str(),
                 printable(text.substr(name), "\n").c_str());
}

std::string grouped(std::int64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::size_t left = digits.size() - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') text += ',';
        text += digits[i];
    }
    return text;
}

std::string counted(std::int64_t number, const std::string& singular, const std::string& plural) {
    return grouped(number) + " " + (number == 1 ? singular : plural);
}

std::string byte_size(double bytes) {
    if (bytes < 1e3) return format("%.0f B", bytes);
    if (bytes < 1e6) return format("%.1f kB", bytes / 1e3);
    if (bytes < 1e9) return format("%.1f MB", bytes / 1e6);
    return format("%.2f GB", bytes / 1e9);
}

std::string share(double fraction) {
    if (fraction < 0.9999) return format("%.2f %%", 100 * fraction);
    return fraction < 1 ? format("all but %.0e", 1 - fraction) : "all";
}

std::string format(const char* pattern, ...) {
    va_list values, again;
    va_start(values, pattern);
    va_copy(again, values);
    const int length = std::vsnprintf(nullptr, 0, pattern, values);
    va_end(values);
    std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
    (void)std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    va_end(again);
    return text;
}

void Table::print() const {
    std::vector<std::size_t> widths;
    std::vector<bool> is_text;
    for (const auto& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (c == widths.size()) {
                widths.push_back(0);
                is_text.push_back(false);
            }
            widths[c] = std::max(widths[c], width(row[c]));
            if (&row != &rows_.front() && !row[c].empty() && !starts_a_number(row[c]))
                is_text[c] = true;
        }
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string gap(widths[c] - width(row[c]), ' ');
            line += (c == 0 ? "" : "  ") + (is_text[c] ? row[c] + gap : gap + row[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::printf("%s\n", line.c_str());
    }
}

bool has_extension(const std::string& path, const std::string& extension) {
    std::string end = std::filesystem::path(path).extension().string();
    for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return end == extension;
}

void check_output(const std::string& path, const std::vector<std::string>& extensions,
                  Writing writing) {
    const auto fits = [&](const std::string& extension) { return has_extension(path, extension); };
    if (std::none_of(extensions.begin(), extensions.end(), fits)) {
        std::string known;
        for (const std::string& extension : extensions) known += " " + extension;
        throw InputError("", "output", path, "a name ending in one of" + known);
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
        throw InputError(path,
                         "the folder " + folder.string() + " does not exist; create it first");
    check_place(path, writing);
}

std::string written_files(const std::string& out) {
    const bool is_pair = has_extension(out, ".node") || has_extension(out, ".ele");
    return is_pair ? out + " and " + tetgen_partner(out).string() : out;
}

std::filesystem::path page_path(const std::string& out, const std::string& name) {
    if (has_extension(out, ".html")) {
        check_output(out, {".html"});
        return out;
    }
    std::error_code failure;
    if (!out.empty()) std::filesystem::create_directories(out, failure);
    if (failure) throw InputError(out, "cannot be created: " + failure.message());
    const std::filesystem::path page = std::filesystem::path(out) / name;
    check_place(page, Writing::Renamed);
    return page;
}

std::string wanted_page(const Arguments& arguments, const std::string& name) {
    return arguments.has("-o") ? page_path(arguments.text("-o"), name).string() : "";
}

void write_page(const Arguments& arguments, const std::string& path, const std::string& page) {
    const std::size_t size = write_file(path, page);
    if (arguments.json()) {
        JsonWriter json;
        std::printf("%s\n", json.begin_object().member("page", path).end_object().text().c_str());
    } else {
        std::printf("%s  %s\n", path.c_str(), byte_size(static_cast<double>(size)).c_str());
    }
}

void with_option_names(const std::map<std::string, std::string>& option_of_name,
                       const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        const std::string sentence = error.what();
        const std::string name = sentence.substr(0, sentence.find(' '));
        const auto option = option_of_name.find(name);
        if (option == option_of_name.end()) throw;
        throw InputError("", option->second + sentence.substr(name.size()));
    }
}

void with_option_names(const std::map<std::string, std::string>& option_of_name,
                       const std::string& file, const std::function<void()>& work) {
    try {
        with_option_names(option_of_name, work);
    } catch (const InputError& error) {
        if (!error.file().empty() || std::string(error.what()).starts_with("--")) throw;
        throw InputError(file, error.what());
    }
}

ProgressStyle progress_style(const Arguments& arguments) {
    const std::string style = arguments.text("--progress", "auto");
    if (style == "auto") return arguments.json() ? ProgressStyle::Silent : ProgressStyle::Auto;
    if (style == "bar") return ProgressStyle::Bar;
    if (style == "lines") return ProgressStyle::Lines;
    if (style == "json") return ProgressStyle::Json;
    if (style == "none") return ProgressStyle::Silent;
    throw InputError("", "--progress", style, "bar, lines, json or none");
}

}  // namespace pliant::cli
