// Raw files: the elements and nothing else; the name says what they are. Those of MindSpore 1.0 to 1.2 (.bin), and those
// of msprobe's adump for what .npy cannot hold, and of msdump convert.
#include "dump/layouts/converted_facts.h"
#include "dump/layouts/family.h"
#include "dump/names/converted_name.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

std::string_view last_component(std::string_view scope) { return scope.substr(scope.rfind('/') + 1); }

class RawBinFamily final : public Family {
 public:
  std::string_view name() const override { return "raw bin"; }
  FileKind kind() const override { return FileKind::kRaw; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    const auto parsed = parse_raw_bin_file_name(file.name);
    if (!parsed) return Claim::kNo;
    facts.op_name = file.arena.keep(parsed->op_name);
    // "Conv2D-op12" is of type Conv2D; a parameter ("conv1.weight") has no type of its own.
    const std::string_view last = last_component(facts.op_name);
    const size_t number = last.rfind("-op");
    const bool parameter = number == std::string_view::npos;
    facts.op_type = parameter ? "Parameter" : last.substr(0, number);
    facts.io = parameter ? Io::kParameter : parsed->io;
    facts.slot = parsed->slot;
    facts.dtype = parsed->dtype;
    facts.format = parsed->format;
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    const auto parsed = parse_raw_bin_file_name(context.name);
    if (!parsed) return fail(make_error(ErrorCode::kInternal, "not a raw bin name").with_path(file.path()));
    StoredTensor tensor;
    tensor.io = parsed->io;
    tensor.slot = parsed->slot;
    tensor.bytes = tensor.request.bytes = file.size();
    tensor.request.dtype = parsed->dtype;
    // "shape_0" is a scalar; one without its bytes is read as empty, and reported (info/tree_oddities.h).
    tensor.request.shape = parsed->shape.empty() && file.size() == 0 ? Shape{0} : parsed->shape;
    tensor.request.format_number = static_cast<int64_t>(parsed->format.value_or(Format::kND));
    OpenedFile opened{std::move(file), FileKind::kRaw, parsed->op_name, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }
};

// Elements without a header: those of a dtype that numpy lacks, whose shape statistic.csv has, and what convert writes with
// -t bin, whose name says all.
class RawFamily final : public Family {
 public:
  std::string_view name() const override { return "raw"; }
  FileKind kind() const override { return FileKind::kRaw; }

  Claim claim(const FileContext& file, NameFacts& facts) const override {
    if (const auto converted = parse_converted_bin_name(file.name)) {
      take_converted_name(file, *converted, facts);
      return Claim::kByName;
    }
    const auto parsed = parse_raw_file_name(file.name);
    if (!parsed) return Claim::kNo;
    take_operator(parsed->op, facts);
    facts.io = parsed->io;
    facts.slot = parsed->slot;
    facts.format = parsed->format;
    facts.dtype = *parsed->dtype;
    return Claim::kByName;
  }

  Result<OpenedFile> open(File file, const OpenContext& context) const override {
    StoredTensor tensor;
    tensor.io = context.facts.io;
    tensor.slot = context.facts.slot;
    tensor.bytes = tensor.request.bytes = file.size();
    if (context.facts.dtype != DType::kUndefined) tensor.request.dtype = context.facts.dtype;
    if (const auto converted = parse_converted_bin_name(context.name)) {
      tensor.request.shape = converted->shape.value_or(Shape{static_cast<int64_t>(file.size())});
    }
    tensor.request.format_number = static_cast<int64_t>(context.facts.format.value_or(Format::kND));
    OpenedFile opened{std::move(file), FileKind::kRaw, {}, {}};
    opened.tensors.push_back(std::move(tensor));
    return opened;
  }
};

}  // namespace

const Family& raw_family() {
  static const RawFamily kFamily;
  return kFamily;
}

const Family& raw_bin_family() {
  static const RawBinFamily kFamily;
  return kFamily;
}

}  // namespace msdump
