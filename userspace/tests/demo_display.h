// SPDX-License-Identifier: MIT
// The display of `make vm-demo`: two buffers of virtio-gpu, one of which it shows. Throws std::runtime_error.
#pragma once

#include "base/types.h"

#include <array>
#include <string>

namespace vramlab::tests {

class demo_display {
public:
    struct buffer {
        u32 handle = 0;
        u32 framebuffer = 0;
        u32 pitch_bytes = 0;
        u64 size_bytes = 0;
        int dma_buf = -1;            // exported; ours
        const u32 *pixels = nullptr; // mapped for reading
    };

    demo_display();
    ~demo_display();
    demo_display(const demo_display &) = delete;
    demo_display &operator=(const demo_display &) = delete;

    u32 width() const { return width_; }
    u32 height() const { return height_; }
    const buffer &back() const { return buffers_[back_]; }
    const std::array<buffer, 2> &buffers() const { return buffers_; }
    // Shows the back buffer, waits until it is shown, and makes the other one the back buffer.
    void flip();

private:
    void find_output();
    void add_buffer(buffer &b);

    int fd_ = -1;
    u32 width_ = 0;
    u32 height_ = 0;
    u32 crtc_ = 0;
    std::string mode_; // struct drmModeModeInfo
    u32 connector_ = 0;
    bool shown_ = false;
    u32 back_ = 0;
    std::array<buffer, 2> buffers_;
};

} // namespace vramlab::tests
