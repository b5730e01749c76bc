#include "pliant/core/atomic_file.h"
#include "pliant/geometry/mesh_io.h"

#include <bit>
#include <cassert>
#include <cstdint>
#include <span>

// VTK unstructured grids: XML that describes the arrays, then their bytes ("appended raw"), each
// array behind its size as UInt64.

namespace pliant {
namespace {

constexpr std::uint8_t kVtkTriangle = 5, kVtkTetra = 10, kVtkHexahedron = 12;

std::string escaped(const std::string& text) {
    std::string xml;
    for (const char c : text) {
        switch (c) {
            case '&': xml += "&amp;"; break;
            case '<': xml += "&lt;"; break;
            case '>': xml += "&gt;"; break;
            case '"': xml += "&quot;"; break;
            default: xml += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return xml;
}

template <class T>
constexpr const char* vtk_type() {
    if constexpr (std::is_same_v<T, double>) return "Float64";
    if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
    if constexpr (std::is_same_v<T, int>) return "Int32";
    if constexpr (std::is_same_v<T, std::uint8_t>) return "UInt8";
}

// Collects XML and arrays; the arrays must stay alive until `save`.
class VtuWriter {
public:
    VtuWriter(int num_points, int num_cells) {
        const char* order =
            std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
        line("<?xml version=\"1.0\"?>");
        line("<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"" +
             std::string(order) + "\" header_type=\"UInt64\">");
        line("<UnstructuredGrid>");
        line("<Piece NumberOfPoints=\"" + std::to_string(num_points) + "\" NumberOfCells=\"" +
             std::to_string(num_cells) + "\">");
    }

    void line(const std::string& text) { xml_ += text + "\n"; }

    template <class T>
    void array(const std::string& name, int components, std::span<const T> values) {
        line("<DataArray type=\"" + std::string(vtk_type<T>()) + "\" Name=\"" + escaped(name) +
             "\" NumberOfComponents=\"" + std::to_string(components) +
             "\" format=\"appended\" offset=\"" + std::to_string(offset_) + "\"/>");
        arrays_.push_back({values.data(), values.size_bytes()});
        offset_ += sizeof(std::uint64_t) + values.size_bytes();
    }

    void arrays(const std::vector<DataArray>& data, [[maybe_unused]] int count) {
        for (const DataArray& array_data : data) {
            assert(array_data.components == 1 || array_data.components == 3);
            assert(array_data.values.size() == static_cast<std::size_t>(array_data.components) *
                                                   static_cast<std::size_t>(count));
            array<double>(array_data.name, array_data.components, array_data.values);
        }
    }

    void save(const std::filesystem::path& path) {
        line("</Piece>");
        line("</UnstructuredGrid>");
        line("<AppendedData encoding=\"raw\">");
        AtomicFile file(path);
        file.write(xml_ + "_");
        for (const Bytes& bytes : arrays_) {
            const std::uint64_t size = bytes.size;
            file.write(&size, sizeof size);
            file.write(bytes.data, bytes.size);
        }
        file.write("\n</AppendedData>\n</VTKFile>\n");
        file.commit();
    }

private:
    struct Bytes {
        const void* data;
        std::size_t size;
    };
    std::string xml_;
    std::vector<Bytes> arrays_;
    std::uint64_t offset_ = 0;
};

// Cells of one kind with `corners` vertices each.
struct Cells {
    Cells(std::span<const int> indices, int corners, std::uint8_t type)
        : connectivity(indices.begin(), indices.end()),
          types(indices.size() / static_cast<std::size_t>(corners), type) {
        offsets.reserve(types.size());
        for (std::size_t c = 1; c <= types.size(); ++c) {
            offsets.push_back(static_cast<std::int64_t>(c) * corners);
        }
    }
    std::vector<std::int64_t> connectivity, offsets;
    std::vector<std::uint8_t> types;
};

void save_grid(const std::filesystem::path& path, const std::vector<Eigen::Vector3d>& points,
               const Cells& cells, const std::vector<DataArray>& point_data,
               const std::vector<DataArray>& cell_data, const VolumeMesh* volume) {
    const auto num_points = static_cast<int>(points.size());
    const auto num_cells = static_cast<int>(cells.types.size());
    VtuWriter writer(num_points, num_cells);

    writer.line("<PointData>");
    writer.arrays(point_data, num_points);
    writer.line("</PointData>");

    writer.line("<CellData>");
    if (volume != nullptr && !volume->regions.empty()) {
        writer.array<int>("region", 1, volume->regions);
    }
    if (volume != nullptr && !volume->filled.empty()) {
        writer.array<double>("filled", 1, volume->filled);
    }
    writer.arrays(cell_data, num_cells);
    writer.line("</CellData>");

    writer.line("<Points>");
    const double* coordinates = points.empty() ? nullptr : points.front().data();
    writer.array<double>("Points", 3, {coordinates, 3 * points.size()});
    writer.line("</Points>");

    writer.line("<Cells>");
    writer.array<std::int64_t>("connectivity", 1, cells.connectivity);
    writer.array<std::int64_t>("offsets", 1, cells.offsets);
    writer.array<std::uint8_t>("types", 1, cells.types);
    writer.line("</Cells>");
    writer.save(path);
}

}  // namespace

void save_vtu(const VolumeMesh& mesh, const std::filesystem::path& path,
              const std::vector<DataArray>& point_data, const std::vector<DataArray>& cell_data) {
    const std::uint8_t type = mesh.kind == ElementKind::Tet4 ? kVtkTetra : kVtkHexahedron;
    const Cells cells(mesh.elements, nodes_per_element(mesh.kind), type);
    save_grid(path, mesh.vertices, cells, point_data, cell_data, &mesh);
}

void save_vtu(const SurfaceMesh& mesh, const std::filesystem::path& path,
              const std::vector<DataArray>& point_data, const std::vector<DataArray>& cell_data) {
    const int* indices = mesh.triangles.empty() ? nullptr : mesh.triangles.front().data();
    const Cells cells({indices, 3 * mesh.triangles.size()}, 3, kVtkTriangle);
    save_grid(path, mesh.vertices, cells, point_data, cell_data, nullptr);
}

}  // namespace pliant
