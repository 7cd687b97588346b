#include "checkpoint/ms_ckpt.h"

#include <algorithm>
#include <string_view>

#include <google/protobuf/io/coded_stream.h>

#include "base/text.h"

namespace msdump {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr uint64_t kWindowBytes = uint64_t{64} << 10, kFirstWindowBytes = 512;
constexpr size_t kMostValues = 500'000;
constexpr std::string_view kChecksum = "crc_num";
constexpr uint64_t kChecksumBytes = kChecksum.size() + 10;

// A tag: the number of a field and its wire type.
constexpr uint32_t kValueField = 1 << 3 | 2;
constexpr uint32_t kTagField = 1 << 3 | 2, kTensorField = 2 << 3 | 2, kMapTensorField = 3 << 3 | 2;
constexpr uint32_t kDimField = 1 << 3, kPackedDimsField = 1 << 3 | 2, kTypeField = 2 << 3 | 2,
                   kContentField = 3 << 3 | 2;

// The fields of a value before its elements, and the position of the elements.
struct Value {
  std::string name, type;
  Shape dims;
  uint64_t offset = 0, bytes = 0;  // counted from the first byte of the value
  uint64_t end = 0;                // likewise
  bool tensor = false;
};

class ValueReader {
 public:
  explicit ValueReader(std::span<const std::byte> window)
      : in_(reinterpret_cast<const uint8_t*>(window.data()), static_cast<int>(window.size())) {}

  // False if the field is not a value.
  bool read(Value& value) {
    uint64_t length = 0;
    if (in_.ReadTagNoLastTag() != kValueField || !in_.ReadVarint64(&length)) return false;
    value.end = here() + length;
    while (here() < value.end) {
      const uint32_t field = in_.ReadTagNoLastTag();
      if (field == kTagField) {
        if (!text(value.name)) return false;
      } else if (field == kTensorField) {
        uint64_t size = 0;
        value.tensor = true;
        return in_.ReadVarint64(&size) && size <= value.end - here() && tensor(value, here() + size);
      } else {
        return field == kMapTensorField;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] uint64_t here() const { return static_cast<uint64_t>(in_.CurrentPosition()); }

  bool text(std::string& into) {
    uint32_t size = 0;
    return in_.ReadVarint32(&size) && size <= kWindowBytes && in_.ReadString(&into, static_cast<int>(size));
  }

  bool tensor(Value& value, uint64_t end) {
    while (here() < end) {
      const uint32_t field = in_.ReadTagNoLastTag();
      if (field == kDimField) {
        if (!dim(value.dims)) return false;
      } else if (field == kPackedDimsField) {
        uint64_t size = 0;
        if (!in_.ReadVarint64(&size) || size > kWindowBytes) return false;
        for (const uint64_t last = here() + size; here() < last;) {
          if (!dim(value.dims)) return false;
        }
      } else if (field == kTypeField) {
        if (!text(value.type)) return false;
      } else {
        if (field != kContentField || !in_.ReadVarint64(&value.bytes)) return false;
        value.offset = here();
        return value.bytes <= end - value.offset;
      }
    }
    value.offset = end;  // a tensor without elements
    return true;
  }

  bool dim(Shape& dims) {
    uint64_t number = 0;
    if (!in_.ReadVarint64(&number) || dims.size() == kMaxRank) return false;
    dims.push_back(static_cast<int64_t>(number));
    return true;
  }

  CodedInputStream in_;
};

bool is_checksum(std::span<const std::byte> window) {
  const std::string_view text(reinterpret_cast<const char*>(window.data()), window.size());
  return text.size() == kChecksumBytes && text.starts_with(kChecksum);
}

// Joins the values of a parameter.
class Parameters {
 public:
  explicit Parameters(uint64_t file_size) : file_size_(file_size) {}

  // `begin` is the offset of the value in the file.
  void take(const Value& value, uint64_t begin) {
    const bool incomplete = !all_.empty() && needed_ > all_.back().bytes && all_.back().bytes > 0;
    if (incomplete && all_.back().name == value.name) return add_piece(value, begin + value.offset);
    finish();
    StoredParameter& tensor = all_.emplace_back();
    tensor.name = value.name;
    tensor.dtype = dtype_from_name(value.type).value_or(DType::kUndefined);
    tensor.shape = value.dims;
    tensor.offset = begin + value.offset;
    tensor.bytes = value.bytes;
    if (tensor.shape == Shape{0} && bytes_of(tensor.dtype, 1) == tensor.bytes) tensor.shape.clear();
    const auto count = element_count(tensor.shape);
    needed_ = count ? bytes_of(tensor.dtype, *count) : std::nullopt;
    type_ = value.type;
  }

  std::vector<StoredParameter> run() {
    finish();
    return std::move(all_);
  }

 private:
  void add_piece(const Value& value, uint64_t offset) {
    StoredParameter& tensor = all_.back();
    if (value.bytes == 0) return;
    if (tensor.pieces.empty()) tensor.pieces.push_back({0, tensor.offset});
    tensor.pieces.push_back({tensor.bytes, offset});
    tensor.bytes += value.bytes;
  }

  void finish() {
    if (!all_.empty()) all_.back().check_elements(type_, needed_, file_size_);
  }

  uint64_t file_size_;
  std::vector<StoredParameter> all_;
  std::string type_;                // of the last parameter
  std::optional<uint64_t> needed_;  // bytes of the last parameter; no value: more than any file has
};

// The value at `begin`; none for the checksum.
Result<std::optional<Value>> value_at(const File& file, uint64_t begin, std::vector<std::byte>& window) {
  for (const uint64_t most : {kFirstWindowBytes, kWindowBytes}) {
    window.resize(static_cast<size_t>(std::min(most, file.size() - begin)));
    MSDUMP_CHECK_OK(file.read_at(begin, window));
    if (is_checksum(window)) return std::nullopt;
    Value value;
    if (ValueReader(window).read(value)) return value;
  }
  return fail(make_error(ErrorCode::kBadProtobuf, "what begins here is not a parameter").with_offset(begin));
}

Result<MsCkpt> read_values(const File& file) {
  MsCkpt checkpoint;
  Parameters parameters(file.size());
  std::vector<std::byte> window;
  uint64_t begin = 0;
  for (size_t values = 0; begin < file.size(); ++values) {
    if (values == kMostValues) return fail(ErrorCode::kTooLarge, "more than {} values", kMostValues);
    MSDUMP_TRY(const auto found, value_at(file, begin, window));
    if (!found) break;
    const Value& value = *found;
    if (value.tensor && value.type != "str") {
      parameters.take(value, begin);
    } else {
      ++checkpoint.other_values;
    }
    if (value.end > file.size() - begin) break;  // truncated, which is a problem of the last tensor
    begin += value.end;
  }
  checkpoint.tensors = parameters.run();
  return checkpoint;
}

}  // namespace

Result<MsCkpt> read_ms_ckpt(const File& file) { return in_file(read_values(file), file.path()); }

bool looks_like_ms_ckpt(std::span<const std::byte> head, uint64_t file_size) {
  Value value;
  return file_size > 0 && ValueReader(head).read(value) && !value.name.empty() && is_utf8(value.name);
}

}  // namespace msdump
