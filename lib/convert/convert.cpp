#include "convert/convert.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "ascend/opdebug.h"
#include "convert/output_tree.h"
#include "convert/tensor_writer.h"
#include "dump/layouts/family.h"
#include "format/device_formats.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "kernels/widen/widen.h"
#include "npy/npy.h"

namespace msdump {
namespace {

// An input file and the name of its outputs.
struct ConvertInput {
  const IndexedFile* file = nullptr;
  std::string base;    // the names of outputs begin with it
  std::string note;    // why it is not the name in mapping.csv
  int64_t number = 0;  // in the order of the inputs
};

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

// True for an .npy that needs no change; no output is written for it.
bool is_left_alone(FileKind container, const Plan& plan) {
  if (container != FileKind::kNpy) return false;
  const bool moves = plan.policy == PlanPolicy::kConverted && !plan.identity && plan.from != plan.to;
  return !moves && !kernels::needs_widening(plan.dtype);
}

// True for files that torch.load reads without a conversion.
bool is_left_out(FileKind kind) { return kind == FileKind::kPt || kind == FileKind::kDcpMetadata; }

// FileConverter: all tensors of one input file, the unit of work. Called from many threads at once.
class FileConverter {
 public:
  // `contested`: outputs of two inputs may have one name.
  FileConverter(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                const ConvertContext& context, OutputTree& tree, const SettingsFile& settings, bool contested)
      : index_(index),
        selection_(selection),
        options_(options),
        context_(context),
        tree_(tree),
        settings_(settings),
        contested_(contested) {}

  FileOutcome convert(const ConvertInput& input) {
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
    outcome.not_a_dump = is_left_out(opened->container);  // as if its name had said so
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

  // Takes the output names of an input that another process converts.
  void claim(const ConvertInput& input) {
    OutputClaims::Turn turn(claims_, input.number);
    if (!contested_ || context_.cancel.cancelled()) return;
    auto opened = index_.open_tensors(*input.file);
    if (!opened || is_left_out(opened->container)) return;
    FileOutcome outcome;
    const Unit unit{*input.file, input.base, index_.folder_of(*input.file), std::move(*opened), outcome};
    (void)claim_names(unit, turn);
  }

 private:
  enum class Claim : uint8_t { kOwn, kWithoutOpName, kTaken };

  struct Unit {
    const IndexedFile& file;
    const std::string& base;
    std::string folder;
    OpenedFile opened;
    FileOutcome& outcome;
  };

  [[nodiscard]] bool is_wanted(const IndexedFile& file, const StoredTensor& tensor) const {
    if (tensor.absent() || !selection_.matches_tensor(tensor.io, tensor.slot)) return false;
    if (tensor.op_name.empty()) return true;
    Identity identity = index_.identity_of(file);
    identity.name.op_name = tensor.op_name;
    return selection_.matches_file(identity);
  }

  [[nodiscard]] Result<Plan> plan_for(const Unit& unit, const StoredTensor& tensor) const {
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

  // Plans with the first shape that fits. Without one the plan stays, and its note says why none fits.
  [[nodiscard]] Plan with_known_shape(const Unit& unit, const StoredTensor& tensor, Plan plan) const {
    const FileId file(&unit.file - index_.files().data());
    const auto item = static_cast<uint32_t>(&tensor - unit.opened.tensors.data());
    for (const OriginalShape& known : options_.shapes->of(file, item)) {
      // Skips the shape of the array itself, and those of other tensors.
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

  [[nodiscard]] OutputName name_for(const Unit& unit, const StoredTensor& tensor, const Plan& plan, Claim claim) const {
    if (unit.opened.container == FileKind::kNpy) return npy_output_name(unit.base, plan);
    const std::string op_name = claim == Claim::kWithoutOpName ? std::string() : unit.opened.op_name;
    return output_name({unit.base, op_name, options_.type, options_.naming, options_.format.has_value()}, tensor, plan);
  }

  [[nodiscard]] std::vector<Claim> claim_names(const Unit& unit, OutputClaims::Turn& turn) const {
    std::vector<Claim> claims;
    if (!contested_) return claims;
    for (const StoredTensor& tensor : unit.opened.tensors) claims.push_back(claim_name(unit, tensor, turn));
    return claims;
  }

  [[nodiscard]] Claim claim_name(const Unit& unit, const StoredTensor& tensor, OutputClaims::Turn& turn) const {
    // A tensor without an output claims none.
    if (!is_wanted(unit.file, tensor) || tensor.problem || unit.opened.container == FileKind::kOpdebug)
      return Claim::kOwn;
    const auto plan = plan_for(unit, tensor);
    if (!plan || is_left_alone(unit.opened.container, *plan)) return Claim::kOwn;
    for (const Claim claim : {Claim::kOwn, Claim::kWithoutOpName}) {
      if (turn.claim(join_path(unit.folder, name_for(unit, tensor, *plan, claim).name))) return claim;
    }
    return Claim::kTaken;
  }

  void convert_tensor(Unit& unit, const StoredTensor& tensor, Claim claim) {
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

  Status write_array(Unit& unit, const StoredTensor& tensor, Claim claim, ConvertRow& row) {
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
    return write_tensor_file(unit, tensor, plan, name, row);
  }

  // True if the file exists, is no older than the input, was made with these options, and begins with `header`.
  [[nodiscard]] bool is_up_to_date(const Unit& unit, const std::string& path, std::string_view header,
                                   uint64_t bytes) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    const int64_t written = mtime_ns_of(status);
    if (static_cast<uint64_t>(status.st_size) != bytes || written < unit.file.mtime_ns) return false;
    if (!settings_.covers(written)) return false;
    if (header.empty()) return true;
    const auto file = File::open(path);
    if (!file || file->head().size() < header.size()) return false;
    return std::memcmp(file->head().data(), header.data(), header.size()) == 0;
  }

  // Writes an output of `bytes` with `write(path)`, unless --resume finds it or this is a dry run.
  template <class Write>
  Status write_output(Unit& unit, const StoredTensor& tensor, const OutputName& name, std::string_view header,
                      uint64_t bytes, ConvertRow& row, const Write& write) {
    row.output = join_path(unit.folder, name.name);
    const std::string path = tree_.path_of(*row.output);
    const bool is_there = options_.resume && is_up_to_date(unit, path, header, bytes);
    if (!is_there && options_.dry_run) {
      row.status = ConvertStatus::kPlanned;
    } else if (is_there && !options_.shard) {
      row.status = ConvertStatus::kSkipped;
    } else {
      // An output that an interrupted shard wrote counts as written: merge reports what one run would have done.
      if (!is_there) {
        MSDUMP_CHECK_OK(tree_.create_folder(unit.folder));
        MSDUMP_CHECK_OK(write(path));
      }
      row.status = ConvertStatus::kWritten;
      unit.outcome.bytes_in += tensor.bytes;
      unit.outcome.bytes_out += bytes;
    }
    if (name.original) unit.outcome.long_names.push_back({unit.folder, name.name, *name.original});
    return {};
  }

  Status write_tensor_file(Unit& unit, const StoredTensor& tensor, const Plan& plan, const OutputName& name,
                           ConvertRow& row) {
    const bool raw =
        is_byte_section(tensor.io) || (options_.type == OutputType::kBin && options_.naming == Naming::kMsaccucmp &&
                                       unit.opened.container != FileKind::kNpy);
    const std::string header = raw ? "" : npy::make_header(plan.npy_dtype, plan.shape);
    return write_output(
        unit, tensor, name, header, header.size() + output_bytes(plan), row, [&](const std::string& path) -> Status {
          const PlannedTensor source{unit.opened.file, StoredElements(tensor, plan.dtype), plan};
          const RunContext context{context_.pool, context_.cancel, context_.progress};
          MSDUMP_TRY([[maybe_unused]] const uint64_t written, write_tensor(source, header, path, context));
          return {};
        });
  }

  Status write_opdebug(Unit& unit, const StoredTensor& tensor, ConvertRow& row) {
    if (tensor.bytes > kMaxOpdebugBytes)
      return fail(ErrorCode::kTooLarge, "an overflow record of {} bytes", tensor.bytes);
    std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes));
    MSDUMP_CHECK_OK(unit.opened.file.read_at(tensor.offset, bytes));
    MSDUMP_TRY(const ascend::OpdebugRecord record, ascend::read_opdebug(bytes, tensor.offset));
    const std::string text = ascend::opdebug_json(record);
    row.policy = PlanPolicy::kConverted;
    return write_output(unit, tensor, opdebug_output_name(unit.base, tensor), text, text.size(), row,
                        [&](const std::string& path) { return write_file(path, text); });
  }

  const DumpIndex& index_;
  const Selection& selection_;
  const ConvertOptions& options_;
  const ConvertContext& context_;
  OutputTree& tree_;
  const SettingsFile& settings_;
  const bool contested_;
  OutputClaims claims_;
};

// Names the inputs so that no two share an output. Names on disk are unique, so inside one dump only names from mapping.csv
// can clash; then the hash stays.
std::vector<ConvertInput> name_inputs(const std::vector<const IndexedFile*>& files) {
  std::unordered_set<std::string> taken;
  const auto key = [](const IndexedFile& file, std::string_view name) {
    return fmt::format("{}/{}", file.folder, name);
  };
  for (const IndexedFile* file : files) {
    if (file->real_name.empty()) taken.insert(key(*file, file->name));
  }
  std::vector<ConvertInput> inputs;
  for (const IndexedFile* file : files) {
    inputs.push_back({file, std::string(file->name), "", static_cast<int64_t>(inputs.size())});
    if (file->real_name.empty()) continue;
    if (file->real_name.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      inputs.back().note = "the name that mapping.csv gives it is unsafe; its own is kept";
    } else if (!taken.insert(key(*file, file->real_name)).second) {
      inputs.back().note = "the name that mapping.csv gives it belongs to another file; its own is kept";
    } else {
      inputs.back().base = file->real_name;
    }
  }
  return inputs;
}

// Returns an error if two of the paths have files at equal places, which OUT cannot mirror.
Status check_clashes(const DumpIndex& index, const std::vector<ConvertInput>& inputs) {
  if (index.paths().size() < 2) return {};
  std::unordered_set<std::string> taken;
  for (const ConvertInput& input : inputs) {
    const std::string place = join_path(index.folder_of(*input.file), input.base);
    if (taken.insert(place).second) continue;
    return fail(
        make_error(ErrorCode::kUsage, "'{}' lies in more than one of the dumps; both would become the same file", place)
            .with_hint("convert them into different OUT directories"));
  }
  return {};
}

class Conversion {
 public:
  Conversion(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
             const ConvertContext& context)
      : index_(index),
        selection_(selection),
        options_(options),
        context_(context),
        settings_(options),
        tree_(options.out, settings_, context.cancel) {}

  Result<ConvertSummary> run() {
    std::vector<const IndexedFile*> chosen;
    uint64_t bytes = 0;
    for (const IndexedFile& file : index_.files()) {
      if (file.family == nullptr || !file.family->has_elements() || is_left_out(file.family->kind())) {
        ++summary_.ignored;
      } else if (file.family->names_tensors(file.facts) ? selection_.matches_folder(index_.identity_of(file))
                                                        : selection_.matches_file(index_.identity_of(file))) {
        chosen.push_back(&file);
        bytes += file.size;
      }
    }
    const std::vector<ConvertInput> inputs = name_inputs(chosen);
    MSDUMP_CHECK_OK(check_clashes(index_, inputs));
    // Files whose name decides nothing may hold no tensors, so they do not create OUT.
    const bool sure =
        std::any_of(inputs.begin(), inputs.end(), [](const ConvertInput& input) { return !input.file->by_content; });
    if (!options_.dry_run && sure) MSDUMP_CHECK_OK(tree_.create_root());
    if (context_.progress != nullptr) context_.progress->start(inputs.size(), bytes);
    if (!options_.shard) {
      for (const Error& problem : index_.problems()) report(problem);
    }
    FileConverter files(index_, selection_, options_, context_, tree_, settings_, is_contested(inputs));
    const std::vector<bool> own = own_inputs(inputs);
    context_.pool.ordered_for(
        static_cast<int64_t>(inputs.size()),
        [&](int64_t i) {
          const ConvertInput& input = inputs[static_cast<size_t>(i)];
          if (own[static_cast<size_t>(i)]) return convert_input(files, input);
          files.claim(input);
          return FileOutcome();
        },
        [&](int64_t, FileOutcome&& outcome) { collect(std::move(outcome)); });
    if (!options_.dry_run && !options_.shard) {
      for (const Error& error : tree_.write_mappings()) report(error);
    }
    if (writes_arrays()) settings_.end();
    summary_.interrupted = context_.cancel.cancelled();
    return summary_;
  }

 private:
  // False for a dry run, and for a merge.
  [[nodiscard]] bool writes_arrays() const {
    return !options_.dry_run && (context_.facts == nullptr || options_.shard.has_value());
  }

  std::vector<bool> own_inputs(const std::vector<ConvertInput>& inputs) {
    std::vector<bool> own(inputs.size(), true);
    summary_.units = summary_.own_units = static_cast<int64_t>(inputs.size());
    if (!options_.shard) return own;
    std::vector<uint64_t> sizes;
    for (const ConvertInput& input : inputs) sizes.push_back(input.file->size);
    const std::vector<uint32_t> shares = shares_of(sizes, options_.shard->count);
    for (size_t i = 0; i < own.size(); ++i) own[i] = shares[i] == options_.shard->index;
    summary_.own_units = std::count(own.begin(), own.end(), true);
    return own;
  }

  FileOutcome convert_input(FileConverter& files, const ConvertInput& input) const {
    const FactKey key{FactKind::kConverted, static_cast<uint32_t>(input.number)};
    if (context_.facts == nullptr) return files.convert(input);
    if (options_.shard) {
      FileOutcome outcome = files.convert(input);
      if (!outcome.interrupted) context_.facts->keep(key, encode_result(Result<FileOutcome>(outcome)));
      return outcome;
    }
    // Converting it now could take an output that belongs to another input.
    const auto known = context_.facts->find(key);
    Result<FileOutcome> outcome = known ? decode_result<FileOutcome>(*known)
                                        : fail(make_error(ErrorCode::kBadHeader, "no part says what became of it"));
    if (outcome) return std::move(*outcome);
    FileOutcome failed;
    failed.failures.push_back(std::move(outcome).error().with_path(index_.path_of(*input.file)));
    return failed;
  }

  // True if outputs of two inputs may have one name: names from inside of files, replaced formats, .npy files that keep their
  // names. All other outputs begin with the name of their input and end in as many fields.
  [[nodiscard]] bool is_contested(const std::vector<ConvertInput>& inputs) const {
    const auto has_free_names = [](const ConvertInput& input) {
      return input.file->kind == FileKind::kNpy || input.file->family->names_tensors(input.file->facts);
    };
    return options_.type == OutputType::kMsnpy || std::any_of(inputs.begin(), inputs.end(), has_free_names);
  }

  void report(const Error& error) {
    context_.sink.failure(error);
    ++summary_.failed;
  }

  // Called in the order of the inputs, one at a time.
  void collect(FileOutcome&& outcome) {
    // Even an interrupted file keeps what it wrote so far, under these names.
    for (auto& [folder, mapped, original] : outcome.long_names)
      tree_.add_mapping(folder, std::move(mapped), std::move(original));
    if (outcome.interrupted || options_.shard) return;
    if (outcome.not_a_dump) {
      ++summary_.ignored;
      return;
    }
    ++summary_.inputs;
    for (const TensorWarning& warning : outcome.warnings)
      context_.sink.warning(outcome.path, warning.tensor, warning.text);
    for (const Error& error : outcome.failures) report(error);
    for (const ConvertRow& row : outcome.rows) {
      ++summary_.tensors;
      summary_.written += row.status == ConvertStatus::kWritten ? 1 : 0;
      summary_.skipped += row.status == ConvertStatus::kSkipped ? 1 : 0;
      const bool done = row.status == ConvertStatus::kWritten || row.status == ConvertStatus::kPlanned;
      const bool kept = row.policy == PlanPolicy::kKept && done;
      summary_.kept += kept ? 1 : 0;
      const auto format = kept && row.from_format ? format_from_name(*row.from_format) : std::nullopt;
      if (format && info(*format).support != Support::kHost) ++summary_.device_formats[*row.from_format];
      context_.sink.row(row);
    }
    summary_.bytes_in += outcome.bytes_in;
    summary_.bytes_out += outcome.bytes_out;
  }

  const DumpIndex& index_;
  const Selection& selection_;
  const ConvertOptions& options_;
  const ConvertContext& context_;
  SettingsFile settings_;
  OutputTree tree_;
  ConvertSummary summary_;
};

}  // namespace

std::string_view name_of(ConvertStatus status) {
  switch (status) {
    case ConvertStatus::kWritten: return "written";
    case ConvertStatus::kSkipped: return "skipped";
    case ConvertStatus::kPlanned: return "planned";
    case ConvertStatus::kFailed: return "failed";
  }
  return "failed";
}

Result<ConvertSummary> convert(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                               const ConvertContext& context) {
  return Conversion(index, selection, options, context).run();
}

}  // namespace msdump
