#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace pliant {

/// A file that appears whole or not at all: written under a temporary name beside the target,
/// flushed, then renamed by `commit()`. Without `commit` the temporary is removed and the old
/// target stays. Links stay, and what they lead to is replaced; devices and pipes (`/dev/stdout`)
/// are written in place. Temporaries that killed programs of this computer left in the folder are
/// removed.
class AtomicFile {
public:
    /// Throws InputError when the directory is missing or cannot be written; a file that is there
    /// need not be writable itself.
    explicit AtomicFile(std::filesystem::path target);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(const void* data, std::size_t size);  ///< throws InputError when the disk is full
    void write(std::string_view text) { write(text.data(), text.size()); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< bytes written so far
    void commit();

private:
    void flush();
    void write_through(const void* data, std::size_t size);
    std::filesystem::path target_, temporary_;
    std::string buffer_;
    std::size_t size_ = 0;
    int descriptor_ = -1;
};

/// The name at the end of the links of `path`, whether there is such a file or not. Throws
/// InputError when they lead in a circle.
[[nodiscard]] std::filesystem::path followed_links(const std::filesystem::path& path);

/// Writes a whole file, as AtomicFile does. Returns its size.
std::size_t write_file(const std::filesystem::path& path, std::string_view text);

/// Reads a whole file; throws InputError when it is missing, a directory, a device or pipe,
/// unreadable or above `max_size` bytes.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t max_size = std::size_t{1} << 34);

}  // namespace pliant
