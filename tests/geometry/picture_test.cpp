#include "pliant/geometry/picture.h"

#include "input_error.h"
#include "pliant/core/atomic_file.h"
#include "pliant/core/parallel.h"
#include "pliant/geometry/polygonize.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace pliant {
namespace {

using Eigen::Vector3d;

std::array<int, 3> pixel(const Picture& picture, int x, int y) {
    const std::uint8_t* p =
        picture.rgb.data() + 3 * (static_cast<std::size_t>(y) * picture.width + x);
    return {p[0], p[1], p[2]};
}

SurfaceMesh ball() { return polygonize(implicit::sphere({0, 0, 1}, 1.0), {.resolution = 16}); }

TEST(Picture, BallIsInTheMiddleAndBackgroundAround) {
    const Picture picture = render(ball(), {.width = 80, .height = 60});
    ASSERT_EQ(picture.rgb.size(), 80u * 60u * 3u);
    const auto middle = pixel(picture, 40, 30), corner = pixel(picture, 1, 1);
    EXPECT_GT(middle[0], middle[2] + 30);            // the clay colour is reddish
    EXPECT_GT(corner[2], 200);                       // the background light
    EXPECT_LT(std::abs(corner[0] - corner[2]), 25);  // and nearly grey
}

TEST(Picture, NearerSurfacesHideFartherOnes) {
    // a small red ball in front of a large blue one, seen along x
    SurfaceMesh mesh = polygonize(implicit::sphere({0, 0, 0}, 1.0), {.resolution = 12});
    std::vector<Eigen::Vector3f> colors(mesh.vertices.size(), {0.1f, 0.1f, 0.9f});
    append(mesh, polygonize(implicit::sphere({2, 0, 0}, 0.3), {.resolution = 12}));
    colors.resize(mesh.vertices.size(), {0.9f, 0.1f, 0.1f});
    const auto front = pixel(
        render(mesh, {.width = 60, .height = 60, .azimuth = 0, .elevation = 0}, colors), 30, 30);
    EXPECT_GT(front[0], front[2] + 60);
    const auto back = pixel(
        render(mesh, {.width = 60, .height = 60, .azimuth = 180, .elevation = 0}, colors), 30, 30);
    EXPECT_GT(back[2], back[0] + 60);
}

TEST(Picture, AzimuthAndElevationPlaceTheViewer) {
    // a post with a ball at +y: from +x it is on the right, from above upside is +x to the viewer
    SurfaceMesh mesh = polygonize(implicit::sphere({0, 1.5, 0}, 0.3), {.resolution = 12});
    std::vector<Eigen::Vector3f> colors(mesh.vertices.size(), {0.9f, 0.1f, 0.1f});
    append(mesh, polygonize(implicit::sphere({0, -1.5, 0}, 0.3), {.resolution = 12}));
    colors.resize(mesh.vertices.size(), {0.1f, 0.1f, 0.9f});
    const Picture from_x =
        render(mesh, {.width = 100, .height = 40, .azimuth = 0, .elevation = 0}, colors);
    const auto right = pixel(from_x, 88, 20), left = pixel(from_x, 11, 20);
    EXPECT_GT(right[0], right[2] + 60);
    EXPECT_GT(left[2], left[0] + 60);
}

TEST(Picture, WireframeDarkensEdges) {
    const SurfaceMesh mesh = ball();
    const Picture plain = render(mesh, {.width = 100, .height = 80});
    const Picture wired = render(mesh, {.width = 100, .height = 80, .has_wireframe = true});
    long darker = 0;
    for (std::size_t i = 0; i < plain.rgb.size(); ++i) darker += plain.rgb[i] - wired.rgb[i];
    EXPECT_GT(darker, 10000);
}

TEST(Picture, OpenSheetIsShadedFromBothSides) {
    SurfaceMesh sheet;
    sheet.vertices = {{0, -1, 0}, {0, 1, 0}, {0, 1, 2}, {0, -1, 2}};
    sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
    const auto front =
        pixel(render(sheet, {.width = 40, .height = 40, .azimuth = 0, .elevation = 5}), 20, 20);
    const auto back =
        pixel(render(sheet, {.width = 40, .height = 40, .azimuth = 180, .elevation = 5}), 20, 20);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(front[k], back[k], 3);
}

TEST(Picture, DoesNotDependOnTheNumberOfThreads) {
    const SurfaceMesh mesh = ball();
    set_num_threads(1);
    const Picture one = render(mesh, {.width = 64, .height = 48});
    set_num_threads(2);
    const Picture two = render(mesh, {.width = 64, .height = 48});
    set_num_threads(0);
    EXPECT_EQ(one.rgb, two.rgb);
}

TEST(Picture, ContactSheetPlacesPicturesAndCaptions) {
    const Picture red{4, 3, std::vector<std::uint8_t>(36, 10)},
        blue{4, 3, std::vector<std::uint8_t>(36, 20)};
    const Picture sheet = contact_sheet({red, blue, red}, {"", "I", ""}, 2);
    // two columns and two rows with gaps of 8 and captions of 22
    EXPECT_EQ(sheet.width, 2 * (4 + 8) + 8);
    EXPECT_EQ(sheet.height, 2 * (3 + 22 + 8) + 8);
    EXPECT_EQ(pixel(sheet, 8, 8)[0], 10);
    EXPECT_EQ(pixel(sheet, 8 + 12, 8)[0], 20);
    EXPECT_EQ(pixel(sheet, 8, 8 + 33)[0], 10);
    EXPECT_EQ(pixel(sheet, 2, 2)[0], 250);
    // the letter's stem under the second picture only
    const auto ink_in = [&](int x0, int x1) {
        int ink = 0;
        for (int y = 8 + 3 + 8; y < 8 + 3 + 8 + 14; ++y)
            for (int x = x0; x < x1; ++x) ink += pixel(sheet, x, y)[0] < 100;
        return ink;
    };
    EXPECT_EQ(ink_in(0, 20), 0);
    EXPECT_GT(ink_in(20, sheet.width), 20);
}

/// Undoes the PNG filters; the test's own decoder.
std::vector<std::uint8_t> decode(const std::string& png, int& width, int& height) {
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(png[at + i]);
        return value;
    };
    EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
    std::string packed;
    std::vector<std::string> types;
    for (std::size_t at = 8; at + 12 <= png.size();) {
        const std::uint32_t size = number(at);
        const std::string type = png.substr(at + 4, 4);
        types.push_back(type);
        EXPECT_EQ(number(at + 8 + size),
                  crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), size + 4));
        if (type == "IHDR") {
            width = static_cast<int>(number(at + 8));
            height = static_cast<int>(number(at + 12));
        }
        if (type == "IDAT") packed += png.substr(at + 8, size);
        at += 12 + size;
    }
    EXPECT_EQ(types, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
    const int stride = 3 * width;
    std::vector<std::uint8_t> rows(static_cast<std::size_t>(height) * (stride + 1));
    uLongf size = rows.size();
    EXPECT_EQ(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(packed.data()),
                         packed.size()),
              Z_OK);
    EXPECT_EQ(size, rows.size());
    std::vector<std::uint8_t> out(static_cast<std::size_t>(height) * stride);
    for (int y = 0; y < height; ++y) {
        const int filter = rows[static_cast<std::size_t>(y) * (stride + 1)];
        for (int i = 0; i < stride; ++i) {
            const int a = i >= 3 ? out[y * stride + i - 3] : 0,
                      b = y > 0 ? out[(y - 1) * stride + i] : 0,
                      c = i >= 3 && y > 0 ? out[(y - 1) * stride + i - 3] : 0;
            const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b),
                      pc = std::abs(p - c);
            const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
            const std::array<int, 5> prediction = {0, a, b, (a + b) / 2, paeth};
            out[y * stride + i] =
                static_cast<std::uint8_t>(rows[y * (stride + 1) + 1 + i] + prediction[filter]);
        }
    }
    return out;
}

TEST(Picture, PngDecodesToTheSamePixels) {
    Picture picture = render(ball(), {.width = 61, .height = 43});
    for (std::size_t i = 0; i < 600; ++i)
        picture.rgb[i] = static_cast<std::uint8_t>(i * i * 7);  // noise too
    const auto path = std::filesystem::path(testing::TempDir()) / "pliant_picture_test.png";
    save_png(picture, path);
    int width = 0, height = 0;
    EXPECT_EQ(decode(read_file(path), width, height), picture.rgb);
    EXPECT_EQ(width, 61);
    EXPECT_EQ(height, 43);
    std::filesystem::remove(path);
}

TEST(Picture, VerticesThatCannotBeDrawnAreRefused) {
    SurfaceMesh mesh = ball();
    for (const double far : {1e200, std::numeric_limits<double>::quiet_NaN()}) {
        mesh.vertices[5].y() = far;
        EXPECT_EQ(test::input_error([&] { (void)render(mesh, {.width = 8, .height = 8}); }),
                  "vertex 5 is not finite or beyond 1e30 m and cannot be drawn; repair the "
                  "surface, which drops it");
    }
}

TEST(Picture, UnwritableFolderIsRefused) {
    EXPECT_EQ(test::input_error([] {
                  save_png(Picture{1, 1, {1, 2, 3}}, "/nonexistent-folder/picture.png");
              }),
              "/nonexistent-folder/picture.png: cannot be written: the directory "
              "'/nonexistent-folder' does not exist; create it first");
}

}  // namespace
}  // namespace pliant
