#include "recompute/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <Eigen/Core>

#include "dump/elements/host_tensor.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "npy/npy.h"

namespace msdump::recompute {
namespace {

// Not the options of convert, whose --resume would take the files for its own.
ConvertOptions convert_options(const GoldenRequest& request) {
  ConvertOptions options;
  options.out = request.folder;
  options.version = request.version + " check --golden";
  return options;
}

template <class T>
void append_bits(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Little-endian as this machine is. None if an element cannot be told, or the dtype has no numbers.
Maybe<std::string> npy_file(DType dtype, const Shape& shape, const std::vector<double>& values) {
  const DType npy = info(dtype).npy_dtype;
  const bool is_whole = kind_of(dtype) != DTypeKind::kFloat;
  const size_t width = static_cast<size_t>(std::max(info(npy).bits, 8)) / 8;
  std::string bytes = npy::make_header(npy, shape);
  bytes.reserve(bytes.size() + values.size() * width + sizeof(int64_t));
  for (const double exact : values) {
    const std::optional<double> value = round_to(dtype, exact);
    if (!value) return unjudged(Reason::kFormat, name_of(dtype));
    if (is_whole && std::isnan(*value)) return unjudged(Reason::kFormat, "integers beyond 2^53 or their type");
    if (is_whole) {
      append_bits(static_cast<int64_t>(*value), bytes);
      bytes.resize(bytes.size() - sizeof(int64_t) + width);
    } else if (npy == DType::kFloat16) {
      append_bits(Eigen::half(static_cast<float>(*value)).x, bytes);
    } else if (npy == DType::kFloat32) {
      append_bits(static_cast<float>(*value), bytes);
    } else {
      append_bits(*value, bytes);
    }
  }
  return bytes;
}

}  // namespace

std::string Goldens::FileName::path() const { return join_path(folder, name.name); }

Goldens::Goldens(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<bool>& chosen,
                 const GoldenRequest& request, const CancelToken& cancel)
    : dump_(dump),
      flow_(flow),
      chosen_(chosen),
      request_(request),
      options_(convert_options(request)),
      settings_(options_),
      tree_(request.folder, settings_, cancel) {
  if (request.folder.empty()) return;
  for (const OpRun& run : flow.runs()) {
    for (const TensorId tensor : run.outputs) {
      if (chosen[tensor]) owners_.try_emplace(file_of(tensor).path(), tensor);
    }
  }
}

Status Goldens::begin() { return request_.folder.empty() ? Status() : tree_.create_root(); }

Goldens::FileName Goldens::file_of(TensorId tensor) const {
  const TensorRecord& record = (*dump_.tensors)[tensor];
  const IndexedFile& file = dump_.index->files()[record.file];
  std::string base(file.shown_name());
  Plan kept;
  kept.identity = true;
  if (file.kind == FileKind::kNpy || file.kind == FileKind::kPt)
    return {dump_.index->folder_of(file), npy_output_name(base.substr(0, base.rfind('.')) + ".npy", kept)};
  NameRequest request;
  request.input_name = std::move(base);
  StoredTensor stored;
  stored.io = record.name.io;
  stored.slot = record.name.slot;
  return {dump_.index->folder_of(file), output_name(request, stored, kept)};
}

Status Goldens::write(const ComputedOutput& output, GoldenOutput& golden) {
  const TensorRecord& record = (*dump_.tensors)[output.tensor];
  // The graph may have another shape.
  const auto stored = HostTensor::open(*dump_.index, record, {});
  const Shape& shape = stored ? stored->shape() : output.written.shape;
  const Maybe<std::string> content = npy_file(output.written.dtype, shape, output.expected.values);
  if (!content) {
    golden.why = content.error();
    return {};
  }
  const FileName file = file_of(output.tensor);
  const std::string path = file.path(), target = tree_.path_of(path);
  const std::string own = dump_.index->path_of(dump_.index->files()[record.file]);
  if (owners_.at(path) != output.tensor)
    return fail(make_error(ErrorCode::kWriteFailed, "'{}' is the golden of another output", path).with_path(own));
  std::error_code missing;
  if (std::filesystem::equivalent(target, own, missing))
    return fail(make_error(ErrorCode::kUsage, "is the dump's own file, and is not replaced").with_path(target));
  MSDUMP_CHECK_OK(tree_.create_folder(file.folder));
  MSDUMP_CHECK_OK(write_file(target, *content));
  golden.path = path;
  if (file.name.original) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tree_.add_mapping(file.folder, file.name.name, *file.name.original);
  }
  return {};
}

void Goldens::judge(const ComputedOutput& output, GoldenOutput& golden) const {
  Tensor reference;
  if (*request_.standard != Standard::kOpen) {
    Maybe<Tensor> read = request_.reference(output.tensor);
    if (!read) {
      golden.why = std::move(read).error();
      return;
    }
    reference = *read;
  }
  const bool moves = output.kernel.arithmetic == Arithmetic::kExact;
  golden.verdict = judge_by(*request_.standard, output.written, output.expected, moves, reference.get());
  if (!golden.verdict) golden.why = Unjudged{Reason::kFormat, "the standard has no rule for it"};
}

void Goldens::take(const ComputedOutput& output) {
  if (!chosen_[output.tensor]) return;
  GoldenOutput golden;
  golden.tensor = output.tensor;
  Status done;
  if (output.incomplete)
    golden.why = Unjudged{Reason::kNoInput, "some elements"};
  else if (!request_.folder.empty())
    done = write(output, golden);
  if (request_.standard && done && !golden.why) judge(output, golden);
  const std::lock_guard<std::mutex> lock(mutex_);
  taken_.insert_or_assign(output.tensor, std::pair(std::move(golden), std::move(done)));
}

std::vector<GoldenOutput> Goldens::finish(const std::vector<OperatorJudgement>& judgements,
                                          std::vector<Error>& failures) {
  // The reason why an output was not taken.
  const auto why_not = [](const OperatorJudgement& of, TensorId tensor) -> Unjudged {
    const auto judged =
        std::find_if(of.outputs.begin(), of.outputs.end(), [&](const auto& one) { return one.tensor == tensor; });
    if (judged == of.outputs.end()) return of.outputs.empty() ? of.why : Unjudged{Reason::kNoKernel, "this output"};
    const Judgement& judgement = judged->judgement;
    return judgement.verdict == Judgement::Verdict::kNotJudged ? judgement.why : Unjudged{Reason::kTooLarge, {}};
  };
  std::vector<GoldenOutput> outputs;
  for (const OperatorJudgement& judgement : judgements) {
    for (const TensorId tensor : flow_.runs()[judgement.run].outputs) {
      if (!chosen_[tensor] || !(*dump_.tensors)[tensor].has_elements) continue;
      GoldenOutput& output = outputs.emplace_back();
      if (const auto found = taken_.find(tensor); found != taken_.end()) {
        output = std::move(found->second.first);
        if (!found->second.second) failures.push_back(std::move(found->second.second).error());
      } else {
        output.why = why_not(judgement, tensor);
      }
      output.tensor = tensor;
      output.type = judgement.type;
    }
  }
  if (request_.folder.empty()) return outputs;
  for (Error& error : tree_.write_mappings()) failures.push_back(std::move(error));
  settings_.end();
  return outputs;
}

}  // namespace msdump::recompute
