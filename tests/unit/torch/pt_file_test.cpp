#include "torch/pt_file.h"

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
using msdump::torch::PtFile;
using msdump::torch::PtTensor;

namespace {

PtFile read_good(const std::string& bytes) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("a.pt", bytes));
  REQUIRE(file);
  auto found = torch::read_pt(*file);
  INFO((found ? "" : found.error().message));
  REQUIRE(found);
  for (const PtTensor& tensor : found->tensors) {
    INFO(tensor.key << ": " << (tensor.problem ? tensor.problem->message : ""));
    CHECK_FALSE(tensor.problem);
  }
  return std::move(*found);
}

PtFile read_value(const pickle::Text& value) { return read_good(build_pt({.pickle = pickle::whole(value)})); }

std::vector<std::string> keys_of(const PtFile& file) {
  std::vector<std::string> keys;
  for (const PtTensor& tensor : file.tensors) keys.push_back(tensor.key);
  return keys;
}

PtTensor only(const PtTensorSpec& spec, size_t storage_bytes) {
  PtFile file = read_good(
      build_pt({.pickle = pickle::whole(tensor_call(spec)), .storages = {{"0", std::string(storage_bytes, '\1')}}}));
  REQUIRE(file.tensors.size() == 1);
  return std::move(file.tensors[0]);
}

using Keys = std::vector<std::string>;

pickle::Text wrapped(const char* module, const char* function, const std::vector<pickle::Text>& arguments) {
  return pickle::call(pickle::global(module, function), arguments);
}

}  // namespace

TEST_CASE("A file that is one tensor") {
  std::string elements;
  for (char byte = 0; byte < 24; ++byte) elements += byte;
  const std::string bytes = build_pt({.storages = {{"0", elements}}});
  const PtFile file = read_good(bytes);
  REQUIRE(file.tensors.size() == 1);
  CHECK(file.other_values == 0);
  const PtTensor& tensor = file.tensors[0];
  CHECK(tensor.key.empty());
  CHECK(tensor.dtype == DType::kFloat32);
  CHECK(tensor.shape == Shape{2, 3});
  CHECK(tensor.strides == std::vector<int64_t>{3, 1});
  CHECK(tensor.contiguous);
  CHECK_FALSE(tensor.big_endian);
  CHECK(tensor.bytes == 24);
  CHECK(bytes.substr(tensor.offset, tensor.bytes) == elements);
}

TEST_CASE("Every storage class of torch has its dtype") {
  for (const auto& [name, dtype] :
       std::vector<std::pair<std::string, DType>>{{"DoubleStorage", DType::kFloat64},
                                                  {"FloatStorage", DType::kFloat32},
                                                  {"HalfStorage", DType::kFloat16},
                                                  {"BFloat16Storage", DType::kBfloat16},
                                                  {"ByteStorage", DType::kUint8},
                                                  {"CharStorage", DType::kInt8},
                                                  {"ShortStorage", DType::kInt16},
                                                  {"IntStorage", DType::kInt32},
                                                  {"LongStorage", DType::kInt64},
                                                  {"BoolStorage", DType::kBool},
                                                  {"ComplexFloatStorage", DType::kComplex64},
                                                  {"ComplexDoubleStorage", DType::kComplex128},
                                                  {"QInt8Storage", DType::kQint8},
                                                  {"QUInt8Storage", DType::kQuint8},
                                                  {"QInt32Storage", DType::kQint32}}) {
    INFO(name);
    const auto bytes = static_cast<size_t>(info(dtype).bits) / 8 * 6;
    const PtTensor tensor = only({.storage_class = name}, bytes);
    CHECK(tensor.dtype == dtype);
    CHECK(tensor.bytes == bytes);
  }
}

TEST_CASE("dtypes without a storage class are named beside an untyped storage") {
  for (const auto& [name, dtype] : std::vector<std::pair<std::string, DType>>{{"uint16", DType::kUint16},
                                                                              {"uint32", DType::kUint32},
                                                                              {"uint64", DType::kUint64},
                                                                              {"complex32", DType::kComplex32},
                                                                              {"float8_e5m2", DType::kFloat8E5m2},
                                                                              {"float8_e4m3fn", DType::kFloat8E4m3fn},
                                                                              {"float8_e8m0fnu", DType::kFloat8E8m0},
                                                                              {"bfloat16", DType::kBfloat16}}) {
    INFO(name);
    const int64_t bytes = int64_t{info(dtype).bits} / 8 * 6;
    const PtTensor tensor =
        only({.storage_class = "UntypedStorage", .elements = bytes, .dtype = name}, static_cast<size_t>(bytes));
    CHECK(tensor.dtype == dtype);
    CHECK(tensor.bytes == static_cast<uint64_t>(bytes));
  }
}

TEST_CASE("Scalars and empty tensors") {
  const PtTensor scalar = only({.elements = 1, .shape = {}}, 4);
  CHECK(scalar.offset % 64 == 0);  // where the builder puts storages, not at the beginning
  CHECK(scalar.offset > 0);
  CHECK(scalar.shape.empty());
  CHECK(scalar.bytes == 4);
  CHECK(scalar.contiguous);
  const PtTensor empty = only({.elements = 0, .shape = {3, 0, 2}}, 0);
  CHECK(empty.shape == Shape{3, 0, 2});
  CHECK(empty.bytes == 0);
  CHECK(empty.contiguous);
}

TEST_CASE("A part of a storage begins at its offset") {
  const PtTensor whole = only({.elements = 10, .shape = {10}}, 40);
  const PtTensor part = only({.elements = 10, .offset = 4, .shape = {2, 3}}, 40);
  CHECK(part.offset == whole.offset + 16);
  CHECK(part.bytes == 24);
}

TEST_CASE("A slice of a saved tensor has its elements in pieces") {
  // [1:2, :, 1:3] of (3, 2, 4).
  const PtTensor slice = only({.elements = 24, .offset = 9, .shape = {1, 2, 2}, .strides = {{8, 4, 1}}}, 96);
  CHECK_FALSE(slice.contiguous);
  CHECK(slice.bytes == 16);
  REQUIRE(slice.pieces != nullptr);
  REQUIRE(slice.pieces->size() == 2);
  CHECK((*slice.pieces)[0].begin == 0);
  CHECK((*slice.pieces)[0].offset == slice.offset);
  CHECK((*slice.pieces)[1].begin == 8);
  CHECK((*slice.pieces)[1].offset == slice.offset + 16);
  // [:, ::2] of (2, 6): single elements.
  const PtTensor steps = only({.elements = 12, .shape = {2, 3}, .strides = {{6, 2}}}, 48);
  REQUIRE(steps.pieces->size() == 6);
  CHECK((*steps.pieces)[4].begin == 16);
  CHECK((*steps.pieces)[4].offset == steps.offset + 32);
  // [1:] of (2, 3) has no gap.
  const PtTensor rows = only({.elements = 6, .offset = 3, .shape = {1, 3}, .strides = {{3, 1}}}, 24);
  CHECK(rows.pieces == nullptr);
}

TEST_CASE("A slice is inside its storage, and not in too many pieces") {
  const auto problem_of = [](const PtTensorSpec& spec, size_t storage) {
    const ScratchDir scratch;
    const auto file = File::open(scratch.write("a.pt", build_pt({.pickle = pickle::whole(tensor_call(spec)),
                                                                 .storages = {{"0", std::string(storage, '\1')}}})));
    const auto found = torch::read_pt(*file);
    REQUIRE(found);
    REQUIRE(found->tensors.size() == 1);
    return found->tensors[0].problem ? found->tensors[0].problem->message : std::string("none");
  };
  CHECK(problem_of({.elements = 8, .shape = {2, 2}, .strides = {{6, 1}}}, 32) == "none");
  CHECK(problem_of({.elements = 8, .shape = {2, 2}, .strides = {{7, 1}}}, 32) ==
        "storage '0': 36 bytes needed, 32 present");
  CHECK(problem_of({.elements = 8, .shape = {3, 2}, .strides = {{int64_t{1} << 62, 1}}}, 32)
            .starts_with("the elements are not"));
  constexpr int64_t kRows = int64_t{1} << 21;
  CHECK(problem_of({.elements = 2 * kRows, .shape = {kRows, 1}, .strides = {{2, 1}}}, 8 * kRows)
            .starts_with("the elements are not"));
}

TEST_CASE("The stride of a dimension of one means nothing") {
  CHECK(only({.shape = {2, 1, 3}, .strides = {{3, 77, 1}}}, 24).contiguous);
}

TEST_CASE("Storages on devices are in the file as those on the CPU are") {
  for (const char* location : {"cpu", "cuda:0", "npu:7", "npu"}) {
    INFO(location);
    CHECK(only({.location = location}, 24).bytes == 24);
  }
}

TEST_CASE("The byte order is the file's") {
  const pickle::Text both = pickle::tuple(
      {tensor_call(), tensor_call({.storage_class = "ByteStorage", .key = "1", .elements = 24, .shape = {24}})});
  const std::string bytes(24, '\1');
  const PtFile big = read_good(
      build_pt({.pickle = pickle::whole(both), .storages = {{"0", bytes}, {"1", bytes}}, .byteorder = "big"}));
  CHECK(big.tensors[0].big_endian);
  CHECK_FALSE(big.tensors[1].big_endian);  // of one byte
  CHECK_FALSE(read_good(build_pt({.byteorder = ""})).tensors[0].big_endian);
}

TEST_CASE("An empty tensor needs no storage in the file, wherever it was") {
  const PtFile file =
      read_value(tensor_call({.key = "none", .location = "meta", .elements = 0, .shape = {0, 3}, .strides = {{7, 9}}}));
  REQUIRE(file.tensors.size() == 1);
  CHECK(file.tensors[0].offset == 0);
  CHECK(file.tensors[0].contiguous);
}

TEST_CASE("Keys may be empty, and up to 1024 bytes long") {
  const std::string longest(1024, 'k');
  CHECK(keys_of(read_value(pickle::dict(
            {{pickle::text(""), tensor_call()}, {pickle::text(longest), tensor_call()}}))) == Keys{"", longest});
  const ScratchDir scratch;
  const auto file = File::open(scratch.write(
      "a.pt", build_pt({.pickle = pickle::whole(pickle::dict({{pickle::text(longest + "k"), tensor_call()}}))})));
  REQUIRE(file);
  CHECK(torch::read_pt(*file).error().message == "a key of 1025 bytes");
}

TEST_CASE("Tensors in dicts, lists and tuples have the way to them as their key") {
  const PtFile file = read_value(pickle::dict(
      {{pickle::text("layer.0.weight"), tensor_call()},
       {pickle::text("step"), pickle::integer(3)},
       {pickle::text("nested"), pickle::list({tensor_call(), pickle::tuple({pickle::none(), tensor_call()}),
                                              pickle::ordered_dict({{pickle::text("x"), tensor_call()},
                                                                    {pickle::integer(5), tensor_call()}})})},
       {pickle::tuple({}), tensor_call()}}));
  CHECK(keys_of(file) == Keys{"layer.0.weight", "nested.0", "nested.1.1", "nested.2.x", "nested.2.5", "#3"});
  CHECK(file.other_values == 2);
  for (const PtTensor& tensor : file.tensors) CHECK(tensor.in_dict);
}

TEST_CASE("Only a dict says what a tensor is called") {
  const pickle::Text inner = pickle::list({pickle::tuple({tensor_call()})});
  CHECK_FALSE(read_value(tensor_call()).tensors.at(0).in_dict);
  CHECK_FALSE(read_value(inner).tensors.at(0).in_dict);
  const PtFile file = read_value(pickle::list({pickle::dict({{pickle::text("w"), inner}}), tensor_call()}));
  REQUIRE(keys_of(file) == Keys{"0.w.0.0", "1"});
  CHECK(file.tensors[0].in_dict);
  CHECK_FALSE(file.tensors[1].in_dict);
}

TEST_CASE("Objects beside tensors are counted and their classes named once") {
  const pickle::Text object =
      wrapped("argparse", "Namespace", {}) + pickle::dict({{pickle::text("w"), tensor_call()}}) + "b";
  const PtFile file = read_value(pickle::dict({{pickle::text("args"), object},
                                               {pickle::text("again"), wrapped("argparse", "Namespace", {})},
                                               {pickle::text("seed"), wrapped("numpy", "dtype", {})},
                                               {pickle::text("size"), wrapped("torch", "Size", {pickle::tuple({})})},
                                               {pickle::text("model"), tensor_call()}}));
  CHECK(keys_of(file) == Keys{"model"});
  CHECK(file.other_values == 4);
  CHECK(file.other_classes == Keys{"argparse.Namespace", "numpy.dtype"});
}

TEST_CASE("A defaultdict is a dict") {
  CHECK(keys_of(read_value(wrapped("collections", "defaultdict", {pickle::global("builtins", "dict")}) +
                           pickle::integer(3) + tensor_call() + "s")) == Keys{"3"});
}

TEST_CASE("A state_dict with its metadata") {
  const pickle::Text metadata =
      pickle::dict({{pickle::text("_metadata"), pickle::ordered_dict({{pickle::text(""), pickle::dict({})}})}});
  const PtFile file = read_value(
      pickle::ordered_dict({{pickle::text("fc.weight"), tensor_call()}, {pickle::text("fc.bias"), tensor_call()}}) +
      metadata + "b");
  CHECK(keys_of(file) == Keys{"fc.weight", "fc.bias"});
}

TEST_CASE("An OrderedDict as Python 2 pickled it: a list of pairs") {
  const pickle::Text pair = pickle::list({pickle::text("w"), tensor_call()});
  CHECK(keys_of(read_value(wrapped("collections", "OrderedDict", {pickle::list({pair})}))) == Keys{"w"});
}

TEST_CASE("One tensor in two places is two tensors at one offset") {
  const PtFile file = read_value(pickle::tuple({tensor_call() + std::string("q\x09"), "h\x09"}));
  REQUIRE(keys_of(file) == Keys{"0", "1"});
  CHECK(file.tensors[0].offset == file.tensors[1].offset);
}

TEST_CASE("Parameters, subclasses, quantized tensors and those of torch_npu are tensors") {
  const pickle::Text no_hooks = pickle::ordered_dict();
  const std::vector<pickle::Text> layout = {storage_id({}), pickle::integer(0), pickle::integers({2, 3}),
                                            pickle::integers({3, 1})};
  const auto with = [&](std::vector<pickle::Text> more) {
    more.insert(more.begin(), layout.begin(), layout.end());
    return more;
  };
  const pickle::Text quantizer =
      pickle::tuple({pickle::global("torch", "per_tensor_affine"), pickle::real(0.5), pickle::integer(0)});
  const pickle::Text parameter =
      wrapped("torch._utils", "_rebuild_parameter", {tensor_call(), pickle::boolean(true), no_hooks});
  for (const pickle::Text& value :
       {parameter,
        wrapped("torch._utils", "_rebuild_parameter_with_state",
                {tensor_call(), pickle::boolean(true), no_hooks, pickle::dict({})}),
        wrapped(
            "torch._tensor", "_rebuild_from_type_v2",
            {pickle::global("torch._utils", "_rebuild_tensor_v2"), pickle::global("torch.nn.parameter", "Parameter"),
             pickle::tuple(with({pickle::boolean(false), no_hooks})), pickle::dict({})}),
        wrapped("torch._utils", "_rebuild_tensor", layout),
        wrapped("torch._utils", "_rebuild_qtensor", with({quantizer, pickle::boolean(false), no_hooks})),
        wrapped("torch_npu.utils.storage", "_rebuild_npu_tensor",
                with({pickle::boolean(false), no_hooks,
                      wrapped("torch_npu.npu._format", "Format", {pickle::integer(2)})}))}) {
    const PtFile file = read_value(value);
    REQUIRE(file.tensors.size() == 1);
    CHECK(file.tensors[0].shape == Shape{2, 3});
    CHECK(file.tensors[0].bytes == 24);
  }
}

TEST_CASE("Metadata that say nothing are taken") {
  CHECK(only({.metadata = pickle::dict({})}, 24).bytes == 24);
  CHECK(only({.metadata = pickle::none()}, 24).bytes == 24);
  CHECK(only({.metadata = pickle::dict({{pickle::text("conj"), pickle::boolean(false)}})}, 24).bytes == 24);
}

TEST_CASE("A file without tensors has other values only") {
  const PtFile file = read_value(pickle::list({pickle::real(1), pickle::text("x"), pickle::global("torch", "float32"),
                                               wrapped("torch", "Size", {pickle::integers({1, 2})}),
                                               wrapped("torch", "device", {pickle::text("cpu")})}));
  CHECK(file.tensors.empty());
  CHECK(file.other_values == 5);
}

TEST_CASE("Files of every zip form are read") {
  for (const ZipForm form : {ZipForm::kPlain, ZipForm::kTorch, ZipForm::kZip64}) {
    CHECK(read_good(build_pt({.form = form})).tensors.size() == 1);
  }
}

TEST_CASE("What looks like a .pt file") {
  const std::string good = build_pt();
  CHECK(torch::looks_like_pt(std::as_bytes(std::span(good))));
  CHECK_FALSE(torch::looks_like_pt(std::as_bytes(std::span(good).subspan(1))));
  const std::string old_form = build_faulty_pt(PtFault::kOldForm);
  CHECK(torch::looks_like_pt(std::as_bytes(std::span(old_form))));
}
