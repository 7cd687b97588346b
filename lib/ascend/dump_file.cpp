#include "ascend/dump_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ascend/nano_header.h"
#include "ascend/protobuf_header.h"
#include "base/checked.h"
#include "base/load.h"

namespace msdump::ascend {
namespace {

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

// A classic file begins with the tag of one of DumpData's fields.
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

// Places the tensors that are not inside the header after it, in the fixed order of the sections.
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
    // All later tensors are missing too; after an impossible size, their offsets are unknown.
    position = end.value_or(std::numeric_limits<uint64_t>::max());
  }
}

// A header that lists only tensors without a shape or data says nothing; a single such entry among others is an
// optional input that was not given, which is harmless.
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
    // Report what is wrong with the file, not with our guess.
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

}  // namespace msdump::ascend
