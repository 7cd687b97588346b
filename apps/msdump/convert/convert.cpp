#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "convert/convert.h"
#include "format/plan.h"
#include "frame/cli.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "graph/join/original_shapes.h"
#include "io/dir_walk.h"
#include "report/row_type.h"
#include "shared/catalogue.h"
#include "shared/opened_graph.h"
#include "shared/rows.h"
#include "shared/sharding.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace msdump::cli {
namespace {

// ConvertReport: rows go to the report writer, warnings and failures become messages.
class ConvertReport : public ConvertSink {
 public:
  // `sink` may be null: messages only.
  ConvertReport(Session& session, std::unique_ptr<report::RowSink> sink, std::vector<std::string> dumps,
                std::string out);

  void row(const ConvertRow& row) override;
  void warning(const std::string& path, const std::string& tensor, const std::string& text) override;
  void failure(const Error& error) override;
  void finish(const ConvertSummary& summary);

 private:
  Session& session_;
  std::unique_ptr<report::RowSink> sink_;
  RelativePaths relative_;  // to the dump or to OUT, as machine output has it
  report::Closing closing_;
};

std::string formats_cell(const report::Row& row, std::string_view) {
  const std::string from = row.text_or_number("from_format"), to = row.text_or_number("to_format");
  return from == to ? from : from + " -> " + to;
}

const report::RowType<ConvertRow>& convert_rows() {
  static const auto rows =
      report::RowType<ConvertRow>("ConvertedTensor", "A tensor that convert wrote, or would write with --dry-run.")
          .add({.key = "input", .type = "string", .text = "file of the dump, relative to it", .title = "input"},
               [](const ConvertRow& row) -> report::Value { return row.input; })
          .add({.key = "tensor",
                .type = "string",
                .text = "which tensor of the file: \"output:0\", or the name of a parameter",
                .title = "tensor"},
               [](const ConvertRow& row) -> report::Value { return row.tensor; })
          .add({.key = "output", .type = "string|null", .text = "array, relative to --out", .title = "output"},
               [](const ConvertRow& row) -> report::Value { return row.output; })
          .add({.key = "from_format",
                .type = "string|null",
                .text = "order of the dimensions in the file",
                .title = "format",
                .cell = formats_cell},
               [](const ConvertRow& row) -> report::Value { return row.from_format; })
          .add({.key = "to_format", .type = "string|null", .text = "order of the dimensions in the array"},
               [](const ConvertRow& row) -> report::Value { return row.to_format; })
          .add({.key = "dtype", .type = "string|null", .text = "element type in the file", .title = "dtype"},
               [](const ConvertRow& row) -> report::Value { return row.dtype; })
          .add({.key = "npy_dtype",
                .type = "string|null",
                .text = "element type of the array: numpy has no bfloat16, for example"},
               [](const ConvertRow& row) -> report::Value { return row.npy_dtype; })
          .add({.key = "shape", .type = "integer[]|null", .text = "dimensions of the array", .title = "shape"},
               [](const ConvertRow& row) -> report::Value {
                 return row.shape ? report::Value(report::list_of(*row.shape)) : report::Value();
               })
          .add({.key = "policy",
                .type = "string|null",
                .text = "converted to a host format, kept in that of the device, or raw: bytes of a type without "
                        "numbers"},
               [](const ConvertRow& row) -> report::Value {
                 return row.policy ? report::Value(name_of(*row.policy)) : report::Value();
               })
          .add({.key = "status",
                .type = "string",
                .text = "written, skipped, planned (--dry-run) or failed",
                .title = "status"},
               [](const ConvertRow& row) -> report::Value { return name_of(row.status); });
  return rows;
}

std::vector<report::Column> convert_columns() {
  return convert_rows().columns(
      {"input", "tensor", "from_format", "to_format", "dtype", "npy_dtype", "shape", "policy", "status", "output"});
}

const report::RowType<ConvertSummary>& convert_summary() {
  static const auto summary =
      report::RowType<ConvertSummary>("ConvertSummary", "Counts of a run of convert.")
          .add({.key = "inputs", .type = "integer", .text = "files of the dump"},
               [](const ConvertSummary& one) -> report::Value { return one.inputs; })
          .add({.key = "tensors", .type = "integer", .text = "tensors in them"},
               [](const ConvertSummary& one) -> report::Value { return one.tensors; })
          .add({.key = "written", .type = "integer", .text = "arrays that were written"},
               [](const ConvertSummary& one) -> report::Value { return one.written; })
          .add({.key = "skipped",
                .type = "integer",
                .text = "tensors without an array of their own: --resume, or .npy "
                        "files that numpy can read"},
               [](const ConvertSummary& one) -> report::Value { return one.skipped; })
          .add({.key = "kept", .type = "integer", .text = "arrays in the format of the device"},
               [](const ConvertSummary& one) -> report::Value { return one.kept; })
          .add({.key = "failed", .type = "integer", .text = "tensors and files that could not be converted"},
               [](const ConvertSummary& one) -> report::Value { return one.failed; })
          .add({.key = "ignored_files", .type = "integer", .text = "files that hold no tensor"},
               [](const ConvertSummary& one) -> report::Value { return one.ignored; })
          .add({.key = "bytes_in", .type = "integer", .unit = "bytes", .text = "size of the elements that were read"},
               [](const ConvertSummary& one) -> report::Value { return one.bytes_in; })
          .add({.key = "bytes_out", .type = "integer", .unit = "bytes", .text = "size of the arrays"},
               [](const ConvertSummary& one) -> report::Value { return one.bytes_out; });
  return summary;
}

std::string_view support_word(Support support) {
  switch (support) {
    case Support::kHost: return "host";
    case Support::kDevice: return "converted";
    case Support::kKept: return "kept";
  }
  return "";
}

const report::RowType<FormatInfo>& format_rows() {
  static const auto rows =
      report::RowType<FormatInfo>("Format", "A tensor format; --list-formats.")
          .add({.key = "format", .type = "string", .text = "name", .title = "format"},
               [](const FormatInfo& one) -> report::Value { return one.name; })
          .add({.key = "number", .type = "integer", .text = "number in dump files", .title = "number"},
               [](const FormatInfo& one) -> report::Value { return static_cast<int>(one.format); })
          .add({.key = "support",
                .type = "string",
                .text = "host: one that -f takes; converted to it; or kept as it is",
                .title = "support"},
               [](const FormatInfo& one) -> report::Value { return support_word(one.support); })
          .add({.key = "note", .type = "string", .text = "what becomes of it", .title = "note"},
               [](const FormatInfo& one) -> report::Value { return one.note; });
  return rows;
}

const report::RowType<DTypeInfo>& dtype_rows() {
  static const auto rows =
      report::RowType<DTypeInfo>("DType", "An element type; --list-dtypes.")
          .add({.key = "dtype", .type = "string", .text = "MindSpore's lower-case name", .title = "dtype"},
               [](const DTypeInfo& one) -> report::Value { return one.name; })
          .add({.key = "cann_name", .type = "string", .text = "CANN's name", .title = "cann name"},
               [](const DTypeInfo& one) -> report::Value { return one.cann_name; })
          .add({.key = "number", .type = "integer|null", .text = "number in dump files", .title = "number"},
               [](const DTypeInfo& one) -> report::Value {
                 return one.proto_number < 0 ? report::Value() : report::Value(one.proto_number);
               })
          .add({.key = "bits",
                .type = "integer|null",
                .unit = "bits",
                .text = "size of an element; null for texts",
                .title = "bits"},
               [](const DTypeInfo& one) -> report::Value {
                 return one.bits == 0 ? report::Value() : report::Value(one.bits);
               })
          .add({.key = "npy_dtype",
                .type = "string",
                .text = "element type of the array that convert writes",
                .title = "in npy"},
               [](const DTypeInfo& one) -> report::Value {
                 return is_raw(one.dtype) ? report::Value("uint8 (raw bytes)") : report::Value(name_of(one.npy_dtype));
               });
  return rows;
}

ConvertReport::ConvertReport(Session& session, std::unique_ptr<report::RowSink> sink, std::vector<std::string> dumps,
                             std::string out)
    : session_(session), sink_(std::move(sink)) {
  std::erase_if(dumps, [](const std::string& root) { return path_kind(root) != PathKind::kDirectory; });
  dumps.push_back(std::move(out));
  relative_ = RelativePaths(dumps);
}

void ConvertReport::row(const ConvertRow& row) {
  // A stream that failed stops the run through the token.
  if (sink_ && !sink_->row(convert_rows().row(row))) session_.cancel.cancel();
}

void ConvertReport::warning(const std::string& path, const std::string& tensor, const std::string& text) {
  Error warning = make_error(ErrorCode::kUnsupportedFormat, "{}", text).with_path(path).with_tensor(tensor);
  session_.messages.warning(warning);
}

void ConvertReport::failure(const Error& error) {
  session_.messages.error(error);
  if (!sink_) return;
  Error machine = error;
  machine.path = relative_.of(error.path);
  closing_.failures.push_back(report::failure_object(machine));
}

void ConvertReport::finish(const ConvertSummary& summary) {
  closing_.summary = convert_summary().row(summary);
  if (sink_) (void)sink_->finish(std::move(closing_));
}

}  // namespace

// msdump convert: Ascend dump files to arrays; a drop-in for msaccucmp.py convert in names and options.

namespace {

constexpr std::string_view kConversionGroup = "Conversion";

// The options of the command.
struct ConvertRequest {
  DumpOptions dump;
  std::vector<std::string> ir;
  std::string out;
  ConvertOptions options;
  bool list_formats = false, list_dtypes = false;
  SelectionOptions selection;
  ShardOptions sharding;
  report::Form form = report::Form::kTable;
};

constexpr std::array kRefused = {
    RefusedOption{'o', "'-o' means the output's index in msaccucmp and the output's path in msprobe",
                  "write --out DIR, or --io output --slot K"},
    RefusedOption{'i', "'-i K' of msaccucmp is spelt differently here", "write --io input --slot K"},
    RefusedOption{'c', "'-c' of msaccucmp, a custom conversion script, is not supported",
                  "every format in msdump convert --list-formats is converted without scripts"},
};

const CommandInfo& convert_info() {
  static const CommandInfo info{
      .name = "convert",
      .order = 10,
      .summary = "Ascend dump files to .npy, in the requested host format",
      .usage = "-d DUMP -out OUT [-f FORMAT] [-t npy|bin|msnpy] [-s SHAPE] [OPTIONS]",
      .description =
          "Writes every tensor of the dump files below DUMP as an array under OUT, which mirrors the tree. Without "
          "-f tensors keep their device format; with -f they get that host format. A file that cannot be converted "
          "is reported, and the others are converted.",
      .examples = {{"msdump convert -d dump -out npy -f NCHW", "the whole tree in NCHW, e.g. for numpy.load"},
                   {"msdump convert -d dump/rank_0 -out npy --op 'Conv2D*' --step 0-9",
                    "some operators of the first ten steps"},
                   {"find dump -name 'MatMul*' | msdump convert -d - -out npy", "the files that another program lists"},
                   {"msdump convert -d dump -out npy -f NCHW --dry-run --csv",
                    "what would be written, as a table for scripts"}},
      .done = "done",
      .no = "done, but the selection matched nothing",
      .other_names = {{"npy numpy tonpy dump2npy transform translate export extract decode"}}};
  return info;
}

std::vector<int64_t> parse_shape(const std::string& typed) {
  std::vector<int64_t> shape;
  for (const std::string_view part : split(typed, ',')) {
    const std::optional<int64_t> dim = parse_i64(part);
    if (!dim || *dim < 1) {
      throw UsageError(fmt::format("shape '{}': '{}' is not a positive number", typed, part),
                       "write the original shape as 1,3,224,224");
    }
    shape.push_back(*dim);
  }
  return shape;
}

// The command line with --out. The last of several arguments is taken for OUT, as cp has it.
std::string line_with_out(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return "msdump convert -d DUMP --out OUT";
  const std::span<const std::string> dumps(arguments.data(), arguments.size() - 1);
  return fmt::format("msdump convert -d {} --out {}", shell_line(dumps), shell_quoted(arguments.back()));
}

class Convert : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return convert_info(); }
  [[nodiscard]] std::span<const RefusedOption> refused() const override { return kRefused; }

  void declare(OptionTable& options) override {
    options.add(dump_options(request_.dump, ",--dump_file"));
    options.add(conversion_options());
    options.add(selection_options(request_.selection));
    options.add({output_option(request_.out, "Where the arrays go; required"),
                 {.names = "--resume",
                  .value = OptionValue::flag(request_.options.resume),
                  .group = kOutputGroup,
                  .help = "Skip outputs that are complete, newer than their input and made with the same options",
                  .use = OptionUse::kShard},
                 {.names = "--dry-run",
                  .other_names = "plan",
                  .is_common = true,
                  .value = OptionValue::flag(request_.options.dry_run),
                  .group = kOutputGroup,
                  .help = "Show what would be written and write nothing",
                  .use = OptionUse::kWholeRun},
                 shard_option(request_.sharding)});
    options.add(report_options(request_.form));
    options.add({{.names = "--list-formats",
                  .value = OptionValue::flag(request_.list_formats),
                  .group = kOutputGroup,
                  .help = "Print all tensor formats and what each becomes"},
                 {.names = "--list-dtypes",
                  .value = OptionValue::flag(request_.list_dtypes),
                  .group = kOutputGroup,
                  .help = "Print all element types and what each becomes"}});
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "convert",
             .text = "The arrays that were written.",
             .row = &convert_rows().type(),
             .summary = &convert_summary().type()},
            {.name = "convert --list-formats", .text = "All tensor formats.", .row = &format_rows().type()},
            {.name = "convert --list-dtypes", .text = "All element types.", .row = &dtype_rows().type()}};
  }

  // msaccucmp's `-v 1|2` and `--version 1|2` name a version of its dump file format; ours is read from the file.
  size_t ignored(std::span<const std::string> arguments) override {
    const std::string& first = arguments[0];
    const bool attached = first == "-v1" || first == "-v2" || first == "-v=1" || first == "-v=2" ||
                          first == "--version=1" || first == "--version=2";
    const bool named = first == "-v" || first == "--version" || first == "-version";
    const bool detached = named && arguments.size() > 1 && (arguments[1] == "1" || arguments[1] == "2");
    if (attached || detached) ignored_version_ = true;
    return detached ? 2 : attached ? 1 : 0;
  }

  ExitCode run(Session& session) override {
    if (ignored_version_) {
      session.messages.note("the dump version given with -v or --version is ignored; each file has its own");
    }
    if (request_.list_formats) return print_list(session, request_.form, format_rows(), all_formats());
    if (request_.list_dtypes) return print_list(session, request_.form, dtype_rows(), all_dtypes());
    if (request_.out.empty()) {
      throw UsageError("option '--out' is required", line_with_out(request_.dump.positionals));
    }
    if (request_.sharding.shard) check_shard_options(session);
    const Result<std::vector<std::string>> dumps = resolve_dumps(request_.dump, session.context.cancel);
    if (!dumps) return session.end_with(dumps.error());
    const Result<Selection> selection = Selection::compile(request_.selection);
    if (!selection) return session.end_with(selection.error());
    return convert_dumps(session, *dumps, *selection);
  }

 private:
  std::vector<Option> conversion_options() {
    constexpr const char* kSeeFormats = "msdump convert --list-formats says which formats -f takes";
    std::vector<std::pair<std::string, std::optional<Format>>> host_formats;
    std::vector<RefusedWord> other_formats;
    for (const FormatInfo& one : all_formats()) {
      if (one.format == Format::kND || !host_axes(one.format).empty()) {
        host_formats.emplace_back(one.name, one.format);
      } else {
        other_formats.push_back({to_lower(one.name), fmt::format("{} is not a host format", one.name), kSeeFormats});
      }
    }
    const std::vector<RefusedWord> no_torch = {{"pt", "'-t pt' is not written: it needs torch",
                                                "write npy; torch.from_numpy(numpy.load(FILE)) makes a tensor"}};
    const auto take_shape = [this](const std::string& typed) { request_.options.shape = parse_shape(typed); };
    return {{.names = "-f,--format",
             .other_names = "layout",
             .is_common = true,
             .value = OptionValue::choice(request_.options.format, host_formats,
                                          {"tensor format", other_formats, kSeeFormats}),
             .group = kConversionGroup,
             .help = "Host format of the arrays; tensors without a device format are written as they are",
             .otherwise = "the device format"},
            {.names = "-t,--type",
             .other_names = "output-type container",
             .is_common = true,
             .value = OptionValue::choice<OutputType>(
                 request_.options.type,
                 {{"npy", OutputType::kNpy}, {"bin", OutputType::kBin}, {"msnpy", OutputType::kMsnpy}},
                 {"output type", no_torch}),
             .group = kConversionGroup,
             .help = "Container of the arrays",
             .otherwise = "npy"},
            {.names = "-s,--shape",
             .value = OptionValue::text(take_shape, "N,N,..."),
             .group = kConversionGroup,
             .help = "Original shape, for tensors whose file does not say it: 1,3,224,224"},
            ir_option(request_.ir, "search in and next to the dump. It has the original shapes of device formats"),
            {.names = "--naming",
             .value = OptionValue::choice<Naming>(
                 request_.options.naming, {{"msaccucmp", Naming::kMsaccucmp}, {"mindspore", Naming::kMindspore}},
                 {"naming"}),
             .group = kConversionGroup,
             .help = "Whose file names the arrays get",
             .otherwise = "msaccucmp"}};
  }

  ExitCode convert_dumps(Session& session, const std::vector<std::string>& dumps, const Selection& selection) {
    Result<DumpIndex> built = DumpIndex::build(dumps, {{request_.out}, &session.context.cancel, &session.context.pool});
    if (!built) return session.end_with(built.error());
    if (Status same = check_inputs(session, {&*built}); !same) return session.end_with(same.error());
    const Result<ShapedDump> shaped = read_shapes(session, std::move(*built));
    if (!shaped) return session.end_with(shaped.error());
    const DumpIndex* const index = &shaped->opened.catalogue->index;
    request_.options.shapes = &shaped->shapes;
    request_.options.out = request_.out;
    request_.options.ir = request_.ir;
    request_.options.version = version_number();
    if (request_.sharding.shard) return convert_shard(session, *index, selection);
    // People want the files; the rows are for scripts, for plans and on request.
    const bool rows = !is_for_people(request_.form) || request_.options.dry_run || session.general.verbosity > 0;
    ConvertReport report(session, rows ? session.open_report(request_.form, dumps, convert_columns()) : nullptr, dumps,
                         request_.out);
    const Result<ConvertSummary> summary = convert(
        *index, selection, request_.options,
        {session.context.pool, session.context.cancel, report, session.context.progress, session.context.facts});
    session.context.progress->stop();
    if (!summary) return session.end_with(summary.error());
    report.finish(*summary);
    const ExitCode code = conclude(session, *index, selection, *summary);
    return shaped->failed ? ExitCode::kSomeFailed : code;
  }

  // The arrays of this share; the part lies among them.
  ExitCode convert_shard(Session& session, const DumpIndex& index, const Selection& selection) {
    const Shard& shard = *request_.sharding.shard;
    request_.options.shard = shard;
    request_.sharding.resume = request_.options.resume;
    PartRun part(session, request_.sharding,
                 join_path(request_.out, fmt::format("part-{}-of-{}", shard.index, shard.count)), {&index});
    ConvertReport unused(session, nullptr, {}, request_.out);
    if (part.is_done()) return ExitCode::kOk;
    const RunContext context = part.context();
    const Result<ConvertSummary> summary = convert(
        index, selection, request_.options, {context.pool, context.cancel, unused, context.progress, context.facts});
    if (!summary) return session.end_with(summary.error());
    part.count(static_cast<uint64_t>(summary->units), static_cast<uint64_t>(summary->own_units));
    return part.finish("file");
  }

  struct ShapedDump {
    OpenedGraph opened;
    OriginalShapes shapes;
    bool failed = false;  // a file that --ir named
  };

  [[nodiscard]] bool needs_shapes(const DumpIndex& index) const {
    if (!request_.options.format || request_.options.shape) return false;
    return !request_.ir.empty() || std::any_of(index.files().begin(), index.files().end(), [](const IndexedFile& file) {
      const auto& format = file.facts.format;
      return file.kind == FileKind::kNpy && format && msdump::info(*format).support == Support::kDevice;
    });
  }

  // Original shapes, from the tables and graphs of the dump, if there are tensors that need them.
  Result<ShapedDump> read_shapes(Session& session, DumpIndex index) const {
    ShapedDump shaped;
    MSDUMP_TRY(shaped.opened, OpenedGraph::select({}));
    shaped.opened.catalogue.emplace(Catalogue{std::move(index), {}, {}, {}});
    Catalogue& catalogue = *shaped.opened.catalogue;
    if (!needs_shapes(catalogue.index)) return shaped;
    const ListOptions listed{Headers::kWhereNeeded};
    RunContext context = session.context;
    context.progress = nullptr;
    MSDUMP_TRY(catalogue.list, TensorList::read(catalogue.index, {}, listed, context));
    shaped.shapes.add_tables(catalogue.list.tensors());
    MSDUMP_TRY(shaped.opened.search, find_ir(&catalogue.index, request_.ir));
    MSDUMP_CHECK_OK(shaped.opened.read(std::nullopt, context));
    if (!request_.ir.empty()) {
      const LoadedGraph& loaded = *shaped.opened.loaded;
      for (const Error& error : loaded.failures) session.messages.error(error);
      shaped.failed = !loaded.failures.empty();
      if (loaded.graph.size() == 0 && !shaped.failed)
        return fail(make_error(ErrorCode::kUsage, "--ir: no IR in {}", fmt::join(request_.ir, ", ")));
    }
    if (!shaped.opened.joined) return shaped;
    const FileJoin& join = shaped.opened.joined->join;
    if (join.explained([](const TensorGroup&) { return true; }).mostly())
      shaped.shapes.add_graph(catalogue.list.tensors(), shaped.opened.graph(), join);
    return shaped;
  }

  // The exit code for the numbers.
  [[nodiscard]] ExitCode conclude(Session& session, const DumpIndex& index, const Selection& selection,
                                  const ConvertSummary& summary) const {
    if (summary.interrupted) return ExitCode::kOk;  // the frame turns the signal into the code
    if (summary.inputs == 0 && summary.failed == 0) {
      const auto pt = std::count_if(index.files().begin(), index.files().end(), [&](const IndexedFile& file) {
        return file.kind == FileKind::kPt && selection.matches_file(index.identity_of(file));
      });
      if (pt == 0 && has_tensor_files(index) && !selection.everything()) {
        return end_with_nothing_selected(session, index, request_.selection);
      }
      std::string what = plural(index.files().size(), "file") + " found, none is a dump file";
      if (pt > 0) what = plural(static_cast<uint64_t>(pt), ".pt file") + " of PyTorch, which torch.load reads";
      session.messages.error(ErrorCode::kNotADump, "nothing to convert: " + what,
                             pt > 0 ? "msdump stats, diff and check read them as they are"
                                    : "-d takes a directory of a dump, or dump files");
      return ExitCode::kUsage;
    }
    session.messages.summary(summary_text(summary));
    if (summary.tensors > 0 && summary.skipped == summary.tensors && !request_.options.resume) {
      session.messages.note(
          "nothing to convert: these are .npy files that numpy can read, and none is in a format that -f changes");
    }
    if (!summary.device_formats.empty() && !request_.options.format) {
      session.messages.note(
          "arrays in device format have its padding and order of elements: -f NCHW converts them to what "
          "frameworks have");
    }
    if (summary.failed > 0) return ExitCode::kSomeFailed;
    if (summary.tensors > 0 || selection.everything()) return ExitCode::kOk;
    return end_with_nothing_selected(session, index, request_.selection);
  }

  [[nodiscard]] std::string summary_text(const ConvertSummary& summary) const {
    std::string text = plural(static_cast<uint64_t>(summary.tensors), "tensor") + " of " +
                       plural(static_cast<uint64_t>(summary.inputs), "file");
    if (summary.written > 0) text += fmt::format(", {} written ({})", summary.written, human_bytes(summary.bytes_out));
    if (summary.skipped > 0) text += fmt::format(", {} skipped", summary.skipped);
    int64_t in_device_format = 0;
    std::string formats;
    for (const auto& [format, count] : summary.device_formats) {
      in_device_format += count;
      formats += fmt::format("{}{} {}", formats.empty() ? "" : ", ", format, count);
    }
    if (in_device_format > 0) text += fmt::format(", {} in device format ({})", in_device_format, formats);
    if (summary.failed > 0) text += fmt::format(", {} failed", summary.failed);
    if (summary.ignored > 0) text += "; ignored " + plural(static_cast<uint64_t>(summary.ignored), "other file");
    return text;
  }

  ConvertRequest request_;
  bool ignored_version_ = false;
};

const Registration kConvertCommand{[] { return std::make_unique<Convert>(); }};

}  // namespace

}  // namespace msdump::cli
