// What convert writes is read as the tensors that it was made of: every format, type and naming, every kind of input.
#include <algorithm>
#include <map>

#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/format_oracle.h"
#include "support/ms_ckpt_builder.h"
#include "support/safetensors_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;

namespace {

Dims dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

// A tensor of each format; those without a known inverse, and those that are given no host shape, stay as they are.
std::pair<Dims, std::optional<Dims>> shapes_of(Format format) {
  const size_t axes = host_axes(format).size();
  if (axes == 5) return {{1, 2, 3, 4, 5}, Dims{1, 2, 3, 4, 5}};
  if (axes == 4) return {{2, 3, 4, 5}, Dims{2, 3, 4, 5}};
  if (name_of(format).starts_with("FRACTAL_NZ")) return {{2, 1, 16, 16}, std::nullopt};
  const bool c04 = format == Format::kNC1HWC0C04;
  const DeviceLayout layout{format, {2, 3, has_depth(format) ? 2 : 1, 3, 4}, c04 ? 4 : 16, 0};
  const auto device = device_shape(layout);
  if (!device) return {{2, 3, 16, 16}, std::nullopt};
  return {dims(*device), has_depth(format) ? Dims{2, 3, 2, 3, 4} : Dims{2, 3, 3, 4}};
}

void write_dump_files(const ScratchDir& scratch) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBfloat16, DType::kInt8, DType::kBool};
  int number = 0;
  for (const FormatInfo& one : all_formats()) {
    const auto [device, host] = shapes_of(one.format);
    const DType dtype = kTypes[static_cast<size_t>(number) % std::size(kTypes)];
    TensorSpec input = input_of(dtype, one.format, device, host), output = output_of(dtype, one.format, device, host);
    const std::string name = fmt::format("Conv2D.net_conv-op{}.{}.7.17000000000010{:02}", number, number, number);
    scratch.write("dump/rank_1/Net/0/3/" + name,
                  build_dump({.op_name = "", .tensors = {std::move(input), std::move(output)}}));
    ++number;
  }
  const TensorSpec scalar = output_of(DType::kFloat32, Format::kND, {}, Dims{}),
                   vector = input_of(DType::kInt4, Format::kND, {8}, Dims{8});
  const std::string small = build_dump({.op_name = "", .tensors = {vector, scalar}});
  for (const char* const name : {"Add.net_Add-op1.4.1700000000001090", "Add.a.b.c.5.1.2.1700000000001091",
                                 "Add.net_Add-op3.1.2.1700000000001092.FFTSPLUS.1.0.0",
                                 "Add.x.1.2.1700000000001093.bin", "Add..1.2.1700000000001094"})
    scratch.write(std::string("dump/rank_1/Net/0/3/") + name, small);
  scratch.write(
      "dump/rank_1/Net/0/3/Add.sections-op9.1.2.1700000000001095",
      build_dump({.op_name = "", .tensors = {raw_of(TensorSpec::kBuffer, 64), raw_of(TensorSpec::kSpace, 32)}}));
}

void write_other_files(const ScratchDir& scratch) {
  scratch.write("dump/a/Default--net--Conv2D-op12_output_0_shape_2_3_Float32_DefaultFormat.bin", std::string(24, 'r'));
  scratch.write("dump/a/Sub.Default_Sub-op0.10.10.1735011096427368.input.0.ND.BF16", std::string(24, 'b'));
  const std::string header = "{" + safetensors_entry("layers.0.weight", "F32", "[2,3]", 0, 24) + "," +
                             safetensors_entry("bias.3", "BF16", "[8]", 24, 40) + "," +
                             safetensors_entry("scale", "F32", "[]", 40, 44) + "}";
  scratch.write("dump/b/model.safetensors", safetensors_file(header, std::string(44, 's')));
  scratch.write("dump/c/net.ckpt", parameter("conv1.weight", "Float32", {2, 3}, std::string(24, 'c')) +
                                       parameter("conv1.bias", "Float16", {4}, std::string(8, 'c')));
}

// Names have '_' for what no file name holds.
std::string plain(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::string described(const ListedDump& dump, const TensorRecord& tensor) {
  const Identity identity = identity_of(dump.index, tensor);
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  return fmt::format("{}/{}/{} {} {} {} {} {} {} {} #{}", number(identity.rank), number(identity.graph),
                     number(identity.step), tensor.name.op_type, plain(tensor.name.op_name), name_of(tensor.name.io),
                     tensor.name.slot, number(tensor.name.task_id), number(tensor.name.stream_id),
                     tensor.name.timestamp, tensor.occurrence);
}

// Of each output: the row of convert.
std::map<std::string, const ConvertRow*> rows_by_output(const ConvertRun& run) {
  std::map<std::string, const ConvertRow*> rows;
  for (const ConvertRow& row : run.rows) rows[row.output.value_or("")] = &row;
  return rows;
}

// The tensors of OUT as convert made them, in the order of the dump.
void check_read_back(const ScratchDir& scratch, const ConvertOptions& options) {
  const ConvertRun run = run_convert({scratch.file("dump")}, options);
  REQUIRE_FALSE(run.error);
  for (const Error& failure : run.failures) FAIL_CHECK(failure.path << ": " << failure.message);
  const ListedDump source = list_dump({scratch.file("dump")}), made = list_dump({options.out});
  CHECK(made.index.files().size() == run.rows.size());  // nothing else, and nothing that is taken for something else
  CHECK(made.list.failures().empty());
  CHECK(made.list.foreign() == 0);
  std::vector<std::string> before, after;
  for (const TensorRecord& tensor : source.tensors()) before.push_back(described(source, tensor));
  for (const TensorRecord& tensor : made.tensors()) after.push_back(described(made, tensor));
  CHECK(before == after);
  const auto rows = rows_by_output(run);
  for (const TensorRecord& tensor : made.tensors()) {
    const std::string path = made.index.relative_path_of(made.index.files()[tensor.file]);
    INFO(path);
    const ConvertRow& row = *rows.at(path);
    if (is_byte_section(tensor.name.io)) {  // bytes, whatever they are
      CHECK(tensor.bytes == made.index.files()[tensor.file].size);
      continue;
    }
    CHECK((name_of(tensor.name.dtype) == row.npy_dtype || name_of(tensor.name.dtype) == row.dtype));
    REQUIRE(tensor.shape != nullptr);
    const bool flat = options.type == OutputType::kBin && !options.format;  // the name has their number alone
    CHECK(*tensor.shape == (flat ? Shape{element_count(*row.shape).value()} : *row.shape));
  }
}

void check_all_modes(const ScratchDir& scratch) {
  int number = 0;
  for (const std::optional<Format> format : {std::optional<Format>(), std::optional(Format::kNCHW),
                                             std::optional(Format::kNHWC), std::optional(Format::kND)}) {
    for (const OutputType type : {OutputType::kNpy, OutputType::kBin, OutputType::kMsnpy}) {
      for (const Naming naming : {Naming::kMsaccucmp, Naming::kMindspore}) {
        if (naming == Naming::kMindspore && type != OutputType::kNpy) continue;
        CAPTURE(format ? name_of(*format) : "as stored", static_cast<int>(type), static_cast<int>(naming));
        ConvertOptions options;
        options.out = scratch.file(fmt::format("out{}", number++));
        options.format = format;
        options.type = type;
        options.naming = naming;
        check_read_back(scratch, options);
      }
    }
  }
}

}  // namespace

TEST_CASE("dump files of every format, converted in every way, are read as the same tensors") {
  const ScratchDir scratch;
  write_dump_files(scratch);
  check_all_modes(scratch);
}

TEST_CASE("arrays of a file whose name says nothing have its name, and their own io and slot") {
  const ScratchDir scratch;
  const std::string dump = build_dump({.op_name = "",
                                       .tensors = {input_of(DType::kFloat32, Format::kND, {2}, Dims{2}),
                                                   output_of(DType::kFloat32, Format::kND, {2}, Dims{2})}});
  for (const char* const name : {"foreign", "foreign.bin", "with.dots.and.5"})
    scratch.write(std::string("dump/a/") + name, dump);
  for (const OutputType type : {OutputType::kNpy, OutputType::kBin}) {
    ConvertOptions options;
    options.out = scratch.file(fmt::format("out{}", static_cast<int>(type)));
    options.type = type;
    REQUIRE(run_convert({scratch.file("dump")}, options).summary.written == 6);
    std::vector<std::string> found;
    const ListedDump made = list_dump({options.out});
    for (const TensorRecord& tensor : made.tensors())
      found.push_back(fmt::format("{} {} {}", tensor.name.op_name, name_of(tensor.name.io), tensor.name.slot));
    CHECK(found == std::vector<std::string>{"a/foreign input 0", "a/foreign output 0", "a/foreign.bin input 0",
                                            "a/foreign.bin output 0", "a/with.dots.and.5 input 0",
                                            "a/with.dots.and.5 output 0"});
  }
}

TEST_CASE("raw files and checkpoints, converted in every way, are read as the same tensors") {
  const ScratchDir scratch;
  write_other_files(scratch);
  check_all_modes(scratch);
}
