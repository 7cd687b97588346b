#include "profiles/msaccucmp/result.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/dump_index.h"

namespace msdump {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

void add(std::string& line, std::string_view field) { append_csv_field(line, field, kLineEnd); }

std::string joined(const Shape& shape, std::string_view separator) {
  std::string text;
  for (const int64_t dim : shape) text += fmt::format("{}{}", text.empty() ? "" : separator, dim);
  return text;
}

}  // namespace

std::string msaccucmp_header(const MsaccucmpColumns& columns) {
  std::string line;
  for (const std::string_view title : {"Index", "OpType", "NPUDump", "DataType"}) add(line, title);
  if (columns.address_a) add(line, "Address");
  for (const std::string_view title : {"GroundTruth", "DataType"}) add(line, title);
  if (columns.address_b) add(line, "Address");
  for (const std::string_view title : {"TensorIndex", "Shape"}) add(line, title);
  for (const std::string_view algorithm : kMsaccucmpAlgorithms) add(line, algorithm);
  add(line, "CompareFailReason");
  return line.append(kLineEnd);
}

std::string msaccucmp_line(const MsaccucmpColumns& columns, size_t index, const MsaccucmpRow& row) {
  std::string line = std::to_string(index);
  for (const std::string* const field : {&row.op_type, &row.npu_dump, &row.dtype_a}) add(line, *field);
  if (columns.address_a) add(line, row.address_a);
  for (const std::string* const field : {&row.ground_truth, &row.dtype_b}) add(line, *field);
  if (columns.address_b) add(line, row.address_b);
  for (const std::string* const field : {&row.tensor_index, &row.shape}) add(line, *field);
  for (const std::string& value : row.metrics.values) add(line, value);
  add(line, fmt::format("{}", fmt::join(row.metrics.reasons, ",")));
  return line.append(kLineEnd);
}

std::string msaccucmp_shape(const Shape& shape) { return "[" + joined(shape, ",") + "]"; }
std::string msaccucmp_tuple(const Shape& shape) { return "(" + joined(shape, ", ") + ")"; }

std::string msaccucmp_path(const std::string& path) {
  const std::filesystem::path given(path);
  std::error_code error;
  const auto folder = std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", error);
  return error ? path : (folder / given.filename()).string();
}

std::string msaccucmp_address(uint64_t address) {
  return address == 0 ? std::string(kMsaccucmpNaN) : std::to_string(address);
}

MsaccucmpCounts& MsaccucmpCounts::operator+=(MsaccucmpCounts&& more) {
  rows += more.rows;
  unmatched += more.unmatched;
  not_compared += more.not_compared;
  left_out += more.left_out;
  beyond += more.beyond;
  failures.add(std::move(more.failures));
  return *this;
}

void MsaccucmpOpRows::add_unmatched(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++counts.unmatched;
}

void MsaccucmpOpRows::add_not_compared(MsaccucmpRow row, std::string reason) {
  row.metrics = no_msaccucmp_metrics(std::move(reason));
  rows.push_back(std::move(row));
  ++counts.not_compared;
}

Status MsaccucmpOpRows::add(MsaccucmpRow row, Result<MsaccucmpMetrics>&& metrics) {
  if (metrics) {
    row.metrics = std::move(*metrics);
    if (!row.metrics.within_limits()) ++counts.beyond;
    rows.push_back(std::move(row));
    return {};
  }
  Error error = std::move(metrics).error();
  if (error.code == ErrorCode::kCancelled) return fail(std::move(error));
  add_not_compared(std::move(row), error.message);
  if (!error.path.empty()) counts.failures.add(std::move(error));
  return {};
}

namespace {

constexpr size_t kTimestampDigits = 16;

// The time stamp to sort by; anything but 16 digits sorts first.
std::string_view time_of(const IndexedFile& file) {
  const std::string_view text = file.facts.timestamp;
  return text.size() == kTimestampDigits && is_digits(text) ? text : std::string_view();
}

std::string named(const MsaccucmpSide& side, FileId file) {
  return std::string(side.side.index->files()[file].facts.op_name);
}

// Includes files without a tensor, and those whose tensors cannot be read.
std::set<FileId> files_of(const MsaccucmpSide& side) {
  std::set<FileId> files;
  for (const TensorRecord& tensor : *side.side.tensors) files.insert(tensor.file);
  const DumpIndex& index = *side.side.index;
  for (FileId i{0}; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kDumpFile || file.by_content) continue;
    if (side.selection == nullptr || side.selection->matches_file(index.identity_of(file))) files.insert(i);
  }
  return files;
}

// The last file of each operator by time, then by name.
std::vector<FileId> last_files(const MsaccucmpSide& side) {
  const auto& files = side.side.index->files();
  std::map<std::string_view, FileId> by_name;
  const auto before = [&](FileId left, FileId right) {
    if (time_of(files[left]) != time_of(files[right])) return time_of(files[left]) < time_of(files[right]);
    return natural_less(files[left].shown_name(), files[right].shown_name());
  };
  for (const FileId file : files_of(side)) {
    const auto [at, added] = by_name.try_emplace(files[file].facts.op_name, file);
    if (!added && before(at->second, file)) at->second = file;
  }
  std::vector<FileId> last;
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

// A tensor without a dtype is bytes, one without a shape a scalar.
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

Result<HostTensor> open_restored(const MsaccucmpSide& side, FileId file, FileKind container,
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
    name_ = pair.a != kNoId ? named(a, pair.a) : named(b, pair.b);
    result_.rows.reserve(8);
  }

  Result<MsaccucmpOpRows> run() {
    if (pair_.a == kNoId || pair_.b == kNoId) {
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
    if (pair_.a != kNoId) row.npu_dump = name_;
    if (pair_.b != kNoId) row.ground_truth = named(b_, pair_.b);
    return row;
  }

  void add_one_sided() {
    const std::string_view missing = pair_.a == kNoId ? "my output" : "ground truth";
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
  if (a.side.index->files().size() == 1 && b.side.index->files().size() == 1) return {{FileId(0), FileId(0)}};
  std::vector<MsaccucmpFilePair> pairs;
  std::map<std::string_view, size_t> of_a;
  for (const FileId file : last_files(a)) {
    of_a.emplace(a.side.index->files()[file].facts.op_name, pairs.size());
    pairs.push_back({file, kNoId});
  }
  for (const FileId file : last_files(b)) {
    const auto found = of_a.find(b.side.index->files()[file].facts.op_name);
    if (found == of_a.end()) {
      pairs.push_back({kNoId, file});
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

namespace {

struct OpenedTensor {
  HostTensor tensor;
  uint64_t address = 0;
};

Result<OpenedTensor> open_tensor(const MsaccucmpSide& side, const TensorRecord& record) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(*side.side.index, record, {}));
  OpenedTensor opened{std::move(tensor), 0};
  const IndexedFile& file = side.side.index->files()[record.file];
  if (file.kind != FileKind::kDumpFile) return opened;
  MSDUMP_TRY(const OpenedFile holder, side.side.index->open_tensor(file, record.item));
  opened.address = holder.tensors.front().address;
  return opened;
}

std::string dtype_text(const HostTensor& tensor) { return std::string(numpy_name(info(tensor.dtype()).npy_dtype)); }

class TensorComparison {
 public:
  TensorComparison(const MsaccucmpSide& a, const MsaccucmpSide& b, const Pairing& pairing, const CancelToken& cancel)
      : a_(a), b_(b), pairing_(pairing), cancel_(cancel) {}

  Result<MsaccucmpOpRows> run(const std::vector<TensorId>& tensors) {
    for (const TensorId tensor : tensors) {
      const TensorPair& pair = pairing_.tensors[tensor];
      const OpPair& op = pairing_.operators[pair.op];
      if (pair.a == kNoId && op.a != kNoId) {
        ++result_.counts.left_out;  // the tool looks only at the candidate's tensors
        continue;
      }
      MsaccucmpRow row = op_row(op);
      if (pair.a == kNoId) {
        add_reference_only(std::move(row));
        break;
      }
      MSDUMP_CHECK_OK(add(pair, std::move(row)));
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] MsaccucmpRow op_row(const OpPair& op) const {
    MsaccucmpRow row;
    if (op.a != kNoId) {
      row.npu_dump = pairing_.a[op.a].name;
      if (!pairing_.a[op.a].type.empty()) row.op_type = pairing_.a[op.a].type;
    }
    if (op.b != kNoId) row.ground_truth = pairing_.b[op.b].name;
    return row;
  }

  void add_reference_only(MsaccucmpRow row) {
    std::string reason = fmt::format("[{0}] There is no the my output dump file for the op \"{0}\".", row.ground_truth);
    result_.add_unmatched(std::move(row), std::move(reason));
  }

  Status add(const TensorPair& pair, MsaccucmpRow row) {
    const TensorRecord& of_a = (*a_.side.tensors)[pair.a];
    row.tensor_index = fmt::format("{}:{}:{}", row.npu_dump, name_of(of_a.name.io), of_a.name.slot);
    if (of_a.shape != nullptr) row.shape = msaccucmp_shape(*of_a.shape);
    if (pair.b == kNoId) {
      std::string reason =
          fmt::format("[{}] There is no the ground truth dump file for {}.", row.npu_dump, row.tensor_index);
      result_.add_unmatched(std::move(row), std::move(reason));
      return {};
    }
    auto metrics = metrics_of(of_a, (*b_.side.tensors)[pair.b], row);
    return result_.add(std::move(row), std::move(metrics));
  }

  // Fills in the facts that only open tensors have.
  [[nodiscard]] Result<MsaccucmpMetrics> metrics_of(const TensorRecord& of_a, const TensorRecord& of_b,
                                                    MsaccucmpRow& row) const {
    MSDUMP_TRY(OpenedTensor a, open_tensor(a_, of_a));
    MSDUMP_TRY(OpenedTensor b, open_tensor(b_, of_b));
    row.address_a = msaccucmp_address(a.address);
    row.dtype_a = dtype_text(a.tensor);
    row.dtype_b = dtype_text(b.tensor);
    row.shape = msaccucmp_shape(a.tensor.shape());
    if (a.tensor.plan().policy == PlanPolicy::kRaw || b.tensor.plan().policy == PlanPolicy::kRaw)
      return fail(ErrorCode::kUnsupportedDtype, "[{}] {} is bytes without a dtype.", row.npu_dump, row.tensor_index);
    if (a.tensor.count() != b.tensor.count()) {
      return fail(
          ErrorCode::kShapeMismatch,
          "[{}] Due to the different shapes on the left and right,the left dump data({}) can not be compared to "
          "the right dump data({}). Please check the batch of the dump data or the shape may be changed due to "
          "optimization.",
          row.npu_dump, a.tensor.count(), b.tensor.count());
    }
    return msaccucmp_metrics({a.tensor, b.tensor, msaccucmp_path(a.tensor.path()), msaccucmp_path(b.tensor.path()),
                              is_msaccucmp_scalar(a.tensor.shape()), true},
                             cancel_);
  }

  const MsaccucmpSide &a_, &b_;
  const Pairing& pairing_;
  const CancelToken& cancel_;
  MsaccucmpOpRows result_;
};

}  // namespace

MsaccucmpTensorPairs pair_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b) {
  MsaccucmpTensorPairs result;
  const bool single = a.side.tensors->size() == 1 && b.side.tensors->size() == 1;
  result.pairing = single ? pair_single(a.side, b.side) : pair_sides(a.side, b.side);
  const auto& operators = result.pairing.operators;
  std::vector<OperatorId> order;
  for (OperatorId i{0}; i < operators.size(); ++i) order.push_back(i);
  // Operators of the reference alone come last, and keep its order.
  std::stable_sort(order.begin(), order.end(),
                   [&](OperatorId left, OperatorId right) { return operators[left].a < operators[right].a; });
  std::vector<uint32_t> place(operators.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  result.operators.resize(operators.size());
  for (TensorId i{0}; i < result.pairing.tensors.size(); ++i)
    result.operators[place[result.pairing.tensors[i].op]].push_back(i);
  std::erase_if(result.operators, [](const std::vector<TensorId>& tensors) { return tensors.empty(); });
  return result;
}

Result<MsaccucmpOpRows> compare_tensors(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                        const MsaccucmpTensorPairs& pairs, const std::vector<TensorId>& tensors,
                                        const CancelToken& cancel) {
  return TensorComparison(a, b, pairs.pairing, cancel).run(tensors);
}

namespace {

FileKind kind_of(const MsaccucmpSide& side, const TensorRecord& tensor) {
  return side.side.index->files()[tensor.file].kind;
}

bool is_of_dump_files(const MsaccucmpSide& side) {
  return std::all_of(side.side.tensors->begin(), side.side.tensors->end(),
                     [&](const TensorRecord& tensor) { return kind_of(side, tensor) == FileKind::kDumpFile; });
}

Status check_side(const MsaccucmpSide& side) {
  const DumpIndex& index = *side.side.index;
  const std::string& path = index.paths().front();
  std::set<uint32_t> folders;
  for (const TensorRecord& tensor : *side.side.tensors) {
    if (!tensor.has_elements) {
      return fail(make_error(ErrorCode::kUsage, "only statistics of some tensors are here; msaccucmp compares elements")
                      .with_path(path)
                      .with_hint("leave --profile: msdump compares statistics, too"));
    }
    folders.insert(index.files()[tensor.file].folder);
  }
  if (folders.size() < 2) return {};
  const auto shown = [&](uint32_t folder) {
    const std::string& relative = index.folders()[folder].relative;
    return relative.empty() ? std::string(".") : relative;
  };
  return fail(make_error(ErrorCode::kUsage, "tensors of {}, such as {} and {}; msaccucmp compares one with one",
                         plural(folders.size(), "folder"), shown(*folders.begin()), shown(*folders.rbegin()))
                  .with_path(path)
                  .with_hint("--rank, --graph and --step choose one, or name the folder"));
}

}  // namespace

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const RunContext& context, const ProfileSink& sink) {
  MSDUMP_CHECK_OK(check_side(a));
  MSDUMP_CHECK_OK(check_side(b));
  const MsaccucmpColumns columns{is_of_dump_files(a), is_of_dump_files(b)};
  // compare(i) makes the rows of the i-th of `count` operators.
  const auto write = [&](size_t count, const auto& compare) {
    const auto make = [&](size_t i) -> Result<ProfileRows<MsaccucmpCounts>> {
      MSDUMP_TRY(MsaccucmpOpRows rows, compare(i));
      rows.counts.rows = static_cast<int64_t>(rows.rows.size());
      ProfileRows<MsaccucmpCounts> text{{}, std::move(rows.counts)};
      for (const MsaccucmpRow& row : rows.rows) text.lines += msaccucmp_line(columns, i, row);
      return text;
    };
    return write_rows_in_order<MsaccucmpCounts>(context, count, msaccucmp_header(columns), make, sink);
  };
  if (columns.address_a && columns.address_b) {
    const std::vector<MsaccucmpFilePair> pairs = pair_dump_files(a, b);
    return write(pairs.size(), [&](size_t i) { return compare_dump_files(a, b, pairs[i], context.cancel); });
  }
  const MsaccucmpTensorPairs pairs = pair_tensors(a, b);
  return write(pairs.operators.size(),
               [&](size_t i) { return compare_tensors(a, b, pairs, pairs.operators[i], context.cancel); });
}

}  // namespace msdump
