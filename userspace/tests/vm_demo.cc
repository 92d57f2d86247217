// SPDX-License-Identifier: MIT
// What `make vm-demo` runs in a guest with virtio-gpu: vm_demo DIR. Shows the scene, again and again, while
// another process forces every buffer of it out of video memory, and lets scripts/vm take pictures of the
// display before, meanwhile and after. What they must look like is written to DIR/expected.ppm. Exit status 1
// if anything was wrong.
#include "tests/demo_display.h"
#include "tests/demo_painter.h"
#include "tests/demo_scene.h"
#include "tests/demo_storm.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

namespace vramlab::tests {
namespace {

constexpr u64 vram_bytes = 8 * MiB;
constexpr u32 times_out_wanted = 100;
constexpr u32 pictures_meanwhile = 3;
constexpr u32 frames_max = 20'000;
constexpr u32 quiet_frames = 4; // both buffers twice: what is shown is complete
const std::string exchange = "/run/vramlab/";

void reset_device()
{
    vttm_file file;
    drm_vttm_lab_config config{vram_bytes, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, 0};
    if (file.lab(DRM_VTTM_LAB_RESET, 0, &config))
        throw std::runtime_error("vttm: no device, or it cannot be set up");
}

void write_expected(const demo_scene &scene, const std::string &file)
{
    std::ofstream out(file, std::ios::binary);
    out << "P6\n" << scene.width() << " " << scene.height() << "\n255\n";
    for (u32 y = 0; y < scene.height(); y++)
        for (u32 x = 0; x < scene.width(); x++) {
            const u32 p = scene.pixel(x, y);
            out.put(static_cast<char>(p >> 16)).put(static_cast<char>(p >> 8)).put(static_cast<char>(p));
        }
    if (!out.flush())
        throw std::runtime_error("cannot write " + file);
}

// Pictures that the host takes of the display; scripts/lib/vm_qemu.py answers.
class camera {
public:
    void ask(const std::string &name)
    {
        wait();
        std::ofstream out(exchange + "screen");
        out << name << "\n";
        if (!out.flush())
            throw std::runtime_error("cannot ask for a picture");
        asked_ = name;
    }
    bool done() const
    {
        std::string answer;
        std::ifstream in(exchange + "screen.done");
        std::getline(in, answer);
        if (!answer.empty() && answer != asked_ && answer.starts_with("no picture"))
            throw std::runtime_error(answer);
        return asked_.empty() || answer == asked_;
    }
    void wait() const
    {
        for (u32 i = 0; !done(); i++) {
            if (i > 6000)
                throw std::runtime_error("no picture is taken");
            usleep(10'000);
        }
    }

private:
    std::string asked_;
};

class show {
public:
    show() : scene_(display_.width(), display_.height()), painter_(scene_, display_)
    {
        painter_.paint_shapes();
    }

    const demo_scene &scene() const { return scene_; }
    const demo_painter &painter() const { return painter_; }
    u32 frames() const { return frames_; }

    // Draws, looks at what was drawn, and shows it.
    void frame()
    {
        const demo_display::buffer &back = display_.back();
        painter_.draw(back);
        u64 wrong = 0;
        for (u32 y = 0; y < scene_.height(); y++)
            for (u32 x = 0; x < scene_.width(); x++)
                wrong += (back.pixels[u64{y} * back.pitch_bytes / 4 + x] & 0xffffff) != expected(x, y);
        if (wrong)
            throw std::runtime_error(std::to_string(wrong) + " pixels of frame " + std::to_string(frames_) +
                                     " are wrong");
        display_.flip();
        frames_++;
    }
    void quiet()
    {
        for (u32 i = 0; i < quiet_frames; i++)
            frame();
        usleep(200'000); // the host's side of the display has caught up
    }

private:
    u32 expected(u32 x, u32 y)
    {
        if (expected_.empty())
            for (u32 row = 0; row < scene_.height(); row++)
                for (u32 column = 0; column < scene_.width(); column++)
                    expected_.push_back(scene_.pixel(column, row));
        return expected_[u64{y} * scene_.width() + x];
    }

    demo_display display_;
    demo_scene scene_;
    demo_painter painter_;
    std::vector<u32> expected_;
    u32 frames_ = 0;
};

void run(const std::string &directory)
{
    reset_device();
    demo_storm storm(vram_bytes);
    show s;
    camera c;
    write_expected(s.scene(), directory + "/expected.ppm");

    s.quiet();
    c.ask("before");
    c.wait();
    if (s.painter().fewest_times_out())
        throw std::runtime_error("buffers leave video memory before the storm");

    storm.begin();
    const u32 first = s.frames();
    for (u32 picture = 0; s.painter().fewest_times_out() < times_out_wanted;) {
        if (s.frames() - first > frames_max)
            throw std::runtime_error("the storm does not force every buffer out");
        s.frame();
        const u32 due = times_out_wanted * (picture + 1) / (pictures_meanwhile + 1);
        if (picture < pictures_meanwhile && s.painter().fewest_times_out() >= due && c.done())
            c.ask("during-" + std::to_string(++picture));
    }
    c.wait();
    const u32 frames = s.frames() - first;
    const u64 rounds = storm.end();

    s.quiet();
    c.ask("after");
    c.wait();
    std::printf(
        "%zu buffers, each forced out and back %u times or more, in %u frames and %llu rounds of the storm; "
        "%llu submissions found no room and were tried again\n",
        s.painter().buffers(), s.painter().fewest_times_out(), frames,
        static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(s.painter().refused()));
}

} // namespace
} // namespace vramlab::tests

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: vm_demo DIR\n");
        return 2;
    }
    try {
        vramlab::tests::run(argv[1]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "vm_demo: %s\n", e.what());
        return 1;
    }
    return 0;
}
