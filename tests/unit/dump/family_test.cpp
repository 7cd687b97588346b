#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "io/zip.h"
#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"
#include "support/zip_builder.h"

namespace msdump {

// Tables of msprobe's monitor in the list of tensors: a row has a step of its own.

namespace {

using test::list_dump;
using test::ListedDump;
using test::ScratchDir;
using Lines = std::vector<std::string>;

const std::string kFirst = "vpp_stage,name,step,max,min,shape,dtype\n";
const std::string kSecond = "vpp_stage,step,module_name,scope,max,min\n";

// "rR sS TYPE OP IO SLOT OCCURRENCE"
Lines monitored(const ListedDump& dump) {
  Lines lines;
  for (const TensorRecord& tensor : dump.tensors()) {
    const Identity identity = identity_of(dump.index, tensor);
    lines.push_back(fmt::format("r{} s{} {} {} {} {} {}", identity.rank.value_or(-1), identity.step.value_or(-1),
                                tensor.name.op_type, tensor.name.op_name, name_of(tensor.name.io), tensor.name.slot,
                                tensor.occurrence));
  }
  return lines;
}

TEST_CASE("rows are in the order of rank and step, whatever file they stand in") {
  const ScratchDir scratch;
  scratch.write(
      "Nov23_15-50-51-rank1-04eb6adc/grad_reduced_0-1.csv",
      kFirst + "0,b.weight,1,1,0,[2],torch.float32\n0,a.weight,0,1,0,[2],torch.float32\n0,b.weight,0,1,0,,\n");
  scratch.write("Nov23_15-50-51-rank1-04eb6adc/actv_0-1.csv", kFirst + "0,a.input,1,1,0,,\n0,a.output,0,1,0,,\n");
  scratch.write("Nov23_15-50-51-rank0-04eb6adc/actv_0-1.csv", kFirst + "0,.input,1,1,0,,\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r0 s1 actv . input 0 0", "r1 s0 actv a output 0 0", "r1 s0 grad_reduced a.weight parameter 0 0",
              "r1 s0 grad_reduced b.weight parameter 0 0", "r1 s1 actv a input 0 0",
              "r1 s1 grad_reduced b.weight parameter 0 0"});
}

TEST_CASE("micro steps are runs of one step, and stages of a model have names of their own") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/actv_0-0.csv",
                "vpp_stage,name,step,micro_step,max\n0,a.input,0,0,1\n0,a.input,0,1,1\n1,a.input,0,0,1\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r0 s0 actv 1:a input 0 0", "r0 s0 actv a input 0 0", "r0 s0 actv a input 0 1"});
}

TEST_CASE("monitor_v2 names what was monitored in each row") {
  const ScratchDir scratch;
  scratch.write(
      "rank_3/optimizer_step0-9.csv",
      kSecond + "-1,4,w.exp_avg,exp_avg,1,0\n-1,4,w.exp_avg_sq,exp_avg_sq,1,0\n1,4,1:w.exp_avg,exp_avg,1,0\n");
  scratch.write("rank_3/module_step0-9.csv", kSecond + "-1,4,fc.grad_output.1,backward,1,0\n-1,4,odd,,1,0\n");
  CHECK(monitored(list_dump({scratch.path()})) ==
        Lines{"r3 s4 exp_avg 1:w parameter 0 0", "r3 s4 backward fc input 1 0", "r3 s4 module odd output 0 0",
              "r3 s4 exp_avg w parameter 0 0", "r3 s4 exp_avg_sq w parameter 0 0"});
}

TEST_CASE("a row has the shape and dtype that its table says, and no bytes") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/grad_reduced_0-0.csv", kFirst + "0,w,0,1,0,\"[2, 3]\",torch.bfloat16\n");
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 1);
  const TensorRecord& tensor = dump.tensors()[0];
  REQUIRE(tensor.shape);
  CHECK(*tensor.shape == Shape{2, 3});
  CHECK(tensor.name.dtype == DType::kBfloat16);
  CHECK_FALSE(tensor.has_elements);
  CHECK_FALSE(tensor.bytes);
}

TEST_CASE("--step selects rows, and --rank and --op do") {
  const ScratchDir scratch;
  for (const char* const rank : {"0", "1"})
    scratch.write(std::string("t-rank") + rank + "-00000000/grad_reduced_0-1.csv",
                  kFirst + "0,a,0,1,0,,\n0,b,1,1,0,,\n0,a,1,1,0,,\n");
  const auto chosen = [&](const SelectionOptions& options) {
    return monitored(list_dump({scratch.path()}, Headers::kAll, 2, options));
  };
  SelectionOptions step, rank, op;
  step.step = "1";
  step.rank = "1";
  CHECK(chosen(step) == Lines{"r1 s1 grad_reduced a parameter 0 0", "r1 s1 grad_reduced b parameter 0 0"});
  op.op = {"b"};
  CHECK(chosen(op) == Lines{"r0 s1 grad_reduced b parameter 0 0", "r1 s1 grad_reduced b parameter 0 0"});
  rank.rank = "5";
  CHECK(chosen(rank).empty());
}

TEST_CASE("a table of another kind under such a name is one failure, a bad row costs no other") {
  const ScratchDir scratch;
  scratch.write("t-rank0-00000000/grad_reduced_0-1.csv", "a,b\n1,2\n");
  scratch.write("t-rank0-00000000/param_origin_0-1.csv", kFirst + "0,a,x,1,0,,\n0,b,1,1,0,,\n");
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(monitored(dump) == Lines{"r0 s1 param_origin b parameter 0 0"});
  CHECK(dump.list.failures().size() == 2);
}

TEST_CASE("the distribution of a tensor follows it into its file") {
  const ScratchDir scratch;
  const std::string leaf = R"({"type":"torch.distributed.tensor.DTensor","dtype":"torch.float32","shape":[2],)"
                           R"("placements":[{"Shard":{"dim":0}}])";
  scratch.write("step0/rank0/dump.json",
                R"({"task":"tensor","level":"L1","dump_data_dir":"x","data":{"Torch.f.0.forward":)"
                R"({"output":[)" +
                    leaf + R"(,"data_name":"Torch.f.0.forward.output.0.npy"},)" + leaf + R"(}]}}})");
  scratch.write("step0/rank0/dump_tensor_data/Torch.f.0.forward.output.0.npy", test::npy_of("<f4", {2}, "abcdefgh"));
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 2);
  CHECK(dump.tensors()[0].has_elements);
  for (const TensorRecord& tensor : dump.tensors()) {
    REQUIRE(tensor.distribution != nullptr);
    CHECK(*tensor.distribution == R"j({"placements":["Shard(0)"]})j");
  }
}

}  // namespace

// .npz files, and the CRC-32 of archives, through the catalogue.

namespace {

using test::build_npy;
using test::build_zip;
using test::list_dump;
using test::ListedDump;
using test::npy_literal;
using test::ScratchDir;
using test::ZipEntrySpec;
using test::ZipForm;

// What gzip has between its head and its end; the builder of archives does not compress.
std::string deflate_bytes(const std::string& bytes) {
  const std::string packed = gzip(bytes).value();
  return packed.substr(10, packed.size() - 18);
}

std::string floats(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

std::string array(std::string_view descr, std::string_view shape, const std::string& data, bool fortran = false) {
  return build_npy({.literal = npy_literal(descr, shape, fortran), .data = data});
}

std::string npz(std::vector<ZipEntrySpec> entries) {
  for (ZipEntrySpec& entry : entries) entry.flags = 0;
  return build_zip({.entries = std::move(entries), .form = ZipForm::kPlain, .alignment = 1});
}

// All elements, read in pieces of `piece`.
Result<std::string> elements(const ListedDump& dump, size_t place, int64_t piece = 1000) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(dump.index, dump.tensors().at(place), {}));
  const size_t width = tensor.element_bytes();
  std::string data(static_cast<size_t>(tensor.count()) * width, '\0');
  for (int64_t at = 0; at < tensor.count(); at += piece) {
    const int64_t count = std::min(piece, tensor.count() - at);
    MSDUMP_CHECK_OK(
        tensor.read(at, count, reinterpret_cast<std::byte*>(data.data()) + static_cast<size_t>(at) * width));
  }
  return data;
}

TEST_CASE("each array of an .npz is a parameter with the name of its member") {
  const ScratchDir scratch;
  scratch.write("a.npz", npz({{.name = "fc.weight.npy", .data = array("<f4", "(2, 3)", floats(6))},
                              {.name = "fc.bias.npy", .data = array("<f4", "(3,)", floats(3)), .deflated = true},
                              {.name = "step.npy", .data = array("<i8", "()", std::string(8, '\7'))},
                              {.name = "words.npy", .data = array("<U5", "(1,)", std::string(20, '\0'))},
                              {.name = "notes.txt", .data = "no array"}}));
  const ListedDump dump = list_dump({scratch.path()});
  CHECK(dump.list.failures().empty());
  std::vector<std::string> rows;
  for (const TensorRecord& tensor : dump.tensors()) {
    rows.push_back(fmt::format("{} {} {} {} {} {}", tensor.name.op_name, tensor.name.op_type, name_of(tensor.name.io),
                               tensor.name.slot, name_of(tensor.name.dtype), describe(*tensor.shape)));
  }
  CHECK(rows == std::vector<std::string>{"fc.bias Parameter parameter 0 float32 3",
                                         "fc.weight Parameter parameter 0 float32 2x3",
                                         "step Parameter parameter 0 int64 scalar"});
  for (const int64_t piece : {1, 2, 1000}) {
    CHECK(elements(dump, 0, piece).value() == floats(3));
    CHECK(elements(dump, 1, piece).value() == floats(6));
  }
}

TEST_CASE("compressed arrays, and those in other orders, are read as they are") {
  const ScratchDir scratch;
  std::string swapped;
  for (int i = 0; i < 6; ++i) {
    const std::string one = floats(i + 1).substr(static_cast<size_t>(i) * 4);
    swapped.append(one.rbegin(), one.rend());
  }
  const std::string large = array("<f4", "(50000,)", floats(50000)), packed = deflate_bytes(large);
  // The builder writes the compressed bytes as they are; method and size are put right in both headers.
  std::string archive = npz({{.name = "large.npy", .data = packed, .crc = test::crc32_of(large)}});
  const auto put = [&](size_t at, uint32_t value, size_t bytes) { std::memcpy(archive.data() + at, &value, bytes); };
  const size_t entry = archive.find("PK\1\2");
  put(8, 8, 2), put(entry + 10, 8, 2);
  put(22, static_cast<uint32_t>(large.size()), 4), put(entry + 24, static_cast<uint32_t>(large.size()), 4);
  scratch.write("a/compressed.npz", archive);
  scratch.write("b/orders.npz", npz({{.name = "big.npy", .data = array(">f4", "(6,)", swapped)},
                                     {.name = "fortran.npy", .data = array("<f4", "(2, 3)", floats(6), true)}}));
  const ListedDump compressed = list_dump({scratch.file("a")}), orders = list_dump({scratch.file("b")});
  REQUIRE(compressed.tensors().size() == 1);
  CHECK(elements(compressed, 0, 7777).value() == floats(50000));
  CHECK(elements(orders, 0).value() == floats(6));
  const std::string rows = elements(orders, 1).value();
  const auto at = [&](size_t i) {
    float value = 0;
    std::memcpy(&value, rows.data() + 4 * i, 4);
    return value;
  };
  CHECK(std::vector<float>{at(0), at(1), at(2), at(3), at(4), at(5)} == std::vector<float>{0, 2, 4, 1, 3, 5});
}

TEST_CASE("a member that cannot be read costs itself alone") {
  const ScratchDir scratch;
  const std::string good = array("<f4", "(2,)", floats(2));
  scratch.write("a.npz", npz({{.name = "a_good.npy", .data = good},
                              {.name = "b_cut.npy", .data = good.substr(0, good.size() - 4)},
                              {.name = "c_text.npy", .data = "no array"},
                              {.name = "d_crc.npy", .data = good, .crc = 1},
                              {.name = "e_crc.npy", .data = good, .deflated = true, .crc = 1},
                              {.name = "f_long.npy", .data = good, .size = uint64_t{1} << 40}}));
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 6);
  CHECK(dump.list.failures().size() == 3);  // cut, text, long
  CHECK(elements(dump, 0).value() == floats(2));
  for (const size_t place : {3U, 4U}) {
    const auto read = elements(dump, place);
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("its CRC-32 is wrong") != std::string::npos);
  }
}

TEST_CASE("a tensor of PyTorch whose bytes are not those of its CRC-32 is an error once all of it was read") {
  const ScratchDir scratch;
  std::string pt = test::build_pt({.storages = {{"0", floats(6)}}});
  const ListedDump good = list_dump({scratch.write("good.pt", pt)});
  for (const int64_t piece : {1, 4, 6}) CHECK(elements(good, 0, piece).value() == floats(6));
  const size_t third = pt.find(floats(6)) + 8;
  pt[third] = static_cast<char>(pt[third] ^ 1);
  const ListedDump bad = list_dump({scratch.write("bad.pt", pt)});
  CHECK(bad.list.failures().empty());
  for (const int64_t piece : {1, 4, 6}) {
    const auto read = elements(bad, 0, piece);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kBadHeader);
    CHECK(read.error().path.ends_with("bad.pt"));
    CHECK(read.error().message == "zip entry 't/data/0': its CRC-32 is wrong");
  }
  // In any order, and what is read again counts once.
  HostTensor tensor = HostTensor::open(bad.index, bad.tensors().at(0), {}).value();
  std::array<std::byte, 24> into{};
  for (const int64_t at : {4, 0, 4, 2, 1}) CHECK(tensor.read(at, 1, into.data()));
  CHECK(tensor.read(0, 3, into.data()));  // overlaps what was read
  CHECK(tensor.read(3, 1, into.data()));
  CHECK_FALSE(tensor.read(5, 1, into.data()));
}

TEST_CASE("a pointer of Git LFS, and an archive under another name, are called what they are") {
  const ScratchDir scratch;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 5\n";
  scratch.write("a/x.safetensors", pointer);
  scratch.write("a/y.npz", pointer);
  scratch.write("a/z.pt", pointer);
  scratch.write("a/w.npy", test::build_pt({}));
  const ListedDump dump = list_dump({scratch.file("a")});
  std::vector<std::string> messages;
  for (const Error& failure : dump.list.failures()) {
    CHECK_FALSE(failure.hint.empty());
    messages.push_back(failure.path.substr(failure.path.rfind('/') + 1) + ": " + failure.message);
  }
  CHECK(messages ==
        std::vector<std::string>{"w.npy: a zip archive, such as PyTorch's .pt or numpy's .npz, under another name",
                                 "x.safetensors: a Git LFS pointer: the file itself is not here",
                                 "y.npz: a Git LFS pointer: the file itself is not here",
                                 "z.pt: a Git LFS pointer: the file itself is not here"});
}

}  // namespace

}  // namespace msdump
