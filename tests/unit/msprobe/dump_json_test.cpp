#include "msprobe/dump_json.h"

#include <cmath>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

Result<DumpJson> try_dump_json(const std::string& text, const DumpJsonLimits& limits = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("dump.json", text));
  REQUIRE(file);
  auto result = read_dump_json(*file, limits);
  if (!result) CHECK(result.error().path == file->path());
  return result;
}

// A dump.json with the given members of "data".
std::string dump(const std::string& data) {
  return R"({"task": "tensor", "level": "mix", "framework": "pytorch", "dump_data_dir": "/x/dump_tensor_data",)"
         "\n \"data\": {" +
         data + "}}";
}

DumpJson read(const std::string& data) {
  auto result = try_dump_json(dump(data));
  if (!result) FAIL(result.error().message);
  return std::move(*result);
}

std::string leaf(const std::string& more = "") {
  return R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[4,12],"Max":2.5,"Min":-1,"Mean":0.04,"Norm":5.8)" +
         more + "}";
}

// "IO SLOT" of each tensor.
Strings slots(const DumpJson& json) {
  Strings all;
  for (const auto& tensor : json.tensors) all.push_back(std::string(name_of(tensor.io)) + " " + tensor.slot);
  return all;
}

std::string only_problem(const std::string& data) {
  const DumpJson json = read(data);
  CHECK(json.problems.count() == 1);
  REQUIRE(json.problems.size() == 1);
  CHECK_FALSE(json.problems[0].path.empty());
  return json.problems[0].message;
}

TEST_CASE("the overflow register after a call is a number, or not known") {
  const auto call = [](int number, const std::string& is_nan) {
    return fmt::format(R"("Torch.exp.{}.forward":{{"output":[{}],"is_nan":{}}},)", number, leaf(), is_nan);
  };
  const DumpJson json =
      read(call(0, "0") + call(1, "1") + call(2, "-1") + call(3, "null") + call(4, "true") + call(5, R"("x")") +
           call(6, "[1]") + call(7, "0.5") + R"("Torch.exp.8.forward":{"is_nan":32})");
  CHECK(json.tensors.size() == 8);
  Strings states;
  for (const MsprobeOverflow& one : json.overflows)
    states.push_back(fmt::format("{} {} {}", one.order, one.op_name, one.status ? std::to_string(*one.status) : "-"));
  CHECK(states == Strings{"0 Torch.exp.0.forward 0", "1 Torch.exp.1.forward 1",
                          "2 Torch.exp.2.forward 18446744073709551615", "3 Torch.exp.3.forward -",
                          "4 Torch.exp.4.forward 1", "8 Torch.exp.8.forward 32"});
  REQUIRE(json.problems.count() == 3);
  CHECK(json.problems[0].message.ends_with("Torch.exp.5.forward: is_nan is not a whole number"));
}

TEST_CASE("a tensor is read with all that is said of it") {
  const std::string text = dump(R"("Functional.linear.0.forward":{"input_args":[)" +
                                leaf(R"(,"requires_grad":false,"data_name":"Functional.linear.0.forward.input.0.pt",)"
                                     R"("md5":"9331d5e6")") +
                                R"(],"input_kwargs":{},"output":[]})");
  const auto json = try_dump_json(text);
  REQUIRE(json);
  CHECK(json->task == "tensor");
  CHECK(json->level == "mix");
  CHECK(json->framework == "pytorch");
  CHECK(json->entries == 1);
  CHECK(json->others == 0);
  CHECK(json->problems.empty());
  REQUIRE(json->tensors.size() == 1);
  const MsprobeTensor& tensor = json->tensors[0];
  CHECK(tensor.op_name == "Functional.linear.0.forward");
  CHECK(tensor.op_type == "linear");
  CHECK(tensor.io == MsprobeIo::kInput);
  CHECK(tensor.slot == "0");
  CHECK(tensor.type == "torch.Tensor");
  CHECK(tensor.dtype_text == "torch.float32");
  CHECK(tensor.dtype == DType::kFloat32);
  CHECK(tensor.shape == Shape{4, 12});
  CHECK(tensor.max == "2.5");
  CHECK(tensor.min == "-1");
  CHECK(tensor.mean == "0.04");
  CHECK(tensor.norm == "5.8");
  CHECK(tensor.md5 == "9331d5e6");
  CHECK(tensor.data_name == "Functional.linear.0.forward.input.0.pt");
  CHECK(tensor.requires_grad == false);
  CHECK(tensor.order == 0);
  CHECK(tensor.offset == text.find("{\"type\""));
}

TEST_CASE("what may be missing or null differs from what is there") {
  const DumpJson json = read(
      R"("Tensor.f.0.forward":{"output":[{"type":"mindspore.Tensor","dtype":"BFloat16","shape":[],"md5":null},)"
      R"({"type":"numpy.ndarray","dtype":"<U3","shape":null,"Max":null,"Min":true,"Mean":NaN,"Norm":-Infinity}]})");
  REQUIRE(json.tensors.size() == 2);
  const MsprobeTensor& first = json.tensors[0];
  CHECK(first.dtype == DType::kBfloat16);
  REQUIRE(first.shape);
  CHECK(first.shape->empty());
  CHECK_FALSE((first.max || first.min || first.mean || first.norm || first.md5 || first.data_name));
  CHECK_FALSE(first.requires_grad);
  const MsprobeTensor& second = json.tensors[1];
  CHECK(second.dtype_text == "<U3");
  CHECK_FALSE(second.dtype);
  CHECK_FALSE(second.shape);
  CHECK_FALSE(second.max);
  CHECK(second.min == "true");
  CHECK(second.mean == "NaN");
  CHECK(second.norm == "-Infinity");
}

TEST_CASE("a checksum may be a number") {
  const DumpJson json = read(R"("Tensor.f.0.forward":{"output":[)" + leaf(R"(,"md5":1.25)") + "]}");
  CHECK(json.tensors.at(0).md5 == "1.25");
}

TEST_CASE("statistics are numbers when one is asked for") {
  CHECK(statistic_value("2.5") == 2.5);
  CHECK(statistic_value("-3") == -3);
  CHECK(statistic_value("9223372036854775807") == 9223372036854775807.0);
  CHECK(std::isnan(statistic_value("NaN").value()));
  CHECK(statistic_value("-Infinity") == -HUGE_VAL);
  CHECK(statistic_value("true") == 1);
  CHECK(statistic_value("false") == 0);
  CHECK_FALSE(statistic_value(""));
  CHECK_FALSE(statistic_value("x"));
}

TEST_CASE("integers beyond 2^53 keep their digits") {
  const DumpJson json =
      read(R"("Tensor.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":"torch.int64","shape":[1],)"
           R"("Max":9223372036854775807,"Min":-9223372036854775808}]})");
  CHECK(json.tensors.at(0).max == "9223372036854775807");
  CHECK(json.tensors.at(0).min == "-9223372036854775808");
}

TEST_CASE("the slot is the path to the tensor") {
  CHECK(slots(read(R"("Module.fc.Linear.forward.0":{"input_args":[)" + leaf() + ",[" + leaf() + R"(,{"k":)" + leaf() +
                   R"(}]],"input_kwargs":{"mask":)" + leaf() + R"(,"all":[null,)" + leaf() + R"(]},"output":[)" +
                   leaf() + R"(],"parameters":{"weight":)" + leaf() + "}}")) ==
        Strings{"input 0", "input 1.0", "input 1.1.k", "input mask", "input all.1", "output 0", "parameter weight"});
  CHECK(slots(read(R"("Module.fc.Linear.backward.0":{"input":[)" + leaf() + R"(],"output":[null,)" + leaf() + "]}")) ==
        Strings{"input 0", "output 1"});
  CHECK(slots(read(R"("Module.fc.Linear.parameters_grad.0":{"weight":[)" + leaf() + R"(],"b.c":)" + leaf() +
                   R"(,"d":[)" + leaf() + "," + leaf() + R"(],"e":[null]})")) ==
        Strings{"parameter weight", "parameter b.c", "parameter d.0", "parameter d.1"});
  CHECK(slots(read(R"("logits.0.debug":)" + leaf() + R"(,"all.1.debug":{"a":[)" + leaf() + "]}")) ==
        Strings{"debug ", "debug a.0"});
  CHECK(slots(read(R"("Functional.f.0.forward":{"input_kwargs":{"":)" + leaf() + R"(,"x":{"":)" + leaf() + "}}}"))
            .back() == "input x.");
}

TEST_CASE("the tensor of a P2POp has the slot of the P2POp") {
  CHECK(slots(read(R"("Distributed.batch_isend_irecv.0.forward":{"input_args":[[{"class_type":)"
                   R"("torch.distributed.P2POp","tensor":)" +
                   leaf() + R"(,"op":"isend","peer":1,"tag":0,"group_id":"x"}]]})")) == Strings{"input 0.0"});
}

TEST_CASE("leaves that are not tensors are counted") {
  const DumpJson json = read(
      R"("Functional.f.0.forward":{"input_args":[{"type":"int","value":40},null,{"type":"torch.Size","value":[1,2]},)"
      R"([{"type":"torch.dtype","value":"torch.float64"}],{}],"input_kwargs":{"a":{"type":"slice","value":[1,2,3]}}})");
  CHECK(json.others == 5);
  CHECK(json.tensors.empty());
  CHECK(json.problems.empty());
}

TEST_CASE("entries keep their order, whether understood or not") {
  const std::string output = R"(:{"output":[)" + leaf() + "]}";
  const DumpJson json = read(R"("Tensor.a.0.forward")" + output +
                             R"(,"optimizer":{},"Tensor.b.0.forward":{},"Tensor.a.0.forward")" + output);
  CHECK(json.entries == 4);
  REQUIRE(json.tensors.size() == 2);
  CHECK(json.tensors[0].order == 0);
  CHECK(json.tensors[1].order == 3);
  CHECK(json.problems.count() == 1);
}

TEST_CASE("a file of a killed process, and old ones without a framework, are read") {
  CHECK(read("").entries == 0);
  const auto old = try_dump_json(R"({"task":"statistics","level":"L1","dump_data_dir":null,"data":{},"extra":[1,{}]})");
  REQUIRE(old);
  CHECK(old->task == "statistics");
  CHECK(old->framework.empty());
}

TEST_CASE("of two members of one name the later one counts") {
  const auto json = try_dump_json(R"({"task":"a","data":{"x":1,"Tensor.f.0.forward":{"output":[)" + leaf() +
                                  R"(]}},"task":"b","data":{"Tensor.g.0.forward":{"output":[null]}}})");
  REQUIRE(json);
  CHECK(json->task == "b");
  CHECK(json->entries == 1);
  CHECK(json->others == 1);
  CHECK(json->tensors.empty());
  CHECK(json->problems.empty());
  CHECK(json->problems.count() == 0);
}

struct Fault {
  const char* name;
  std::string entry;
  std::string message;
  bool keeps_tensor = false;
};

TEST_CASE("an entry that is not understood is one problem, and the rest is read") {
  const std::string begin = R"("Tensor.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":)";
  const auto fault = GENERATE_COPY(
      Fault{"no name", R"("optimizer":{})", "column 23: optimizer: the name has no known form"},
      Fault{"no object", R"("Tensor.f.0.forward":[])", "column 32: Tensor.f.0.forward: expected an object"},
      Fault{"unknown section", R"("Tensor.f.0.forward":{"result":[]})",
            "column 42: Tensor.f.0.forward: the section 'result' is not known"},
      Fault{"dtype", begin + "7}]}", "Tensor.f.0.forward output 0: dtype is not a string"},
      Fault{"shape", begin + R"("x","shape":"4x12"}]})", "output 0: shape is not a list of at most 64 numbers"},
      Fault{"dimension", begin + R"("x","shape":[4,-1]}]})", "output 0: a dimension of the shape is not a number"},
      Fault{"fraction", begin + R"("x","shape":[4.0]}]})", "output 0: a dimension of the shape is not a number"},
      Fault{"statistic", begin + R"("x","shape":[],"Max":"2"}]})", "output 0: Max is not a number", true},
      Fault{"md5", begin + R"("x","shape":[],"md5":[7]}]})", "output 0: md5 is not a string", true},
      Fault{"requires_grad", begin + R"("x","requires_grad":1}]})", "requires_grad is neither true nor false", true},
      Fault{"no list", R"("Tensor.f.0.forward":{"output":{"type":"torch.Tensor","dtype":"x"}})",
            "Tensor.f.0.forward: a tensor outside of a list or dict"},
      Fault{"several", begin + R"("x","md5":[]},{"type":"torch.Tensor","dtype":8},{"type":"torch.Tensor","dtype":9}]})",
            "output 0: md5 is not a string", true});
  INFO(fault.name);
  const std::string good = R"("Tensor.g.0.forward":{"output":[)" + leaf() + "]}";
  const DumpJson json = read(good + ",\n          " + fault.entry + "," + good);
  CHECK(slots(json) ==
        (fault.keeps_tensor ? Strings{"output 0", "output 0", "output 0"} : Strings{"output 0", "output 0"}));
  CHECK(json.entries == 3);
  CHECK(json.problems.count() == 1);
  REQUIRE(json.problems.size() == 1);
  const std::string& message = json.problems[0].message;
  CHECK(json.problems[0].code == ErrorCode::kBadJson);
  CHECK(message.starts_with("line 3, column "));
  CHECK(message.ends_with(fault.message));
}

TEST_CASE("what is right in a bad entry is kept") {
  const DumpJson json = read(R"("Tensor.f.0.forward":{"input_args":[)" + leaf(R"(,"dtype":{})") + "," + leaf() +
                             R"(],"output":[)" + leaf(R"(,"md5":{})") + "]}");
  CHECK(slots(json) == Strings{"input 1", "output 0"});
  CHECK_FALSE(json.tensors[1].md5);
  CHECK(json.tensors[1].max == "2.5");
  CHECK(json.problems.count() == 1);
}

// Leaves as msprobe 26.2.0 writes them of a DTensor, and of a MindSpore tensor with a layout.
TEST_CASE("a tensor that is one part of a larger one says of which") {
  const DumpJson json = read(
      R"("Torch.matmul.0.forward":{"input_args":[{"type":"torch.distributed.tensor.DTensor","dtype":"torch.float32",)"
      R"("shape":[4,6],"Max":1.5,"Min":-2,"Mean":0,"Norm":5,"requires_grad":false,"device_mesh":[[0,1],[2,3]],)"
      R"("placements":[{"Shard":{"dim":0}},{"Replicate":{}}],"data_name":"a.pt"},)"
      R"({"type":"torch.distributed.tensor.DTensor","dtype":"torch.float32","shape":[6],"device_mesh":[[0,1],[2,3]],)"
      R"("placements":[{"Partial":{"reduce_op":"sum"}},{"Strided":{"dim":1,"split":2}}]},)" +
      leaf() +
      R"(],"output":[{"type":"mindspore.Tensor","dtype":"Float32","shape":[2],"Max":1,"Min":1,"Mean":1,"Norm":1,)"
      R"("layout":{"Device Matrix":[2,4],"Alias Name":["dp","\"mp"],"Interleaved":"No","Tensor Map":[1,-1]},)"
      R"("hsdp_shard_size":2}]})");
  REQUIRE(json.tensors.size() == 4);
  CHECK(json.problems.count() == 0);
  CHECK(json.tensors[0].shape == Shape{4, 6});
  CHECK(json.tensors[0].data_name == "a.pt");
  REQUIRE(json.tensors[0].distribution);
  CHECK(*json.tensors[0].distribution == R"j({"device_mesh":[[0,1],[2,3]],"placements":["Shard(0)","Replicate"]})j");
  CHECK(*json.tensors[1].distribution ==
        R"j({"device_mesh":[[0,1],[2,3]],"placements":["Partial(sum)","Strided(1, 2)"]})j");
  CHECK(json.tensors[2].distribution == nullptr);
  CHECK(
      *json.tensors[3].distribution ==
      R"j({"device_matrix":[2,4],"alias_name":["dp","\"mp"],"interleaved":"No","tensor_map":[1,-1],"hsdp_shard_size":2})j");
}

TEST_CASE("what is odd in the placements of a tensor costs neither the tensor nor an error") {
  for (const std::string odd : {R"(,"placements":7)", R"(,"layout":"x")", R"(,"layout":{})"}) {
    INFO(odd);
    const DumpJson json = read(R"("Tensor.f.0.forward":{"output":[)" + leaf(odd) + "]}");
    REQUIRE(json.tensors.size() == 1);
    CHECK(json.tensors[0].distribution == nullptr);
    CHECK(json.problems.count() == 0);
  }
  const auto distribution = [](const std::string& members) {
    const DumpJson json = read(R"("Tensor.f.0.forward":{"output":[)" + leaf("," + members) + "]}");
    return json.tensors.at(0).distribution == nullptr ? "" : *json.tensors[0].distribution;
  };
  CHECK(distribution(R"("placements":["S",{},{"A":{},"B":{}},NaN])") ==
        R"j({"placements":["S",{},{"a":{},"b":{}},null]})j");
  CHECK(distribution(R"("device_mesh":null)") == R"j({"device_mesh":null})j");
  const auto mesh = [](size_t ranks) {
    std::string text = R"("device_mesh":[0)";
    for (size_t i = 1; i < ranks; ++i) text += ",1";
    return text + "]";
  };
  // Two bytes for each rank and 17 around them: up to 64 KiB.
  CHECK(distribution(mesh(32'759)).size() == 32'759 * 2 + 17);
  CHECK(distribution(mesh(32'760)).empty());
}

TEST_CASE("tensors share the text of their distribution") {
  const std::string part = leaf(R"(,"placements":[{"Shard":{"dim":0}}])");
  const DumpJson json = read(R"("Tensor.f.0.forward":{"output":[)" + part + "," + part +
                             R"(]},"Tensor.g.0.forward":{"output":[)" + part + "]}");
  REQUIRE(json.tensors.size() == 3);
  CHECK(json.tensors[0].distribution == json.tensors[1].distribution);
  CHECK(json.tensors[0].distribution == json.tensors[2].distribution);
}

TEST_CASE("problems say where they stand in the whole file") {
  const std::string text = dump("\n\"x\":1,\n \"y\":2,\"z\":3");
  const auto json = try_dump_json(text);
  REQUIRE(json);
  REQUIRE(json->problems.size() == 3);
  CHECK(json->problems[0].offset == text.find("1,\n"));
  CHECK(json->problems[0].message.starts_with("line 3, column 5: x: "));
  CHECK(json->problems[1].message.starts_with("line 4, column 6: y: "));
  CHECK(json->problems[2].message.starts_with("line 4, column 12: z: "));
}

TEST_CASE("a data_name that is not a plain file name is not taken") {
  for (const std::string name : {"../x.npy", "/etc/passwd", "a/b.npy", "..", ".", "", "a\\\\b", "a\\u0000b", "a\\/b"}) {
    INFO(name);
    const DumpJson json = read(R"("Tensor.f.0.forward":{"output":[)" + leaf(R"(,"data_name":")" + name + '"') + "]}");
    REQUIRE(json.tensors.size() == 1);
    CHECK_FALSE(json.tensors[0].data_name);
    REQUIRE(json.problems.size() == 1);
    CHECK(json.problems[0].code == ErrorCode::kUnsafeName);
  }
  CHECK(
      read(R"("Tensor.f.0.forward":{"output":[)" + leaf(R"(,"data_name":"..a.npy")") + "]}").tensors.at(0).data_name ==
      "..a.npy");
}

TEST_CASE("text that is not a dump.json is refused with its place") {
  const auto refusal = [](const std::string& text) {
    const auto result = try_dump_json(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kBadJson);
    CHECK(result.error().offset <= text.size());
    return result.error().message;
  };
  CHECK(refusal("") == "line 1, column 1: the text ends inside an object");
  CHECK(refusal("[]") == "line 1, column 1: expected '{'");
  CHECK(refusal("{}") == "line 1, column 1: no \"data\": this is not a dump.json of msprobe");
  CHECK(refusal("{\n\"data\": []}") == "line 2, column 9: \"data\" is not an object");
  CHECK(refusal("{\"data\":{}}\n,") == "line 2, column 1: more text after the object");
  CHECK(refusal("{\"data\":{}, \"data\": null}") == "line 1, column 21: \"data\" is not an object");
  CHECK(refusal("{\"task\":tensor,\"data\":{}}").starts_with("line 1, column "));
  CHECK(refusal(dump("\n\"a\": {]")).starts_with("line 3, column 7: "));
  CHECK(refusal(dump("\"x\":1,")) == "line 2, column 17: expected the name of a member");
}

TEST_CASE("a file cut anywhere is refused") {
  const std::string text = dump(R"("Tensor.f.0.forward":{"output":[)" + leaf() + "]}");
  for (size_t length = 0; length < text.size(); ++length) {
    const auto result = try_dump_json(text.substr(0, length));
    INFO(length);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kBadJson);
    CHECK(result.error().message.starts_with("line "));
  }
}

TEST_CASE("limits hold against texts made to exhaust memory") {
  const std::string entry = R"("Tensor.f.0.forward":{"output":[)" + leaf() + "]}";
  const std::string text = dump(entry + "," + entry);
  SECTION("of the text") {
    const auto result = try_dump_json(text, {.text = text.size() - 1});
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kTooLarge);
    CHECK(try_dump_json(text, {.text = text.size()}));
  }
  SECTION("of one entry") {
    const auto result = try_dump_json(dump(entry + ",\"Tensor.g.0.forward\":" + std::string(600, '7')), {.entry = 500});
    REQUIRE(result);
    CHECK(result->tensors.size() == 1);
    REQUIRE(result->problems.size() == 1);
    CHECK(result->problems[0].code == ErrorCode::kTooLarge);
    const auto other = try_dump_json("{\"data\":{},\"x\":" + std::string(600, '7') + "}", {.entry = 500});
    REQUIRE_FALSE(other);
    CHECK(other.error().code == ErrorCode::kTooLarge);
    CHECK(try_dump_json("{\"data\":{}," + std::string(600, ' ') + "\"x\":7}", {.entry = 500}));
  }
  SECTION("of what is kept") {
    const auto result = try_dump_json(text, {.kept = 1000});
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kTooLarge);
    SECTION("each text of a tensor counts") {
      const uint64_t kept = sizeof(MsprobeTensor) + 300;
      const std::string op = "Tensor.f.0.forward", type = R"("type":"torch.Tensor")", dtype = R"("dtype":"torch.int8")";
      const auto is_kept = [&](const std::string& name, const std::string& slot, const std::string& members) {
        return try_dump_json(dump('"' + name + R"(":{"input_kwargs":{")" + slot + "\":{" + members + "}}}"),
                             {.kept = kept})
            .has_value();
      };
      const std::string much(300, '7'), both = type + "," + dtype;
      CHECK(is_kept(op, "k", both));
      CHECK_FALSE(is_kept("Tensor." + much + ".0.forward", "k", both));
      CHECK_FALSE(is_kept(op, much, both));
      CHECK_FALSE(is_kept(op, "k", R"("type":")" + much + "\"," + dtype));
      CHECK_FALSE(is_kept(op, "k", type + R"(,"dtype":")" + much + '"'));
      for (const std::string key : {"Max", "Min", "Mean", "Norm"}) {
        INFO(key);
        CHECK_FALSE(is_kept(op, "k", both + ",\"" + key + "\":" + much));
      }
      for (const std::string key : {"md5", "data_name"}) {
        INFO(key);
        CHECK_FALSE(is_kept(op, "k", both + ",\"" + key + "\":\"" + much + '"'));
      }
    }
  }
  SECTION("of the depth") {
    const auto nested = [](size_t depth) {
      return R"("Tensor.f.0.forward":{"output":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
    };
    CHECK(read(nested(89)).problems.empty());
    CHECK(only_problem(nested(90)).ends_with("nested deeper than 90"));
    CHECK(only_problem(nested(100'000)).ends_with("nested deeper than 90"));
  }
  SECTION("of the names, of which every tensor gets a copy") {
    CHECK(only_problem("\"Tensor." + std::string(2000, 'f') + R"(.0.forward":{"output":[)" + leaf() + "]}")
              .ends_with("the name has no known form"));
    CHECK(only_problem(R"("Tensor.f.0.forward":{"input_kwargs":{")" + std::string(2000, 'k') + "\":" + leaf() + "}}")
              .ends_with("the name of the argument is too long"));
  }
  SECTION("of the problems") {
    std::string data = "\"x\":1";
    for (int i = 0; i < 1500; ++i) data += ",\"x\":1";
    const DumpJson json = read(data);
    CHECK(json.problems.size() == ProblemList::kMost);
    CHECK(json.problems.count() == 1501);
  }
}

// "SLOT KIND TEXT" of each argument.
Strings arguments(const MsprobeCall& call) {
  static constexpr std::string_view kKinds[] = {"none", "bool", "number", "text", "list"};
  Strings all;
  for (const MsprobeArgument& one : call.arguments) {
    all.push_back(fmt::format("{} {}{} {}", one.slot, kKinds[static_cast<size_t>(one.kind)],
                              one.is_dtype ? " dtype" : "", one.text));
  }
  return all;
}

TEST_CASE("arguments that are not tensors are read with their slots; what only one process knows is left out") {
  const DumpJson json = read(
      R"("Functional.layer_norm.0.forward":{"input_args":[)" + leaf() +
      R"(,[{"type":"int","value":32}],null,{"type":"float","value":1e-05},{"type":"torch.device","value":"cpu"}],)"
      R"("input_kwargs":{"training":{"type":"bool","value":true},"dtype":{"type":"torch.dtype","value":"torch.float64"},)"
      R"("at":{"type":"slice","value":[0,null,-1]},"nested":{"reduction":{"type":"str","value":"mean"}}},)"
      R"("output":[null,{"type":"int","value":3}]},)"
      R"("Functional.relu.0.forward":{"input_args":[)" +
      leaf() +
      R"(],"input_kwargs":{},"output":[]},)"
      R"("Functional.relu.0.backward":{"input":[null],"output":[null]})");
  REQUIRE(json.calls.size() == 1);
  CHECK(json.calls[0].op_name == "Functional.layer_norm.0.forward");
  CHECK(arguments(json.calls[0]) == Strings{"1.0 number 32", "2 none ", "3 number 1e-05", "training bool true",
                                            "dtype text dtype torch.float64", "at list [0,null,-1]",
                                            "nested.reduction text mean"});
  CHECK(json.others == 12);
}

TEST_CASE("arguments are bounded: by call, by length and in total") {
  std::string many, longest(256, 'x');
  for (int i = 0; i < 300; ++i) many += (i == 0 ? "" : ",") + std::string(R"({"type":"int","value":7})");
  const auto call = [](const std::string& name, const std::string& arguments) {
    return "\"" + name + R"(":{"input_args":[)" + arguments + R"(],"input_kwargs":{},"output":[]})";
  };
  const auto text_of = [](const std::string& text) { return R"({"type":"str","value":")" + text + "\"}"; };
  const std::string two = call("Functional.a.0.forward", many) + "," +
                          call("Functional.b.0.forward", text_of(longest) + "," + text_of(longest + "x"));
  const DumpJson json = read(two);
  REQUIRE(json.calls.size() == 2);
  CHECK(json.calls[0].arguments.size() == 256);
  REQUIRE(json.calls[1].arguments.size() == 1);
  CHECK(json.calls[1].arguments[0].text == longest);

  DumpJsonLimits limits;
  limits.arguments = 1000;
  const auto little = try_dump_json(dump(two), limits);
  REQUIRE(little);
  CHECK(little->calls.empty());
  CHECK(little->entries == 2);
}

}  // namespace
}  // namespace msdump
