#include "compare/match/device/operators/claims.h"

#include <algorithm>
#include <utility>

namespace msdump {
namespace {

// The claims of one device operator.
class ClaimReader {
 public:
  ClaimReader(const MatchEvidence& evidence, const HostOperators& hosts, uint32_t device)
      : evidence_(evidence),
        hosts_(hosts),
        device_(device),
        one_(evidence.device.operators[device]),
        family_(table_.family(one_.type)) {}

  std::vector<Claim> read() {
    if (one_.tensors.empty()) return {};
    if (one_.type == "Parameter") {
      add({evidence_.rank_of(one_), one_.name, family_}, {});
    } else if (DeviceName name = parse_device_name(one_.name); !name.is_part || !is_inserted()) {
      claim_names(std::move(name));
      claim_original();
    }
    if (!claims_.empty()) claims_.back().is_last = true;
    return std::move(claims_);
  }

 private:
  void add(OpKey key, OriginalName original) {
    Claim claim;
    claim.device = device_;
    claim.key = std::move(key);
    claim.original = std::move(original);
    claims_.push_back(std::move(claim));
  }

  [[nodiscard]] bool is_inserted() const { return !table_.inserted(one_.type).empty(); }

  [[nodiscard]] OpKey key_of(const OriginalName& original) const {
    return {evidence_.rank_of(one_), original.scope, table_.family(original.type)};
  }

  void claim_names(DeviceName&& name) {
    if (name.originals.size() == 1) return claim_name(std::move(name.originals.front()), name.is_part);
    for (OriginalName& original : name.originals) {
      OpKey key = key_of(original);
      if (original.is_part) key.family = family_;
      add(std::move(key), std::move(original));
    }
  }

  void claim_name(OriginalName original, bool is_part) {
    OpKey key = key_of(original);
    if (is_part || !hosts_.has_key(key)) {
      key.family = family_;
    } else if (key.family != family_ && may_be_inside()) {
      add({key.rank, key.scope, family_}, {});
    }
    add(std::move(key), std::move(original));
  }

  // Has the host operators of this one's family, or of one that is split into it?
  [[nodiscard]] bool may_be_inside() const {
    const auto& rewrites = table_.rewrites();
    return hosts_.has_family(family_) || std::any_of(rewrites.begin(), rewrites.end(), [&](const ge::Rewrite& rewrite) {
             return rewrite.device.size() > 1 &&
                    std::find(rewrite.device.begin(), rewrite.device.end(), family_) != rewrite.device.end();
           });
  }

  // What the file of the first output says, unless the name ends in that.
  void claim_original() {
    const TensorRecord* const output = first_output();
    if (output == nullptr || output->original == nullptr || is_inserted()) return;
    const DeviceName name = parse_device_name(output->original->op);
    if (name.originals.empty()) return;
    OpKey key = key_of(name.originals.back());
    if (!hosts_.has_key(key)) return;
    if (!claims_.empty()) {
      const OpKey& last = claims_.back().key;
      if (last == key || table_.is_part_of(last.family, key.family)) return;
    } else if (family_ != key.family && may_be_inside()) {
      // Only the type says where the fused operators begin.
      add({key.rank, key.scope, family_}, {});
    }
    add(std::move(key), name.originals.back());
  }

  [[nodiscard]] const TensorRecord* first_output() const {
    for (const uint32_t tensor : one_.tensors) {
      const TensorRecord& record = evidence_.device.tensor(tensor);
      if (record.name.io == Io::kOutput && record.name.slot == "0") return &record;
    }
    return nullptr;
  }

  const ge::OperatorTable& table_ = ge::OperatorTable::get();
  const MatchEvidence& evidence_;
  const HostOperators& hosts_;
  const uint32_t device_;
  const SequencedOp& one_;
  const std::string family_;
  std::vector<Claim> claims_;
};

}  // namespace

Claims::Claims(const MatchEvidence& evidence, const HostOperators& hosts) {
  const auto count = static_cast<uint32_t>(evidence.device.operators.size());
  first_.reserve(count + size_t{1});
  for (uint32_t device = 0; device < count; ++device) {
    first_.push_back(size());
    for (Claim& claim : ClaimReader(evidence, hosts, device).read()) all_.push_back(std::move(claim));
  }
  first_.push_back(size());
}

}  // namespace msdump
