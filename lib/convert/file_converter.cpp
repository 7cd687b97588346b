#include "convert/file_converter.h"

#include <sys/stat.h>

#include "ascend/opdebug.h"
#include "convert/tensor_writer.h"
#include "format/host_shape.h"
#include "io/dir_walk.h"
#include "kernels/widen/widen.h"
#include "npy/npy.h"

namespace msdump {

struct FileConverter::Unit {
  const IndexedFile& file;
  const std::string& base;
  std::string folder;
  OpenedFile opened;
  FileOutcome& outcome;
};

namespace {

constexpr uint64_t kMaxOpdebugBytes = 1 << 20;

// Exists, has the right size, and is not older than the input.
bool is_up_to_date(const std::string& path, uint64_t bytes, int64_t input_mtime_ns) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const int64_t mtime_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return static_cast<uint64_t>(status.st_size) == bytes && mtime_ns >= input_mtime_ns;
}

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

}  // namespace

FileOutcome FileConverter::convert(const IndexedFile& file, const std::string& base) {
  FileOutcome outcome;
  outcome.path = index_.path_of(file);
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
  Unit unit{file, base, index_.folder_of(file), std::move(*opened), outcome};
  for (StoredTensor& tensor : unit.opened.tensors) {
    if (tensor.absent() || !selection_.matches_tensor(tensor.io, tensor.slot)) continue;
    convert_tensor(unit, tensor);
    if (outcome.interrupted) break;
  }
  if (context_.progress != nullptr) context_.progress->unit_done(base);
  return outcome;
}

void FileConverter::convert_tensor(Unit& unit, StoredTensor& tensor) {
  ConvertRow row = row_for(index_.relative_path_of(unit.file), tensor);
  const auto attempt = [&]() -> Status {
    if (tensor.problem) return fail(*tensor.problem);
    if (unit.opened.container == ContainerKind::kOpdebug) return write_opdebug(unit, tensor, row);
    tensor.request.target = is_byte_section(tensor.io) ? std::nullopt : options_.format;
    if (options_.shape) tensor.request.original_shape = options_.shape;
    MSDUMP_TRY(const Plan plan, make_plan(tensor.request));
    describe_plan(plan, row);
    if (!plan.note.empty() && !is_byte_section(tensor.io)) {
      const char* const remedy = plan.note == kNoOriginalShape ? "; give it with -s" : "";
      unit.outcome.warnings.push_back({tensor.label(), plan.note + remedy});
    }
    if (leave_alone(unit, tensor, plan, row)) return {};
    const NameRequest request{unit.base, unit.opened.op_name, options_.type, options_.naming,
                              options_.format.has_value()};
    const bool npy = unit.opened.container == ContainerKind::kNpy;
    return write(unit, tensor, plan, npy ? npy_output_name(unit.base, plan) : output_name(request, tensor, plan), row);
  };
  Status status = attempt();
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

bool FileConverter::leave_alone(Unit& unit, const StoredTensor& tensor, const Plan& plan, ConvertRow& row) {
  if (unit.opened.container != ContainerKind::kNpy) return false;
  const bool moves = plan.policy == PlanPolicy::kConverted && !plan.identity;
  const bool widens = kernels::needs_widening(plan.dtype);
  if ((moves || widens) && !tensor.fortran_order && !tensor.big_endian) return false;
  if (moves || widens) {
    unit.outcome.warnings.push_back({tensor.label(), "Fortran-ordered and big-endian arrays are left as they are"});
  }
  row.status = ConvertStatus::kSkipped;
  row.policy = PlanPolicy::kKept;
  row.to_format = row.from_format;
  return true;
}

// True when the output needs no writing: it is there already, or this is a dry run.
Result<bool> FileConverter::finish_without_writing(const Unit& unit, const std::string& path, uint64_t bytes,
                                                   ConvertRow& row) const {
  if (options_.resume && is_up_to_date(path, bytes, unit.file.mtime_ns)) {
    row.status = ConvertStatus::kSkipped;
    return true;
  }
  if (options_.dry_run) {
    row.status = ConvertStatus::kPlanned;
    return true;
  }
  return false;
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
                                     unit.opened.container != ContainerKind::kNpy);
  const std::string header = raw ? "" : npy::make_header(plan.npy_dtype, plan.shape);
  MSDUMP_TRY(const bool finished, finish_without_writing(unit, path, header.size() + output_bytes(plan), row));
  if (finished) {
    remember_long_name(unit, name);
    return {};
  }
  MSDUMP_CHECK_OK(tree_.create_folder(unit.folder));
  const WriteContext context{context_.pool, context_.cancel, context_.progress};
  MSDUMP_TRY(const uint64_t written, write_tensor({unit.opened.file, tensor.offset, plan}, header, path, context));
  remember_long_name(unit, name);
  row.status = ConvertStatus::kWritten;
  unit.outcome.bytes_in += tensor.bytes;
  unit.outcome.bytes_out += written;
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
  MSDUMP_TRY(const bool finished, finish_without_writing(unit, path, text.size(), row));
  if (finished) {
    remember_long_name(unit, name);
    return {};
  }
  MSDUMP_CHECK_OK(tree_.create_folder(unit.folder));
  MSDUMP_CHECK_OK(write_file(path, text));
  remember_long_name(unit, name);
  row.status = ConvertStatus::kWritten;
  unit.outcome.bytes_in += tensor.bytes;
  unit.outcome.bytes_out += text.size();
  return {};
}

}  // namespace msdump
