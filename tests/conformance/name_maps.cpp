// msprobe's mapping files of corpus/msprobe/mappings: each is recognised and says what msprobe's documentation has it say.
#include "compare/match/rename/name_map.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;

namespace {

TEST_CASE("msprobe's mapping files are told apart and read as they are") {
  const auto folder = corpus_or_skip("msprobe");
  if (!folder) return;
  const auto map = [&](const char* name) {
    auto read = NameMap::read((*folder / "mappings" / name).string());
    if (!read) FAIL(read.error().path << ": " << read.error().message);
    return std::move(*read);
  };
  const NameMap data = map("data_mlp.yaml"), cells = map("cell_block.yaml"), outputs = map("api_outputs.yaml"),
                inputs = map("api_inputs.yaml");
  CHECK(data.kind() == NameMapKind::kData);
  CHECK(data.tensors().size() == 6);
  CHECK(data.reference_of("Cell.ln.LayerNorm.forward.0", Io::kParameter, "gamma")->slot == "weight");
  CHECK(cells.kind() == NameMapKind::kCell);
  CHECK(cells.reference_of("Cell.attn.q.Dense.forward.0") == "Module.attn.q.Linear.forward.0");
  CHECK(outputs.kind() == NameMapKind::kApi);
  CHECK(outputs.reference_of("Functional.softmax.0.forward") == "Torch.softmax.0.forward");
  CHECK(inputs.reference_of("Primitive.layer_norm.LayerNorm.0.forward", Io::kInput, "2")->slot == "3");
  const auto layers = NameMap::read((*folder / "mappings/layer_mlp.yaml").string());
  CHECK(layers.error().message == "a mapping of layers needs a dump.json on both sides");
}

// What msprobe itself made of a mapping of layers is in data_mapping.yaml; "N/A" there is nothing that the user said.
TEST_CASE("a mapping of layers finds the partners that msprobe finds") {
  const auto folder = corpus_or_skip("msprobe");
  if (!folder) return;
  const auto trees = *folder / "trees";
  const NameMapDumps dumps{{{(trees / "ms-mlp-tensor/step0/proc6102/dump.json").string(),
                             (trees / "pt-mlp-tensor/step0/proc17885/dump.json").string()}}};
  const auto layers = NameMap::read((*folder / "mappings/layer_mlp.yaml").string(), dumps);
  if (!layers) FAIL(layers.error().path << ": " << layers.error().message);
  const auto theirs = NameMap::read((*folder / "compare/x-mlp-tensor-lm/data_mapping.yaml").string());
  if (!theirs) FAIL(theirs.error().message);
  size_t partners = 0;
  for (const NamePair& pair : theirs->tensors()) {
    if (pair.reference.empty()) continue;
    const auto name = tensor_name(pair.candidate);
    REQUIRE(name);
    CHECK(layers->reference_of(name->op_name, name->io, name->slot) == tensor_name(pair.reference));
    ++partners;
  }
  CHECK(partners > 0);
  CHECK(partners == layers->tensors().size());
}

}  // namespace
