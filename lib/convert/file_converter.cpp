#include "convert/file_converter.h"

#include <sys/stat.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "ascend/opdebug.h"
#include "format/device_formats.h"
#include "format/window.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "kernels/widen/widen.h"
#include "npy/npy.h"

namespace msdump {
namespace {

// Pieces of 4 MiB go through ext4 up to twice as fast because they get huge folios, until memory is fragmented and they
// wait for compaction instead (822 MB on two cores: 0.2 to 1.5 s). Pieces of 1 MiB always take 0.3 to 0.4 s.
constexpr uint64_t kWindowBytes = uint64_t{1} << 20;
// If a small window would fall into tiny runs, a larger one saves more in system calls than it costs in cache misses.
constexpr uint64_t kLargeWindowBytes = uint64_t{8} << 20;
constexpr int64_t kPoorRunBytes = 8192;

// A buffer that keeps its memory from one tensor to the next and is never initialised.
class Scratch {
 public:
  std::byte* get(size_t bytes) {
    if (bytes > capacity_) {
      memory_.reset();
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  size_t capacity_ = 0;
};

struct Scratches {
  Scratch source, moved, widened;
};
thread_local Scratches scratches;

size_t output_width(DType npy_dtype) {
  const int bits = info(npy_dtype).bits;
  return bits == 0 ? 1 : static_cast<size_t>(bits) / 8;
}

class TensorWriter {
 public:
  TensorWriter(const PlannedTensor& source, const RunContext& context, AtomicFile& out, uint64_t header_bytes)
      : source_(source),
        context_(context),
        out_(out),
        header_bytes_(header_bytes),
        moved_bytes_(source.elements.element_bytes()),
        out_bytes_(output_width(source.plan.npy_dtype)),
        widens_(kernels::needs_widening(source.plan.dtype)) {}

  Status write_whole(const std::string& header) {
    const Plan& plan = source_.plan;
    const auto count = static_cast<size_t>(plan.dst_elements);
    std::byte* const out = scratches.widened.get(header.size() + count * out_bytes_);
    std::memcpy(out, header.data(), header.size());
    std::byte* const body = out + header.size();
    if (count > 0) {
      if (plan.identity && !widens_) {
        MSDUMP_CHECK_OK(source_.elements.read(source_.file, 0, plan.src_elements, body));
      } else {
        std::byte* const src = scratches.source.get(static_cast<size_t>(plan.src_elements) * moved_bytes_);
        MSDUMP_CHECK_OK(source_.elements.read(source_.file, 0, plan.src_elements, src));
        move_whole(src, body);
      }
    }
    progress(plan.src_elements);
    return out_.write_at(0, {out, header.size() + count * out_bytes_});
  }

  Status write_windows(const std::string& header) {
    MSDUMP_CHECK_OK(out_.set_size(header.size() + output_bytes(source_.plan)));
    MSDUMP_CHECK_OK(out_.write_at(0, std::as_bytes(std::span(header.data(), header.size()))));
    for (const PlanPart& part : source_.plan.parts) MSDUMP_CHECK_OK(write_part(part));
    return {};
  }

 private:
  // For a plan that moves or widens elements, or both.
  void move_whole(const std::byte* src, std::byte* body) {
    const Plan& plan = source_.plan;
    const std::byte* moved = src;
    if (!plan.identity) {
      std::byte* const into =
          widens_ ? scratches.moved.get(static_cast<size_t>(plan.dst_elements) * moved_bytes_) : body;
      for (const PlanPart& part : plan.parts) run_part(part, src, into, moved_bytes_);
      moved = into;
    }
    if (widens_) kernels::widen(plan.dtype, moved, plan.dst_elements, body);
  }

  [[nodiscard]] Tiling tiling_for(const PlanPart& part, int64_t gap) const {
    const auto elements = [&](uint64_t bytes) {
      return static_cast<int64_t>(bytes / std::max(moved_bytes_, out_bytes_));
    };
    Tiling tiling = choose_tiling(part, elements(kWindowBytes), gap);
    const Window window = make_window(part, tiling, 0, gap);
    const int64_t run_bytes = std::min(window.src.run, window.dst.run) * static_cast<int64_t>(moved_bytes_);
    if (run_bytes < kPoorRunBytes) tiling = choose_tiling(part, elements(kLargeWindowBytes), gap);
    return tiling;
  }

  Status write_part(const PlanPart& part) {
    const int64_t gap = source_.elements.gap();
    const Tiling tiling = tiling_for(part, gap);
    std::mutex mutex;
    std::optional<Error> failure;
    context_.pool.parallel_for(tiling.windows, [&](int64_t index) {
      {
        const std::lock_guard lock(mutex);
        if (failure) return;
      }
      Status done = write_window(part, make_window(part, tiling, index, gap));
      const std::lock_guard lock(mutex);
      if (!done && !failure) failure = std::move(done).error();
    });
    if (failure) return fail(std::move(*failure));
    return {};
  }

  Status write_window(const PlanPart& part, const Window& window) {
    MSDUMP_CHECK_OK(context_.cancel.check());
    const int64_t src_count = window.src.elements(), dst_count = window.dst.elements();
    std::byte* const src = scratches.source.get(static_cast<size_t>(src_count) * moved_bytes_);
    MSDUMP_CHECK_OK(source_.elements.read(source_.file, window.src, src));
    const std::byte* moved = src;
    if (!source_.plan.identity) {
      std::byte* const into = scratches.moved.get(static_cast<size_t>(dst_count) * moved_bytes_);
      run_window(part, window, src, into, moved_bytes_);
      moved = into;
    }
    if (widens_) {
      std::byte* const widened = scratches.widened.get(static_cast<size_t>(dst_count) * out_bytes_);
      kernels::widen(source_.plan.dtype, moved, dst_count, widened);
      moved = widened;
    }
    progress(dst_count);
    return write_region(window.dst, moved);
  }

  Status write_region(const Region& region, const std::byte* from) {
    Status status;
    const size_t run_bytes = static_cast<size_t>(region.run) * out_bytes_;
    for_each_run(region, [&](int64_t first) {
      status = out_.write_at(header_bytes_ + static_cast<uint64_t>(first) * out_bytes_, {from, run_bytes});
      from += run_bytes;
      return status.has_value();
    });
    return status;
  }

  void progress(int64_t elements) {
    if (context_.progress != nullptr)
      context_.progress->add_bytes(bytes_of(source_.plan.dtype, elements).value_or(static_cast<uint64_t>(elements)));
  }

  const PlannedTensor& source_;
  const RunContext& context_;
  AtomicFile& out_;
  uint64_t header_bytes_;
  const size_t moved_bytes_, out_bytes_;  // of an element while it is moved, and in the output
  const bool widens_;
};

}  // namespace

uint64_t output_bytes(const Plan& plan) {
  return static_cast<uint64_t>(plan.dst_elements) * output_width(plan.npy_dtype);
}

Result<uint64_t> write_tensor(const PlannedTensor& source, const std::string& header, const std::string& path,
                              const RunContext& context) {
  MSDUMP_CHECK_OK(context.cancel.check());
  MSDUMP_TRY(AtomicFile out, AtomicFile::create(path));
  TensorWriter writer(source, context, out, header.size());
  const uint64_t body = output_bytes(source.plan);
  const uint64_t read = bytes_of(source.plan.dtype, source.plan.src_elements).value_or(body);
  const bool small = std::max(body, read) <= kWindowBytes;
  MSDUMP_CHECK_OK(small ? writer.write_whole(header) : writer.write_windows(header));
  MSDUMP_CHECK_OK(source.file.check_unchanged());
  MSDUMP_CHECK_OK(out.commit());
  return header.size() + body;
}

struct FileConverter::Unit {
  const IndexedFile& file;
  const std::string& base;
  std::string folder;
  OpenedFile opened;
  FileOutcome& outcome;
};

namespace {

constexpr uint64_t kMaxOpdebugBytes = 1 << 20;

ConvertRow row_for(const std::string& input, const StoredTensor& tensor) {
  ConvertRow row;
  row.input = input;
  row.tensor = tensor.label();
  if (tensor.request.dtype) row.dtype = name_of(*tensor.request.dtype);
  return row;
}

void describe_plan(const Plan& plan, ConvertRow& row) {
  row.from_format = name_of(plan.from);
  row.to_format = name_of(plan.to);
  row.dtype = name_of(plan.dtype);
  row.npy_dtype = name_of(plan.npy_dtype);
  row.shape = plan.shape;
  row.policy = plan.policy;
}

// An .npy that needs no change is left where it is.
bool is_left_alone(FileKind container, const Plan& plan) {
  if (container != FileKind::kNpy) return false;
  const bool moves = plan.policy == PlanPolicy::kConverted && !plan.identity && plan.from != plan.to;
  return !moves && !kernels::needs_widening(plan.dtype);
}

}  // namespace

FileOutcome FileConverter::convert(const ConvertInput& input) {
  const IndexedFile& file = *input.file;
  OutputClaims::Turn turn(claims_, input.number);
  FileOutcome outcome;
  outcome.path = index_.path_of(file);
  if (!input.note.empty()) outcome.warnings.push_back({"", input.note});
  if (context_.cancel.cancelled()) {
    outcome.interrupted = true;
    return outcome;
  }
  auto opened = index_.open_tensors(file);
  if (!opened) {
    outcome.not_a_dump = file.by_content && opened.error().code == ErrorCode::kNotADump;
    if (!outcome.not_a_dump) outcome.failures.push_back(std::move(opened).error());
    return outcome;
  }
  outcome.not_a_dump = opened->container == FileKind::kPt;  // as if its name had said so
  if (outcome.not_a_dump) return outcome;
  Unit unit{file, input.base, index_.folder_of(file), std::move(*opened), outcome};
  const std::vector<Claim> claims = claim_names(unit, turn);
  turn.end();
  for (size_t i = 0; i < unit.opened.tensors.size() && !outcome.interrupted; ++i) {
    const StoredTensor& tensor = unit.opened.tensors[i];
    if (is_wanted(unit.file, tensor)) convert_tensor(unit, tensor, claims.empty() ? Claim::kOwn : claims[i]);
  }
  if (context_.progress != nullptr) context_.progress->unit_done(input.base);
  return outcome;
}

void FileConverter::claim(const ConvertInput& input) {
  OutputClaims::Turn turn(claims_, input.number);
  if (!contested_ || context_.cancel.cancelled()) return;
  auto opened = index_.open_tensors(*input.file);
  if (!opened || opened->container == FileKind::kPt) return;
  FileOutcome outcome;
  const Unit unit{*input.file, input.base, index_.folder_of(*input.file), std::move(*opened), outcome};
  (void)claim_names(unit, turn);
}

bool FileConverter::is_wanted(const IndexedFile& file, const StoredTensor& tensor) const {
  if (tensor.absent() || !selection_.matches_tensor(tensor.io, tensor.slot)) return false;
  if (tensor.op_name.empty()) return true;
  Identity identity = index_.identity_of(file);
  identity.name.op_name = tensor.op_name;
  return selection_.matches_file(identity);
}

Result<Plan> FileConverter::plan_for(const Unit& unit, const StoredTensor& tensor) const {
  const std::optional<Format> target = is_byte_section(tensor.io) ? std::nullopt : options_.format;
  if (options_.shape) {
    StoredTensor shaped = tensor;
    shaped.request.original_shape = options_.shape;
    return plan_stored(shaped, target);
  }
  MSDUMP_TRY(Plan plan, plan_stored(tensor, target));
  const bool lacks = target && !tensor.request.original_shape && info(plan.from).support == Support::kDevice;
  if (!lacks || options_.shapes == nullptr) return plan;
  return with_known_shape(unit, tensor, std::move(plan));
}

// With the first shape that fits, else as it is, with the reason why none does.
Plan FileConverter::with_known_shape(const Unit& unit, const StoredTensor& tensor, Plan plan) const {
  const auto file = static_cast<uint32_t>(&unit.file - index_.files().data());
  const auto item = static_cast<uint32_t>(&tensor - unit.opened.tensors.data());
  for (const OriginalShape& known : options_.shapes->of(file, item)) {
    // That of the array itself, or of another tensor.
    if (known.shape == tensor.request.shape || (known.device && known.device != tensor.request.shape)) continue;
    StoredTensor shaped = tensor;
    shaped.request.original_shape = known.shape;
    shaped.request.original_format = known.format;
    auto fitting = plan_stored(shaped, options_.format);
    if (fitting && fitting->policy == PlanPolicy::kConverted) return std::move(*fitting);
    if (!fitting) plan.note += fmt::format("; that of {} does not fit: {}", known.source, fitting.error().message);
  }
  return plan;
}

OutputName FileConverter::name_for(const Unit& unit, const StoredTensor& tensor, const Plan& plan, Claim claim) const {
  if (unit.opened.container == FileKind::kNpy) return npy_output_name(unit.base, plan);
  const std::string op_name = claim == Claim::kWithoutOpName ? std::string() : unit.opened.op_name;
  return output_name({unit.base, op_name, options_.type, options_.naming, options_.format.has_value()}, tensor, plan);
}

std::vector<FileConverter::Claim> FileConverter::claim_names(const Unit& unit, OutputClaims::Turn& turn) const {
  std::vector<Claim> claims;
  if (!contested_) return claims;
  for (const StoredTensor& tensor : unit.opened.tensors) claims.push_back(claim_name(unit, tensor, turn));
  return claims;
}

FileConverter::Claim FileConverter::claim_name(const Unit& unit, const StoredTensor& tensor,
                                               OutputClaims::Turn& turn) const {
  // A tensor without an output, for whatever reason, claims none.
  if (!is_wanted(unit.file, tensor) || tensor.problem || unit.opened.container == FileKind::kOpdebug)
    return Claim::kOwn;
  const auto plan = plan_for(unit, tensor);
  if (!plan || is_left_alone(unit.opened.container, *plan)) return Claim::kOwn;
  for (const Claim claim : {Claim::kOwn, Claim::kWithoutOpName}) {
    if (turn.claim(join_path(unit.folder, name_for(unit, tensor, *plan, claim).name))) return claim;
  }
  return Claim::kTaken;
}

void FileConverter::convert_tensor(Unit& unit, const StoredTensor& tensor, Claim claim) {
  ConvertRow row = row_for(index_.relative_path_of(unit.file), tensor);
  Status status = tensor.problem                                ? Status(fail(*tensor.problem))
                  : unit.opened.container == FileKind::kOpdebug ? write_opdebug(unit, tensor, row)
                                                                : write_array(unit, tensor, claim, row);
  if (!status) {
    Error error = std::move(status).error();
    if (error.code == ErrorCode::kCancelled) {
      unit.outcome.interrupted = true;
      return;
    }
    if (error.path.empty()) error.path = unit.outcome.path;
    if (error.tensor.empty()) error.tensor = tensor.label();
    unit.outcome.failures.push_back(std::move(error));
    row.status = ConvertStatus::kFailed;
    row.output.reset();
  }
  unit.outcome.rows.push_back(std::move(row));
}

Status FileConverter::write_array(Unit& unit, const StoredTensor& tensor, Claim claim, ConvertRow& row) {
  MSDUMP_TRY(const Plan plan, plan_for(unit, tensor));
  describe_plan(plan, row);
  if (!plan.note.empty() && !is_byte_section(tensor.io)) {
    const char* const remedy = plan.note == kNoOriginalShape ? "; give it with -s, or the graph with --ir" : "";
    unit.outcome.warnings.push_back({tensor.label(), plan.note + remedy});
  }
  if (is_left_alone(unit.opened.container, plan)) {
    row.status = ConvertStatus::kSkipped;
    row.policy = PlanPolicy::kKept;
    row.to_format = row.from_format;
    return {};
  }
  const OutputName name = name_for(unit, tensor, plan, claim);
  if (claim == Claim::kTaken)
    return fail(make_error(ErrorCode::kWriteFailed, "'{}' is the output of another input", name.name)
                    .with_hint("convert the two into different OUT directories"));
  if (claim == Claim::kWithoutOpName)
    unit.outcome.warnings.push_back({tensor.label(),
                                     "the output named after the operator belongs to another input; "
                                     "this one is named after its own file"});
  return write(unit, tensor, plan, name, row);
}

// True if a file is there with the right size and header, that is not older than the input and was made with these options.
bool FileConverter::is_up_to_date(const Unit& unit, const Expected& expected) const {
  struct stat status {};
  if (::stat(expected.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const int64_t written = mtime_ns_of(status);
  if (static_cast<uint64_t>(status.st_size) != expected.bytes || written < unit.file.mtime_ns) return false;
  if (!settings_.covers(written)) return false;
  if (expected.header.empty()) return true;
  const auto there = File::open(expected.path);
  if (!there || there->head().size() < expected.header.size()) return false;
  return std::memcmp(there->head().data(), expected.header.data(), expected.header.size()) == 0;
}

// True when the output needs no writing: it is there already, or this is a dry run.
Result<bool> FileConverter::finish_without_writing(Unit& unit, const StoredTensor& tensor, const Expected& expected,
                                                   ConvertRow& row) const {
  if (options_.resume && is_up_to_date(unit, expected)) {
    // merge tells what one run would have done, which nobody interrupted.
    row.status = options_.shard ? ConvertStatus::kWritten : ConvertStatus::kSkipped;
    if (options_.shard) count_bytes(unit, tensor, expected.bytes);
    return true;
  }
  if (options_.dry_run) {
    row.status = ConvertStatus::kPlanned;
    return true;
  }
  return false;
}

void FileConverter::count_bytes(Unit& unit, const StoredTensor& tensor, uint64_t written) {
  unit.outcome.bytes_in += tensor.bytes;
  unit.outcome.bytes_out += written;
}

// A line of mapping.csv for an output that is there.
void FileConverter::remember_long_name(Unit& unit, const OutputName& name) {
  if (name.original) unit.outcome.long_names.push_back({unit.folder, name.name, *name.original});
}

Status FileConverter::write(Unit& unit, const StoredTensor& tensor, const Plan& plan, const OutputName& name,
                            ConvertRow& row) {
  row.output = join_path(unit.folder, name.name);
  const std::string path = tree_.path_of(*row.output);
  const bool raw =
      is_byte_section(tensor.io) || (options_.type == OutputType::kBin && options_.naming == Naming::kMsaccucmp &&
                                     unit.opened.container != FileKind::kNpy);
  const std::string header = raw ? "" : npy::make_header(plan.npy_dtype, plan.shape);
  MSDUMP_TRY(const bool finished,
             finish_without_writing(unit, tensor, {path, header, header.size() + output_bytes(plan)}, row));
  if (finished) {
    remember_long_name(unit, name);
    return {};
  }
  MSDUMP_CHECK_OK(tree_.create_folder(unit.folder));
  const PlannedTensor source{unit.opened.file, StoredElements(tensor, plan.dtype), plan};
  const RunContext context{context_.pool, context_.cancel, context_.progress};
  MSDUMP_TRY(const uint64_t written, write_tensor(source, header, path, context));
  remember_long_name(unit, name);
  row.status = ConvertStatus::kWritten;
  count_bytes(unit, tensor, written);
  return {};
}

Status FileConverter::write_opdebug(Unit& unit, const StoredTensor& tensor, ConvertRow& row) {
  if (tensor.bytes > kMaxOpdebugBytes)
    return fail(ErrorCode::kTooLarge, "an overflow record of {} bytes", tensor.bytes);
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes));
  MSDUMP_CHECK_OK(unit.opened.file.read_at(tensor.offset, bytes));
  MSDUMP_TRY(const ascend::OpdebugRecord record, ascend::read_opdebug(bytes, tensor.offset));
  const std::string text = ascend::opdebug_json(record);
  const OutputName name = opdebug_output_name(unit.base, tensor);
  row.output = join_path(unit.folder, name.name);
  row.policy = PlanPolicy::kConverted;
  const std::string path = tree_.path_of(*row.output);
  MSDUMP_TRY(const bool finished, finish_without_writing(unit, tensor, {path, text, text.size()}, row));
  if (finished) {
    remember_long_name(unit, name);
    return {};
  }
  MSDUMP_CHECK_OK(tree_.create_folder(unit.folder));
  MSDUMP_CHECK_OK(write_file(path, text));
  remember_long_name(unit, name);
  row.status = ConvertStatus::kWritten;
  count_bytes(unit, tensor, text.size());
  return {};
}

}  // namespace msdump
