#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/geometry/mesh_io.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

// Vega meshes. Vertices and elements count from 0 or from 1, as the first row of each shows;
// elements are numbered as in VTK, so they are taken as they are. *SET lists elements, *REGION
// gives a set a material; where sets overlap, the later *REGION counts.

namespace pliant {
namespace {

constexpr std::string_view kAllElements = "allElements";  // a set that is always there

// Vega ignores blanks in names.
std::string without_blanks(std::string_view text) {
    std::string name(text);
    std::erase_if(name, [](unsigned char c) { return std::isspace(c) != 0; });
    return name;
}

std::string upper_case(std::string_view text) {
    std::string upper(text);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return upper;
}

class VegReader {
public:
    VegReader(std::string_view text, const std::string& name) : scanner_(text, name, '#', ',') {
        sets_.emplace(kAllElements, ElementSet{});
    }

    VolumeMesh read() {
        std::string_view keyword = next_row();
        while (!keyword.empty()) keyword = read_section(upper_case(keyword));
        if (mesh_.vertices.empty()) scanner_.fail("the file has no section *VERTICES");
        if (mesh_.elements.empty()) scanner_.fail("the file has no section *ELEMENTS");
        assign_regions();
        return std::move(mesh_);
    }

private:
    struct ElementSet {
        std::vector<int> elements;
        int last_region = -1;  // number of the last *REGION that uses the set
    };

    // The first word of the next line; empty at the end of the file.
    std::string_view next_row() {
        return scanner_.next_line() ? scanner_.token_on_line() : std::string_view();
    }
    void require_row(std::string_view what) {
        if (!scanner_.next_line()) scanner_.fail("the file ends before " + std::string(what));
    }

    // Returns the first word behind the section.
    std::string_view read_section(const std::string& keyword) {
        if (keyword == "*VERTICES") return read_vertices();
        if (keyword == "*ELEMENTS") return read_elements();
        if (keyword == "*SET") return read_set();
        if (keyword == "*REGION") return read_region();
        if (keyword == "*MATERIAL") return skip_material();
        if (keyword == "*INCLUDE") {
            scanner_.fail("*INCLUDE is not followed: merge the files by putting the text of '" +
                          printable(scanner_.rest_of_line()) + "' here");
        }
        scanner_.fail("section", keyword, "*VERTICES, *ELEMENTS, *MATERIAL, *SET or *REGION");
    }

    std::string_view read_vertices() {
        if (!mesh_.vertices.empty()) scanner_.fail("there is a second section *VERTICES");
        // "n 3 0 0": number, dimension, attributes, markers
        require_row("the number of vertices");
        const std::string_view what = "number of vertices";
        const int count = scanner_.to_count(take_column(scanner_, what), what, 8);
        if (count == 0) scanner_.fail(what, "0", "1 or more");
        const std::string_view dimension = scanner_.token_on_line();
        if (!dimension.empty())
            static_cast<void>(scanner_.to_integer(dimension, "dimension", 3, 3));

        mesh_.vertices.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            begin_numbered_row(scanner_, "vertex", i, first_vertex_);
            Eigen::Vector3d x;
            for (double& coordinate : x) {
                coordinate = scanner_.to_real(take_column(scanner_, "coordinate"), "coordinate");
            }
            mesh_.vertices.push_back(x);
        }
        return next_row();
    }

    std::string_view read_elements() {
        if (mesh_.vertices.empty()) scanner_.fail("*ELEMENTS comes before *VERTICES");
        if (!mesh_.elements.empty()) scanner_.fail("there is a second section *ELEMENTS");
        require_row("the kind of elements");
        const std::string kind = upper_case(scanner_.token_on_line());
        if (kind != "TET" && kind != "CUBIC") {
            scanner_.fail("kind of elements", kind, "TET or CUBIC");
        }
        mesh_.kind = kind == "TET" ? ElementKind::Tet4 : ElementKind::Hex8;

        // "n 4 0": number, corners, attributes
        const auto num_corners = static_cast<std::size_t>(nodes_per_element(mesh_.kind));
        require_row("the number of elements");
        const std::string_view what = "number of elements";
        const int count = scanner_.to_count(take_column(scanner_, what), what,
                                            2 * (num_corners + 1), kMaxElements);
        if (count == 0) scanner_.fail(what, "0", "1 or more");
        const std::string_view corners = scanner_.token_on_line();
        const auto expected = static_cast<std::int64_t>(num_corners);
        if (!corners.empty())
            static_cast<void>(scanner_.to_integer(corners, "vertices of a " + kind + " element",
                                                  expected, expected));

        const std::int64_t last_vertex = std::int64_t{first_vertex_} + mesh_.num_vertices() - 1;
        mesh_.elements.reserve(num_corners * static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            begin_numbered_row(scanner_, "element", i, first_element_);
            for (std::size_t k = 0; k < num_corners; ++k) {
                const auto vertex = scanner_.to_integer(take_column(scanner_, "vertex index"),
                                                        "vertex index", first_vertex_, last_vertex);
                mesh_.elements.push_back(static_cast<int>(vertex - first_vertex_));
            }
        }
        return next_row();
    }

    // Element numbers, separated by commas, on any number of lines.
    std::string_view read_set() {
        const std::string name = without_blanks(scanner_.rest_of_line());
        if (name.empty()) scanner_.fail("*SET needs a name behind it");
        if (mesh_.elements.empty()) scanner_.fail("*SET comes before *ELEMENTS");
        const auto [entry, is_new] = sets_.emplace(name, ElementSet{});
        if (!is_new) scanner_.fail("the set '" + printable(name) + "' is defined twice");
        const std::int64_t last_element = std::int64_t{first_element_} + mesh_.num_elements() - 1;
        std::string_view token = next_row();
        while (!token.empty() && !token.starts_with('*')) {
            const auto element =
                scanner_.to_integer(token, "element number", first_element_, last_element);
            entry->second.elements.push_back(static_cast<int>(element - first_element_));
            token = scanner_.token_on_line();
            if (token.empty()) token = next_row();
        }
        return token;
    }

    // "set, material": materials are those of the simulation, so only the set counts.
    std::string_view read_region() {
        require_row("the set and material of the region");
        const std::string_view line = scanner_.rest_of_line();
        const std::string name = without_blanks(line.substr(0, line.find(',')));
        const auto set = sets_.find(name);
        if (set == sets_.end()) {
            scanner_.fail("set of the region", name, "a *SET before it, or allElements");
        }
        set->second.last_region = num_regions_++;
        return next_row();
    }

    std::string_view skip_material() {
        std::string_view token = next_row();
        while (!token.empty() && !token.starts_with('*')) token = next_row();
        return token;
    }

    void assign_regions() {
        if (num_regions_ == 0) return;
        std::map<double, std::string> names;
        std::vector<double> labels(static_cast<std::size_t>(mesh_.num_elements()), num_regions_);
        // later regions overwrite earlier ones
        const double background = sets_.at(std::string(kAllElements)).last_region;
        if (background >= 0) std::fill(labels.begin(), labels.end(), background);
        for (const auto& [name, set] : sets_) {
            if (set.last_region < 0) continue;
            names[set.last_region] = name;
            for (const int element : set.elements) {
                double& label = labels[static_cast<std::size_t>(element)];
                const bool is_unassigned = label == num_regions_;
                if (is_unassigned || label < set.last_region) label = set.last_region;
            }
        }
        // allElements alone says nothing
        if (names.size() == 1 && background >= 0) return;
        if (std::find(labels.begin(), labels.end(), num_regions_) != labels.end()) {
            names[num_regions_] = "unassigned";
        }
        set_regions(mesh_, labels, names);
    }

    TextScanner scanner_;
    VolumeMesh mesh_;
    int first_vertex_ = 1, first_element_ = 1, num_regions_ = 0;
    std::map<std::string, ElementSet> sets_;
};

// Names that Vega can read back: no blanks, commas, comments or sections in them, and no two alike.
std::vector<std::string> set_names(const VolumeMesh& mesh) {
    std::vector<std::string> names = mesh.region_names;
    names.resize(static_cast<std::size_t>(num_regions(mesh)));
    std::set<std::string> taken{std::string(kAllElements)};
    for (std::size_t r = 0; r < names.size(); ++r) {
        std::string& name = names[r];
        if (name.empty()) name = "region" + std::to_string(r);
        std::replace_if(
            name.begin(), name.end(),
            [](unsigned char c) { return c <= ' ' || c == ',' || c == '#' || c == '*'; }, '_');
        while (!taken.insert(name).second) name += "_" + std::to_string(r);
    }
    return names;
}

void write_regions(AtomicFile& file, const VolumeMesh& mesh) {
    // a material that Vega accepts; the mesh knows none
    file.write("\n*MATERIAL neutral\nENU, 1000, 1e6, 0.4\n");
    const bool is_one = num_regions(mesh) == 1 && mesh.region_names.empty();
    if (is_one) return file.write("\n*REGION\nallElements, neutral\n");

    const std::vector<std::string> names = set_names(mesh);
    std::vector<std::vector<int>> elements(names.size());
    for (int e = 0; e < mesh.num_elements(); ++e) {
        elements[static_cast<std::size_t>(region_of(mesh, e))].push_back(e);
    }
    for (std::size_t r = 0; r < names.size(); ++r) {
        file.write("\n*SET " + names[r] + "\n");
        // short lines: Vega reads into a buffer of fixed size
        constexpr std::size_t per_line = 10;
        for (std::size_t i = 0; i < elements[r].size(); ++i) {
            const bool ends_line = i % per_line == per_line - 1 || i + 1 == elements[r].size();
            file.write(number_text(elements[r][i] + 1) + (ends_line ? ",\n" : ", "));
        }
    }
    for (const std::string& name : names) file.write("\n*REGION\n" + name + ", neutral\n");
}

}  // namespace

VolumeMesh parse_veg(std::string_view text, const std::string& name) {
    return VegReader(text, name).read();
}

void save_veg(const VolumeMesh& mesh, const std::filesystem::path& path) {
    AtomicFile file(path);
    file.write("*VERTICES\n" + number_text(mesh.num_vertices()) + " 3 0 0\n");
    for (int v = 0; v < mesh.num_vertices(); ++v) {
        file.write(number_text(v + 1));
        write_numbers(file, mesh.vertices[static_cast<std::size_t>(v)]);
        file.write("\n");
    }
    file.write(mesh.kind == ElementKind::Tet4 ? "\n*ELEMENTS\nTET\n" : "\n*ELEMENTS\nCUBIC\n");
    file.write(number_text(mesh.num_elements()) + " " + number_text(nodes_per_element(mesh.kind)) +
               " 0\n");
    for (int e = 0; e < mesh.num_elements(); ++e) {
        file.write(number_text(e + 1));
        write_numbers(file, mesh.element(e), 1);
        file.write("\n");
    }
    write_regions(file, mesh);
    file.commit();
}

}  // namespace pliant
