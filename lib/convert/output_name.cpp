#include "convert/output_name.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/names/file_name.h"
#include "tables/mapping_csv.h"

namespace msdump {
namespace {

// From this length on msaccucmp hashes; Linux stops at 255.
constexpr size_t kTooLong = 255;

OutputName shorten(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  std::replace(name.begin(), name.end(), '\0', '_');
  if (name.size() < kTooLong) return {std::move(name), std::nullopt};
  const std::string mapped = hash_name(name) + name.substr(name.rfind('.'));
  // A line of mapping.csv holds no line break.
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '\n' || c == '\r'; }, '_');
  return {mapped, std::move(name)};
}

// Host formats of rank 4 are called by their axes, everything without axes ND, device formats by their own name.
std::string_view written_format(const Plan& plan) {
  if (plan.policy == PlanPolicy::kKept) return name_of(plan.from);
  return name_of(plan.to);
}

std::string with_short_op_name(const std::string& input_name, const std::string& op_name) {
  const std::vector<std::string_view> fields = split(input_name, '.');
  if (fields.size() != 5 || op_name.empty()) return input_name;
  // The name comes from inside the file and may hold anything.
  std::string last = op_name.substr(op_name.rfind('/') + 1);
  std::replace_if(
      last.begin(), last.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
  return fmt::format("{}.{}.{}.{}.{}", fields[0], last, fields[2], fields[3], fields[4]);
}

std::string tensor_prefix(const std::string& base, const StoredTensor& tensor) {
  if (!tensor.op_name.empty()) return fmt::format("{}.{}", base, tensor.op_name);
  return fmt::format("{}.{}.{}", base, name_of(tensor.io), tensor.slot);
}

std::string bin_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan) {
  const std::string dims = !request.format_given ? std::to_string(plan.dst_elements)
                           : plan.shape.empty()  ? "scalar"
                                                 : join_dims(plan.shape, "_");
  return fmt::format("{}.{}.{}.{}.bin", tensor_prefix(request.input_name, tensor), dims, name_of(plan.npy_dtype),
                     written_format(plan));
}

}  // namespace

bool is_byte_section(Io io) { return io == Io::kBuffer || io == Io::kSpace; }

OutputName output_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan) {
  const std::string prefix = tensor_prefix(request.input_name, tensor);
  if (is_byte_section(tensor.io)) return shorten(prefix + ".bin");
  if (request.naming == Naming::kMindspore) {
    return shorten(fmt::format("{}.{}.{}.npy", prefix, written_format(plan), name_of(plan.dtype)));
  }
  switch (request.type) {
    case OutputType::kBin: return shorten(bin_name(request, tensor, plan));
    case OutputType::kMsnpy: {
      const std::string base = with_short_op_name(request.input_name, request.op_name);
      return shorten(fmt::format("{}.{}.npy", tensor_prefix(base, tensor), written_format(plan)));
    }
    case OutputType::kNpy: break;
  }
  if (!request.format_given) return shorten(prefix + ".npy");
  return shorten(fmt::format("{}.{}.npy", prefix, describe(plan.shape)));
}

OutputName opdebug_output_name(const std::string& input_name, const StoredTensor& tensor) {
  return shorten(tensor_prefix(input_name, tensor) + ".json");
}

OutputName npy_output_name(const std::string& input_name, const Plan& plan) {
  const auto parsed = parse_npy_file_name(input_name);
  if (!parsed || plan.policy != PlanPolicy::kConverted || plan.identity) return shorten(input_name);
  std::vector<std::string_view> fields = split(input_name, '.');
  const std::string format(written_format(plan));
  // ...format.npy or ...format.dtype.npy
  const size_t format_at = fields.size() - (fields[fields.size() - 2] == parsed->format_text ? 2 : 3);
  fields[format_at] = format;
  return shorten(fmt::format("{}", fmt::join(fields, ".")));
}

}  // namespace msdump
