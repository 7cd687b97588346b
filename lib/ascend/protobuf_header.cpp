#include "ascend/protobuf_header.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include "dump_data.pb.h"

namespace msdump::ascend {
namespace {

namespace io = google::protobuf::io;
using Wire = google::protobuf::internal::WireFormatLite;

// Together with kMaxTensors and kMaxRank, bounds on the memory for a hostile header. Usual entries have a few hundred bytes,
// the longest attributes (FFTS+ slices) some hundred KiB.
constexpr int kMaxRestBytes = 4 << 20;   // of all fields other than tensors
constexpr int kMaxEntryBytes = 1 << 20;  // of one tensor, without its data
constexpr size_t kMaxAttributes = 4096;

enum Field : int {
  kTimeField = 2,
  kOutputField = 3,
  kInputField = 4,
  kBufferField = 5,
  kNameField = 6,
  kAttributeField = 7,
  kSpaceField = 8,
};
// `data` inside OpOutput, OpInput, OpBuffer, Workspace.
int data_field(int field) { return field == kOutputField ? 5 : field == kInputField ? 4 : 2; }

// A range of a file as a protobuf stream. Skipping reads nothing, so tensor bytes inside the message are never read.
class FileStream final : public io::ZeroCopyInputStream {
 public:
  FileStream(const File& file, uint64_t begin, uint64_t end)
      : file_(file), position_(begin), begin_(begin), end_(end) {}

  bool Next(const void** data, int* size) override {
    const auto head = file_.head();
    if (position_ >= end_) return false;
    if (position_ < head.size()) {
      const uint64_t stop = std::min<uint64_t>(head.size(), end_);
      *data = head.data() + position_;
      *size = static_cast<int>(stop - position_);
      position_ = stop;
      return true;
    }
    buffer_.resize(static_cast<size_t>(std::min<uint64_t>(end_ - position_, size_t{64} << 10)));
    Status read = file_.read_at(position_, buffer_);
    if (!read) {
      failure_ = std::move(read).error();
      return false;
    }
    *data = buffer_.data();
    *size = static_cast<int>(buffer_.size());
    position_ += buffer_.size();
    return true;
  }
  void BackUp(int count) override { position_ -= static_cast<uint64_t>(count); }
  bool Skip(int count) override {
    const bool inside = static_cast<uint64_t>(count) <= end_ - position_;
    position_ = inside ? position_ + static_cast<uint64_t>(count) : end_;
    return inside;
  }
  int64_t ByteCount() const override { return static_cast<int64_t>(position_ - begin_); }

  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  const File& file_;
  uint64_t position_, begin_, end_;
  std::vector<std::byte> buffer_;
  std::optional<Error> failure_;
};

struct InlineData {
  uint64_t offset = 0, size = 0;
};

class HeaderScanner {
 public:
  HeaderScanner(const File& file, uint64_t begin, uint64_t end)
      : stream_(file, begin, end), input_(&stream_), begin_(begin), bytes_(end - begin) {
    input_.SetTotalBytesLimit(std::numeric_limits<int>::max());
  }

  Result<DumpFile> run() {
    std::string rest;  // fields other than tensors
    while (const uint32_t tag = input_.ReadTag()) {
      const int field = Wire::GetTagFieldNumber(tag);
      const bool tensor =
          field == kOutputField || field == kInputField || field == kBufferField || field == kSpaceField;
      if (is_group(tag)) return fail(broken("a group, which DumpData never has"));
      if (tensor && Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED) {
        MSDUMP_CHECK_OK(read_tensor(field));
      } else {
        MSDUMP_CHECK_OK(read_other_field(tag, field, rest));
      }
    }
    if (stream_.failure()) return fail(*stream_.failure());
    if (!input_.ConsumedEntireMessage() || static_cast<uint64_t>(input_.CurrentPosition()) != bytes_) {
      return fail(broken("a damaged field"));
    }
    pb::DumpData data;
    if (!data.ParseFromString(rest)) return fail(broken("a damaged field"));
    dump_.op_name = data.op_name();
    dump_.dump_time_us = data.dump_time();
    for (const pb::OpAttr& attribute : data.attr()) dump_.attributes.push_back({attribute.name(), attribute.value()});
    std::stable_sort(dump_.tensors.begin(), dump_.tensors.end(),
                     [](const DumpTensor& a, const DumpTensor& b) { return a.section < b.section; });
    return std::move(dump_);
  }

 private:
  static bool is_group(uint32_t tag) {
    return Wire::GetTagWireType(tag) == Wire::WIRETYPE_START_GROUP ||
           Wire::GetTagWireType(tag) == Wire::WIRETYPE_END_GROUP;
  }

  Error broken(std::string_view what) {
    if (stream_.failure()) return *stream_.failure();
    return make_error(ErrorCode::kBadProtobuf, "header is not a valid protobuf: {}", what).with_offset(position());
  }
  Error too_large(std::string_view what) {
    return make_error(ErrorCode::kTooLarge, "header has more {} than any operator", what).with_offset(position());
  }
  uint64_t position() { return begin_ + static_cast<uint64_t>(input_.CurrentPosition()); }

  // A field other than a tensor. Unknown fields are dropped, because they would take many times their bytes.
  Status read_other_field(uint32_t tag, int field, std::string& rest) {
    const uint64_t begin = position();
    std::string bytes;
    {
      io::StringOutputStream stream(&bytes);
      io::CodedOutputStream output(&stream);
      MSDUMP_CHECK_OK(keep_field(tag, output, kMaxRestBytes - rest_bytes_, "bytes in fields other than tensors"));
    }
    rest_bytes_ += static_cast<int>(bytes.size());
    if (field == kAttributeField && ++attributes_ > kMaxAttributes)
      return fail(too_large("attributes").with_offset(begin));
    if (field == kTimeField || field == kNameField || field == kAttributeField) rest += bytes;
    return {};
  }

  // Parses an OpInput, OpOutput, OpBuffer or Workspace without `data`, which is only located.
  Status read_tensor(int field) {
    if (dump_.tensors.size() >= kMaxTensors) return fail(too_large("tensors"));
    int length = 0;
    if (!input_.ReadVarintSizeAsInt(&length)) return fail(broken("a length that is too large"));
    if (length > input_.BytesUntilLimit() && input_.BytesUntilLimit() >= 0) return fail(broken("length past its end"));
    if (position() + static_cast<uint64_t>(length) > begin_ + bytes_) return fail(broken("length past its end"));
    const auto limit = input_.PushLimit(length);
    std::string message;
    InlineData inline_data;
    MSDUMP_CHECK_OK(strip_data(data_field(field), message, inline_data));
    input_.PopLimit(limit);
    return add(field, message, inline_data);
  }

  Status strip_data(int data_number, std::string& message, InlineData& inline_data) {
    io::StringOutputStream message_stream(&message);
    io::CodedOutputStream output(&message_stream);
    while (const uint32_t tag = input_.ReadTag()) {
      if (is_group(tag)) return fail(broken("a group, which DumpData never has"));
      if (tag == Wire::MakeTag(data_number, Wire::WIRETYPE_LENGTH_DELIMITED)) {
        int length = 0;
        if (!input_.ReadVarintSizeAsInt(&length)) return fail(broken("a length that is too large"));
        inline_data = {position(), static_cast<uint64_t>(length)};
        if (!input_.Skip(length)) return fail(broken("tensor bytes cut off"));
      } else {
        MSDUMP_CHECK_OK(keep_field(tag, output, kMaxEntryBytes, "bytes in one tensor's entry"));
      }
    }
    if (!input_.ConsumedEntireMessage()) return fail(broken("a damaged field"));
    return {};
  }

  // Copies a field to `output`, up to `limit` bytes in all. Checks the length before reading.
  Status keep_field(uint32_t tag, io::CodedOutputStream& output, int limit, std::string_view what) {
    if (Wire::GetTagWireType(tag) != Wire::WIRETYPE_LENGTH_DELIMITED) {
      if (!Wire::SkipField(&input_, tag, &output)) return fail(broken("a damaged field"));
    } else {
      int length = 0;
      if (!input_.ReadVarintSizeAsInt(&length)) return fail(broken("a length that is too large"));
      if (position() + static_cast<uint64_t>(length) > begin_ + bytes_) return fail(broken("length past its end"));
      if (length > limit - output.ByteCount()) return fail(too_large(what));
      std::string bytes;
      if (!input_.ReadString(&bytes, length)) return fail(broken("cut inside a field"));
      output.WriteVarint32(tag);
      output.WriteVarint32(static_cast<uint32_t>(length));
      output.WriteString(bytes);
    }
    if (output.ByteCount() > limit) return fail(too_large(what));
    return {};
  }

  template <class Message>
  Result<Message> parse(const std::string& bytes) {
    Message message;
    if (!message.ParseFromString(bytes)) return fail(broken("a damaged field"));
    return message;
  }

  // More than kMaxRank dimensions are a problem of the tensor and are dropped.
  static std::optional<Shape> shape_of(bool present, const pb::Shape& dims, std::string_view what, DumpTensor& tensor) {
    if (!present) return std::nullopt;
    if (static_cast<size_t>(dims.dim_size()) > kMaxRank) {
      tensor.problem =
          make_error(ErrorCode::kShapeMismatch, "{} of rank {}, more than {}", what, dims.dim_size(), kMaxRank);
      return std::nullopt;
    }
    Shape shape;
    shape.reserve(static_cast<size_t>(dims.dim_size()));
    for (const uint64_t dim : dims.dim()) shape.push_back(dim_from_file(dim));
    return shape;
  }

  template <class Message>
  static void fill(DumpTensor& tensor, const Message& message) {
    tensor.dtype_number = message.data_type();
    tensor.dtype = dtype_from_proto(message.data_type());
    tensor.format_number = message.format();
    tensor.sub_format = message.sub_format();
    tensor.size = message.size();
    tensor.address = message.address();
    tensor.original_shape = shape_of(message.has_original_shape(), message.original_shape(), "original shape", tensor);
    tensor.shape = shape_of(message.has_shape(), message.shape(), "shape", tensor);
  }

  static void fill_original(DumpTensor& tensor, const pb::OriginalOp& original) {
    tensor.original_format = original.format();
    if (original.name().size() > kMaxOriginalName) return;
    tensor.original_op = original.name();
    tensor.original_output = original.output_index();
  }

  Status add(int field, const std::string& bytes, const InlineData& inline_data) {
    DumpTensor tensor;
    if (field == kOutputField) {
      MSDUMP_TRY(const pb::OpOutput message, parse<pb::OpOutput>(bytes));
      tensor.section = Section::kOutput;
      fill(tensor, message);
      if (message.has_original_op()) fill_original(tensor, message.original_op());
    } else if (field == kInputField) {
      MSDUMP_TRY(const pb::OpInput message, parse<pb::OpInput>(bytes));
      tensor.section = Section::kInput;
      fill(tensor, message);
    } else if (field == kBufferField) {
      MSDUMP_TRY(const pb::OpBuffer message, parse<pb::OpBuffer>(bytes));
      tensor.section = Section::kBuffer;
      tensor.dtype = DType::kUndefined;
      tensor.size = message.size();
    } else {
      MSDUMP_TRY(const pb::Workspace message, parse<pb::Workspace>(bytes));
      tensor.section = Section::kSpace;
      tensor.dtype = DType::kUndefined;
      tensor.size = message.size();
    }
    if (inline_data.size > 0) {
      tensor.offset = inline_data.offset;
      tensor.size = inline_data.size;
    }
    tensor.slot = next_slot_[static_cast<size_t>(tensor.section)]++;
    dump_.tensors.push_back(std::move(tensor));
    return {};
  }

  FileStream stream_;
  io::CodedInputStream input_;
  uint64_t begin_, bytes_;
  DumpFile dump_;
  int next_slot_[4] = {0, 0, 0, 0};
  int rest_bytes_ = 0;  // read in fields other than tensors
  size_t attributes_ = 0;
};

}  // namespace

Result<DumpFile> read_protobuf_header(const File& file, uint64_t begin, uint64_t end) {
  if (end - begin > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    return fail(ErrorCode::kTooLarge, "a protobuf message of {} bytes; protobuf stops at 2 GiB", end - begin);
  }
  // libprotobuf would also report damaged input on stderr.
  [[maybe_unused]] static const bool silenced = (google::protobuf::SetLogHandler(nullptr), true);
  return HeaderScanner(file, begin, end).run();
}

}  // namespace msdump::ascend
