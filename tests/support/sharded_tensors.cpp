#include "support/sharded_tensors.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "support/must.h"

namespace msdump::test {
namespace {

// Of an element of an axis: which place of a dimension has it, and where it is there.
struct Landed {
  int64_t place = 0, at = 0;
};

Landed land_zigzag(int64_t ranks, int64_t blocks, int64_t x, int64_t extent) {
  const int64_t block = extent / blocks, half = block / (2 * ranks), part = x % block / half;
  const bool second = part >= ranks;
  return {second ? 2 * ranks - 1 - part : part, x / block * 2 * half + (second ? half : 0) + x % half};
}

Landed land(const PlacementDim& dim, int64_t x, int64_t extent) {
  const std::vector<int64_t> groups = dim.groups.empty() ? std::vector<int64_t>{1} : dim.groups;
  if (dim.role == PlacementRole::kZigzag)
    return land_zigzag(dim.extent, static_cast<int64_t>(groups.size()), x, extent);
  if (dim.role == PlacementRole::kGathered) {
    const Landed one = land_zigzag(groups.front(), 1, x, extent);
    return {0, one.place * (extent / groups.front()) + one.at};
  }
  const int64_t unit = extent / std::accumulate(groups.begin(), groups.end(), int64_t{0});
  int64_t before = 0;
  for (const int64_t size : groups) {
    const int64_t own = size * unit / dim.extent, inside = x - before;
    if (inside < size * unit) return {inside / own, before / dim.extent + inside % own};
    before += size * unit;
  }
  fail("the groups do not cover the axis");
}

bool cuts(const PlacementDim& dim) {
  return dim.role == PlacementRole::kConcat || dim.role == PlacementRole::kZigzag ||
         dim.role == PlacementRole::kGathered;
}

int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t element_at(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + index[axis];
  return at;
}

template <class Each>
void for_each_index(const Shape& shape, const Each& each) {
  std::vector<int64_t> index(shape.size());
  const int64_t count = count_of(shape);
  for (int64_t element = 0; element < count; ++element) {
    int64_t rest = element;
    for (size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    each(element, index);
  }
}

// The terms of a value on all places of the dimensions that add up.
float term_of(const Placement& layout, int64_t rank, float value, int64_t element) {
  double term = value, rest = 0;
  int64_t stride = 1, terms = 1, place = 0;
  for (const PlacementDim& dim : layout.dims) {
    if (dim.role == PlacementRole::kSum || dim.role == PlacementRole::kMean) {
      place += rank / stride % dim.extent * terms;
      terms *= dim.extent;
      if (dim.role == PlacementRole::kMean) term *= static_cast<double>(dim.extent);
    }
    stride *= dim.extent;
  }
  const auto other = [&](int64_t of) { return numbers(1, static_cast<uint64_t>(element * 64 + of + 7)).front(); };
  if (place > 0) return other(place);
  for (int64_t of = 1; of < terms; ++of) rest += other(of);
  return static_cast<float>(term - rest);
}

// What a rank has of a value that is the largest over all places of the dimensions that have maxima.
float maximum_of(const Placement& layout, int64_t rank, float value, int64_t element) {
  int64_t stride = 1, places = 1, place = 0;
  for (const PlacementDim& dim : layout.dims) {
    if (dim.role == PlacementRole::kMax) {
      place += rank / stride % dim.extent * places;
      places *= dim.extent;
    }
    stride *= dim.extent;
  }
  const float less = 1.5F + numbers(1, static_cast<uint64_t>(element * 64 + place + 3)).front();
  const auto first = static_cast<int64_t>(numbers(1, static_cast<uint64_t>(element + 1)).front() * 500 + 500);
  return (first + place) % places == 0 ? value : value - less;
}

float part_of(const Placement& layout, int64_t rank, float value, int64_t element) {
  return layout.has(PlacementRole::kMax) ? maximum_of(layout, rank, value, element)
                                         : term_of(layout, rank, value, element);
}

std::string name_of_piece(size_t i) { return fmt::format("piece{:03}.npy", i); }

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

std::vector<float> numbers(int64_t count, uint64_t seed) {
  std::vector<float> values;
  uint64_t state = seed * 0x9E37'79B9'7F4A'7C15 + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    values.push_back(static_cast<float>(static_cast<double>(state >> 40U) / 0x1p23 - 1));
  }
  return values;
}

std::vector<float> with_noise(std::vector<float> values, double noise) {
  const std::vector<float> random = numbers(static_cast<int64_t>(values.size()), 99);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(values[i] * (1 + noise * random[i]));
  return values;
}

std::vector<MadeLocal> shard_tensor(const Placement& layout, const Shape& whole, const std::vector<float>& values) {
  Shape own = whole;
  for (const PlacementDim& dim : layout.dims) {
    if (cuts(dim)) own[dim.axis] /= dim.extent;
  }
  std::vector<MadeLocal> pieces(static_cast<size_t>(layout.ranks()),
                                {own, std::vector<float>(static_cast<size_t>(count_of(own)))});
  for_each_index(whole, [&](int64_t element, std::vector<int64_t> index) {
    Shape extents = whole;
    std::vector<int64_t> places(layout.dims.size(), -1);  // -1: all of the dimension have it
    for (size_t i = layout.dims.size(); i-- > 0;) {
      const PlacementDim& dim = layout.dims[i];
      if (!cuts(dim)) continue;
      const Landed one = land(dim, index[dim.axis], extents[dim.axis]);
      places[i] = one.place;
      index[dim.axis] = one.at;
      extents[dim.axis] /= dim.extent;
    }
    for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
      int64_t rest = rank;
      bool has = true;
      for (size_t i = 0; i < places.size(); ++i) {
        has = has && (places[i] < 0 || places[i] == rest % layout.dims[i].extent);
        rest /= layout.dims[i].extent;
      }
      if (!has) continue;
      MadeLocal& piece = pieces[static_cast<size_t>(rank)];
      piece.values[static_cast<size_t>(element_at(own, index))] =
          part_of(layout, rank, values[static_cast<size_t>(element)] / static_cast<float>(layout.factor), element);
    }
  });
  return pieces;
}

MadeLocal padded(const MadeLocal& tensor, uint32_t axis, int64_t extent) {
  MadeLocal result{tensor.shape, {}};
  result.shape[axis] = extent;
  result.values.resize(static_cast<size_t>(count_of(result.shape)));
  for_each_index(tensor.shape, [&](int64_t element, const std::vector<int64_t>& index) {
    result.values[static_cast<size_t>(element_at(result.shape, index))] = tensor.values[static_cast<size_t>(element)];
  });
  return result;
}

MadeLocal part_of(const MadeLocal& tensor, uint32_t axis, int64_t from, int64_t size) {
  MadeLocal result{tensor.shape, {}};
  result.shape[axis] = size;
  for_each_index(result.shape, [&](int64_t, std::vector<int64_t> index) {
    index[axis] += from;
    result.values.push_back(tensor.values[static_cast<size_t>(element_at(tensor.shape, index))]);
  });
  return result;
}

MadeLocals::MadeLocals(const std::vector<MadeLocal>& pieces)
    : MadeLocals([&] {
        std::vector<Stored> stored;
        for (const MadeLocal& piece : pieces) stored.push_back({"<f4", bytes_of(piece.values), piece.shape});
        return stored;
      }()) {}

MadeLocals::MadeLocals(const std::vector<Stored>& pieces)
    : dump_(list_dump([&] {
        std::vector<std::filesystem::path> paths;
        for (size_t i = 0; i < pieces.size(); ++i)
          paths.emplace_back(
              scratch_.write(name_of_piece(i), npy_of(pieces[i].descr, pieces[i].shape, pieces[i].data)));
        return paths;
      }())) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& tensors = dump_.tensors();
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TensorRecord& record) {
      return dump_.index.path_of(dump_.index.files()[record.file]).ends_with(name_of_piece(i));
    });
    if (found == tensors.end()) fail("no tensor of " + name_of_piece(i));
    records_.push_back(&*found);
  }
}

}  // namespace msdump::test
