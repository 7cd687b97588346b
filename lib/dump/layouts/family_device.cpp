#include "ascend/atb_tensor.h"
#include "ascend/dump_file.h"
#include "ascend/opdebug.h"
#include "base/text.h"
#include "dump/layouts/family.h"
#include "dump/layouts/name_facts.h"
#include "dump/names/file_name.h"

namespace msdump {

// Ascend dump files, and overflow records, which are dump files, too.

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
};

}  // namespace

const Family& ascend_family() {
  static const AscendFamily kFamily;
  return kFamily;
}

// Tensors of ATB operators, dumped by msprobe. The folders name the operator:
//   atb_dump_data/data/DEVICE_PID/RUN/5_Prefill_layer/0_Attention/before/intensor0.bin

namespace {

// True for "5_Prefill_layer": a number and a name.
bool is_operator_folder(std::string_view part) {
  const size_t mark = part.find('_');
  return mark != std::string_view::npos && is_digits(part.substr(0, mark)) && !is_digits(part.substr(mark + 1)) &&
         mark + 1 < part.size();
}

// The operator whose before/ or after/ is `folder`: "5_Prefill_layer/0_Attention".
std::string_view operator_of(std::string_view folder) {
  const size_t end = folder.rfind('/');
  if (end == std::string_view::npos) return {};
  folder = folder.substr(0, end);
  size_t begin = folder.size();
  while (begin > 0) {
    const size_t last = begin == folder.size() ? begin : begin - 1;  // without the slash
    const size_t slash = last == 0 ? std::string_view::npos : folder.rfind('/', last - 1);
    const size_t first = slash == std::string_view::npos ? 0 : slash + 1;
    if (!is_operator_folder(folder.substr(first, last - first))) break;
    begin = first;
  }
  return folder.substr(begin);
}

class AtbFamily final : public Family {
 public:
  std::string_view name() const override { return "ATB tensor"; }
  FileKind kind() const override { return FileKind::kAtbTensor; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    constexpr std::string_view kInput = "intensor", kOutput = "outtensor", kSuffix = ".bin";
    const bool input = file.name.starts_with(kInput);
    if (!file.name.ends_with(kSuffix) || !(input || file.name.starts_with(kOutput))) return Claim::kNo;
    std::string_view slot = file.name.substr((input ? kInput : kOutput).size());
    slot.remove_suffix(kSuffix.size());
    if (!is_digits(slot)) return Claim::kNo;
    facts.io = input ? Io::kInput : Io::kOutput;
    facts.slot = slot;
    facts.op_name = operator_of(file.folder);
    const std::string_view last = facts.op_name.substr(facts.op_name.rfind('/') + 1);
    facts.op_type = last.substr(last.find('_') + 1);
    return Claim::kByName;
  }

  // A file that only refers to another one holds no tensor.
  bool needs_header(std::string_view /*name*/, const NameFacts& /*facts*/) const override { return true; }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    MSDUMP_TRY(const ascend::AtbTensor tensor, ascend::read_atb_tensor(file));
    OpenedFile opened{std::move(file), FileKind::kAtbTensor, {}, {}};
    if (!tensor.same_as.empty()) return opened;
    StoredTensor stored;
    stored.io = context.facts.io;
    stored.slot = context.facts.slot;
    stored.offset = tensor.offset;
    stored.bytes = stored.request.bytes = tensor.bytes;
    stored.request.dtype = tensor.dtype;
    stored.request.dtype_number = tensor.dtype_number;
    stored.request.format_number = tensor.format_number;
    stored.request.shape = tensor.shape;
    stored.problem = tensor.problem;
    opened.tensors.push_back(std::move(stored));
    return opened;
  }
};

}  // namespace

const Family& atb_family() {
  static const AtbFamily kFamily;
  return kFamily;
}

}  // namespace msdump
