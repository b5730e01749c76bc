#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pliant {

/// What is said about a maker's library that is not there or not the right one.
struct VendorLibraryNames {
    std::string maker;               ///< "Force Dimension"
    std::vector<std::string> files;  ///< looked for in this order where the system looks
    std::string version;             ///< that is needed: "version 3.3 or later"
    std::string install;             ///< "the Force Dimension SDK (…)"
};

/// Whether such a value of LD_LIBRARY_PATH has the loader look in the current folder, where files
/// of anybody may lie: an entry is empty, or neither absolute nor in the folder of the program,
/// $ORIGIN. Without any entry it does not.
[[nodiscard]] bool searches_current_folder(std::string_view entries);

/// A maker's shared library, loaded at run time. Never unloaded: such libraries leave threads
/// behind.
class VendorLibrary {
public:
    /// `path` empty: one of the usual names. Throws InputError with what was looked for and what to
    /// install.
    VendorLibrary(VendorLibraryNames names, const std::string& path);

    [[nodiscard]] const std::string& file() const noexcept { return file_; }
    /// Throws InputError naming the file and the symbol when there is none.
    template <class Function>
    void load(Function*& function, const char* symbol) const {
        function = reinterpret_cast<Function*>(find(symbol));
    }
    /// Throws InputError: the library is of the version `found`.
    [[noreturn]] void refuse_version(const std::string& found) const;

private:
    [[nodiscard]] void* find(const char* symbol) const;

    VendorLibraryNames names_;
    std::string file_;
    void* handle_ = nullptr;
};

}  // namespace pliant
