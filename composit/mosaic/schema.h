// A schema: the tiles that a user gives to inputs and constants, as a value that can be printed,
// saved, compared and passed on.
#pragma once

#include "composit/ir/node.h"
#include "composit/transforms/tile.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace composit::mosaic {

using ir::Tensor;
using transforms::TileLevel;
using transforms::TileView;

class Schema {
  public:
    // The tensor is a placeholder or a constant that the compiled outputs reach. Given twice, the
    // later view counts. Shapes are checked when a graph is compiled.
    Schema& tile(const Tensor& tensor, TileView view);
    // The same by the tensor's name in the program: Program::tiles lists them.
    Schema& tile(const std::string& name, TileView view);
    // One level called "tile".
    Schema& tile(const Tensor& tensor, ir::Shape tile);

    struct Entry {
        Tensor tensor;  // none: found by name
        std::string name;
        TileView view;
    };
    const std::vector<Entry>& entries() const { return entries_; }

    // One line for each tensor, "x: l2 (64, 64), register (16, 16)".
    std::string print() const;
    // What print wrote. Of a name that comes twice the later view counts. ValueError with the line
    // that cannot be read, which begins with `where`.
    static Schema parse(const std::string& text, const std::string& where = "Schema.parse: ");
    // Writes what print gives, whole or not at all, and reads it. InputOutputError; ValueError with
    // the path and the line that cannot be read.
    void save(const std::filesystem::path& path) const;
    static Schema load(const std::filesystem::path& path);
    // "- x: l2 (64, 64)" and "+ x: l2 (32, 32)" for what `to` has otherwise; empty when equal.
    static std::string diff(const Schema& from, const Schema& to);

  private:
    Schema& put(Entry entry);
    std::vector<Entry> entries_;
};

}  // namespace composit::mosaic
