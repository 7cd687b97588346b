#include "ascend/dump_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "ascend/protobuf_header.h"
#include "base/bytes.h"
#include "base/text.h"
#include "io/json.h"

namespace msdump::ascend {
namespace {

// The header of a nano dump file (edge SoCs): L bytes of records, little-endian, packed, beginning at offset 8.
//
//   1. u32 0x5A5A5A5A, u32 version
//   2. any of: u32 tag 4, u32 length { u32 count; count x input }
//              u32 tag 5, u32 length { u32 count; count x output }
//   input:  i32 data_type, format, address_type; u64 address, offset, size; list
//   output: i32 data_type, format, address_type, original_index, original_data_type, original_format;
//           u64 address, offset, size; list
//   list:   u32 bytes, then records u32 tag, u32 length, value: tag 0 the shape (u64 each), tag 1 the original shape,
//           tag 2 the name (outputs)

constexpr uint64_t kHeaderBegin = 8;
constexpr uint64_t kMaxHeaderBytes = uint64_t{16} << 20;  // usual: a few hundred bytes

enum Tag : uint32_t { kShapeTag = 0, kOriginalShapeTag = 1, kInputsTag = 4, kOutputsTag = 5 };

Result<Shape> read_dims(ByteReader reader) {
  Shape dims;
  const size_t rank = reader.remaining() / 8;
  if (reader.remaining() % 8 != 0) {
    return fail(make_error(ErrorCode::kBadHeader, "a shape of {} bytes, not a multiple of 8", reader.remaining())
                    .with_offset(reader.offset()));
  }
  if (rank > kMaxRank) {
    return fail(make_error(ErrorCode::kBadHeader, "a shape of rank {}, more than {}", rank, kMaxRank)
                    .with_offset(reader.offset()));
  }
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint64_t dim, reader.u64());
    dims.push_back(dim_from_file(dim));
  }
  return dims;
}

Status read_list(ByteReader reader, DumpTensor& tensor) {
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint32_t tag, reader.u32());
    MSDUMP_TRY(const uint32_t length, reader.u32());
    MSDUMP_TRY(const ByteReader value, reader.sub(length));
    if (tag == kShapeTag) {
      MSDUMP_TRY(tensor.shape, read_dims(value));
    } else if (tag == kOriginalShapeTag) {
      MSDUMP_TRY(tensor.original_shape, read_dims(value));
    }
  }
  return {};
}

Result<DumpTensor> read_tensor(ByteReader& reader, Section section) {
  DumpTensor tensor;
  tensor.section = section;
  MSDUMP_TRY(tensor.dtype_number, reader.i32());
  tensor.dtype = dtype_from_ge(tensor.dtype_number);
  MSDUMP_TRY(tensor.format_number, reader.i32());
  MSDUMP_CHECK_OK(reader.skip(4));  // address type
  if (section == Section::kOutput) {
    MSDUMP_CHECK_OK(reader.skip(8));  // original index and data type
    MSDUMP_TRY(tensor.original_format, reader.i32());
  }
  MSDUMP_TRY(tensor.address, reader.u64());
  MSDUMP_CHECK_OK(reader.skip(8));  // offset
  MSDUMP_TRY(tensor.size, reader.u64());
  MSDUMP_TRY(const uint32_t list_bytes, reader.u32());
  MSDUMP_TRY(const ByteReader list, reader.sub(list_bytes));
  MSDUMP_CHECK_OK(read_list(list, tensor));
  return tensor;
}

Status read_tensors(ByteReader reader, Section section, std::vector<DumpTensor>& tensors) {
  MSDUMP_TRY(const uint32_t count, reader.u32());
  const auto is_same = [&](const DumpTensor& tensor) { return tensor.section == section; };
  if (std::any_of(tensors.begin(), tensors.end(), is_same)) {
    return fail(
        make_error(ErrorCode::kBadHeader, "a second list of {}s", name_of(section)).with_offset(reader.offset()));
  }
  // The count is not used to allocate, because tensors may be missing.
  for (uint32_t slot = 0; slot < count; ++slot) {
    if (tensors.size() >= kMaxTensors) return fail(ErrorCode::kTooLarge, "header has more tensors than any operator");
    MSDUMP_TRY(DumpTensor tensor, read_tensor(reader, section));
    tensor.slot = static_cast<int>(slot);
    tensors.push_back(std::move(tensor));
  }
  return {};
}

// Tensors with their sizes, but without offsets. `length` is L, unchecked.
Result<DumpFile> read_nano_header(const File& file, uint64_t length) {
  if (length > file.size() - kHeaderBegin) {
    return fail(ErrorCode::kTruncated, "truncated: header of {} bytes announced, {} present", length,
                file.size() - kHeaderBegin);
  }
  if (length > kMaxHeaderBytes) return fail(ErrorCode::kTooLarge, "a nano header of {} bytes", length);
  std::vector<std::byte> bytes(static_cast<size_t>(length));
  MSDUMP_CHECK_OK(file.read_at(kHeaderBegin, bytes));
  ByteReader reader(bytes, kHeaderBegin);
  MSDUMP_CHECK_OK(reader.skip(8));  // magic, version
  DumpFile dump;
  dump.header = HeaderKind::kNano;
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint32_t tag, reader.u32());
    MSDUMP_TRY(const uint32_t record_bytes, reader.u32());
    MSDUMP_TRY(const ByteReader record, reader.sub(record_bytes));
    if (tag == kInputsTag) MSDUMP_CHECK_OK(read_tensors(record, Section::kInput, dump.tensors));
    if (tag == kOutputsTag) MSDUMP_CHECK_OK(read_tensors(record, Section::kOutput, dump.tensors));
  }
  // The data of inputs come before those of outputs, whatever the order of the records.
  std::stable_sort(dump.tensors.begin(), dump.tensors.end(),
                   [](const DumpTensor& a, const DumpTensor& b) { return a.section < b.section; });
  return dump;
}

constexpr size_t kLengthBytes = 8;
constexpr uint32_t kNanoMagic = 0x5A5A5A5A;

bool starts_with(std::span<const std::byte> head, std::string_view magic) {
  return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

bool is_nano(std::span<const std::byte> head) {
  return head.size() > 12 && load<uint32_t>(head.data() + kLengthBytes) == kNanoMagic;
}

bool is_text(std::span<const std::byte> head) {
  const size_t count = std::min<size_t>(head.size(), kLengthBytes);
  return std::all_of(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(count), [](std::byte byte) {
    const int c = std::to_integer<int>(byte);
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

// A classic file begins with the tag of a field of DumpData.
bool begins_like_protobuf(std::span<const std::byte> head) {
  constexpr std::string_view kTags = "\x0a\x10\x1a\x22\x2a\x32\x3a\x42\x4a";
  return kTags.find(static_cast<char>(head[0])) != std::string_view::npos;
}

Error not_a_header(const File& file, uint64_t length) {
  const auto head = file.head();
  if (is_text(head)) return make_error(ErrorCode::kNotADump, "not a dump file: the header length is text");
  const uint64_t present = file.size() - kLengthBytes;
  constexpr uint64_t kPlausible = uint64_t{1} << 32;
  if (length < kPlausible) {
    return make_error(ErrorCode::kTruncated, "truncated: header of {} bytes announced, {} present", length, present)
        .with_hint("the dump was cut off (disk full, killed run) or is still being written");
  }
  Error error =
      make_error(ErrorCode::kBadHeader, "not a dump file: header length {} is past the end of the file ({} bytes)",
                 length, file.size());
  if (__builtin_bswap64(length) <= present)
    error.hint = "the length reads as big-endian; msdump reads little-endian dumps";
  return error;
}

// Sets the offsets of the tensors after the header, in the order of the sections.
void place_tensors(std::vector<DumpTensor>& tensors, uint64_t data_begin, uint64_t file_size) {
  uint64_t position = data_begin;
  for (DumpTensor& tensor : tensors) {
    if (tensor.offset != 0) continue;  // inside the header
    tensor.offset = position;
    if (tensor.size == 0) continue;  // an empty tensor cannot be truncated
    const auto end = checked_add(position, tensor.size);
    if (end && *end <= file_size) {
      position = *end;
      continue;
    }
    const uint64_t present = position < file_size ? file_size - position : 0;
    if (!tensor.problem)
      tensor.problem = make_error(ErrorCode::kTruncated, "needs {} bytes, {} present", tensor.size, present)
                           .with_offset(position)
                           .with_hint("the file was cut off, or its header is damaged");
    // All later tensors are missing, too. After an impossible size their offsets are unknown.
    position = end.value_or(std::numeric_limits<uint64_t>::max());
  }
}

// True if no tensor has a shape or data. (One such tensor among others is an optional input without a value.)
Status check_substance(const DumpFile& dump) {
  const auto carries = [](const DumpTensor& tensor) { return tensor.size != 0 || tensor.shape || tensor.problem; };
  if (dump.tensors.empty() || std::any_of(dump.tensors.begin(), dump.tensors.end(), carries)) return {};
  return fail(ErrorCode::kBadHeader, "header lists {} tensors, none of which has a shape or data", dump.tensors.size());
}

Result<DumpFile> read_classic(const File& file, uint64_t length) {
  auto classic = read_protobuf_header(file, 0, file.size());
  const bool whole =
      classic && !classic->tensors.empty() &&
      std::any_of(classic->tensors.begin(), classic->tensors.end(), [](const DumpTensor& t) { return t.size > 0; });
  if (!whole) {
    // The error is about the file, not about the kind of header that was assumed.
    const bool unreadable = !classic && classic.error().code != ErrorCode::kBadProtobuf;
    if (unreadable && !is_text(file.head())) return classic;
    return fail(not_a_header(file, length));
  }
  classic->header = HeaderKind::kClassic;
  place_tensors(classic->tensors, file.size(), file.size());
  return classic;
}

Result<DumpFile> read_binary(const File& file, uint64_t length) {
  if (length == 0) {
    return fail(ErrorCode::kBadHeader, "empty header (length 0) followed by {} bytes", file.size() - kLengthBytes);
  }
  MSDUMP_TRY(DumpFile dump, read_protobuf_header(file, kLengthBytes, kLengthBytes + length));
  place_tensors(dump.tensors, kLengthBytes + length, file.size());
  return dump;
}

Result<DumpFile> read_nano(const File& file, uint64_t length) {
  MSDUMP_TRY(DumpFile dump, read_nano_header(file, length));
  place_tensors(dump.tensors, kLengthBytes + length, file.size());
  const bool lost =
      std::any_of(dump.tensors.begin(), dump.tensors.end(), [](const DumpTensor& t) { return t.problem.has_value(); });
  if (dump.tensors.empty() || lost) return dump;
  const uint64_t end = dump.tensors.back().offset + dump.tensors.back().size;
  if (end != file.size()) {
    return fail(
        make_error(ErrorCode::kTrailingBytes, "{} bytes after the last tensor of a nano dump", file.size() - end)
            .with_offset(end));
  }
  return dump;
}

Result<DumpFile> read_any(const File& file) {
  const auto head = file.head();
  if (file.size() == 0) return fail(ErrorCode::kTruncated, "file is empty");
  if (starts_with(head, "\x93NUMPY")) return fail(ErrorCode::kNotADump, "this is an .npy file, not a dump");
  if (file.size() < kLengthBytes) {
    return fail(ErrorCode::kTruncated, "truncated: {} bytes, the 8-byte header length is incomplete", file.size());
  }
  const uint64_t length = load<uint64_t>(head.data());
  if (is_nano(head)) return read_nano(file, length);
  if (length > file.size() - kLengthBytes) {
    if (begins_like_protobuf(head)) return read_classic(file, length);
    return fail(not_a_header(file, length));
  }
  return read_binary(file, length);
}

}  // namespace

std::string_view name_of(Section section) {
  switch (section) {
    case Section::kInput: return "input";
    case Section::kOutput: return "output";
    case Section::kBuffer: return "l1buffer";
    case Section::kSpace: return "space";
  }
  return "output";
}

std::string DumpTensor::label() const { return fmt::format("{}:{}", name_of(section), slot); }

Result<DumpFile> read_dump_file(const File& file) {
  MSDUMP_TRY(DumpFile dump, in_file(read_any(file), file.path()));
  MSDUMP_CHECK_OK(in_file(check_substance(dump), file.path()));
  for (DumpTensor& tensor : dump.tensors) {
    if (!tensor.problem) continue;
    tensor.problem->path = file.path();
    tensor.problem->tensor = tensor.label();
  }
  return dump;
}

bool looks_like_dump_file(std::span<const std::byte> head, uint64_t file_size) {
  if (head.size() <= kLengthBytes) return false;
  if (is_nano(head)) return true;
  const uint64_t length = load<uint64_t>(head.data());
  return length > 0 && length <= file_size - kLengthBytes && begins_like_protobuf(head.subspan(kLengthBytes));
}

namespace {

// Memory for the tree of an attribute, enough for some 20,000 bounds.
constexpr size_t kSliceMemory = size_t{8} << 20;

std::optional<size_t> thread_of(std::string_view file_name) {
  const std::vector<std::string_view> fields = split(file_name, '.');
  if (fields.size() < 2) return std::nullopt;
  const auto thread = parse_u64(fields[fields.size() - 2]);
  return thread ? std::optional<size_t>(*thread) : std::nullopt;
}

Result<Shape> slice_shape(const JsonValue& slice) {
  const auto bound = [](const JsonValue& dim, std::string_view key) {
    const JsonValue* const value = dim.find(key);
    return value != nullptr ? value->as_int().value_or(-1) : int64_t{-1};  // bounds are never negative
  };
  Shape shape;
  for (const JsonValue& dim : slice.items) {
    const int64_t begin = bound(dim, "lower"), end = bound(dim, "higher");
    if (begin < 0 || end < begin || shape.size() == kMaxRank)
      return fail(ErrorCode::kBadHeader, "an FFTS+ slice without valid lower and higher bounds");
    shape.push_back(end - begin);
  }
  return shape;
}

Status apply(const JsonValue& attribute, std::string_view key, Section section, size_t thread, DumpFile& dump) {
  const JsonValue* threads = attribute.find(key);
  if (threads == nullptr || threads->items.empty()) return {};
  if (thread >= threads->items.size()) {
    return fail(ErrorCode::kBadHeader, "{} has {} threads, the file is that of thread {}", key, threads->items.size(),
                thread);
  }
  const std::vector<JsonValue>& slices = threads->items[thread].items;
  for (DumpTensor& tensor : dump.tensors) {
    if (tensor.section != section) continue;
    const auto slot = static_cast<size_t>(tensor.slot);
    if (slot >= slices.size()) {
      return fail(ErrorCode::kBadHeader, "{} has {} tensors, the file has more", key, slices.size());
    }
    MSDUMP_TRY(Shape shape, slice_shape(slices[slot]));
    if (tensor.shape == shape) continue;
    tensor.shape = std::move(shape);
    tensor.original_shape.reset();
  }
  return {};
}

}  // namespace

Status apply_thread_slices(DumpFile& dump, std::string_view file_name) {
  for (const Attribute& attribute : dump.attributes) {
    if (!attribute.value.starts_with('{') || attribute.value.find("threadMode") == std::string::npos) continue;
    auto parsed = parse_json(attribute.value, kSliceMemory);
    if (!parsed) {
      // The offset of the error is in the attribute, not in the file.
      Error& error = parsed.error();
      error.message = fmt::format("attribute '{}': {}", excerpt(attribute.name), error.message);
      error.offset.reset();
      return fail(std::move(error));
    }
    const JsonValue& json = *parsed;
    const JsonValue* mode = json.find("threadMode");
    if (mode == nullptr || !mode->is(JsonKind::kBool) || !mode->boolean) return {};
    const auto thread = thread_of(file_name);
    if (!thread) return fail(ErrorCode::kBadHeader, "a sliced FFTS+ dump whose name does not say its thread");
    MSDUMP_CHECK_OK(apply(json, "input_tensor_slice", Section::kInput, *thread, dump));
    return apply(json, "output_tensor_slice", Section::kOutput, *thread, dump);
  }
  return {};
}

}  // namespace msdump::ascend
