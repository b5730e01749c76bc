#include "geometry/io_volume.h"
#include "geometry/text_scanner.h"
#include "pliant/geometry/mesh_io.h"

#include <limits>
#include <utility>

// Medit (INRIA) ASCII meshes: keywords, each followed by a count and rows. Vertices count from 1;
// tetrahedra and hexahedra are numbered as in VTK, so elements are taken as they are.

namespace pliant {
namespace {

class MeditReader {
public:
    MeditReader(std::string_view text, const std::string& name) : scanner_(text, name) {}

    VolumeMesh read() {
        read_header();
        // rows of unknown sections are skipped up to the next word
        std::string_view word;
        bool is_skipping = false;
        while (scanner_.next_token(word) && word != "End") {
            if (read_section(word)) {
                is_skipping = false;
            } else if (is_name(word)) {
                is_skipping = true;
            } else if (!is_skipping) {
                scanner_.fail("keyword", word, "a section such as Vertices");
            }
        }
        if (mesh_.vertices.empty()) scanner_.fail("the file has no Vertices");
        if (mesh_.elements.empty()) scanner_.fail("the file has no Tetrahedra and no Hexahedra");
        set_regions(mesh_, references_);
        return std::move(mesh_);
    }

private:
    void read_header() {
        std::string_view token;
        if (!scanner_.next_token(token) || token != "MeshVersionFormatted") {
            scanner_.fail("first word", token,
                          "MeshVersionFormatted, as in ASCII Medit files: convert binary ones");
        }
        scanner_.integer("MeshVersionFormatted", 1, 4);
    }

    // False when the section is none of those that matter.
    bool read_section(std::string_view keyword) {
        if (keyword == "Dimension") {
            scanner_.integer("Dimension", 3, 3);
        } else if (keyword == "Vertices") {
            read_vertices();
        } else if (keyword == "Tetrahedra") {
            read_elements(keyword, ElementKind::Tet4);
        } else if (keyword == "Hexahedra") {
            read_elements(keyword, ElementKind::Hex8);
        } else if (is_other_volume_element(keyword)) {
            const int count = scanner_.count(keyword, 2);
            if (count > 0) {
                scanner_.fail(keyword, std::to_string(count),
                              "0: only first-order Tetrahedra or Hexahedra are taken");
            }
        } else {
            return false;
        }
        return true;
    }

    static bool is_other_volume_element(std::string_view keyword) {
        return keyword == "Prisms" || keyword == "Pentahedra" || keyword == "Pyramids" ||
               keyword.starts_with("TetrahedraP") || keyword.starts_with("HexahedraQ") ||
               keyword.starts_with("PrismsP") || keyword.starts_with("PyramidsP");
    }

    static bool is_name(std::string_view token) {
        return (token[0] >= 'A' && token[0] <= 'Z') || (token[0] >= 'a' && token[0] <= 'z');
    }

    void read_vertices() {
        if (!mesh_.vertices.empty()) scanner_.fail("there is a second section Vertices");
        const int count = scanner_.count("number of vertices", 8);
        mesh_.vertices.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            Eigen::Vector3d x;
            for (double& coordinate : x) coordinate = scanner_.real("vertex coordinate");
            read_reference();
            mesh_.vertices.push_back(x);
        }
    }

    void read_elements(std::string_view keyword, ElementKind kind) {
        const auto num_corners = static_cast<std::size_t>(nodes_per_element(kind));
        const std::string what = "number of " + std::string(keyword);
        const int count = scanner_.count(what, 2 * (num_corners + 1), kMaxElements);
        if (count == 0) return;
        if (mesh_.vertices.empty()) {
            scanner_.fail("the section " + std::string(keyword) + " comes before Vertices");
        }
        if (!mesh_.elements.empty()) {
            if (kind != mesh_.kind) scanner_.fail(kMixedElements);
            scanner_.fail("there is a second section " + std::string(keyword));
        }
        mesh_.kind = kind;
        mesh_.elements.reserve(num_corners * static_cast<std::size_t>(count));
        references_.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < num_corners; ++k) {
                const auto vertex = scanner_.integer("vertex index", 1, mesh_.num_vertices());
                mesh_.elements.push_back(static_cast<int>(vertex - 1));
            }
            references_.push_back(read_reference());
        }
    }

    double read_reference() {
        constexpr std::int64_t lo = std::numeric_limits<std::int32_t>::min();
        constexpr std::int64_t hi = std::numeric_limits<std::int32_t>::max();
        return static_cast<double>(scanner_.integer("reference", lo, hi));
    }

    TextScanner scanner_;
    VolumeMesh mesh_;
    std::vector<double> references_;  // of the elements
};

}  // namespace

VolumeMesh parse_medit(std::string_view text, const std::string& name) {
    return MeditReader(text, name).read();
}

void save_medit(const VolumeMesh& mesh, const std::filesystem::path& path) {
    AtomicFile file(path);
    file.write("MeshVersionFormatted 2\nDimension 3\n");
    file.write("Vertices\n" + number_text(mesh.num_vertices()) + "\n");
    for (const Eigen::Vector3d& x : mesh.vertices) {
        write_numbers(file, x);
        file.write(" 0\n");
    }
    file.write(mesh.kind == ElementKind::Tet4 ? "Tetrahedra\n" : "Hexahedra\n");
    file.write(number_text(mesh.num_elements()) + "\n");
    for (int e = 0; e < mesh.num_elements(); ++e) {
        write_numbers(file, mesh.element(e), 1);
        file.write(" " + number_text(region_label(region_of(mesh, e))) + "\n");
    }
    file.write("End\n");
    file.commit();
}

}  // namespace pliant
