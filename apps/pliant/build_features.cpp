#include "build_features.h"

#include <string_view>
#include <vector>

#include "pliant/core/json_writer.h"
#include "pliant/core/simd.h"
#include "pliant/core/version.h"
#include "pliant/fem/linear_solver.h"
#include "pliant/pliant_c.h"
#include "server/page_files.h"

namespace pliant::cli {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "Clang " __clang_version__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif
#ifdef PLIANT_WITH_PYTHON
constexpr bool kHasPython = true;
#else
constexpr bool kHasPython = false;
#endif

std::vector<std::string> solver_names() {
    std::vector<std::string> names;
    for (const SolverKind kind : available_solvers()) names.emplace_back(to_string(kind));
    return names;
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

void write_list(JsonWriter& json, const char* key, const std::vector<std::string>& names) {
    json.key(key).begin_array();
    for (const std::string& name : names) json.value(name);
    json.end_array();
}

}  // namespace

const char* compiler_name() { return kCompiler; }

std::string features_text(bool is_json) {
    const std::vector<std::string> solvers = solver_names(), targets = simd_targets();
    const bool has_page = !page_files().empty();
    if (is_json) {
        JsonWriter json;
        json.begin_object().member("version", kVersion).member("compiler", kCompiler);
        write_list(json, "solvers", solvers);
        json.member("simd", targets.front());
        write_list(json, "simd_targets", targets);
        json.member("viewer", has_page).member("python", kHasPython);
        return json.member("c_abi", PLIANT_ABI_VERSION).end_object().text() + "\n";
    }
    std::string text = std::string("pliant ") + kVersion + "\n";
    const auto add = [&](std::string name, const std::string& value) {
        name.resize(12, ' ');
        text += name + value + "\n";
    };
    add("compiler", kCompiler);
    add("solvers", listed(solvers));
    add("SIMD", targets.front() + " on this machine, of " + listed(targets));
    add("viewer", has_page ? "yes" : "no; built without npm");
    add("Python", kHasPython ? "yes" : "no; built without pybind11");
    add("C", "ABI version " + std::to_string(PLIANT_ABI_VERSION));
    return text;
}

}  // namespace pliant::cli
