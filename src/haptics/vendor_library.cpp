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

/// Names alone are looked for where LD_LIBRARY_PATH says, among others. An entry of it that is
/// empty or no absolute path is the current folder, or in it, where files of anybody may lie.
void refuse_current_folder() {
    const char* const entries = std::getenv("LD_LIBRARY_PATH");
    if (!entries || !*entries) return;
    std::string entry;
    for (const char* c = entries;; ++c) {
        if (*c && *c != ':' && *c != ';') {
            entry += *c;
            continue;
        }
        if (!entry.starts_with('/'))
            throw InputError("", "LD_LIBRARY_PATH", entries,
                             "absolute paths alone: an entry that is empty or relative has "
                             "libraries run from the current folder; remove it, or name the file "
                             "of the library, --device-library FILE");
        if (!*c) return;
        entry.clear();
    }
}

}  // namespace

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
