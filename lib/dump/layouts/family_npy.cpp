// .npy files: MindSpore's own, whose names carry the operator, those of convert and msaccucmp, those of torchair's FX
// graphs, and all others.
#include "base/text.h"
#include "dump/layouts/converted_facts.h"
#include "dump/layouts/family.h"
#include "dump/layouts/msprobe_facts.h"
#include "dump/layouts/sidecars.h"
#include "dump/names/converted_name.h"
#include "dump/names/file_name.h"
#include "dump/names/saved_name.h"
#include "npy/npy.h"

namespace msdump {
namespace {

// Any other array: its name is its path.
void claim_foreign(const FileContext& file, NameFacts& facts) {
  constexpr size_t kSuffixBytes = 4;
  const std::string_view stem = file.name.substr(0, file.name.size() - kSuffixBytes);
  facts.slot = "0";
  // msaccucmp's name.index.timestamp.npy
  const auto fields = split(stem, '.');
  if (fields.size() >= 3 && is_digits(fields.back()) && fields.back().size() >= 10 &&
      is_digits(fields[fields.size() - 2])) {
    facts.timestamp = fields.back();
    facts.slot = fields[fields.size() - 2];
    facts.op_name = stem.substr(0, static_cast<size_t>(facts.slot.data() - stem.data()) - 1);
    return;
  }
  facts.op_name = foreign_name(file, kSuffixBytes);
}

void take_fx_name(const FxFileName& name, NameFacts& facts) {
  facts.op_type = name.target;
  facts.op_name = name.node;
  facts.timestamp = name.timestamp;
  facts.io = name.io;
  facts.slot = name.slot;
}

// torchair writes every argument of a call: None, a text or a dtype as an array of objects or of text.
bool is_no_tensor(const Error& error, std::string_view name) {
  return error.code == ErrorCode::kUnsupportedDtype && parse_fx_file_name(name);
}

// Does a file of `stored` hold what was `original`? numpy has neither bfloat16 nor 4-bit integers.
bool is_wider_copy(DType original, DType stored) {
  return original != DType::kUndefined && original != stored && info(original).npy_dtype == stored;
}

class NpyFamily final : public Family {
 public:
  std::string_view name() const override { return "npy"; }
  FileKind kind() const override { return FileKind::kNpy; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (!has_suffix(file.name, ".npy")) return Claim::kNo;
    if (file.identity.tensor_data && take_msprobe_name(file, facts)) return Claim::kByName;
    if (const auto parsed = parse_npy_file_name(file.name)) {
      take_operator(parsed->op, facts);
      facts.io = facts.op_type == "Parameter" ? Io::kParameter : parsed->io;
      facts.slot = parsed->slot;
      facts.format = parsed->format;
      facts.dtype = parsed->dtype.value_or(DType::kUndefined);
    } else if (const auto converted = parse_converted_npy_name(file.name)) {
      take_converted_name(file, *converted, facts);
    } else if (const auto fx = parse_fx_file_name(file.name)) {
      take_fx_name(*fx, facts);
    } else {
      claim_foreign(file, facts);
    }
    return Claim::kByName;
  }

  bool needs_header(std::string_view name, const NameFacts& facts) const override {
    return facts.slot.empty() || parse_fx_file_name(name).has_value();
  }

  // Only the shape tells where the name of a parameter ends (converted_name.h).
  bool names_tensors(const NameFacts& facts) const override { return facts.slot.empty(); }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    if (!npy::has_magic(file.head()) && ascend_family().recognises(file.head(), file.size())) {
      return fail(make_error(ErrorCode::kBadNpy, "this is an Ascend dump file, not an .npy file")
                      .with_path(file.path())
                      .with_hint("without the suffix .npy it is converted like any other"));
    }
    auto read = npy::read_header(file);
    if (!read && is_no_tensor(read.error(), context.name)) return OpenedFile{std::move(file), FileKind::kNpy, {}, {}};
    MSDUMP_TRY(const npy::Header header, std::move(read));
    StoredTensor tensor;
    tensor.slot = "0";
    tensor.offset = header.data_offset;
    tensor.bytes = tensor.request.bytes = header.data_bytes;
    tensor.big_endian = header.big_endian;
    tensor.fortran_order = header.fortran_order;
    tensor.request.dtype = header.dtype;
    tensor.request.shape = header.shape;
    tensor.request.format_number = static_cast<int64_t>(Format::kND);
    const NameFacts& facts = context.facts;
    tensor.io = facts.io;
    if (!facts.slot.empty()) tensor.slot = facts.slot;
    const auto converted = facts.slot.empty() ? parse_converted_npy_name(context.name) : std::nullopt;
    if (converted) tensor.op_name = parameter_of(*converted, header.shape);
    if (facts.format) tensor.request.format_number = static_cast<int64_t>(*facts.format);
    const DType said = facts.dtype != DType::kUndefined ? facts.dtype : context.sidecars.dtype_of(context.name);
    if (is_wider_copy(said, header.dtype)) tensor.original_dtype = said;
    OpenedFile opened{std::move(file), FileKind::kNpy, {}, {}};
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
