// Ascend dump files, and the overflow records that are stored as dump files.
#include "ascend/dump_file.h"
#include "ascend/ffts.h"
#include "ascend/opdebug.h"
#include "dump/layouts/converted_facts.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

Io io_of(ascend::Section section) {
  switch (section) {
    case ascend::Section::kInput: return Io::kInput;
    case ascend::Section::kOutput: return Io::kOutput;
    case ascend::Section::kBuffer: return Io::kBuffer;
    case ascend::Section::kSpace: return Io::kSpace;
  }
  return Io::kOutput;
}

StoredTensor stored_tensor(const ascend::DumpTensor& tensor) {
  StoredTensor stored;
  stored.io = io_of(tensor.section);
  stored.slot = std::to_string(tensor.slot);
  stored.offset = tensor.offset;
  stored.bytes = tensor.size;
  stored.address = tensor.address;
  stored.request.dtype = tensor.dtype;
  stored.request.dtype_number = tensor.dtype_number;
  stored.request.format_number = tensor.format_number;
  stored.request.sub_format = tensor.sub_format;
  stored.request.shape = tensor.shape;
  stored.request.original_shape = tensor.original_shape;
  if (tensor.original_format) stored.request.original_format = format_from_number(*tensor.original_format);
  stored.request.bytes = tensor.size;
  stored.original_op = tensor.original_op;
  stored.original_output = tensor.original_output;
  stored.problem = tensor.problem;
  return stored;
}

class AscendFamily final : public Family {
 public:
  std::string_view name() const override { return "Ascend dump file"; }
  FileKind kind() const override { return FileKind::kDumpFile; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (const auto parsed = parse_dump_file_name(file.name)) {
      take_operator(*parsed, facts);
      return Claim::kByName;
    }
    return is_known_other_suffix(suffix_of(file.name)) ? Claim::kNo : Claim::kByContent;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const std::string_view file_name = context.name;
    MSDUMP_TRY(ascend::DumpFile dump, ascend::read_dump_file(file));
    MSDUMP_CHECK_OK(in_file(ascend::apply_thread_slices(dump, file_name), file.path()));
    OpenedFile opened{std::move(file), FileKind::kDumpFile, dump.op_name, {}};
    if (ascend::is_opdebug_name(file_name)) opened.container = FileKind::kOpdebug;
    for (const ascend::DumpTensor& tensor : dump.tensors) opened.tensors.push_back(stored_tensor(tensor));
    return opened;
  }

  bool recognises(std::span<const std::byte> head, uint64_t file_size) const override {
    return ascend::looks_like_dump_file(head, file_size);
  }
};

}  // namespace

const Family& ascend_family() {
  static const AscendFamily kFamily;
  return kFamily;
}

}  // namespace msdump
