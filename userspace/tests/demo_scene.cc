// SPDX-License-Identifier: MIT
#include "tests/demo_scene.h"

#include <array>
#include <string_view>

namespace vramlab::tests {

namespace {

struct rgb {
    u32 r, g, b;
};

// From top to bottom, `at` of `of` steps.
u32 blend(rgb top, rgb bottom, u32 at, u32 of)
{
    const auto mix = [&](u32 a, u32 b) { return (a * (of - at) + b * at) / of; };
    return mix(top.r, bottom.r) << 16 | mix(top.g, bottom.g) << 8 | mix(top.b, bottom.b);
}

using glyph = std::array<std::string_view, 7>;
constexpr u32 glyph_width = 5;
constexpr glyph glyph_v = {"#...#", "#...#", "#...#", "#...#", ".#.#.", ".#.#.", "..#.."};
constexpr glyph glyph_t = {"#####", "..#..", "..#..", "..#..", "..#..", "..#..", "..#.."};
constexpr glyph glyph_m = {"#...#", "##.##", "#.#.#", "#.#.#", "#...#", "#...#", "#...#"};

} // namespace

demo_scene::demo_scene(u32 width, u32 height) : width_(width), height_(height)
{
    shapes_.push_back({width, height, 0, 0, [](u32, u32) { return true; },
                       [height](u32 y) {
                           return blend({18, 26, 54}, {96, 52, 104}, y, height);
                       }});
    add_discs();
    add_letters();
}

void demo_scene::add_discs()
{
    constexpr std::array<rgb, 6> colours = {
        {{236, 94, 74}, {240, 176, 64}, {150, 200, 92}, {72, 176, 190}, {92, 120, 220}, {190, 96, 190}}};
    const u32 size = height_ / 4;
    const s32 step = static_cast<s32>(width_ / (colours.size() + 1));
    for (std::size_t i = 0; i < colours.size(); i++) {
        const auto inside = [size](u32 x, u32 y) {
            const s64 dx = 2 * s64{x} + 1 - s64{size};
            const s64 dy = 2 * s64{y} + 1 - s64{size};
            return dx * dx + dy * dy < s64{size} * size;
        };
        const rgb c = colours[i];
        const rgb dark = {c.r / 3, c.g / 3, c.b / 3};
        const s32 x = step * static_cast<s32>(i + 1) - static_cast<s32>(size / 2);
        // Neighbours overlap, and one row is higher than the other: the order of copies shows.
        const s32 y = static_cast<s32>(height_ / 2 - size / 2 + (i % 2 ? size / 2 : 0));
        shapes_.push_back({size, size, x, y, inside, [=](u32 row) { return blend(c, dark, row, size); }});
    }
}

void demo_scene::add_letters()
{
    constexpr std::array<const glyph *, 4> word = {&glyph_v, &glyph_t, &glyph_t, &glyph_m};
    const u32 scale = width_ / 48;
    const u32 advance = (glyph_width + 1) * scale;
    const u32 left = (width_ - static_cast<u32>(word.size()) * advance + scale) / 2;
    for (std::size_t i = 0; i < word.size(); i++) {
        const glyph *g = word[i];
        const u32 rows = static_cast<u32>(g->size()) * scale;
        shapes_.push_back({glyph_width * scale, rows, static_cast<s32>(left + advance * static_cast<u32>(i)),
                           static_cast<s32>(height_ / 10),
                           [=](u32 x, u32 y) { return (*g)[y / scale][x / scale] == '#'; },
                           [=](u32 y) {
                               return blend({255, 250, 235}, {250, 200, 120}, y, rows);
                           }});
    }
}

std::vector<demo_run> demo_scene::runs(const demo_shape &shape)
{
    std::vector<demo_run> out;
    for (u32 y = 0; y < shape.height; y++)
        for (u32 x = 0; x < shape.width; x++) {
            if (!shape.inside(x, y))
                continue;
            if (x && shape.inside(x - 1, y))
                out.back().pixels++;
            else
                out.push_back({x, y, 1});
        }
    return out;
}

u32 demo_scene::pixel(u32 x, u32 y) const
{
    for (std::size_t i = shapes_.size(); i-- > 0;) {
        const demo_shape &s = shapes_[i];
        const s64 sx = s64{x} - s.x;
        const s64 sy = s64{y} - s.y;
        if (sx >= 0 && sy >= 0 && sx < s.width && sy < s.height &&
            s.inside(static_cast<u32>(sx), static_cast<u32>(sy)))
            return s.colour(static_cast<u32>(sy));
    }
    return 0;
}

} // namespace vramlab::tests
