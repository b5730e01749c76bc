#include "core/temporary_directory.h"
#include "geometry/volume_samples.h"
#include "pliant/geometry/mesh_io.h"

#include <map>

namespace pliant {
namespace {

using test::read_text;

// What an XML reader makes of a .vtu file: tags are balanced and attributes quoted, or the test
// fails; arrays are found by name through their offset behind the underscore.
class VtuFile {
public:
    struct Array {
        std::string type;
        int components = 0;
        std::size_t offset = 0;
    };

    explicit VtuFile(const std::filesystem::path& path) : text_(read_text(path)) {
        const std::string mark = "<AppendedData encoding=\"raw\">";
        const std::size_t appended = text_.find(mark) + mark.size();
        data_ = text_.find('_', appended) + 1;
        parse(text_.substr(0, appended));
        // the data ends where the closing tags begin
        std::size_t size = 0;
        for (const auto& [name, array] : arrays_) {
            size = std::max(size, array.offset + sizeof(std::uint64_t) + byte_count(array));
        }
        EXPECT_EQ(text_.substr(data_ + size), "\n</AppendedData>\n</VTKFile>\n");
        EXPECT_EQ(open_, (std::vector<std::string>{"VTKFile", "AppendedData"}));
    }

    [[nodiscard]] const std::string& attribute(const std::string& name) const {
        return attributes_.at(name);
    }
    [[nodiscard]] const std::map<std::string, Array>& arrays() const { return arrays_; }
    [[nodiscard]] std::vector<std::string> names_in(const std::string& parent) const {
        return names_.count(parent) == 0 ? std::vector<std::string>{} : names_.at(parent);
    }
    template <class T>
    [[nodiscard]] std::vector<T> values(const std::string& name) const {
        const Array& array = arrays_.at(name);
        std::vector<T> values(byte_count(array) / sizeof(T));
        if (values.empty()) return values;
        std::memcpy(values.data(), text_.data() + data_ + array.offset + sizeof(std::uint64_t),
                    byte_count(array));
        return values;
    }

private:
    [[nodiscard]] std::size_t byte_count(const Array& array) const {
        std::uint64_t size = 0;
        if (data_ + array.offset + sizeof size > text_.size()) {
            ADD_FAILURE() << "offset " << array.offset << " is behind the end";
            return 0;
        }
        std::memcpy(&size, text_.data() + data_ + array.offset, sizeof size);
        return size;
    }

    void parse(const std::string& xml) {
        ASSERT_EQ(xml.rfind("<?xml version=\"1.0\"?>\n", 0), 0u);
        for (std::size_t at = xml.find('<', 1); at != std::string::npos;
             at = xml.find('<', at + 1)) {
            const std::size_t end = xml.find('>', at);
            ASSERT_NE(end, std::string::npos);
            parse_tag(xml.substr(at + 1, end - at - 1));
        }
    }

    void parse_tag(std::string tag) {
        if (tag[0] == '/') {
            ASSERT_FALSE(open_.empty());
            EXPECT_EQ(open_.back(), tag.substr(1));
            open_.pop_back();
            return;
        }
        const bool is_closed = tag.back() == '/';
        if (is_closed) tag.pop_back();
        std::size_t at = tag.find(' ');
        const std::string name = tag.substr(0, at);
        std::map<std::string, std::string> attributes;
        while (at != std::string::npos && at + 1 < tag.size()) {
            const std::size_t quote = tag.find("=\"", at);
            const std::size_t end = tag.find('"', quote + 2);
            ASSERT_NE(end, std::string::npos) << tag;
            attributes[tag.substr(at + 1, quote - at - 1)] = tag.substr(quote + 2, end - quote - 2);
            at = end + 1;
        }
        if (name == "DataArray") {
            EXPECT_TRUE(is_closed);
            EXPECT_EQ(attributes["format"], "appended");
            arrays_[attributes["Name"]] = {attributes["type"],
                                           std::stoi(attributes["NumberOfComponents"]),
                                           std::stoul(attributes["offset"])};
            names_[open_.back()].push_back(attributes["Name"]);
        } else {
            attributes_.merge(attributes);
        }
        if (!is_closed) open_.push_back(name);
    }

    std::string text_;
    std::size_t data_ = 0;
    std::vector<std::string> open_;
    std::map<std::string, std::string> attributes_;  // of all tags but arrays
    std::map<std::string, Array> arrays_;
    std::map<std::string, std::vector<std::string>> names_;  // of the arrays in a tag
};

using Names = std::vector<std::string>;

TEST(Vtu, HexesCarryRegionsFillAndData) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = test::sample_hexes();
    mesh.filled = {1.0, 0.5, 0.25, 0.125};
    const DataArray displacement{"displacement", 3, std::vector<double>(60, 0.5)};
    const DataArray stress{"stress <von \"Mises\"> & co", 1, {1, 2, 3, 4}};
    save_vtu(mesh, directory / "a.vtu", {displacement}, {stress});

    const VtuFile file(directory / "a.vtu");
    EXPECT_EQ(file.attribute("type"), "UnstructuredGrid");
    EXPECT_EQ(file.attribute("byte_order"), "LittleEndian");
    EXPECT_EQ(file.attribute("header_type"), "UInt64");
    EXPECT_EQ(file.attribute("NumberOfPoints"), "20");
    EXPECT_EQ(file.attribute("NumberOfCells"), "4");
    EXPECT_EQ(file.names_in("PointData"), (Names{"displacement"}));
    EXPECT_EQ(file.names_in("CellData"),
              (Names{"region", "filled", "stress &lt;von &quot;Mises&quot;&gt; &amp; co"}));
    EXPECT_EQ(file.names_in("Points"), (Names{"Points"}));
    EXPECT_EQ(file.names_in("Cells"), (Names{"connectivity", "offsets", "types"}));

    const auto points = file.values<double>("Points");
    ASSERT_EQ(points.size(), 60u);
    EXPECT_EQ(std::memcmp(points.data(), mesh.vertices.data(), 60 * sizeof(double)), 0);
    const auto connectivity = file.values<std::int64_t>("connectivity");
    EXPECT_TRUE(std::equal(connectivity.begin(), connectivity.end(), mesh.elements.begin(),
                           mesh.elements.end()));
    EXPECT_EQ(file.values<std::int64_t>("offsets"), (std::vector<std::int64_t>{8, 16, 24, 32}));
    EXPECT_EQ(file.values<std::uint8_t>("types"), (std::vector<std::uint8_t>{12, 12, 12, 12}));
    EXPECT_EQ(file.values<int>("region"), mesh.regions);
    EXPECT_EQ(file.values<double>("filled"), mesh.filled);
    EXPECT_EQ(file.values<double>("displacement"), displacement.values);
    EXPECT_EQ(file.arrays().at("displacement").components, 3);
    EXPECT_EQ(file.arrays().at("displacement").type, "Float64");
    EXPECT_EQ(file.arrays().at("region").type, "Int32");
}

TEST(Vtu, TetsWithoutRegionsHaveNoCellData) {
    const test::TemporaryDirectory directory;
    VolumeMesh mesh = test::sample_tets();
    mesh.regions.clear();
    save_volume(mesh, directory / "a.vtu");
    const VtuFile file(directory / "a.vtu");
    EXPECT_TRUE(file.names_in("CellData").empty());
    EXPECT_EQ(file.values<std::uint8_t>("types"), (std::vector<std::uint8_t>{10, 10}));
    EXPECT_EQ(file.values<std::int64_t>("offsets"), (std::vector<std::int64_t>{4, 8}));
}

TEST(Vtu, SurfacesAreTriangles) {
    const test::TemporaryDirectory directory;
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    mesh.triangles = {{0, 1, 2}, {1, 2, 3}};
    save_vtu(mesh, directory / "a.vtu", {{"height", 1, {0, 0, 0, 1}}}, {{"side", 1, {3, 4}}});
    const VtuFile file(directory / "a.vtu");
    EXPECT_EQ(file.values<std::uint8_t>("types"), (std::vector<std::uint8_t>{5, 5}));
    EXPECT_EQ(file.values<std::int64_t>("connectivity"),
              (std::vector<std::int64_t>{0, 1, 2, 1, 2, 3}));
    EXPECT_EQ(file.values<double>("height"), (std::vector<double>{0, 0, 0, 1}));
    EXPECT_EQ(file.values<double>("side"), (std::vector<double>{3, 4}));
}

TEST(Vtu, EmptySurfacesGiveAValidFile) {
    const test::TemporaryDirectory directory;
    save_vtu(SurfaceMesh{}, directory / "a.vtu");
    const VtuFile file(directory / "a.vtu");
    EXPECT_EQ(file.attribute("NumberOfPoints"), "0");
    EXPECT_TRUE(file.values<double>("Points").empty());
}

}  // namespace
}  // namespace pliant
