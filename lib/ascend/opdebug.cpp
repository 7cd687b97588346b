#include "ascend/opdebug.h"

#include <array>
#include <initializer_list>

#include "base/bytes.h"

namespace msdump::ascend {
namespace {

constexpr uint32_t kNewMagic = 0x5A5A5A5A;
constexpr size_t kOldBytes = 2048;

bool is_address(std::string_view field) {
  return field == "pc_start" || field == "para_base" || field == "kernel_code" || field == "src_addr" ||
         field == "dst_addr";
}

Status read_fields(ByteReader& reader, std::initializer_list<std::string_view> names, OpdebugSection& section) {
  for (const std::string_view name : names) {
    MSDUMP_TRY(const uint64_t value, reader.u64());
    section.fields.push_back({name, {value}, is_address(name)});
  }
  return {};
}

Result<OpdebugRecord> read_old(std::span<const std::byte> bytes, uint64_t offset) {
  if (bytes.size() < kOldBytes) {
    return fail(
        make_error(ErrorCode::kTruncated, "an overflow record needs {} bytes, {} present", kOldBytes, bytes.size())
            .with_offset(offset));
  }
  struct Place {
    std::string_view name;
    size_t info, status;
  };
  constexpr std::array kPlaces = {Place{"DHA Atomic Add", 0, 512}, Place{"L2 Atomic Add", 128, 768},
                                  Place{"AI Core", 256, 1024}};
  OpdebugRecord record;
  for (const Place& place : kPlaces) {
    OpdebugSection section{place.name, {}};
    ByteReader info(bytes.subspan(place.info));
    MSDUMP_CHECK_OK(
        read_fields(info, {"model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base"}, section));
    ByteReader status(bytes.subspan(place.status));
    if (place.name == "AI Core") MSDUMP_CHECK_OK(read_fields(status, {"kernel_code", "block_idx"}, section));
    MSDUMP_CHECK_OK(read_fields(status, {"status"}, section));
    record.sections.push_back(std::move(section));
  }
  return record;
}

Result<OpdebugRecord> read_new(ByteReader reader) {
  const uint64_t type_offset = reader.offset() + 12;
  OpdebugRecord record;
  record.new_layout = true;
  MSDUMP_CHECK_OK(reader.skip(4));
  MSDUMP_TRY(record.version, reader.u32());
  MSDUMP_TRY(record.valid, reader.u32());
  MSDUMP_TRY(const uint32_t type, reader.u32());
  MSDUMP_TRY(record.reserved, reader.u32());
  MSDUMP_TRY(record.data_length, reader.u32());
  OpdebugSection section;
  MSDUMP_CHECK_OK(read_fields(reader, {"model_id", "stream_id", "task_id", "task_type", "context_id"}, section));
  switch (type) {
    case 0:
    case 1:
      section.name = type == 0 ? "AIC" : "AIV";
      MSDUMP_CHECK_OK(read_fields(reader, {"thread_id", "pc_start", "para_base", "core_id", "block_id"}, section));
      break;
    case 2:
      section.name = "AICPU";
      MSDUMP_CHECK_OK(read_fields(reader, {"cpu_id", "thread_id"}, section));
      break;
    case 3:
      section.name = "SDMA";
      MSDUMP_CHECK_OK(read_fields(reader, {"thread_id", "src_addr", "dst_addr", "channel_id"}, section));
      break;
    default:
      return fail(
          make_error(ErrorCode::kBadHeader, "unknown kind {} of overflow record", type).with_offset(type_offset));
  }
  OpdebugField status{"status", {}, false};
  const size_t words = record.version == 1 && type < 2 ? 4 : 1;
  for (size_t i = 0; i < words; ++i) {
    MSDUMP_TRY(const uint64_t word, reader.u64());
    status.values.push_back(word);
  }
  section.fields.push_back(std::move(status));
  record.sections.push_back(std::move(section));
  return record;
}

std::string field_json(const OpdebugField& field, std::string_view indent) {
  if (field.hexadecimal) return fmt::format("{}\"{}\": \"{:#x}\"", indent, field.name, field.values[0]);
  if (field.values.size() == 1) return fmt::format("{}\"{}\": {}", indent, field.name, field.values[0]);
  std::string list = fmt::format("{}\"{}\": [", indent, field.name);
  for (size_t i = 0; i < field.values.size(); ++i) {
    list += fmt::format("{}\n{}    {}", i == 0 ? "" : ",", indent, field.values[i]);
  }
  return list + fmt::format("\n{}]", indent);
}

std::string fields_json(const OpdebugSection& section, const std::string& indent) {
  std::string text = "{";
  for (size_t i = 0; i < section.fields.size(); ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += field_json(section.fields[i], indent + "    ");
  }
  return text + "\n" + indent + "}";
}

}  // namespace

Result<OpdebugRecord> read_opdebug(std::span<const std::byte> bytes, uint64_t offset) {
  if (bytes.size() >= 4 && load<uint32_t>(bytes.data()) == kNewMagic) return read_new(ByteReader(bytes, offset));
  return read_old(bytes, offset);
}

std::string opdebug_json(const OpdebugRecord& record) {
  if (record.new_layout) {
    const OpdebugSection& section = record.sections.front();
    return fmt::format(
        "{{\n    \"magic\": \"{:#x}\",\n    \"version\": {},\n    \"acc_list\": {{\n        \"valid\": {},\n"
        "        \"acc_type\": \"{}\",\n        \"rsv\": {},\n        \"data_len\": {},\n        \"data\": {}\n    "
        "}}\n}}\n",
        kNewMagic, record.version, record.valid, section.name, record.reserved, record.data_length,
        fields_json(section, "        "));
  }
  std::string text = "{";
  for (size_t i = 0; i < record.sections.size(); ++i) {
    const OpdebugSection& section = record.sections[i];
    text += fmt::format("{}\n    \"{}\": {}", i == 0 ? "" : ",", section.name, fields_json(section, "    "));
  }
  return text + "\n}\n";
}

bool is_opdebug_name(std::string_view file_name) { return file_name.starts_with("Opdebug.Node_OpDebug."); }

}  // namespace msdump::ascend
