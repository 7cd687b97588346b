#include "compare/match/parameters/parameter_views.h"

#include <numeric>

#include "support/catch.h"

namespace msdump {
namespace {

std::vector<int64_t> elements(const TensorView& view) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < view.count(); ++i) all.push_back(view.element(i));
  return all;
}

std::vector<std::string> texts(const std::vector<NamedView>& views) {
  std::vector<std::string> all;
  for (const NamedView& one : views) all.push_back(one.text);
  return all;
}

using Elements = std::vector<int64_t>;
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a matrix may be transposed, an array of convolutions have its axes in any order") {
  const auto views = permuted_views({2, 3}, {3, 2});
  REQUIRE(texts(views) == Texts{"transposed"});
  CHECK(elements(views[0].view) == Elements{0, 3, 1, 4, 2, 5});
  CHECK(views[0].view.shape == Shape{3, 2});
  CHECK(texts(permuted_views({2, 3, 4, 5}, {5, 4, 2, 3})) == Texts{"transposed: axes 3, 2, 0, 1"});
  CHECK(texts(permuted_views({1, 4, 1, 5}, {5, 4})) == Texts{"transposed"});
  CHECK(permuted_views({2, 2}, {2, 2}).size() == 1);
  CHECK(permuted_views({2, 3}, {2, 3}).empty());
  CHECK(permuted_views({6}, {6}).empty());
  CHECK(permuted_views({2, 3}, {6}).empty());
  CHECK(permuted_views({2, 2, 2, 2, 2}, {2, 2, 2, 2, 2}).empty());
}

TEST_CASE("rows are regrouped by halves, pairs, and parts of heads") {
  const auto views = regrouped_views({8, 1}, {8});
  const auto of = [&](const std::string& text) {
    for (const NamedView& one : views) {
      if (one.text == text) return elements(one.view);
    }
    return Elements();
  };
  CHECK(of("rows of 2 heads as rotary pairs, halves in the candidate") == Elements{0, 2, 1, 3, 4, 6, 5, 7});
  CHECK(of("rows of 1 heads as rotary pairs, halves in the candidate") == Elements{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(of("rows of 1 heads as rotary halves, pairs in the candidate") == Elements{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(of("rows in 2 groups of 2 parts, 2 parts in the candidate") == Elements{0, 1, 4, 5, 2, 3, 6, 7});
  const auto three = regrouped_views({6, 2}, {6, 2});
  CHECK(std::any_of(three.begin(), three.end(), [](const NamedView& one) {
    return one.text == "rows in 2 groups of 3 parts, 3 parts in the candidate" &&
           elements(one.view) == Elements{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11};
  }));
  CHECK(regrouped_views({7, 2}, {7, 2}).empty());
  CHECK(regrouped_views({}, {}).empty());
}

TEST_CASE("rows are regrouped after a matrix has been transposed, too") {
  const auto views = regrouped_views({2, 4}, {4, 2});
  REQUIRE(!views.empty());
  CHECK(views[0].text.starts_with("transposed, rows of 1 heads"));
  CHECK(elements(views[0].view) == Elements{0, 4, 2, 6, 1, 5, 3, 7});
  // Columns of the transposed matrix are rows of the matrix.
  const auto columns = regrouped_views({12, 1}, {1, 12});
  CHECK(std::any_of(columns.begin(), columns.end(), [](const NamedView& one) { return one.text.starts_with("rows"); }));
  const auto both = regrouped_views({12, 2}, {2, 12});
  CHECK(std::any_of(both.begin(), both.end(), [](const NamedView& one) {
    return one.text == "transposed, columns in 2 groups of 3 parts, 3 parts in the candidate" &&
           elements(one.view) ==
               Elements{0, 2, 8, 10, 16, 18, 4, 6, 12, 14, 20, 22, 1, 3, 9, 11, 17, 19, 5, 7, 13, 15, 21, 23};
  }));
}

TEST_CASE("the places of a part follow from its shape") {
  const auto places = joined_places({6, 4}, {2, 4});
  REQUIRE(places.size() == 1);
  CHECK(places[0].axis == 0);
  CHECK(places[0].extent == 2);
  CHECK(joined_places({6, 4}, {6, 4}).empty());
  CHECK(joined_places({6, 4}, {3, 3}).empty());
  CHECK(joined_places({6, 4}, {4}).front().extent == 1);  // a row
  REQUIRE(joined_places({6, 4}, {4, 2}).size() == 1);
  CHECK(joined_places({6, 4}, {4, 2}).front().transposed);
  CHECK(joined_places({3, 2, 5}, {2, 5}).front().axis == 0);
  CHECK(joined_places({3, 2, 5}, {5, 2}).front().transposed);
  CHECK(joined_places({6}, {2}).front().extent == 2);
}

TEST_CASE("a part is a run of rows, columns, or rows of each group") {
  CHECK(elements(joined_view({4, 2}, {0, 1, 2, 2, false}, {2, 2})) == Elements{4, 5, 6, 7});
  CHECK(joined_view({4, 2}, {0, 1, 2, 2, false}, {2, 2}).is_run());
  CHECK(elements(joined_view({2, 4}, {1, 1, 1, 2, false}, {2, 2})) == Elements{1, 2, 5, 6});
  CHECK(elements(joined_view({4, 2}, {0, 2, 1, 1, false}, {2, 2})) == Elements{2, 3, 6, 7});
  CHECK(elements(joined_view({4, 2}, {0, 2, 1, 1, true}, {2, 2})) == Elements{2, 6, 3, 7});
  CHECK(elements(joined_view({2, 4}, {1, 1, 1, 2, true}, {2, 2})) == Elements{1, 5, 2, 6});
  CHECK(elements(joined_view({2, 2, 3}, {0, 1, 1, 1, true}, {3, 2})) == Elements{6, 9, 7, 10, 8, 11});
  CHECK(elements(joined_view({2, 2, 3}, {0, 1, 1, 1, false}, {2, 3})) == Elements{6, 7, 8, 9, 10, 11});
}

TEST_CASE("the first rows are a run") {
  const TensorView view = first_rows({4, 3}, 1, 2);
  CHECK(view.shape == Shape{2, 3});
  CHECK(elements(view) == Elements{3, 4, 5, 6, 7, 8});
  CHECK(view.last() == 8);
}

}  // namespace msdump
