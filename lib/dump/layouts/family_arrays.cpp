#include <memory>
#include <utility>

#include "base/text.h"
#include "dump/layouts/family.h"
#include "dump/layouts/name_facts.h"
#include "dump/names/file_name.h"
#include "io/zip.h"
#include "npy/npy.h"

namespace msdump {

// .npy files: of MindSpore, with the operator in their names, of convert and msaccucmp, of torchair's FX graphs, and others.

namespace {

// The path of any other array is its name.
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

// True for an argument that is no tensor. torchair writes None, a text or a dtype as an array of objects or of text.
bool is_no_tensor(const Error& error, std::string_view name) {
  return error.code == ErrorCode::kUnsupportedDtype && parse_fx_file_name(name);
}

// True if a file of `stored` holds a copy of `original`: numpy has neither bfloat16 nor 4-bit integers.
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
    } else if (!take_ptdbg_name(file, facts)) {
      claim_foreign(file, facts);
    }
    return Claim::kByName;
  }

  bool needs_header(std::string_view name, const NameFacts& facts) const override {
    return facts.slot.empty() || parse_fx_file_name(name).has_value();
  }

  // Only the shape shows the end of a parameter's name (names/file_name.h).
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
};

}  // namespace

const Family& npy_family() {
  static const NpyFamily kFamily;
  return kFamily;
}

// .npz files of numpy: zip archives of .npy files, stored (savez) or deflated (savez_compressed). Each array is a parameter
// with the name of its file in the archive.

namespace {

constexpr std::string_view kMemberSuffix = ".npy";
constexpr size_t kMostMembers = 100'000;
constexpr uint64_t kUsualHeader = 1024, kLongestHeader = uint64_t{64} << 10;  // bytes
constexpr uint64_t kMostLongHeaders = uint64_t{64} << 20;                     // of a file, in bytes
constexpr uint64_t kMostInflated = uint64_t{256} << 20;                       // bytes in memory while they are read

class NpzReader {
 public:
  explicit NpzReader(const ZipFile& zip) : zip_(zip) {}

  Result<std::vector<StoredTensor>> run() {
    std::vector<StoredTensor> tensors;
    for (size_t entry = 0; entry < zip_.entries().size(); ++entry) {
      const std::string& name = zip_.entries()[entry].name;
      if (!name.ends_with(kMemberSuffix)) continue;
      StoredTensor tensor;
      tensor.io = Io::kParameter;
      tensor.slot = "0";
      tensor.op_name = name.substr(0, name.size() - kMemberSuffix.size());
      tensor.request.format_number = static_cast<int64_t>(Format::kND);
      if (Status read = describe_member(entry, tensor); !read) {
        if (read.error().code == ErrorCode::kUnsupportedDtype) continue;  // texts, objects
        tensor.problem = std::move(read).error();
      }
      if (tensors.size() == kMostMembers) return fail(ErrorCode::kTooLarge, "more than {} arrays", kMostMembers);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  Result<std::string> read_head(size_t entry) {
    MSDUMP_TRY(std::string head, zip_.read_head(entry, kUsualHeader));
    const auto header = npy::read_header(std::as_bytes(std::span(head)), zip_.entries()[entry].size);
    if (header || header.error().code != ErrorCode::kTooLarge) return head;
    long_headers_ += kLongestHeader;
    if (long_headers_ > kMostLongHeaders) return fail(ErrorCode::kTooLarge, "too many long headers");
    return zip_.read_head(entry, kLongestHeader);
  }

  Status describe_member(size_t entry, StoredTensor& tensor) {
    MSDUMP_TRY(ZipData data, zip_.data(entry));
    MSDUMP_TRY(const std::string head, read_head(entry));
    const auto bytes = std::as_bytes(std::span(head));
    MSDUMP_TRY(const npy::Header header, npy::read_header(bytes, data.size));
    tensor.bytes = tensor.request.bytes = header.data_bytes;
    tensor.request.dtype = header.dtype;
    tensor.request.shape = header.shape;
    tensor.big_endian = header.big_endian;
    tensor.fortran_order = header.fortran_order;
    tensor.offset = data.offset + (data.deflated ? 0 : header.data_offset);
    data.begin = header.data_offset;
    data.header_crc = crc32_of(bytes.first(static_cast<size_t>(header.data_offset)));
    if (data.deflated && data.size > kMostInflated) {
      return fail(make_error(ErrorCode::kTooLarge, "a compressed array of {}, at most {} are read",
                             human_bytes(data.size), human_bytes(kMostInflated))
                      .with_hint("numpy.savez writes it without compression"));
    }
    tensor.zip = std::make_shared<const ZipData>(std::move(data));
    return {};
  }

  const ZipFile& zip_;
  uint64_t long_headers_ = 0;
};

class NpzFamily final : public Family {
 public:
  std::string_view name() const override { return "npz"; }
  FileKind kind() const override { return FileKind::kNpz; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (!has_suffix(file.name, ".npz")) return Claim::kNo;
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    return Claim::kByName;
  }

  bool names_tensors(const NameFacts& /*facts*/) const override { return true; }

  Result<OpenedFile> open(File file, const OpenContext& /*context*/) const override {
    MSDUMP_TRY(const ZipFile zip, ZipFile::open(file));
    MSDUMP_TRY(std::vector<StoredTensor> tensors, in_file(NpzReader(zip).run(), file.path()));
    for (StoredTensor& tensor : tensors) {
      if (tensor.problem && tensor.problem->path.empty()) tensor.problem->path = file.path();
    }
    OpenedFile opened{std::move(file), FileKind::kNpz, {}, {}};
    opened.tensors = std::move(tensors);
    return opened;
  }
};

}  // namespace

const Family& npz_family() {
  static const NpzFamily kFamily;
  return kFamily;
}

// Raw files have elements and no header; the name describes them. MindSpore 1.0 to 1.2 writes them (.bin), msprobe's adump
// for dtypes that .npy lacks, and msdump convert.

namespace {

std::string_view last_component(std::string_view scope) { return scope.substr(scope.rfind('/') + 1); }

class RawBinFamily final : public Family {
 public:
  std::string_view name() const override { return "raw bin"; }
  FileKind kind() const override { return FileKind::kRaw; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    const auto parsed = parse_raw_bin_file_name(file.name);
    if (!parsed) return Claim::kNo;
    facts.op_name = file.arena.keep(parsed->op_name);
    // "Conv2D-op12" is of type Conv2D; a parameter ("conv1.weight") has no type of its own.
    const std::string_view last = last_component(facts.op_name);
    const size_t number = last.rfind("-op");
    const bool parameter = number == std::string_view::npos;
    facts.op_type = parameter ? "Parameter" : last.substr(0, number);
    facts.io = parameter ? Io::kParameter : parsed->io;
    facts.slot = parsed->slot;
    facts.dtype = parsed->dtype;
    facts.format = parsed->format;
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const auto parsed = parse_raw_bin_file_name(context.name);
    if (!parsed) return fail(make_error(ErrorCode::kInternal, "not a raw bin name").with_path(file.path()));
    StoredTensor tensor;
    tensor.io = parsed->io;
    tensor.slot = parsed->slot;
    tensor.bytes = tensor.request.bytes = file.size();
    tensor.request.dtype = parsed->dtype;
    // "shape_0" is a scalar. Without bytes it is read as empty, and reported (info/tree_facts.h).
    tensor.request.shape = parsed->shape.empty() && file.size() == 0 ? Shape{0} : parsed->shape;
    tensor.request.format_number = static_cast<int64_t>(parsed->format.value_or(Format::kND));
    OpenedFile opened{std::move(file), FileKind::kRaw, parsed->op_name, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }
};

// Raw files of a dtype that numpy lacks, whose shape statistic.csv has, and those of convert -t bin, whose name has it.
class RawFamily final : public Family {
 public:
  std::string_view name() const override { return "raw"; }
  FileKind kind() const override { return FileKind::kRaw; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (const auto converted = parse_converted_bin_name(file.name)) {
      take_converted_name(file, *converted, facts);
      return Claim::kByName;
    }
    const auto parsed = parse_raw_file_name(file.name);
    if (!parsed) return Claim::kNo;
    take_operator(parsed->op, facts);
    facts.io = parsed->io;
    facts.slot = parsed->slot;
    facts.format = parsed->format;
    facts.dtype = *parsed->dtype;
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    StoredTensor tensor;
    tensor.io = context.facts.io;
    tensor.slot = context.facts.slot;
    tensor.bytes = tensor.request.bytes = file.size();
    if (context.facts.dtype != DType::kUndefined) tensor.request.dtype = context.facts.dtype;
    if (const auto converted = parse_converted_bin_name(context.name)) {
      tensor.request.shape = converted->shape.value_or(Shape{static_cast<int64_t>(file.size())});
    }
    tensor.request.format_number = static_cast<int64_t>(context.facts.format.value_or(Format::kND));
    OpenedFile opened{std::move(file), FileKind::kRaw, {}, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }
};

}  // namespace

const Family& raw_family() {
  static const RawFamily kFamily;
  return kFamily;
}

const Family& raw_bin_family() {
  static const RawBinFamily kFamily;
  return kFamily;
}

}  // namespace msdump
