// Raw .bin files of MindSpore 1.0 to 1.2: the elements and nothing else; the name says what they are.
#include "dump/family.h"
#include "dump/file_name.h"

namespace msdump {
namespace {

std::string last_component(std::string_view scope) { return std::string(scope.substr(scope.rfind('/') + 1)); }

class RawBinFamily final : public Family {
 public:
  std::string_view name() const override { return "raw bin"; }

  Claim claim(std::string_view file_name, Identity& identity) const override {
    const auto parsed = parse_raw_bin_file_name(file_name);
    if (!parsed) return Claim::kNo;
    identity.op_name = parsed->op_name;
    // "Conv2D-op12" is of type Conv2D; a parameter ("conv1.weight") has no type of its own.
    const std::string last = last_component(parsed->op_name);
    const size_t number = last.rfind("-op");
    identity.op_type = number == std::string::npos ? "Parameter" : last.substr(0, number);
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, std::string_view file_name) const override {
    const auto parsed = parse_raw_bin_file_name(file_name);
    if (!parsed) return fail(make_error(ErrorCode::kInternal, "not a raw bin name").with_path(file.path()));
    StoredTensor tensor;
    tensor.io = parsed->io;
    tensor.slot = parsed->slot;
    tensor.bytes = tensor.request.bytes = file.size();
    tensor.request.dtype = parsed->dtype;
    // "shape_0" is a scalar, but an empty vector would be written the same way.
    tensor.request.shape = parsed->shape.empty() && file.size() == 0 ? Shape{0} : parsed->shape;
    tensor.request.format_number = static_cast<int64_t>(parsed->format.value_or(Format::kND));
    OpenedFile opened{std::move(file), ContainerKind::kRawBin, parsed->op_name, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }

  bool recognises(std::span<const std::byte> /*head*/, uint64_t /*file_size*/) const override { return false; }
};

}  // namespace

const Family& raw_bin_family() {
  static const RawBinFamily kFamily;
  return kFamily;
}

}  // namespace msdump
