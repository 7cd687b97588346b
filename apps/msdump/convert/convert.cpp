#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "convert/convert.h"
#include "format/plan.h"
#include "frame/cli.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "graph/join/original_shapes.h"
#include "io/dir_walk.h"
#include "report/row_sink.h"
#include "shared/catalogue.h"
#include "shared/opened_graph.h"
#include "shared/sharding.h"
#include "tensor/dtype.h"
#include "tensor/format.h"

namespace msdump::cli {
namespace {

// What convert reports: its rows for the report writers, its warnings and failures as messages.
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

std::vector<report::Column> convert_columns() {
  const auto formats = [](const report::Row& row) {
    const std::string from = row.text_or_number("from_format"), to = row.text_or_number("to_format");
    return from == to ? from : from + " -> " + to;
  };
  return {{"input", "input"},  {"tensor", "tensor"}, {"from_format", "format", formats},
          {"to_format", ""},   {"dtype", "dtype"},   {"npy_dtype", ""},
          {"shape", "shape"},  {"policy", ""},       {"status", "status"},
          {"output", "output"}};
}

report::Row convert_row(const ConvertRow& row) {
  report::Row result;
  result.add("input", row.input).add("tensor", row.tensor).add("output", row.output);
  result.add("from_format", row.from_format).add("to_format", row.to_format);
  result.add("dtype", row.dtype).add("npy_dtype", row.npy_dtype);
  result.add("shape", row.shape ? report::Value(report::list_of(*row.shape)) : report::Value());
  result.add("policy", row.policy ? report::Value(name_of(*row.policy)) : report::Value());
  result.add("status", name_of(row.status));
  return result;
}

report::Object convert_summary(const ConvertSummary& summary) {
  report::Object object;
  object.add("inputs", summary.inputs).add("tensors", summary.tensors).add("written", summary.written);
  object.add("skipped", summary.skipped).add("kept", summary.kept).add("failed", summary.failed);
  object.add("ignored_files", summary.ignored).add("bytes_in", summary.bytes_in).add("bytes_out", summary.bytes_out);
  return object;
}

ConvertReport::ConvertReport(Session& session, std::unique_ptr<report::RowSink> sink, std::vector<std::string> dumps,
                             std::string out)
    : session_(session), sink_(std::move(sink)) {
  std::erase_if(dumps, [](const std::string& root) { return path_kind(root) != PathKind::kDirectory; });
  dumps.push_back(std::move(out));
  relative_ = RelativePaths(dumps);
}

void ConvertReport::row(const ConvertRow& row) {
  // A stream that failed stops the run through the token; nothing more to do here.
  if (sink_ && !sink_->row(convert_row(row))) session_.cancel.cancel();
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
  closing_.summary = convert_summary(summary);
  if (sink_) (void)sink_->finish(std::move(closing_));
}

}  // namespace

// msdump convert: Ascend dump files to arrays; a drop-in for msaccucmp.py convert in names and options.

namespace {

constexpr const char* kConversionGroup = "Conversion";

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
      .no = "done, but the selection matched nothing"};
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

class Convert : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return convert_info(); }
  [[nodiscard]] std::span<const RefusedOption> refused() const override { return kRefused; }

  void declare(CLI::App& app) override {
    add_dump_options(app, request_.dump, ",--dump_file");
    declare_conversion(app);
    add_selection_options(app, request_.selection);
    add_output_option(app, request_.out, "Where the arrays go; required");
    app.add_flag("--resume", request_.options.resume,
                 "Skip outputs that are complete, newer than their input and made with the same options")
        ->group(kOutputGroup);
    app.add_flag("--dry-run", request_.options.dry_run, "Show what would be written and write nothing")
        ->group(kOutputGroup);
    add_shard_option(app, request_.sharding);
    add_report_options(app, request_.form);
    app.add_flag("--list-formats", request_.list_formats, "Print all tensor formats and what each becomes")
        ->group(kOutputGroup);
    app.add_flag("--list-dtypes", request_.list_dtypes, "Print all element types and what each becomes")
        ->group(kOutputGroup);
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
    if (request_.list_formats) return list_formats(session);
    if (request_.list_dtypes) return list_dtypes(session);
    if (request_.out.empty()) {
      throw UsageError("option '--out' is required", "msdump convert -d DUMP -out OUT");
    }
    if (request_.sharding.shard) check_shard_options(session, {"dry-run"});
    const Result<std::vector<std::string>> dumps = resolve_dumps(request_.dump, session.context.cancel);
    if (!dumps) return session.end_with(dumps.error());
    const Result<Selection> selection = Selection::compile(request_.selection);
    if (!selection) return session.end_with(selection.error());
    return convert_dumps(session, *dumps, *selection);
  }

 private:
  void declare_conversion(CLI::App& app) {
    std::vector<std::pair<std::string, std::optional<Format>>> host_formats;
    std::vector<RefusedWord> other_formats;
    for (const FormatInfo& one : all_formats()) {
      if (one.format == Format::kND || !host_axes(one.format).empty()) {
        host_formats.emplace_back(one.name, one.format);
      } else {
        other_formats.push_back({to_lower(one.name), fmt::format("{} is not a host format", one.name),
                                 "msdump convert --list-formats says which formats -f takes"});
      }
    }
    const ChoiceText format{"tensor format",
                            "Host format of the arrays; tensors without a device format are written as they are",
                            other_formats, "msdump convert --list-formats says which formats -f takes"};
    add_choice(app, "-f,--format", request_.options.format, host_formats, format)
        ->default_str("the device format")
        ->group(kConversionGroup);

    const std::vector<RefusedWord> no_torch = {{"pt", "'-t pt' is not written: it needs torch",
                                                "write npy; torch.from_numpy(numpy.load(FILE)) makes a tensor"}};
    add_choice<OutputType>(app, "-t,--type", request_.options.type,
                           {{"npy", OutputType::kNpy}, {"bin", OutputType::kBin}, {"msnpy", OutputType::kMsnpy}},
                           {"output type", "Container of the arrays", no_torch})
        ->default_str("npy")
        ->group(kConversionGroup);
    const auto take_shape = [this](const std::string& typed) { request_.options.shape = parse_shape(typed); };
    app.add_option_function<std::string>("-s,--shape", take_shape,
                                         "Original shape, for tensors whose file does not say it: 1,3,224,224")
        ->type_name("N,N,...")
        ->group(kConversionGroup);
    add_ir_option(app, request_.ir, "search in and next to the dump. It has the original shapes of device formats");
    add_choice<Naming>(app, "--naming", request_.options.naming,
                       {{"msaccucmp", Naming::kMsaccucmp}, {"mindspore", Naming::kMindspore}},
                       {"naming", "Whose file names the arrays get"})
        ->default_str("msaccucmp")
        ->group(kConversionGroup);
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
    const bool rows =
        request_.form != report::Form::kTable || request_.options.dry_run || session.general.verbosity > 0;
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

  // The exit code that the numbers mean.
  [[nodiscard]] ExitCode conclude(Session& session, const DumpIndex& index, const Selection& selection,
                                  const ConvertSummary& summary) const {
    if (summary.interrupted) return ExitCode::kOk;  // the frame turns the signal into the code
    if (summary.inputs == 0 && summary.failed == 0) {
      if (has_tensor_files(index) && !selection.everything()) {
        return end_with_nothing_selected(session, index, request_.selection);
      }
      session.messages.error(
          ErrorCode::kNotADump,
          fmt::format("nothing to convert: {} found, none is a dump file", plural(index.files().size(), "file")),
          "-d takes a directory of a dump, or dump files");
      return ExitCode::kUsage;
    }
    session.messages.summary(summary_text(summary));
    if (summary.tensors > 0 && summary.skipped == summary.tensors && !request_.options.resume) {
      session.messages.note(
          "nothing to convert: these are .npy files that numpy can read, and none is in a format that -f changes");
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
    if (summary.kept > 0)
      text += fmt::format(", {} in {} format", summary.kept, request_.options.format ? "device" : "the stored");
    if (summary.failed > 0) text += fmt::format(", {} failed", summary.failed);
    if (summary.ignored > 0) text += "; ignored " + plural(static_cast<uint64_t>(summary.ignored), "other file");
    return text;
  }

  ExitCode list_formats(Session& session) const {
    const std::unique_ptr<report::RowSink> sink = session.open_report(
        request_.form, {}, {{"format", "format"}, {"number", "number"}, {"support", "support"}, {"note", "note"}});
    for (const FormatInfo& one : all_formats()) {
      report::Row row;
      row.add("format", one.name).add("number", static_cast<int>(one.format)).add("support", support_word(one.support));
      row.add("note", one.note);
      if (!sink->row(row)) break;  // the stream remembers why, the frame says it
    }
    (void)sink->finish({});
    return ExitCode::kOk;
  }

  ExitCode list_dtypes(Session& session) const {
    const std::unique_ptr<report::RowSink> sink = session.open_report(request_.form, {},
                                                                      {{"dtype", "dtype"},
                                                                       {"cann_name", "cann name"},
                                                                       {"number", "number"},
                                                                       {"bits", "bits"},
                                                                       {"npy_dtype", "in npy"}});
    for (const DTypeInfo& one : all_dtypes()) {
      const report::Value number = one.proto_number < 0 ? report::Value() : report::Value(one.proto_number);
      const report::Value bits = one.bits == 0 ? report::Value() : report::Value(one.bits);
      report::Row row;
      row.add("dtype", one.name).add("cann_name", one.cann_name).add("number", number).add("bits", bits);
      row.add("npy_dtype", is_raw(one.dtype) ? "uint8 (raw bytes)" : name_of(one.npy_dtype));
      if (!sink->row(row)) break;
    }
    (void)sink->finish({});
    return ExitCode::kOk;
  }

  static std::string_view support_word(Support support) {
    switch (support) {
      case Support::kHost: return "host";
      case Support::kDevice: return "converted";
      case Support::kKept: return "kept";
    }
    return "";
  }

  ConvertRequest request_;
  bool ignored_version_ = false;
};

const Registration kConvertCommand{[] { return std::make_unique<Convert>(); }};

}  // namespace

}  // namespace msdump::cli
