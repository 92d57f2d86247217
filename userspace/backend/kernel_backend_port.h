// SPDX-License-Identifier: MIT
// The system calls that reach vttm, so that the agent can be tested without it. Errors are negative error
// numbers.
#pragma once

#include <string>

namespace vramlab::backend {

class drm_port {
public:
    virtual ~drm_port() = default;
    virtual int open() = 0; // a new DRM file: its descriptor
    virtual void close(int file) = 0;
    virtual int ioctl(int file, unsigned long nr, void *arg) = 0;
    virtual int export_bo(int file, unsigned handle, int *dma_buf) = 0; // descriptor, owned by the caller
    virtual int import_bo(int file, int dma_buf, unsigned *handle) = 0;
};

// The device node of vttm. Throws std::runtime_error if there is none.
class vttm_port final : public drm_port {
public:
    vttm_port();
    int open() override;
    void close(int file) override;
    int ioctl(int file, unsigned long nr, void *arg) override;
    int export_bo(int file, unsigned handle, int *dma_buf) override;
    int import_bo(int file, int dma_buf, unsigned *handle) override;

    const std::string &node() const { return node_; }
    // Minor number of the primary node: the name of the debugfs directory.
    int primary_minor() const { return primary_minor_; }

private:
    std::string node_;
    int primary_minor_ = -1;
};

} // namespace vramlab::backend
