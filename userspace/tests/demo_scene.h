// SPDX-License-Identifier: MIT
// The picture of `make vm-demo`: a background and shapes before it, each of which is a buffer of its own that
// engines paint and copy. Known twice: as the runs of pixels that engines are told to work on, and pixel by
// pixel.
#pragma once

#include "base/types.h"

#include <functional>
#include <vector>

namespace vramlab::tests {

// Pixels are XRGB8888.
struct demo_shape {
    u32 width = 0;
    u32 height = 0;
    s32 x = 0; // where its left upper corner is in the picture
    s32 y = 0;
    std::function<bool(u32 x, u32 y)> inside;
    std::function<u32(u32 y)> colour; // the same all along a row
};

// Neighbouring pixels of one row of a shape that are inside of it.
struct demo_run {
    u32 x = 0;
    u32 y = 0;
    u32 pixels = 0;
};

class demo_scene {
public:
    demo_scene(u32 width, u32 height);

    u32 width() const { return width_; }
    u32 height() const { return height_; }
    // The first is the background and covers everything; later ones are in front.
    const std::vector<demo_shape> &shapes() const { return shapes_; }
    static std::vector<demo_run> runs(const demo_shape &shape);
    u32 pixel(u32 x, u32 y) const;

private:
    void add_discs();
    void add_letters();

    u32 width_;
    u32 height_;
    std::vector<demo_shape> shapes_;
};

} // namespace vramlab::tests
