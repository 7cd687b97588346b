#include "base/containers.h"

#include <set>
#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("slots find what was added, also with equal hashes and after growing") {
  HashSlots slots;
  const auto is = [](uint32_t wanted) { return [wanted](uint32_t index) { return index == wanted; }; };
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint64_t hash = i % 7 == 0 ? 0 : uint64_t{i} * 0x9E37'79B9'7F4A'7C15;
    CHECK(slots.find_or_add(hash, i, is(i)) == i);
  }
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint64_t hash = i % 7 == 0 ? 0 : uint64_t{i} * 0x9E37'79B9'7F4A'7C15;
    INFO(i);
    REQUIRE(slots.find(hash, is(i)) == i);
    REQUIRE(slots.find_or_add(hash, 9999, is(i)) == i);
  }
  CHECK(slots.find(12345, is(1)) == HashSlots::kNone);
}

TEST_CASE("texts that differ in one byte or in their length have different hashes") {
  std::set<uint64_t> hashes;
  for (size_t length = 0; length <= 40; ++length) {
    std::string text(length, '\0');
    CHECK(hashes.insert(text_hash(text)).second);
    for (char& byte : text) {
      byte = 'x';
      CHECK(hashes.insert(text_hash(text)).second);
      byte = '\0';
    }
  }
  CHECK(text_hash(std::string("MatMul-op1")) == text_hash(std::string_view("MatMul-op12").substr(0, 10)));
}

TEST_CASE("hashes of equal texts do not cancel each other, and the order of texts counts") {
  CHECK(mix_hash(text_hash("Add"), text_hash("Add")) != mix_hash(text_hash("Mul"), text_hash("Mul")));
  CHECK(mix_hash(text_hash("Add"), text_hash("Mul")) != mix_hash(text_hash("Mul"), text_hash("Add")));
}

}  // namespace
}  // namespace msdump
