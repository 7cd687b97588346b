// fuzz_seeds DIR: writes where fuzzing begins, DIR/<target>/: each kind of good file and one file for each named fault.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

namespace {

namespace fs = std::filesystem;
using namespace msdump;
using namespace msdump::test;

constexpr size_t kLargest = 64 << 10;  // the few faults that need megabytes are unit tests only

void write_seed(const fs::path& folder, std::string_view name, const std::string& content) {
  if (content.size() <= kLargest) write_bytes(folder / name, content);
}

void dump_files(const fs::path& folder) {
  fs::create_directories(folder);
  DumpSpec spec;
  spec.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3}, {{2, 3}}),
                  input_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, {{1, 3, 2, 2}}),
                  input_of(DType::kInt4, Format::kND, {5}), raw_of(TensorSpec::kBuffer, 9),
                  raw_of(TensorSpec::kSpace, 7)};
  for (const auto& [kind, name] :
       {std::pair(DumpKind::kBinary, "good binary"), std::pair(DumpKind::kClassic, "good classic"),
        std::pair(DumpKind::kHybrid, "good hybrid"), std::pair(DumpKind::kNano, "good nano")}) {
    spec.kind = kind;
    write_seed(folder, name, build_dump(spec));
  }
  spec.kind = DumpKind::kBinary;
  spec.tensors = {input_of(DType::kFloat32, Format::kND, {2, 3}), output_of(DType::kFloat32, Format::kND, {2, 3})};
  spec.attributes = {{"slice",
                      R"({"threadMode": true, "slice_instance_num": 1, "outputCutList": [[2, 1]],)"
                      R"( "input_tensor_slice": [[[{"lower": 0, "higher": 2}, {"lower": 0, "higher": 3}]]],)"
                      R"( "output_tensor_slice": [[[{"lower": 0, "higher": 2}, {"lower": 0, "higher": 3}]]]})"}};
  write_seed(folder, "good ffts", build_dump(spec));
  for (const DumpFault fault : all_dump_faults()) write_seed(folder, name_of(fault), build_faulty_dump(fault));
}

void npy_files(const fs::path& folder) {
  fs::create_directories(folder);
  for (const int major : {1, 2, 3}) {
    NpySpec spec;
    spec.major = major;
    write_seed(folder, "version " + std::to_string(major), build_npy(spec));
  }
  write_seed(folder, "bfloat16", build_npy({.literal = npy_literal("<E2", "(12,)")}));
  write_seed(folder, "literal", NpySpec{}.literal);
  for (const NpyFault fault : all_npy_faults()) write_seed(folder, name_of(fault), build_faulty_npy(fault));
}

void names(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const char* text :
       {"Conv2D.Default_net_Conv2D-op12.3.7.1700000000001000", "Add.x.3.1673383728093446",
        "Add..0.0.1673383728093446.bin", "Add.x.5.0.3.1673383728093446.FFTSPLUS.1.0.0",
        "Add.x.0.3.1673383728093446.4.1.0.0", "Add.x.1.2.3",
        "Conv2D.Conv2D-op1.3.7.1612345678901234.input.1.NC1HWC0.float16.npy",
        "Parameter.layers.3.0.0.1612345678901234.output.0.DefaultFormat.npy",
        "Default--net--Conv2D-op12_input_1_shape_8_3_3_3_Float32_FracZ.bin",
        "w_output_0_shape_0_kNumberTypeInt32_FRACTAL_NZ.bin", "0|5-8,100-120",
        "*conv?-Conv2d*\nDefault/net/conv1-Conv2d/Conv2D", "covnert\nconvert", "file10\nfile2", "/data/rank_0/Net/1/20",
        "/data/5/20240102030405/2/model/1/0", "/out/step3/rank1/dump_tensor_data",
        "71502983415062987341509827364518,Add.x.1.2.1700000000000000\n1804289383.npy,Mul.y.0.0.17\r\n",
        "\x1b[31m\xe7\xbd\x91\xe2\x80\xae\xff\n\t"}) {
    write_seed(folder, "seed" + std::to_string(++number), text);
  }
}

void md5_jobs(const fs::path& folder) {
  fs::create_directories(folder);
  for (const size_t jobs : {size_t{1}, size_t{8}, size_t{40}, size_t{69}}) {
    std::string text(1, static_cast<char>(jobs));
    for (size_t i = 0; i < jobs; ++i) {
      for (const size_t part : {i * 55, i % 3, i * 40}) text += static_cast<char>(part % 256);
    }
    write_seed(folder, std::to_string(jobs) + " jobs", text + "what is hashed");
  }
}

// Every dtype, each with its elements near each other, equal, and apart.
void pairs(const fs::path& folder) {
  fs::create_directories(folder);
  for (int dtype = 0; dtype < 36; ++dtype) {
    for (const int likeness : {0, 1, 2}) {
      std::string text = {static_cast<char>(dtype), static_cast<char>(likeness << 4), 9, 17, 77};
      for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37 % 251);
      write_seed(folder, std::to_string(dtype) + " " + std::to_string(likeness), text);
    }
  }
}

void pt_files(const fs::path& folder) {
  fs::create_directories(folder);
  const auto state =
      pickle::ordered_dict({{pickle::text("w"), tensor_call()}, {pickle::text("step"), pickle::integer(3)}});
  write_seed(folder, "dict", build_pt({.pickle = pickle::whole(state + "}b")}));
  write_seed(folder, "plain zip", build_pt({.form = ZipForm::kPlain}));
  write_seed(folder, "zip64", build_pt({.byteorder = "big", .form = ZipForm::kZip64}));
  write_seed(folder, "dtype",
             build_pt({.pickle = pickle::whole(
                           tensor_call({.storage_class = "UntypedStorage", .elements = 24, .dtype = "uint32"}))}));
  write_seed(folder, "pickle", PtSpec{}.pickle);
  for (const PtFault fault : all_pt_faults()) write_seed(folder, name_of(fault), build_faulty_pt(fault));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds DIR\n");
    return 2;
  }
  const fs::path folder = argv[1];
  dump_files(folder / "dump_file");
  npy_files(folder / "npy");
  names(folder / "names");
  md5_jobs(folder / "md5");
  pairs(folder / "pair");
  pt_files(folder / "pt");
  return 0;
}
