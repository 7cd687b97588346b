// .npz files of numpy: zip archives of .npy files, stored (savez) or deflated (savez_compressed). Each is a parameter that is
// called as its file in the archive.
#include <memory>
#include <utility>

#include "base/text.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "io/zip/zip.h"
#include "npy/npy.h"

namespace msdump {
namespace {

constexpr std::string_view kMemberSuffix = ".npy";
constexpr size_t kMostMembers = 100'000;
constexpr uint64_t kUsualHeader = 1024, kLongestHeader = uint64_t{64} << 10;  // bytes
constexpr uint64_t kMostLongHeaders = uint64_t{64} << 20;                     // of a file, in bytes
constexpr uint64_t kMostInflated = uint64_t{256} << 20;                       // they are in memory while they are read

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

}  // namespace msdump
