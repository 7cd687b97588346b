#include "ascend/opdebug.h"

#include <string>

#include "support/catch.h"
#include "support/dump_builder.h"

namespace msdump::ascend {
namespace {

using test::put_u32;
using test::put_u64;

constexpr uint64_t kOffset = 1000;  // of the record in its file

Result<OpdebugRecord> read(const std::string& bytes) {
  return read_opdebug(std::as_bytes(std::span(bytes.data(), bytes.size())), kOffset);
}

// Every u64 of the 2048 bytes holds its own number.
std::string old_record() {
  std::string bytes;
  for (uint64_t word = 0; word < 256; ++word) put_u64(bytes, word);
  return bytes;
}

std::string new_record(uint32_t version, uint32_t type, size_t words) {
  std::string bytes;
  for (const uint32_t head : {0x5A5A5A5AU, version, 1U, type, 0U, static_cast<uint32_t>(words * 8)})
    put_u32(bytes, head);
  for (uint64_t word = 0; word < words; ++word) put_u64(bytes, 100 + word);
  return bytes;
}

uint64_t value(const OpdebugSection& section, std::string_view name) {
  for (const OpdebugField& field : section.fields) {
    if (field.name == name) return field.values.at(0);
  }
  FAIL("no field " << name);
  return 0;
}

TEST_CASE("an old overflow record has three sections at their places") {
  const auto record = read(old_record());
  REQUIRE(record);
  CHECK_FALSE(record->new_layout);
  REQUIRE(record->sections.size() == 3);
  CHECK(record->sections[0].name == "DHA Atomic Add");
  CHECK(value(record->sections[0], "model_id") == 0);
  CHECK(value(record->sections[0], "status") == 512 / 8);
  CHECK(value(record->sections[1], "stream_id") == 128 / 8 + 1);
  CHECK(value(record->sections[1], "status") == 768 / 8);
  CHECK(value(record->sections[2], "para_base") == 256 / 8 + 5);
  CHECK(value(record->sections[2], "kernel_code") == 1024 / 8);
  CHECK(value(record->sections[2], "block_idx") == 1024 / 8 + 1);
  CHECK(value(record->sections[2], "status") == 1024 / 8 + 2);
}

TEST_CASE("an old overflow record that is short says by how much") {
  const auto record = read(old_record().substr(0, 2047));
  REQUIRE_FALSE(record);
  CHECK(record.error().code == ErrorCode::kTruncated);
  CHECK(record.error().message == "an overflow record needs 2048 bytes, 2047 present");
  CHECK(record.error().offset == kOffset);
  CHECK_FALSE(read(""));
}

TEST_CASE("new overflow records of each kind of core") {
  const auto aic = read(new_record(1, 0, 14));
  REQUIRE(aic);
  CHECK(aic->sections.at(0).name == "AIC");
  CHECK(value(aic->sections[0], "pc_start") == 106);
  CHECK(aic->sections[0].fields.back().values == std::vector<uint64_t>{110, 111, 112, 113});
  const auto aiv = read(new_record(2, 1, 11));
  REQUIRE(aiv);
  CHECK(aiv->sections.at(0).name == "AIV");
  CHECK(aiv->sections[0].fields.back().values == std::vector<uint64_t>{110});
  const auto aicpu = read(new_record(1, 2, 8));
  REQUIRE(aicpu);
  CHECK(value(aicpu->sections.at(0), "cpu_id") == 105);
  CHECK(value(aicpu->sections[0], "thread_id") == 106);
  CHECK(value(aicpu->sections[0], "status") == 107);
  const auto sdma = read(new_record(1, 3, 10));
  REQUIRE(sdma);
  CHECK(value(sdma->sections.at(0), "thread_id") == 105);
  CHECK(value(sdma->sections[0], "dst_addr") == 107);
  CHECK(value(sdma->sections[0], "status") == 109);
}

TEST_CASE("a new overflow record that is cut or of an unknown kind is an error with its offset") {
  const std::string whole = new_record(1, 0, 14);
  for (size_t size = 4; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto record = read(whole.substr(0, size));
    REQUIRE_FALSE(record);
    CHECK(record.error().code == ErrorCode::kTruncated);
    REQUIRE(record.error().offset);
    CHECK(*record.error().offset >= kOffset);
    CHECK(*record.error().offset <= kOffset + size);
  }
  const auto unknown = read(new_record(1, 4, 14));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::kBadHeader);
  CHECK(unknown.error().message == "unknown kind 4 of overflow record");
  CHECK(unknown.error().offset == kOffset + 12);
}

TEST_CASE("overflow records as JSON") {
  CHECK(opdebug_json(*read(new_record(2, 2, 8))) ==
        "{\n    \"magic\": \"0x5a5a5a5a\",\n    \"version\": 2,\n    \"acc_list\": {\n        \"valid\": 1,\n"
        "        \"acc_type\": \"AICPU\",\n        \"rsv\": 0,\n        \"data_len\": 64,\n        \"data\": {\n"
        "            \"model_id\": 100,\n            \"stream_id\": 101,\n            \"task_id\": 102,\n"
        "            \"task_type\": 103,\n            \"context_id\": 104,\n            \"cpu_id\": 105,\n"
        "            \"thread_id\": 106,\n            \"status\": 107\n        }\n    }\n}\n");
  CHECK(opdebug_json(*read(new_record(1, 0, 14)))
            .ends_with("            \"thread_id\": 105,\n            \"pc_start\": \"0x6a\",\n"
                       "            \"para_base\": \"0x6b\",\n            \"core_id\": 108,\n"
                       "            \"block_id\": 109,\n            \"status\": [\n                110,\n"
                       "                111,\n                112,\n                113\n            ]\n"
                       "        }\n    }\n}\n"));
  CHECK(opdebug_json(*read(new_record(1, 3, 10)))
            .ends_with("            \"thread_id\": 105,\n            \"src_addr\": \"0x6a\",\n"
                       "            \"dst_addr\": \"0x6b\",\n            \"channel_id\": 108,\n"
                       "            \"status\": 109\n        }\n    }\n}\n"));
  const std::string old_text = opdebug_json(*read(old_record()));
  CHECK(old_text.starts_with("{\n    \"DHA Atomic Add\": {\n        \"model_id\": 0,\n"));
  CHECK(old_text.find("\"pc_start\": \"0x24\"") != std::string::npos);
  CHECK(old_text.find("\"kernel_code\": \"0x80\",\n        \"block_idx\": 129,\n") != std::string::npos);
  CHECK(old_text.find("\n    },\n    \"L2 Atomic Add\": {\n") != std::string::npos);
  CHECK(old_text.ends_with("        \"status\": 130\n    }\n}\n"));
}

TEST_CASE("overflow records are known by their name") {
  CHECK(is_opdebug_name("Opdebug.Node_OpDebug.9.7.1700000000007000"));
  CHECK_FALSE(is_opdebug_name("Opdebug.Other.9.7.1700000000007000"));
  CHECK_FALSE(is_opdebug_name("Add.Opdebug.Node_OpDebug.1"));
}

}  // namespace
}  // namespace msdump::ascend
