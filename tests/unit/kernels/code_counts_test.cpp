#include "kernels/reduce/reduce.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "each_target.h"
#include "support/catch.h"
#include "support/dump_builder.h"

namespace msdump::kernels {
namespace {

CodeCounts counts_of(const CodeRule& rule, const std::string& bytes) {
  CodeCounts counts;
  count_codes(rule, reinterpret_cast<const std::byte*>(bytes.data()), static_cast<int64_t>(bytes.size() / rule.bytes),
              counts);
  return counts;
}

// All codes of a type of one or two bytes.
std::string all_codes(uint32_t bytes) {
  std::string text;
  for (uint32_t code = 0; code < 1U << (8 * bytes); ++code) {
    text.push_back(static_cast<char>(code & 0xFF));
    if (bytes == 2) text.push_back(static_cast<char>(code >> 8));
  }
  return text;
}

constexpr std::array kTypes = {DType::kFloat16,    DType::kBfloat16,     DType::kFloat32, DType::kFloat64,
                               DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kHifloat8};

}  // namespace

TEST_CASE("each narrow type has its subnormal codes twice and each edge once") {
  for_each_target([] {
    CHECK(counts_of(*code_rule(DType::kFloat16, DType::kFloat16), all_codes(2)) == CodeCounts{2 * 0x3FF, 1, 1});
    CHECK(counts_of(*code_rule(DType::kBfloat16, DType::kBfloat16), all_codes(2)) == CodeCounts{2 * 0x7F, 1, 1});
    CHECK(counts_of(*code_rule(DType::kFloat8E5m2, DType::kFloat8E5m2), all_codes(1)) == CodeCounts{2 * 3, 1, 1});
    CHECK(counts_of(*code_rule(DType::kFloat8E4m3fn, DType::kFloat8E4m3fn), all_codes(1)) == CodeCounts{2 * 7, 1, 1});
    CHECK(counts_of(*code_rule(DType::kHifloat8, DType::kHifloat8), all_codes(1)) == CodeCounts{2 * 7, 1, 1});
  });
}

TEST_CASE("the code at the edge is that of the largest finite value") {
  CHECK(narrow_value(DType::kFloat8E5m2, 0x7B) == 57344.0F);
  CHECK(narrow_value(DType::kFloat8E4m3fn, 0x7E) == 448.0F);
  CHECK(narrow_value(DType::kHifloat8, 0x6E) == 32768.0F);
  float largest = 0;
  const uint32_t code = static_cast<uint32_t>(code_rule(DType::kFloat32, DType::kFloat32)->edge);
  std::memcpy(&largest, &code, sizeof largest);
  CHECK(largest == std::numeric_limits<float>::max());
  // Of a bfloat16 that was widened, the edge is its own.
  CHECK(code_rule(DType::kFloat32, DType::kBfloat16)->edge == 0x7F7F'0000U);
}

TEST_CASE("integers, exponents alone and four bits have no such codes") {
  for (const DType dtype : {DType::kInt8, DType::kInt64, DType::kBool, DType::kFloat8E8m0, DType::kFloat4E2m1}) {
    CHECK_FALSE(code_rule(dtype, dtype));
  }
}

TEST_CASE("every CPU counts codes as the definition does, at every length") {
  for_each_target([] {
    for (const DType dtype : kTypes) {
      const CodeRule rule = *code_rule(dtype, dtype);
      std::string bytes = test::pattern_bytes(300 * rule.bytes, 7);
      // Codes that count are rare among random ones.
      for (size_t i = 0; i < 300; i += 7) std::memcpy(bytes.data() + i * rule.bytes, &rule.edge, rule.bytes);
      for (size_t i = 3; i < 300; i += 11) std::memcpy(bytes.data() + i * rule.bytes, &rule.last_subnormal, rule.bytes);
      for (int64_t count = 0; count <= 300; ++count) {
        CodeCounts fast, slow;
        // One byte off any alignment.
        const std::string moved = "x" + bytes;
        count_codes(rule, reinterpret_cast<const std::byte*>(moved.data() + 1), count, fast);
        count_codes_reference(rule, reinterpret_cast<const std::byte*>(bytes.data()), count, slow);
        REQUIRE(fast == slow);
      }
    }
  });
}

}  // namespace msdump::kernels
