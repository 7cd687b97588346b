#include "torch/dcp_metadata.h"

#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "torch/dtensor.h"
#include "torch/pickle.h"

namespace msdump::torch {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;
constexpr size_t kMostValues = 4'000'000, kMostTensors = 100'000;
constexpr size_t kLongestName = 1024;

class MetadataReader {
 public:
  explicit MetadataReader(const Pickle& pickle) : pickle_(pickle) {}

  Result<DcpMetadata> run() {
    if (!is_object(pickle_.root, "Metadata"))
      return fail(ErrorCode::kNotADump, "not the metadata of torch.distributed.checkpoint");
    const auto tensors = dict_in(pickle_.root, "state_dict_metadata");
    MSDUMP_CHECK_OK(read_storage(dict_in(pickle_.root, "storage_data")));
    for (size_t i = 1; i < tensors.size(); i += 2) {
      if (!is_object(tensors[i], "TensorStorageMetadata")) {
        ++result_.other_values;
        continue;
      }
      if (result_.tensors.size() == kMostTensors)
        return fail(ErrorCode::kTooLarge, "more than {} tensors", kMostTensors);
      DcpTensor& tensor = result_.tensors.emplace_back();
      const auto name = text(tensors[i - 1]);
      if (!name) return fail(ErrorCode::kBadHeader, "damaged metadata: a tensor without a name");
      tensor.name = *name;
      if (Status status = read_tensor(tensors[i], tensor); !status)
        tensor.problem = std::move(status).error().with_tensor(tensor.name);
    }
    return std::move(result_);
  }

 private:
  using Place = std::pair<std::string_view, std::optional<std::vector<int64_t>>>;

  [[nodiscard]] bool is_object(PickleRef ref, std::string_view type) const {
    return pickle_[ref].kind == PickleKind::kCall && class_of(pickle_, pickle_[ref]) == type;
  }

  // Keys and values; empty if there is no such dict.
  [[nodiscard]] std::span<const PickleRef> dict_in(PickleRef object, std::string_view name) const {
    const auto dict = attribute_of(pickle_, object, name);
    if (!dict || pickle_[*dict].kind != PickleKind::kDict) return {};
    return pickle_[*dict].items;
  }

  [[nodiscard]] std::optional<std::string_view> text(std::optional<PickleRef> ref) const {
    if (!ref || pickle_[*ref].kind != PickleKind::kText || pickle_[*ref].text.size() > kLongestName)
      return std::nullopt;
    return pickle_[*ref].text;
  }

  [[nodiscard]] std::optional<uint64_t> number(std::optional<PickleRef> ref) const {
    if (!ref || pickle_[*ref].kind != PickleKind::kInt || pickle_[*ref].number < 0) return std::nullopt;
    return static_cast<uint64_t>(pickle_[*ref].number);
  }

  [[nodiscard]] std::optional<std::vector<int64_t>> integers(PickleRef object, std::string_view name) const {
    const auto ref = attribute_of(pickle_, object, name);
    return ref ? integers_of(pickle_, *ref, kMaxRank) : std::nullopt;
  }

  Status read_storage(std::span<const PickleRef> items) {
    for (size_t i = 1; i < items.size(); i += 2) {
      const auto name = text(attribute_of(pickle_, items[i - 1], "fqn"));
      const auto file = text(attribute_of(pickle_, items[i], "relative_path"));
      const auto offset = number(attribute_of(pickle_, items[i], "offset"));
      const auto bytes = number(attribute_of(pickle_, items[i], "length"));
      if (!name || !file || !offset || !bytes) continue;
      storage_[{*name, integers(items[i - 1], "offset")}] = {std::string(*file), *offset, *bytes};
    }
    return {};
  }

  Status read_tensor(PickleRef object, DcpTensor& tensor) const {
    const auto bad = [](std::string_view what) { return fail(ErrorCode::kBadHeader, "damaged metadata: {}", what); };
    const auto shape = integers(object, "size");
    if (!shape) return bad("a tensor without a size");
    tensor.shape = *shape;
    const auto properties = attribute_of(pickle_, object, "properties");
    if (!properties || pickle_[*properties].kind != PickleKind::kCall) return bad("a tensor without properties");
    // __getstate__ gives (dtype, layout, ..).
    const auto& state = pickle_[pickle_[*properties].state].items;
    if (state.empty() || pickle_[state[0]].kind != PickleKind::kGlobal) return bad("a tensor without a dtype");
    constexpr std::string_view kPackage = "torch.";
    std::string_view dtype = pickle_.global_of(pickle_[state[0]]);
    if (!dtype.starts_with(kPackage)) return bad("a tensor without a dtype");
    dtype.remove_prefix(kPackage.size());
    tensor.dtype_text = dtype;
    tensor.dtype = dtype_spelled(dtype, &DTypeTraits::torch).value_or(DType::kUndefined);
    if (tensor.dtype == DType::kUndefined) return fail(ErrorCode::kUnsupportedDtype, "unsupported: {}", excerpt(dtype));
    const auto chunks = attribute_of(pickle_, object, "chunks");
    if (!chunks || pickle_[*chunks].kind != PickleKind::kList) return bad("a tensor without chunks");
    for (const PickleRef ref : pickle_[*chunks].items) {
      const auto begin = integers(ref, "offsets"), size = integers(ref, "sizes");
      if (!begin || !size || begin->size() != shape->size() || size->size() != shape->size())
        return bad("a chunk without offsets and sizes");
      for (size_t axis = 0; axis < shape->size(); ++axis) {
        if ((*begin)[axis] > (*shape)[axis] || (*size)[axis] > (*shape)[axis] - (*begin)[axis])
          return bad("a chunk outside of its tensor");
      }
      auto found = storage_.find({tensor.name, *begin});
      if (found == storage_.end() && pickle_[*chunks].items.size() == 1)
        found = storage_.find({tensor.name, std::nullopt});
      tensor.chunks.push_back({*begin, *size, found == storage_.end() ? std::nullopt : std::optional(found->second)});
    }
    return {};
  }

  const Pickle& pickle_;
  DcpMetadata result_;
  std::map<Place, DcpStorage> storage_;
};

Result<DcpMetadata> read_metadata(const File& file) {
  MSDUMP_TRY(const LargeText text, read_large_text(file, kMostBytes, "the metadata of a checkpoint"));
  MSDUMP_TRY(const Pickle pickle, parse_pickle(std::as_bytes(std::span(text.view())), 0, kMostValues));
  return MetadataReader(pickle).run();
}

}  // namespace

Result<DcpMetadata> read_dcp_metadata(const File& file) { return in_file(read_metadata(file), file.path()); }

}  // namespace msdump::torch
