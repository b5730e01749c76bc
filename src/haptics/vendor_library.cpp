#include "haptics/vendor_library.h"

#include "pliant/core/error.h"

#include <dlfcn.h>
#include <link.h>
#include <cstdlib>
#include <utility>

namespace pliant {
namespace {

std::string listed_names(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Where the system found it.
std::string loaded_path(void* handle, const std::string& name) {
    link_map* map = nullptr;
    const bool is_known = ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name;
    return is_known && *map->l_name ? map->l_name : name;
}

/// LD_LIBRARY_PATH as it was when this library was loaded. The system's loader reads it once, when
/// the program starts: what a program sets later changes nothing about where names are looked for,
/// so that it must be neither believed nor refused here.
const std::string kSearchedAtStart = [] {
    const char* const entries = std::getenv("LD_LIBRARY_PATH");
    return std::string(entries ? entries : "");
}();

/// Whether the entry is in the folder of the program, which the loader puts for $ORIGIN. $LIB, its
/// other word, is a relative path.
bool begins_with_origin(std::string_view entry) {
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
        if (entry == origin || (entry.starts_with(origin) && entry[origin.size()] == '/'))
            return true;
    return false;
}

/// Names alone are looked for where LD_LIBRARY_PATH says, among others.
void refuse_current_folder() {
    if (!searches_current_folder(kSearchedAtStart)) return;
    throw InputError("", "LD_LIBRARY_PATH", kSearchedAtStart,
                     "absolute paths alone: an entry that is empty or relative has libraries run "
                     "from the current folder; remove it, or name the file of the library, "
                     "--device-library FILE");
}

}  // namespace

bool searches_current_folder(std::string_view entries) {
    while (!entries.empty()) {
        const std::size_t end = entries.find_first_of(":;");
        const std::string_view entry = entries.substr(0, end);
        if (!entry.starts_with('/') && !begins_with_origin(entry)) return true;
        if (end == std::string_view::npos) return false;
        entries.remove_prefix(end + 1);
        if (entries.empty()) return true;  // after the last separator
    }
    return false;
}

VendorLibrary::VendorLibrary(VendorLibraryNames names, const std::string& path)
    : names_(std::move(names)) {
    const std::vector<std::string> tried = path.empty() ? names_.files : std::vector{path};
    std::string reason;
    for (const std::string& name : tried) {
        if (name.find('/') == std::string::npos) refuse_current_folder();
        handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) {
            file_ = loaded_path(handle_, name);
            return;
        }
        // a file that is there but cannot be loaded says more than one that is not
        const char* const error = ::dlerror();
        const std::string said = error ? error : "unknown reason";
        const bool is_missing = said.find("No such file") != std::string::npos;
        if (reason.empty() || !is_missing) reason = said;
    }
    throw InputError("", "library of " + names_.maker + " cannot be loaded; looked for " +
                             listed_names(tried) + " (" + reason + "); install " + names_.install +
                             ", then add its folder to LD_LIBRARY_PATH or name the file, "
                             "--device-library FILE");
}

void* VendorLibrary::find(const char* symbol) const {
    void* const address = ::dlsym(handle_, symbol);
    if (!address)
        throw InputError(file_, std::string("has no function ") + symbol + "; " + names_.maker +
                                    " " + names_.version + " is needed: install " + names_.install);
    return address;
}

void VendorLibrary::refuse_version(const std::string& found) const {
    throw InputError(file_, "is version " + found + "; " + names_.maker + " " + names_.version +
                                " is needed: install " + names_.install);
}

}  // namespace pliant
