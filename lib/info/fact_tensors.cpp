// Facts of files that hold tensors, and of overflow records, which are dump files, too.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ascend/atb_tensor.h"
#include "ascend/dump_file.h"
#include "ascend/opdebug.h"
#include "checkpoint/ms_ckpt.h"
#include "checkpoint/safetensors.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "dump/names/identity.h"
#include "info/fact_readers.h"
#include "io/file.h"
#include "io/json.h"
#include "npy/npy.h"
#include "torch/dcp_metadata.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr size_t kMostAttributes = 64, kLongestAttribute = 1000;
constexpr size_t kShownTensors = 20, kShownAttributes = 5;  // in lines
constexpr uint64_t kRecordBytes = 4096;

report::Value dtype_value(std::optional<DType> dtype) {
  if (!dtype || *dtype == DType::kUndefined) return {};
  return name_of(*dtype);
}

report::Value shape_value(const std::optional<Shape>& shape) {
  return shape ? report::Value(report::list_of(*shape)) : report::Value();
}

report::Value elements_of(const std::optional<Shape>& shape) {
  return shape ? report::Value(element_count(*shape)) : report::Value();
}

report::Value format_value(const PlanRequest& request) {
  const auto packed = unpack_format(request.format_number, request.sub_format);
  return packed ? report::Value(name_of(packed->format)) : report::Value();
}

report::Object tensor_object(const StoredTensor& tensor) {
  const PlanRequest& request = tensor.request;
  report::Object object;
  if (!tensor.op_name.empty()) object.add("op_name", tensor.op_name);
  object.add("io", name_of(tensor.io)).add("slot", slot_value(tensor.slot));
  object.add("dtype", dtype_value(tensor.original_dtype ? tensor.original_dtype : request.dtype));
  const auto packed = unpack_format(request.format_number, request.sub_format);
  object.add("format", format_value(request));
  object.add("sub_format", packed && packed->groups > 1 ? report::Value(packed->groups) : report::Value());
  object.add("shape", shape_value(request.shape)).add("original_shape", shape_value(request.original_shape));
  object.add("original_format",
             request.original_format ? report::Value(name_of(*request.original_format)) : report::Value());
  object.add("offset", tensor.offset).add("bytes", tensor.bytes);
  object.add("problem", tensor.problem ? report::Value(tensor.problem->message) : report::Value());
  return object;
}

// Plans a conversion to NCHW: a header that contradicts itself is a problem of the tensor, a format without a known
// inverse a note.
std::string note_of(StoredTensor& tensor) {
  if (tensor.problem) return {};
  PlanRequest request = tensor.request;
  request.target = Format::kNCHW;
  auto plan = make_plan(request);
  if (plan) return plan->note;
  tensor.problem = std::move(plan).error();
  return {};
}

// A shape as Python writes it: "(2, 3)", "(4,)"; empty if it is not known.
std::string shape_text(const std::optional<Shape>& shape) {
  return shape ? fmt::format("({}{})", fmt::join(*shape, ", "), shape->size() == 1 ? "," : "") : "";
}

std::string dtype_text(std::optional<DType> dtype) {
  return dtype && *dtype != DType::kUndefined ? std::string(name_of(*dtype)) : "";
}

std::string format_text(const PlanRequest& request) {
  const auto packed = unpack_format(request.format_number, request.sub_format);
  return packed ? std::string(name_of(packed->format)) : "";
}

// "output 0"; the slot is empty if it is not known.
std::string slot_text(Io io, std::string_view slot, char separator) {
  const report::Value value = slot_value(slot);
  const std::string text = report::Object().add("slot", value).text_or_number("slot");
  return fmt::format("{}{}{}", name_of(io), separator, value.is_null() ? "" : text);
}

// Lines "operator: Conv2D conv1-op12, output 0" and "dumped at: rank 0, graph 0, step 3".
void add_identity_lines(const Identity& identity, FileFacts& facts) {
  const NameFacts& name = identity.name;
  std::string op(name.op_type);
  // For an array of unknown origin only the name is known, and the title has it.
  const bool has_origin = !name.op_type.empty() || !name.timestamp.empty();
  if (!name.op_name.empty()) op += fmt::format("{}{}", op.empty() ? "" : " ", name.op_name);
  if (!name.slot.empty()) op += fmt::format("{}{}", op.empty() ? "" : ", ", slot_text(name.io, name.slot, ' '));
  if (has_origin) facts.line("operator", op);
  std::string place;
  for (const auto& [key, number] :
       {std::pair("rank", identity.rank), {"graph", identity.graph}, {"step", identity.step}})
    if (number) place += fmt::format("{}{} {}", place.empty() ? "" : ", ", key, *number);
  facts.line("dumped at", place);
}

void add_identity(const FactSource& source, FileFacts& facts) {
  const Identity identity = source.index.identity_of(source.indexed);
  facts.detail.add("identity", identity_value(identity));
  add_identity_lines(identity, facts);
}

// Lines of one array; `notes` follow the shape.
void add_array_lines(std::string dtype, const std::optional<Shape>& shape, std::string_view notes, std::string format,
                     FileFacts& facts) {
  facts.line("dtype", std::move(dtype));
  const auto count = shape ? element_count(*shape) : std::nullopt;
  std::string text = shape_text(shape);
  if (count) text += fmt::format(", {} element{}", *count, *count == 1 ? "" : "s");
  facts.line("shape", text.append(notes));
  facts.line("format", std::move(format));
}

// The tensors that the family reads; none after a problem.
std::optional<OpenedFile> open_tensors(const FactSource& source, FileFacts& facts) {
  auto opened = open_with(*facts.family, source.index, source.indexed);
  if (!opened) {
    facts.problems.push_back(std::move(opened).error());
    return std::nullopt;
  }
  facts.problems.insert(facts.problems.end(), opened->problems.begin(), opened->problems.end());
  return std::move(*opened);
}

void add_npy_facts(const FactSource& source, FileFacts& facts) {
  const auto header = npy::read_header_alone(source.file);
  DType original = source.indexed.facts.dtype;
  const auto opened = open_tensors(source, facts);
  if (opened && !opened->tensors.empty()) {
    facts.tensors = opened->tensors;
    original = opened->tensors.front().original_dtype.value_or(DType::kUndefined);
  }
  report::Object& detail = facts.detail;
  const bool known = header.has_value();
  const auto or_null = [&](auto value) { return known ? report::Value(value) : report::Value(); };
  const npy::Header fields = known ? *header : npy::Header{};
  const std::string original_text = original != fields.dtype ? dtype_text(original) : "";
  detail.add("dtype", dtype_value(fields.dtype)).add("original_dtype", report::text_or_null(original_text));
  detail.add("npy_descr", or_null(fields.descr)).add("readable_by_numpy", or_null(fields.readable_by_numpy));
  detail.add("shape", or_null(report::list_of(fields.shape)));
  detail.add("elements", known ? report::Value(element_count(fields.shape)) : report::Value());
  detail.add("fortran_order", or_null(fields.fortran_order)).add("big_endian", or_null(fields.big_endian));
  detail.add("data_offset", or_null(fields.data_offset)).add("data_bytes", or_null(fields.data_bytes));
  const auto& format = source.indexed.facts.format;
  detail.add("format", format ? report::Value(name_of(*format)) : report::Value());
  std::string dtype = dtype_text(fields.dtype);
  if (!original_text.empty()) dtype += fmt::format(", a wider copy of {}", original_text);
  if (known && !fields.readable_by_numpy) dtype += fmt::format(" ('{}', which numpy cannot read)", fields.descr);
  if (known && fields.big_endian) dtype += ", big-endian";
  add_array_lines(std::move(dtype), known ? std::optional(fields.shape) : std::nullopt,
                  known && fields.fortran_order ? ", first axis fastest (Fortran order)" : "",
                  format ? std::string(name_of(*format)) : "", facts);
  add_identity(source, facts);
}

// Only the name says shape and dtype.
void check_raw_size(uint64_t size, const Shape& shape, DType dtype, std::optional<uint64_t> needed, FileFacts& facts) {
  const std::string what = fmt::format("{} of {}, as its name says,", describe(shape), name_of(dtype));
  if (needed == size || is_raw(dtype)) return;
  if (!needed.has_value()) {
    facts.problems.push_back(make_error(ErrorCode::kTruncated, "{} cannot be", what));
  } else {
    const ErrorCode code = *needed > size ? ErrorCode::kTruncated : ErrorCode::kTrailingBytes;
    facts.problems.push_back(make_error(code, "{} takes {} bytes; {} present", what, *needed, size));
  }
}

void add_raw_facts(const FactSource& source, FileFacts& facts) {
  if (auto opened = open_tensors(source, facts)) facts.tensors = std::move(opened->tensors);
  const PlanRequest request = facts.tensors.empty() ? PlanRequest{} : facts.tensors.front().request;
  report::Object& detail = facts.detail;
  const DType dtype = request.dtype.value_or(DType::kUndefined);
  const auto count = request.shape ? element_count(*request.shape) : std::nullopt;
  const auto needed = count && !is_raw(dtype) ? bytes_of(dtype, *count) : std::nullopt;
  detail.add("dtype", dtype_value(dtype)).add("format", format_value(request));
  detail.add("shape", shape_value(request.shape)).add("elements", elements_of(request.shape));
  detail.add("data_bytes", needed);
  add_array_lines(dtype_text(dtype), request.shape, "", format_text(request), facts);
  add_identity(source, facts);
  if (request.shape) check_raw_size(source.file.size(), *request.shape, dtype, needed, facts);
}

std::string_view name_of(ascend::HeaderKind header) {
  switch (header) {
    case ascend::HeaderKind::kBinary: return "binary";
    case ascend::HeaderKind::kClassic: return "classic";
    case ascend::HeaderKind::kNano: return "nano";
  }
  return "binary";
}

report::List attribute_list(const std::vector<ascend::Attribute>& attributes) {
  report::List list;
  for (const ascend::Attribute& attribute : attributes) {
    if (list.size() == kMostAttributes) break;
    report::Object object;
    object.add("name", attribute.name.substr(0, kLongestAttribute));
    object.add("value", attribute.value.substr(0, kLongestAttribute));
    list.emplace_back(std::move(object));
  }
  return list;
}

std::optional<OpenedFile> no_tensors(const Error& why, FileFacts& facts) {
  facts.problems.push_back(why);
  return std::nullopt;
}

// "; part of a tensor: t h[tp], tp rank 1 of 2"
std::string dims_text(const JsonValue& dims, const JsonValue* parallel) {
  std::string text = "; part of a tensor: " + excerpt(dims.text);
  for (size_t i = 0; parallel != nullptr && i < parallel->members.size(); ++i) {
    const auto& [axis, offset, place] = parallel->members[i];
    const JsonValue *const rank = place.find("rank"), *const size = place.find("size");
    if (rank != nullptr && size != nullptr)
      text += fmt::format(", {} rank {} of {}", excerpt(axis), rank->text, size->text);
  }
  return text;
}

// "; part of (5, 4): Shard(0)"; empty for a tensor that is no part.
std::string part_text(const StoredTensor& tensor) {
  const auto json = tensor.distribution == nullptr ? tl::unexpected(Error()) : parse_json(*tensor.distribution);
  if (const JsonValue* const dims = json ? json->find("dims") : nullptr)
    return dims_text(*dims, json->find("parallel"));
  const JsonValue* const placements = json ? json->find("placements") : nullptr;
  if (placements == nullptr) return {};
  std::string text;
  for (const JsonValue& placement : placements->items) text += (text.empty() ? "" : ", ") + excerpt(placement.text);
  std::vector<int64_t> shape;
  const JsonValue* const dims = json->find("global_shape");
  for (size_t i = 0; dims != nullptr && i < dims->items.size(); ++i)
    shape.push_back(dims->items[i].as_int().value_or(0));
  return fmt::format("; part of {}: {}", dims == nullptr ? "a tensor" : shape_text(shape), text);
}

// "float16 FRACTAL_Z (4, 1, 16, 16), on the host (16, 16, 1, 1), 2.0 KiB"
std::string tensor_text(const StoredTensor& tensor, const std::string& note) {
  const PlanRequest& request = tensor.request;
  const std::string dtype = dtype_text(tensor.original_dtype ? tensor.original_dtype : request.dtype),
                    format = format_text(request), host = shape_text(request.original_shape),
                    device = shape_text(request.shape);
  std::string text = fmt::format("{} {} {}", dtype.empty() ? "(unknown dtype)" : dtype,
                                 format.empty() ? "(unknown format)" : format, device.empty() ? "(no shape)" : device);
  if (!host.empty() && host != device) text += ", on the host " + host;
  const auto packed = unpack_format(request.format_number, request.sub_format);
  if (packed && packed->groups > 1) text += fmt::format(", {} groups", packed->groups);
  if (tensor.problem) return text + ": " + tensor.problem->message;
  text += ", " + human_bytes(tensor.bytes) + part_text(tensor);
  return note.empty() ? text : text + "; " + note;
}

void add_tensor_list(std::optional<OpenedFile> opened, FileFacts& facts) {
  report::List list;
  if (opened) facts.tensors = std::move(opened->tensors);
  if (facts.tensors.empty()) facts.line("tensors", "none");
  for (StoredTensor& tensor : facts.tensors) {
    const std::string note = note_of(tensor);
    list.emplace_back(tensor_object(tensor).add("note", report::text_or_null(note)));
    if (tensor.problem) facts.problems.push_back(Error(*tensor.problem).with_tensor(tensor.label()));
    if (list.size() > kShownTensors) continue;
    facts.line(tensor.op_name.empty() ? slot_text(tensor.io, tensor.slot, ':') : std::string(tensor.op_name),
               tensor_text(tensor, note));
  }
  if (facts.tensors.size() > kShownTensors)
    facts.line("...", fmt::format("and {} more; --json names all", facts.tensors.size() - kShownTensors));
  facts.detail.add("tensors", std::move(list));
}

void add_dump_file_facts(const FactSource& source, FileFacts& facts) {
  const auto dump = ascend::read_dump_file(source.file);
  const ascend::DumpFile head = dump ? *dump : ascend::DumpFile{};
  facts.add("header", dump ? report::Value(name_of(head.header)) : report::Value());
  facts.add("op_name", report::text_or_null(head.op_name));
  facts.detail.add("dump_time_us", head.dump_time_us == 0 ? report::Value() : report::Value(head.dump_time_us));
  facts.detail.add("attributes", attribute_list(head.attributes));
  add_identity(source, facts);
  add_tensor_list(dump ? open_tensors(source, facts) : no_tensors(dump.error(), facts), facts);
  for (size_t i = 0; i < std::min(head.attributes.size(), kShownAttributes); ++i)
    facts.line("attribute",
               fmt::format("{} = {}", excerpt(head.attributes[i].name), excerpt(head.attributes[i].value)));
}

void add_pt_facts(const FactSource& source, FileFacts& facts) {
  const auto pt = torch::read_pt(source.file);
  facts.add_count("other_values", pt ? report::Value(pt->other_values) : report::Value());
  facts.add("other_classes", pt ? report::Value(report::list_of(pt->other_classes)) : report::Value());
  add_identity(source, facts);
  add_tensor_list(pt ? open_tensors(source, facts) : no_tensors(pt.error(), facts), facts);
}

void add_dcp_facts(const FactSource& source, FileFacts& facts) {
  const auto metadata = torch::read_dcp_metadata(source.file);
  std::set<std::string> files;
  int64_t shards = 0;
  for (size_t i = 0; metadata && i < metadata->tensors.size(); ++i) {
    for (const torch::DcpChunk& chunk : metadata->tensors[i].chunks) {
      shards += element_count(chunk.shape).value_or(0) > 0 ? 1 : 0;
      if (chunk.storage) files.insert(chunk.storage->file);
    }
  }
  facts.add("shards", metadata ? report::Value(shards) : report::Value());
  facts.add("shard_files", metadata ? report::Value(report::list_of(files)) : report::Value());
  facts.add_count("other_values", metadata ? report::Value(metadata->other_values) : report::Value());
  add_tensor_list(metadata ? open_tensors(source, facts) : no_tensors(metadata.error(), facts), facts);
}

void add_safetensors_facts(const FactSource& source, FileFacts& facts) {
  const auto checkpoint = read_safetensors(source.file);
  report::Object metadata;
  if (checkpoint) {
    for (const auto& [key, value] : checkpoint->metadata) metadata.add(key, value.substr(0, kLongestAttribute));
  }
  facts.add("metadata", checkpoint ? report::Value(std::move(metadata)) : report::Value());
  add_tensor_list(checkpoint ? open_tensors(source, facts) : no_tensors(checkpoint.error(), facts), facts);
}

void add_ckpt_facts(const FactSource& source, FileFacts& facts) {
  const auto checkpoint = read_ms_ckpt(source.file);
  facts.add_count("other_values", checkpoint ? report::Value(checkpoint->other_values) : report::Value());
  add_tensor_list(checkpoint ? open_tensors(source, facts) : no_tensors(checkpoint.error(), facts), facts);
}

void add_atb_facts(const FactSource& source, FileFacts& facts) {
  const auto tensor = ascend::read_atb_tensor(source.file);
  facts.add("same_as", tensor ? report::text_or_null(tensor->same_as) : report::Value());
  add_identity(source, facts);
  add_tensor_list(tensor ? open_tensors(source, facts) : no_tensors(tensor.error(), facts), facts);
}

// Real files have one tensor, the record. Damage to further ones is a problem of the file.
Result<std::string> record_text(const FactSource& source, FileFacts& facts) {
  MSDUMP_TRY(const ascend::DumpFile dump, ascend::read_dump_file(source.file));
  if (dump.tensors.empty()) return fail(ErrorCode::kBadHeader, "an overflow record without its record");
  for (size_t i = 1; i < dump.tensors.size(); ++i) {
    if (dump.tensors[i].problem) facts.problems.push_back(*dump.tensors[i].problem);
  }
  const ascend::DumpTensor& tensor = dump.tensors.front();
  if (tensor.problem) return fail(*tensor.problem);
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(tensor.size, kRecordBytes)));
  MSDUMP_CHECK_OK(source.file.read_at(tensor.offset, bytes));
  MSDUMP_TRY(const ascend::OpdebugRecord record, ascend::read_opdebug(bytes, tensor.offset));
  return ascend::opdebug_json(record);
}

Result<report::Value> record_value(const FactSource& source, FileFacts& facts) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 20;
  const bool json = has_suffix(source.indexed.shown_name(), ".json");
  MSDUMP_TRY(const std::string text,
             json ? read_text(source.file, kMostBytes, "an overflow record") : record_text(source, facts));
  return json_value(text);
}

}  // namespace

void add_tensor_facts(const FactSource& source, FileFacts& facts) {
  if (facts.kind == FileKind::kNpy) return add_npy_facts(source, facts);
  if (facts.kind == FileKind::kRaw) return add_raw_facts(source, facts);
  if (facts.kind == FileKind::kPt) return add_pt_facts(source, facts);
  if (facts.kind == FileKind::kDcpMetadata) return add_dcp_facts(source, facts);
  if (facts.kind == FileKind::kSafetensors) return add_safetensors_facts(source, facts);
  if (facts.kind == FileKind::kCheckpoint) return add_ckpt_facts(source, facts);
  if (facts.kind == FileKind::kAtbTensor) return add_atb_facts(source, facts);
  if (facts.kind == FileKind::kDumpFile) return add_dump_file_facts(source, facts);
  add_tensor_list(open_tensors(source, facts), facts);
}

void add_opdebug_facts(const FactSource& source, FileFacts& facts) {
  auto record = record_value(source, facts);
  const Identity identity = source.index.identity_of(source.indexed);
  facts.detail.add("identity", identity_value(identity));
  facts.add("record", record ? std::move(*record) : report::Value());
  add_identity_lines(identity, facts);
  if (!record) facts.problems.push_back(std::move(record).error());
}

}  // namespace msdump
