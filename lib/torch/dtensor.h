// DTensors of PyTorch (torch.distributed.tensor, FSDP2) in a pickle: the local tensor of one rank, and how the global tensor
// is sharded.
//
//   torch._tensor._rebuild_from_type_v2(torch._utils._rebuild_wrapper_subclass, DTensor, arguments, state)
//   state        {"_local_tensor": tensor, "_spec": DTensorSpec}, or a tuple with that dict (slots, attributes)
//   DTensorSpec  mesh, placements: a tuple of Shard(dim), Replicate, Partial(reduce_op), _StridedShard(dim, split_factor),
//                tensor_meta: (shape, stride, dtype) of the global tensor
//   DeviceMesh   mesh: a tensor of ranks; _flatten_mesh_list: the same ranks as a tuple; mesh_dim_names; _coordinate_on_dim:
//                the place in `mesh` of the rank that saved it, or None; from 2.10 on _rank: that rank
// The modules of the classes differ: torch.distributed._tensor.* in 2.2 to 2.4, torch.distributed.tensor.* from 2.5 on.
// Source: torch/distributed/tensor and torch/distributed/device_mesh.py of PyTorch 2.2 to 2.9, and for _rank of its main branch of 2025.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torch/pickle.h"

namespace msdump::torch {

// The attribute of an object, or the value of a dict, by its name; none if it is missing.
[[nodiscard]] std::optional<PickleRef> attribute_of(const Pickle& pickle, PickleRef object, std::string_view name);

// The numbers of a tuple, list or torch.Size; none if one is negative or not a number, or there are more than `most`.
[[nodiscard]] std::optional<std::vector<int64_t>> integers_of(const Pickle& pickle, PickleRef ref, size_t most);
// The class of a kCall without its modules: "Shard".
[[nodiscard]] std::string_view class_of(const Pickle& pickle, const PickleValue& call);

struct DTensorParts {
  PickleRef local = 0;            // a kCall
  std::optional<PickleRef> spec;  // a DTensorSpec
};
// `state`: the last argument of _rebuild_from_type_v2. Nothing if there is no local tensor in it.
[[nodiscard]] std::optional<DTensorParts> dtensor_parts(const Pickle& pickle, PickleRef state);

// The spec as msprobe/dump_json.h writes a distribution, with the names of the mesh and the shape of the global tensor:
// {"device_mesh":[[0,1]],"placements":["Replicate","Shard(0)"],"mesh_dim_names":["dp","tp"],"global_shape":[32,8]}. A part that
// is not understood is left out; empty if the placements are not, or the text is longer than 64 KiB.
[[nodiscard]] std::string distribution_of(const Pickle& pickle, PickleRef spec);

// The rank that saved the file, by all DeviceMeshes in it. Nothing if none states a rank, or two state different ones.
[[nodiscard]] std::optional<int64_t> rank_of_meshes(const Pickle& pickle);

}  // namespace msdump::torch
