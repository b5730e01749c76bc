#include "pliant/geometry/picture.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>

namespace pliant {
namespace {

constexpr int kGlyphWidth = 5, kGlyphHeight = 7;
constexpr int kTextScale = 2;
constexpr int kGap = 8;                                     // around pictures and captions
constexpr int kCaption = kTextScale * kGlyphHeight + kGap;  // height under a picture
constexpr int kAdvance = kTextScale * (kGlyphWidth + 1);
constexpr std::array<std::uint8_t, 3> kPaper = {250, 250, 250}, kInk = {60, 62, 66};

/// Rows from the top, leftmost pixel in the highest of five bits. Capitals stand for both cases.
struct Glyph {
    char character;
    std::array<std::uint8_t, kGlyphHeight> rows;
};
// clang-format off
constexpr Glyph kFont[] = {
    {'%', {0b11001, 0b11001, 0b00010, 0b00100, 0b01000, 0b10011, 0b10011}},
    {'(', {0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010}},
    {')', {0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000}},
    {'+', {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000}},
    {',', {0b00000, 0b00000, 0b00000, 0b00000, 0b00110, 0b00100, 0b01000}},
    {'-', {0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000}},
    {'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
    {'/', {0b00001, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b10000}},
    {'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
    {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'2', {0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111}},
    {'3', {0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110}},
    {'4', {0b10010, 0b10010, 0b10010, 0b11111, 0b00010, 0b00010, 0b00010}},
    {'5', {0b11111, 0b10000, 0b10000, 0b11110, 0b00001, 0b00001, 0b11110}},
    {'6', {0b01110, 0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    {'7', {0b11111, 0b00001, 0b00001, 0b00010, 0b00100, 0b00100, 0b00100}},
    {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110}},
    {':', {0b00000, 0b01100, 0b01100, 0b00000, 0b01100, 0b01100, 0b00000}},
    {'=', {0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000, 0b00000}},
    {'A', {0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001}},
    {'B', {0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110}},
    {'C', {0b01111, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b01111}},
    {'D', {0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110}},
    {'E', {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111}},
    {'F', {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000}},
    {'G', {0b01111, 0b10000, 0b10000, 0b10011, 0b10001, 0b10001, 0b01111}},
    {'H', {0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001}},
    {'I', {0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'J', {0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100}},
    {'K', {0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001}},
    {'L', {0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111}},
    {'M', {0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001}},
    {'N', {0b10001, 0b11001, 0b11001, 0b10101, 0b10011, 0b10011, 0b10001}},
    {'O', {0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110}},
    {'P', {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000}},
    {'Q', {0b01110, 0b10001, 0b10001, 0b10001, 0b10101, 0b10010, 0b01101}},
    {'R', {0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001}},
    {'S', {0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110}},
    {'T', {0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100}},
    {'U', {0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110}},
    {'V', {0b10001, 0b10001, 0b10001, 0b01010, 0b01010, 0b00100, 0b00100}},
    {'W', {0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001}},
    {'X', {0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001}},
    {'Y', {0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100}},
    {'Z', {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111}},
    {'_', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b11111}},
};
// clang-format on

void put_pixel(Picture& picture, int x, int y, const std::array<std::uint8_t, 3>& color) {
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return;
    std::copy(color.begin(), color.end(),
              picture.rgb.begin() + 3 * (static_cast<std::ptrdiff_t>(y) * picture.width + x));
}

void draw_text(Picture& picture, int x, int y, const std::string& text) {
    for (const char character : text) {
        const auto capital = static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
        for (const Glyph& glyph : kFont) {
            if (glyph.character != capital) continue;
            for (int j = 0; j < kTextScale * kGlyphHeight; ++j)
                for (int i = 0; i < kTextScale * kGlyphWidth; ++i)
                    if (glyph.rows[j / kTextScale] >> (kGlyphWidth - 1 - i / kTextScale) & 1)
                        put_pixel(picture, x + i, y + j, kInk);
        }
        x += kAdvance;
    }
}

}  // namespace

Picture contact_sheet(const std::vector<Picture>& pictures,
                      const std::vector<std::string>& captions, int columns) {
    assert(columns > 0 && captions.size() == pictures.size());
    int width = 0, height = 0;
    for (const Picture& picture : pictures) {
        width = std::max(width, picture.width);
        height = std::max(height, picture.height);
    }
    const int count = static_cast<int>(pictures.size()), rows = (count + columns - 1) / columns;
    const int cell_width = width + kGap, cell_height = height + kCaption + kGap;
    Picture sheet{columns * cell_width + kGap, rows * cell_height + kGap, {}};
    sheet.rgb.resize(static_cast<std::size_t>(3) * sheet.width * sheet.height);
    for (std::size_t i = 0; i < sheet.rgb.size(); ++i) sheet.rgb[i] = kPaper[i % 3];

    for (int i = 0; i < count; ++i) {
        const Picture& picture = pictures[i];
        const int left = kGap + i % columns * cell_width + (width - picture.width) / 2;
        const int top = kGap + i / columns * cell_height + (height - picture.height) / 2;
        for (int y = 0; y < picture.height; ++y)
            std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(3) * y * picture.width,
                        3 * picture.width,
                        sheet.rgb.begin() +
                            3 * (static_cast<std::ptrdiff_t>(top + y) * sheet.width + left));
        const int text_width = static_cast<int>(captions[i].size()) * kAdvance;
        draw_text(sheet, kGap + i % columns * cell_width + std::max(0, (width - text_width) / 2),
                  kGap + i / columns * cell_height + height + kGap, captions[i]);
    }
    return sheet;
}

}  // namespace pliant
