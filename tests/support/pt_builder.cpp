#include "support/pt_builder.h"

#include <cstring>

#include "support/dump_builder.h"

namespace msdump::test {
namespace pickle {

Text none() { return "N"; }
Text boolean(bool value) { return value ? "\x88" : "\x89"; }

Text integer(int64_t value) {
  Text opcodes;
  if (value >= 0 && value < 256) {
    opcodes = "K";
    opcodes += static_cast<char>(value);
  } else if (value >= 0 && value < 65536) {
    opcodes = "M";
    put_u16(opcodes, static_cast<uint16_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    opcodes = "J";
    put_u32(opcodes, static_cast<uint32_t>(value));
  } else {
    opcodes = "\x8a\x08";
    put_u64(opcodes, static_cast<uint64_t>(value));
  }
  return opcodes;
}

Text real(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  Text opcodes = "G";
  for (int shift = 56; shift >= 0; shift -= 8) opcodes += static_cast<char>(bits >> shift & 0xFF);
  return opcodes;
}

Text text(std::string_view value) {
  Text opcodes = "X";
  put_u32(opcodes, static_cast<uint32_t>(value.size()));
  return opcodes + Text(value);
}

Text global(std::string_view module, std::string_view name) { return "c" + Text(module) + "\n" + Text(name) + "\n"; }

Text tuple(const std::vector<Text>& items) {
  Text opcodes;
  for (const Text& item : items) opcodes += item;
  switch (items.size()) {
    case 0: return ")";
    case 1: return opcodes + "\x85";
    case 2: return opcodes + "\x86";
    case 3: return opcodes + "\x87";
    default: return "(" + opcodes + "t";
  }
}

Text list(const std::vector<Text>& items) {
  Text opcodes = "](";
  for (const Text& item : items) opcodes += item;
  return opcodes + "e";
}

Text integers(const std::vector<int64_t>& values) {
  std::vector<Text> items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}

Text put_items(Text opcodes, const std::vector<std::pair<Text, Text>>& items) {
  if (items.empty()) return opcodes;
  opcodes += "(";
  for (const auto& [key, value] : items) opcodes += key + value;
  return opcodes + "u";
}

Text dict(const std::vector<std::pair<Text, Text>>& items) { return put_items("}", items); }

Text ordered_dict(const std::vector<std::pair<Text, Text>>& items) {
  return put_items(call(global("collections", "OrderedDict"), {}), items);
}

Text call(const Text& function, const std::vector<Text>& arguments) { return function + tuple(arguments) + "R"; }

Text object(const Text& type, const Text& state, const std::vector<Text>& arguments) {
  return type + tuple(arguments) + "\x81" + (state.empty() ? "" : state + "b");
}

Text whole(const Text& value) { return "\x80\x02" + value + "."; }

}  // namespace pickle

pickle::Text storage_id(const PtTensorSpec& spec) {
  const bool untyped = spec.storage_class == "UntypedStorage";
  return pickle::tuple({pickle::text("storage"),
                        pickle::global(untyped ? "torch.storage" : "torch", spec.storage_class), pickle::text(spec.key),
                        pickle::text(spec.location), pickle::integer(spec.elements)}) +
         "Q";
}

pickle::Text tensor_call(const PtTensorSpec& spec) {
  std::vector<int64_t> strides(spec.shape.size(), 1);
  for (size_t axis = strides.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * spec.shape[axis];
  std::vector<pickle::Text> arguments = {storage_id(spec),
                                         pickle::integer(spec.offset),
                                         pickle::integers(spec.shape),
                                         pickle::integers(spec.strides.value_or(strides)),
                                         pickle::boolean(false),
                                         pickle::ordered_dict()};
  if (!spec.dtype.empty()) arguments.push_back(pickle::global("torch", spec.dtype));
  if (!spec.metadata.empty()) arguments.push_back(spec.metadata);
  return pickle::call(pickle::global("torch._utils", spec.dtype.empty() ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3"),
                      arguments);
}

pickle::Text placement(std::string_view type, const std::vector<std::pair<pickle::Text, pickle::Text>>& attributes) {
  return pickle::object(pickle::global("torch.distributed.tensor.placement_types", type),
                        attributes.empty() ? "" : pickle::dict(attributes));
}

pickle::Text dtensor_call(const DTensorSpec& spec) {
  using namespace pickle;
  std::vector<std::pair<Text, Text>> attributes{
      {text("mesh"), tensor_call({.storage_class = "IntStorage", .key = "mesh", .shape = spec.mesh_shape})},
      {text("mesh_dim_names"), tuple({text("dp"), text("tp")})},
      {text("_flatten_mesh_list"), integers(spec.ranks)}};
  attributes.insert(attributes.end(), spec.writer.begin(), spec.writer.end());
  const Text mesh = object(global("torch.distributed.device_mesh", "DeviceMesh"), dict(attributes));
  const Text size = call(global("torch", "Size"), {integers(spec.shape)});
  const Text meta = object(global(spec.tensor_module + "._dtensor_spec", "TensorMeta"), "",
                           {size, integers({1}), global("torch", "float32")});
  const Text spec_of =
      object(global(spec.tensor_module + "._dtensor_spec", "DTensorSpec"),
             dict({{text("mesh"), mesh}, {text("placements"), tuple(spec.placements)}, {text("tensor_meta"), meta}}));
  const Text type = global(spec.tensor_module, spec.type);
  const Text slots = dict({{text("_local_tensor"), spec.local}, {text("_spec"), spec_of}});
  return call(global("torch._tensor", "_rebuild_from_type_v2"),
              {global("torch._utils", "_rebuild_wrapper_subclass"), type, tuple({type, global("torch", "float32")}),
               tuple({none(), slots})});
}

std::string build_dcp_metadata(const std::vector<DcpTensorSpec>& tensors) {
  using namespace pickle;
  const auto type = [](std::string_view name) { return global("torch.distributed.checkpoint.metadata", name); };
  const auto size = [](const std::vector<int64_t>& dims) { return call(global("torch", "Size"), {integers(dims)}); };
  std::vector<std::pair<Text, Text>> described, stored;
  for (const DcpTensorSpec& tensor : tensors) {
    std::vector<Text> chunks;
    for (const DcpTensorSpec::Chunk& chunk : tensor.chunks) {
      chunks.push_back(object(type("ChunkStorageMetadata"),
                              dict({{text("offsets"), size(chunk.begin)}, {text("sizes"), size(chunk.shape)}})));
      if (chunk.file.empty()) continue;
      stored.emplace_back(
          object(type("MetadataIndex"), dict({{text("fqn"), text(tensor.name)},
                                              {text("offset"), tensor.has_offsets ? size(chunk.begin) : none()}})),
          object(global("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
                 dict({{text("relative_path"), text(chunk.file)},
                       {text("offset"), integer(chunk.offset)},
                       {text("length"), integer(chunk.length)}})));
    }
    const Text properties = object(type("TensorProperties"), tuple({global("torch", tensor.dtype), boolean(false)}));
    described.emplace_back(
        text(tensor.name),
        object(type("TensorStorageMetadata"), dict({{text(tensor.has_properties ? "properties" : "other"), properties},
                                                    {text("size"), size(tensor.shape)},
                                                    {text("chunks"), list(chunks)}})));
  }
  described.emplace_back(text("step"), object(type("BytesStorageMetadata"), ""));
  return whole(object(type("Metadata"),
                      dict({{text("state_dict_metadata"), dict(described)}, {text("storage_data"), dict(stored)}})));
}

ZipSpec zip_of(const PtSpec& spec) {
  ZipSpec zip;
  zip.form = spec.form;
  const auto add = [&](const std::string& name, const std::string& data) {
    zip.entries.push_back({.name = spec.folder + "/" + name, .data = data});
  };
  add("data.pkl", spec.pickle);
  if (!spec.byteorder.empty()) add("byteorder", spec.byteorder);
  for (const auto& [key, data] : spec.storages) add("data/" + key, data);
  add("version", "3\n");
  return zip;
}

std::string build_pt(const PtSpec& spec) { return build_zip(zip_of(spec)); }

}  // namespace msdump::test
