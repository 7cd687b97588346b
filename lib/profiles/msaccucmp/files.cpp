#include "profiles/msaccucmp/files.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr size_t kTimestampDigits = 16;

// The time stamp to sort by; anything but 16 digits sorts first.
std::string_view time_of(const IndexedFile& file) {
  const std::string_view text = file.facts.timestamp;
  return text.size() == kTimestampDigits && is_digits(text) ? text : std::string_view();
}

std::string named(const MsaccucmpSide& side, uint32_t file) {
  return std::string(side.side.index->files()[file].facts.op_name);
}

// Includes files without a tensor, and those whose tensors cannot be read.
std::set<uint32_t> files_of(const MsaccucmpSide& side) {
  std::set<uint32_t> files;
  for (const TensorRecord& tensor : *side.side.tensors) files.insert(tensor.file);
  const DumpIndex& index = *side.side.index;
  for (uint32_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kDumpFile || file.by_content) continue;
    if (side.selection == nullptr || side.selection->matches_file(index.identity_of(file))) files.insert(i);
  }
  return files;
}

// The last file of each operator by time, then by name.
std::vector<uint32_t> last_files(const MsaccucmpSide& side) {
  const auto& files = side.side.index->files();
  std::map<std::string_view, uint32_t> by_name;
  const auto before = [&](uint32_t left, uint32_t right) {
    if (time_of(files[left]) != time_of(files[right])) return time_of(files[left]) < time_of(files[right]);
    return natural_less(files[left].shown_name(), files[right].shown_name());
  };
  for (const uint32_t file : files_of(side)) {
    const auto [at, added] = by_name.try_emplace(files[file].facts.op_name, file);
    if (!added && before(at->second, file)) at->second = file;
  }
  std::vector<uint32_t> last;
  for (const auto& [name, file] : by_name) last.push_back(file);
  std::sort(last.begin(), last.end(), before);
  return last;
}

using Tensors = std::vector<const StoredTensor*>;

Tensors tensors_of(const OpenedFile& file, Io io) {
  Tensors tensors;
  for (const StoredTensor& tensor : file.tensors) {
    if (tensor.io == io) tensors.push_back(&tensor);
  }
  return tensors;
}

bool is_undefined(const StoredTensor& tensor) { return tensor.request.dtype == DType::kUndefined; }

// Without a dtype the tensor is bytes, without a shape a scalar.
Shape device_shape(const StoredTensor& tensor) {
  if (is_undefined(tensor)) return {static_cast<int64_t>(tensor.bytes)};
  return tensor.request.shape.value_or(Shape{});
}

std::string dtype_text(const StoredTensor& tensor) {
  switch (tensor.request.dtype.value_or(DType::kString)) {
    case DType::kUndefined: return "int8";
    case DType::kResource: return "int64";
    case DType::kBfloat16:
    case DType::kUint1:
    case DType::kHifloat8:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E5m2: return std::string(name_of(*tensor.request.dtype));
    case DType::kComplex32: return std::string(kMsaccucmpNaN);
    default: break;
  }
  const std::string_view name = numpy_name(tensor.request.dtype.value_or(DType::kString));
  const bool plain = name_of(tensor.request.dtype.value_or(DType::kString)) == name;
  return std::string(plain ? name : kMsaccucmpNaN);
}

Result<HostTensor> open_restored(const MsaccucmpSide& side, uint32_t file, FileKind container,
                                 const StoredTensor& wanted) {
  const auto open = [&](std::optional<Format> target) -> Result<HostTensor> {
    MSDUMP_TRY(File opened, File::open(side.side.index->path_of(side.side.index->files()[file])));
    StoredTensor tensor = wanted;
    tensor.request.shape = device_shape(tensor);
    if (is_undefined(tensor)) tensor.request.dtype = DType::kInt8;
    return HostTensor::open({std::move(opened), container, {}, {std::move(tensor)}}, 0, {target});
  };
  if (is_restored(wanted.request)) {
    auto restored = open(Format::kNCHW);
    if (restored && restored->plan().policy == PlanPolicy::kConverted) return restored;
  }
  return open(std::nullopt);
}

class FileComparison {
 public:
  FileComparison(const MsaccucmpSide& a, const MsaccucmpSide& b, const MsaccucmpFilePair& pair,
                 const CancelToken& cancel)
      : a_(a), b_(b), pair_(pair), cancel_(cancel) {
    name_ = pair.a != kNoFile ? named(a, pair.a) : named(b, pair.b);
    result_.rows.reserve(8);
  }

  Result<MsaccucmpOpRows> run() {
    if (pair_.a == kNoFile || pair_.b == kNoFile) {
      add_one_sided();
      return std::move(result_);
    }
    const IndexedFile &file_a = a_.side.index->files()[pair_.a], &file_b = b_.side.index->files()[pair_.b];
    auto opened_a = a_.side.index->open_tensors(file_a);
    auto opened_b = b_.side.index->open_tensors(file_b);
    if (!opened_a || !opened_b) {
      add_unreadable(!opened_a ? std::move(opened_a).error() : std::move(opened_b).error());
      return std::move(result_);
    }
    container_a_ = opened_a->container;
    container_b_ = opened_b->container;
    path_a_ = msaccucmp_path(a_.side.index->path_of(file_a));
    path_b_ = msaccucmp_path(b_.side.index->path_of(file_b));
    if (file_a.real_name.empty()) op_type_ = file_a.facts.op_type;
    std::vector<std::string> reasons;
    int64_t failed = 0;
    for (const Io io : {Io::kInput, Io::kOutput}) {
      const Tensors in_a = tensors_of(*opened_a, io), in_b = tensors_of(*opened_b, io);
      std::string reason = mismatch(io, in_a, in_b);
      if (reason.empty()) {
        for (size_t i = 0; i < in_a.size(); ++i) MSDUMP_CHECK_OK(compare(*in_a[i], *in_b[i]));
        continue;
      }
      failed += static_cast<int64_t>(std::max(in_a.size(), in_b.size()));
      reasons.push_back(std::move(reason));
    }
    if (reasons.size() == 2) {
      result_.add_not_compared(op_row(), fmt::format("{}", fmt::join(reasons, ",")));
    } else {
      result_.counts.left_out += failed;
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] MsaccucmpRow op_row() const {
    MsaccucmpRow row;
    if (pair_.a != kNoFile) row.npu_dump = name_;
    if (pair_.b != kNoFile) row.ground_truth = named(b_, pair_.b);
    return row;
  }

  void add_one_sided() {
    const std::string_view missing = pair_.a == kNoFile ? "my output" : "ground truth";
    result_.add_unmatched(op_row(),
                          fmt::format("[{}] There is no the {} dump file for the op \"{}\".", name_, missing, name_));
  }

  void add_unreadable(Error error) {
    result_.add_not_compared(op_row(), error.message);
    result_.counts.failures.add(std::move(error));
  }

  // Empty: the tensors can be compared one by one.
  [[nodiscard]] std::string mismatch(Io io, const Tensors& a, const Tensors& b) const {
    if (a.size() != b.size()) {
      return fmt::format("[{}] The number of {} does not match ({} vs {}).", name_, name_of(io), a.size(), b.size());
    }
    if (a.empty()) return fmt::format("[{0}] There is no {1}. Skip the {0}:{1}.", name_, name_of(io));
    for (size_t i = 0; i < a.size(); ++i) {
      const Shape of_a = device_shape(*a[i]), of_b = device_shape(*b[i]);
      if (of_a == of_b) continue;
      return fmt::format("[{0}] The shape does not match ({1} vs {2}) for {0}:{3}:{4}.", name_, msaccucmp_tuple(of_a),
                         msaccucmp_tuple(of_b), name_of(io), i);
    }
    return {};
  }

  // An error only when interrupted.
  Status compare(const StoredTensor& of_a, const StoredTensor& of_b) {
    MsaccucmpRow row = op_row();
    row.op_type = op_type_;
    row.dtype_a = dtype_text(of_a);
    row.dtype_b = dtype_text(of_b);
    row.address_a = msaccucmp_address(of_a.address);
    row.address_b = msaccucmp_address(of_b.address);
    row.tensor_index = fmt::format("{}:{}", name_, of_a.label());
    row.shape = msaccucmp_shape(device_shape(of_a));
    auto metrics = metrics_of(of_a, of_b);
    return result_.add(std::move(row), std::move(metrics));
  }

  [[nodiscard]] Result<MsaccucmpMetrics> metrics_of(const StoredTensor& of_a, const StoredTensor& of_b) const {
    MSDUMP_TRY(HostTensor a, open_restored(a_, pair_.a, container_a_, of_a));
    MSDUMP_TRY(HostTensor b, open_restored(b_, pair_.b, container_b_, of_b));
    if (a.plan().policy == PlanPolicy::kRaw || b.plan().policy == PlanPolicy::kRaw)
      return fail(ErrorCode::kUnsupportedDtype, "[{}] {} are bytes without a dtype.", name_, of_a.label());
    if (a.count() != b.count()) {
      return fail(ErrorCode::kShapeMismatch, "[{}_TENSOR] Shape mismatch after restore: ({},) vs ({},)", name_,
                  a.count(), b.count());
    }
    return msaccucmp_metrics({a, b, path_a_, path_b_, is_msaccucmp_scalar(device_shape(of_a))}, cancel_);
  }

  const MsaccucmpSide &a_, &b_;
  const MsaccucmpFilePair& pair_;
  const CancelToken& cancel_;
  std::string name_, op_type_{kMsaccucmpNaN}, path_a_, path_b_;
  FileKind container_a_ = FileKind::kDumpFile, container_b_ = FileKind::kDumpFile;
  MsaccucmpOpRows result_;
};

}  // namespace

std::vector<MsaccucmpFilePair> pair_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b) {
  if (a.side.index->files().size() == 1 && b.side.index->files().size() == 1) return {{0, 0}};
  std::vector<MsaccucmpFilePair> pairs;
  std::map<std::string_view, size_t> of_a;
  for (const uint32_t file : last_files(a)) {
    of_a.emplace(a.side.index->files()[file].facts.op_name, pairs.size());
    pairs.push_back({file, kNoFile});
  }
  for (const uint32_t file : last_files(b)) {
    const auto found = of_a.find(b.side.index->files()[file].facts.op_name);
    if (found == of_a.end()) {
      pairs.push_back({kNoFile, file});
    } else {
      pairs[found->second].b = file;
    }
  }
  return pairs;
}

Result<MsaccucmpOpRows> compare_dump_files(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                           const MsaccucmpFilePair& pair, const CancelToken& cancel) {
  return FileComparison(a, b, pair, cancel).run();
}

bool is_restored(const PlanRequest& tensor) {
  const size_t device = tensor.shape.value_or(Shape{}).size(), host = tensor.original_shape.value_or(Shape{}).size();
  const auto format = format_from_number(tensor.format_number & 0xFF);
  if (!format || tensor.sub_format > 1) return false;
  switch (*format) {
    case Format::kFractalNZ: return host >= 2 && host <= 4;
    case Format::kNC1HWC0:
    case Format::kFractalZ: return host == 4;
    case Format::kNHWC:
    case Format::kHWCN: return host == 4 && device == 4;
    default: return false;
  }
}

}  // namespace msdump
