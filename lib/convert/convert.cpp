#include "convert/convert.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "convert/file_converter.h"
#include "convert/output_tree.h"
#include "dump/layouts/family.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

// Two inputs must never share an output: the second would silently replace the first. Names on disk are unique, so
// inside one dump only names from mapping.csv can clash; there the hash stays.
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

// Several paths are mirrored into one OUT. Only the user can resolve a clash of equal places below two of them.
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
      if (file.family == nullptr || !file.family->has_elements() || file.family->kind() == FileKind::kPt) {
        ++summary_.ignored;
      } else if (file.family->names_tensors(file.facts) ? selection_.matches_folder(index_.identity_of(file))
                                                        : selection_.matches_file(index_.identity_of(file))) {
        chosen.push_back(&file);
        bytes += file.size;
      }
    }
    const std::vector<ConvertInput> inputs = name_inputs(chosen);
    MSDUMP_CHECK_OK(check_clashes(index_, inputs));
    // Files that only their content can judge may turn out to hold no tensors: they do not create OUT.
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

  // Names out of files, formats in names that are replaced, and .npy files that keep their names can meet; all other
  // outputs begin with the name of their input and end in as many fields.
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
      summary_.kept += row.policy == PlanPolicy::kKept && done ? 1 : 0;
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
