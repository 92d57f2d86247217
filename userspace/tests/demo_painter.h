// SPDX-License-Identifier: MIT
// Draws the scene with vttm's engines. Each shape is a buffer that only video memory can hold; a picture is
// put together there and copied into a buffer of the display, which vttm has imported. Throws
// std::runtime_error.
#pragma once

#include "tests/demo_display.h"
#include "tests/demo_scene.h"
#include "tests/vttm_device.h"

#include <array>
#include <vector>

namespace vramlab::tests {

class demo_painter {
public:
    demo_painter(const demo_scene &scene, const demo_display &display);

    // Lets engines paint all shapes; their buffers keep what is painted.
    void paint_shapes();
    // Draws into one of the display's buffers, over a colour that the scene doesn't have, and waits for the
    // end.
    void draw(const demo_display::buffer &target);

    // How often each buffer was found outside of video memory when a picture was about to be drawn.
    u32 fewest_times_out() const;
    std::size_t buffers() const { return handles_.size(); }
    u64 refused() const { return refused_; } // submissions that found no room and were tried again

private:
    void submit(const std::vector<drm_vttm_op> &ops, std::vector<u32> handles);
    u32 create(u64 bytes);
    void count_evicted();
    void compose();

    const demo_scene &scene_;
    const demo_display &display_;
    vttm_file file_;
    std::vector<u32> handles_; // of the shapes, and the picture's
    u32 picture_ = 0;
    std::vector<drm_vttm_op> composition_; // what puts the picture together
    std::vector<u32> times_out_;
    std::array<u32, 2> imported_{};
    u64 refused_ = 0;
};

} // namespace vramlab::tests
