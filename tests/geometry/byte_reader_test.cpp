#include "geometry/byte_reader.h"

#include "input_error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace pliant {
namespace {

using test::input_error;

TEST(ByteReader, ReadsBothByteOrders) {
    const std::string bytes("\x01\x02\x03\x04\x3F\x80\x00\x00", 8);
    ByteReader little(bytes, "b.bin", std::endian::little);
    EXPECT_EQ(little.read<std::uint32_t>(), 0x04030201u);
    ByteReader big(bytes, "b.bin", std::endian::big);
    EXPECT_EQ(big.read<std::uint16_t>(), 0x0102);
    big.skip(2);
    EXPECT_EQ(big.real<float>("x"), 1.0);
    EXPECT_EQ(big.remaining(), 0u);
    EXPECT_EQ(big.offset(), 8u);
}

TEST(ByteReader, EndOfFileNamesItemPlaceAndMissingBytes) {
    ByteReader reader("0123456789", "b.bin");
    reader.begin_item("vertex", 7);
    reader.skip(4);
    EXPECT_EQ(input_error([&] { (void)reader.read<double>(); }),
              "b.bin: the file ends at byte 10 inside vertex 7 (expected 2 more bytes)");
    EXPECT_EQ(input_error([&] { reader.skip(UINT64_MAX); }),
              "b.bin: the file ends at byte 10 inside vertex 7 (expected 18446744073709551609 more "
              "bytes)");
    EXPECT_EQ(reader.offset(), 4u) << "a refused read takes nothing";
}

TEST(ByteReader, NonFiniteRealsAreRefused) {
    const float values[] = {std::numeric_limits<float>::quiet_NaN(),
                            -std::numeric_limits<float>::infinity()};
    std::string bytes(sizeof values, '\0');
    std::memcpy(bytes.data(), values, sizeof values);
    ByteReader reader(bytes, "b.bin", std::endian::native);
    reader.begin_item("vertex", 3);
    EXPECT_EQ(input_error([&] { (void)reader.real<float>("x"); }),
              "b.bin: vertex 3, before byte 4: x = nan (expected a finite number)");
    EXPECT_EQ(input_error([&] { (void)reader.real<float>("x"); }),
              "b.bin: vertex 3, before byte 8: x = -inf (expected a finite number)");
}

TEST(ByteReader, ItemsThatDoNotFitAreRefusedBeforeTheyAreRead) {
    ByteReader reader(std::string_view("0123456789"), "b.bin");
    EXPECT_EQ(input_error([&] { reader.require_items("node count", 3, 3); }), "");
    EXPECT_EQ(input_error([&] { reader.require_items("node count", 4, 3); }),
              "b.bin: node count = 4 (expected at most 3: the file has only 10 more bytes)");
    EXPECT_EQ(input_error([&] { reader.require_items("node count", UINT64_MAX, 0); }),
              "b.bin: node count = 18446744073709551615 (expected at most 2147483647)");
}

}  // namespace
}  // namespace pliant
