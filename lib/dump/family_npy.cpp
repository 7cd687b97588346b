// .npy files, MindSpore's own (their names carry the operator) and anybody's.
#include "base/text.h"
#include "dump/family.h"
#include "dump/file_name.h"
#include "npy/npy.h"

namespace msdump {
namespace {

class NpyFamily final : public Family {
 public:
  std::string_view name() const override { return "npy"; }

  Claim claim(std::string_view file_name, Identity& identity) const override {
    if (suffix_of(file_name) != "npy") return Claim::kNo;
    if (const auto parsed = parse_npy_file_name(file_name)) {
      identity.op_type = parsed->op.op_type;
      identity.op_name = parsed->op.op_name;
      identity.task_id = parsed->op.task_id;
      identity.stream_id = parsed->op.stream_id;
      identity.timestamp = parsed->op.timestamp;
    }
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, std::string_view file_name) const override {
    if (!npy::has_magic(file.head()) && ascend_family().recognises(file.head(), file.size())) {
      return fail(make_error(ErrorCode::kBadNpy, "this is an Ascend dump file, not an .npy file")
                      .with_path(file.path())
                      .with_hint("without the suffix .npy it is converted like any other"));
    }
    MSDUMP_TRY(const npy::Header header, npy::read_header(file));
    StoredTensor tensor;
    tensor.slot = "0";
    tensor.offset = header.data_offset;
    tensor.bytes = tensor.request.bytes = header.data_bytes;
    tensor.big_endian = header.big_endian;
    tensor.fortran_order = header.fortran_order;
    tensor.request.dtype = header.dtype;
    tensor.request.shape = header.shape;
    tensor.request.format_number = static_cast<int64_t>(Format::kND);
    if (const auto name = parse_npy_file_name(file_name)) {
      tensor.io = name->io;
      tensor.slot = name->slot;
      if (name->format) tensor.request.format_number = static_cast<int64_t>(*name->format);
    }
    OpenedFile opened{std::move(file), ContainerKind::kNpy, {}, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }

  bool recognises(std::span<const std::byte> head, uint64_t /*file_size*/) const override {
    return npy::has_magic(head);
  }
};

}  // namespace

const Family& npy_family() {
  static const NpyFamily kFamily;
  return kFamily;
}

}  // namespace msdump
