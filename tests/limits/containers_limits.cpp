// Files of tensors: headers that are all dimensions, many tensors in one file, archives of many entries.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/ir_pb_builder.h"
#include "support/pt_builder.h"
#include "support/safetensors_builder.h"

namespace msdump::limits {
namespace {

using test::pb_bytes;
using test::pb_number;
using test::pb_varint;
namespace fs = std::filesystem;

constexpr std::string_view kDumpName = "Add.a-op1.1.2.1700000000000000";
constexpr int64_t kMiB = int64_t{1} << 20;

std::string length_of(uint64_t bytes) {
  std::string text;
  test::put_u64(text, bytes);
  return text;
}

// The key of a field whose value is `bytes` long.
std::string pb_long(uint32_t field, uint64_t bytes) { return pb_varint(field << 3 | 2) + pb_varint(bytes); }

// `entries` outputs, each with a field of dimensions (3: on the device, 7: on the host) of nearly a MiB of zero bytes, each
// a dimension.
void write_dims(const fs::path& folder, uint32_t field, int64_t entries) {
  constexpr uint64_t kDims = kMiB - 64;
  const std::string rest = pb_number(1, 1) + pb_number(2, 2) + pb_number(6, 24);
  const std::string packed = pb_long(1, kDims);
  const std::string shape = pb_long(field, packed.size() + kDims);
  const std::string entry =
      pb_long(3, rest.size() + shape.size() + packed.size() + kDims) + rest + shape + packed + std::string(kDims, '\0');
  write_repeated(folder / kDumpName, length_of(entry.size() * static_cast<uint64_t>(entries)), entry, entries,
                 std::string(24, '\1'));
}

std::vector<Command> of_one_file(const std::string& name, const Bound& bound, int info_exit, int rest_exit,
                                 int convert_exit) {
  return {{{"info", "@/" + name}, bound, info_exit},
          {{"ls", "@"}, bound, rest_exit},
          {{"stats", "@"}, bound, rest_exit},
          {{"check", "@"}, bound, rest_exit},
          {{"convert", "-d", "@", "-out", "@/out"}, bound, convert_exit}};
}

}  // namespace

TEST_CASE("a header that is all dimensions costs what the file has bytes") {
  check_growth(
      "dims of the device", 16, [](const fs::path& folder, int64_t units) { write_dims(folder, 3, units); },
      of_one_file(std::string(kDumpName), kOfHeaderMiB, 3, 3, 3));
  check_growth(
      "dims of the host", 16, [](const fs::path& folder, int64_t units) { write_dims(folder, 7, units); },
      of_one_file(std::string(kDumpName), kOfHeaderMiB, 3, 3, 3));
  check_growth(
      "dims one by one", 8,
      [](const fs::path& folder, int64_t units) {
        std::string dims;
        while (dims.size() < kMiB - 64) dims += std::string("\x08\x01", 2);
        const std::string output = pb_bytes(3, pb_number(1, 1) + pb_bytes(3, dims));
        write_repeated(folder / kDumpName, length_of(output.size() * static_cast<uint64_t>(units)), output, units);
      },
      of_one_file(std::string(kDumpName), kOfHeaderMiB, 3, 3, 3));
}

TEST_CASE("a dump file of many tiny tensors costs a fixed amount a tensor") {
  check_growth(
      "tiny outputs", 1'000,
      [](const fs::path& folder, int64_t units) {
        test::DumpSpec spec;
        spec.tensors.assign(static_cast<size_t>(units), test::output_of(DType::kFloat32, Format::kND, {1}));
        write_text(folder / kDumpName, test::build_dump(spec));
      },
      of_one_file(std::string(kDumpName), kOfTensor, 0, 0, 0));
}

TEST_CASE("the elements of a file of many tensors cost a fixed amount a tensor") {
  check_growth("parameters with their values", 2'000,
               [](const fs::path& folder, int64_t tensors) {
                 std::string header;
                 for (int64_t i = 0; i < tensors; ++i) {
                   const auto begin = static_cast<uint64_t>(i) * 4;
                   header += (i == 0 ? "{" : ",") +
                             test::safetensors_entry(fmt::format("w{}", i), "F32", "[1]", begin, begin + 4);
                 }
                 write_text(folder / "a.safetensors",
                            test::safetensors_file(header + "}", std::string(static_cast<size_t>(tensors) * 4, '\1')));
               },
               {{{"info", "@/a.safetensors", "--values", "--jsonl"}, kOfTensor, 0}});
}

TEST_CASE("an archive of PyTorch costs a fixed amount a tensor, an entry and a value") {
  check_growth(
      "tensors of a .pt", 1'000,
      [](const fs::path& folder, int64_t tensors) {
        test::PtSpec spec;
        spec.storages.clear();
        std::vector<std::pair<std::string, std::string>> items;
        for (int64_t i = 0; i < tensors; ++i) {
          const std::string key = std::to_string(i);
          items.emplace_back(test::pickle::text("t" + key), test::tensor_call({.key = key}));
          spec.storages.emplace_back(key, std::string(24, '\1'));
        }
        spec.pickle = test::pickle::whole(test::pickle::dict(items));
        write_text(folder / "a.pt", test::build_pt(spec));
      },
      of_one_file("a.pt", kOfTensor, 0, 0, 2));
  check_growth("values of a pickle", 400'000,
               [](const fs::path& folder, int64_t values) {
                 test::PtSpec spec;
                 spec.pickle = test::pickle::whole("](" + std::string(static_cast<size_t>(values), 'N') + "e");
                 write_text(folder / "a.pt", test::build_pt(spec));
               },
               {{{"info", "@/a.pt"}, kOfPickleValue, 0}, {{"ls", "@/a.pt"}, kOfPickleValue, 1}});
  check_growth("entries of a zip", 30'000,
               [](const fs::path& folder, int64_t entries) {
                 test::ZipSpec zip = test::zip_of({});
                 for (int64_t i = 0; i < entries; ++i) zip.entries.push_back({.name = fmt::format("t/x{}", i)});
                 write_text(folder / "a.pt", test::build_zip(zip));
               },
               {{{"info", "@/a.pt"}, kOfTensor, 0}, {{"stats", "@/a.pt"}, kOfTensor, 0}});
}

TEST_CASE("an attribute of a dump file costs a fixed amount a byte") {
  check_growth(
      "slices of threads", 4 * kMiB,
      [](const fs::path& folder, int64_t bytes) {
        test::DumpSpec spec;
        std::string slices = R"({"threadMode": true, "input_tensor_slice": [1)";
        while (static_cast<int64_t>(slices.size()) < bytes) slices += ",1";
        spec.attributes = {{"slices", slices + "]}"}};
        spec.tensors = {test::output_of(DType::kFloat32, Format::kND, {4})};
        write_text(folder / "Conv2D.a.1.7.1700000000000001.4.487.0.0", test::build_dump(spec));
      },
      of_one_file("Conv2D.a.1.7.1700000000000001.4.487.0.0", kOfJsonByte, 3, 3, 3));
}

}  // namespace msdump::limits
