// SPDX-License-Identifier: MIT
// Do the operations of jobs do to memory what they say, wherever BOs are, and in the right order? Runs in the
// guest.
#include "tests/vttm_device.h"

#include <array>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u64 size = 64 * page;
using file_t = vttm_file;

u32 crc32(const void *data, u64 bytes)
{
    static const std::array<u32, 256> table = [] {
        std::array<u32, 256> made{};
        for (u32 i = 0; i < 256; i++) {
            made[i] = i;
            for (int bit = 0; bit < 8; bit++)
                made[i] = made[i] >> 1 ^ (made[i] & 1 ? 0xedb88320u : 0);
        }
        return made;
    }();
    u32 crc = ~0u;
    for (u64 i = 0; i < bytes; i++)
        crc = crc >> 8 ^ table[(crc ^ static_cast<const unsigned char *>(data)[i]) & 0xff];
    return ~crc;
}

class vttm_op : public testing::TestWithParam<u32> {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, GetParam()};
        ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    }
    void TearDown() override
    {
        file.reset();
        vttm_file other;
        if (other.fd() < 0)
            return;
        other.lab(DRM_VTTM_LAB_ADVANCE, other.info().clock_ns + 10 * ns_per_s);
        for (int i = 0; i < 200 && (other.info().vram_usage || other.info().gtt_usage); i++)
            usleep(10'000);
        EXPECT_EQ(other.info().vram_usage, 0u);
        EXPECT_EQ(other.info().gtt_usage, 0u);
    }
    int run(const std::vector<u32> &handles, const std::vector<drm_vttm_op> &ops,
            u32 engine = DRM_VTTM_ENGINE_GFX)
    {
        vttm_file::job job{handles, ops, {}, 1000, engine};
        int ret = file.submit_job(job);
        return ret ? ret : file.wait(job.seqno, -1);
    }
    std::vector<u32> read(u32 handle)
    {
        auto *words = static_cast<u32 *>(file.map(handle, size));
        if (words == MAP_FAILED)
            return {};
        std::vector<u32> copy(words, words + size / 4);
        munmap(words, size);
        return copy;
    }
    void write_random(u32 handle, u32 seed)
    {
        auto *words = static_cast<u32 *>(file.map(handle, size));
        ASSERT_NE(words, MAP_FAILED);
        for (u64 i = 0; i < size / 4; i++)
            words[i] = (seed + static_cast<u32>(i)) * 2654435761u;
        munmap(words, size);
    }
    vttm_file file;
};

TEST_P(vttm_op, fill_writes_its_range_and_nothing_else)
{
    for (u32 domain : {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT}) {
        u32 bo = file.must_create(size, domain);
        for (auto [offset, bytes] : std::vector<std::pair<u64, u64>>{
                 {0, 4}, {page - 4, 8}, {3 * page + 12, 5 * page + 400}, {size - 4, 4}, {0, size}}) {
            ASSERT_EQ(run({bo}, {file_t::fill_op(bo, 0, size, 0x11111111)}), 0);
            ASSERT_EQ(run({bo}, {file_t::fill_op(bo, offset, bytes, 0xdeadbeef)}), 0);
            std::vector<u32> words = read(bo);
            ASSERT_EQ(words.size(), size / 4);
            u64 wrong = 0;
            for (u64 i = 0; i < words.size(); i++)
                wrong += words[i] != (i * 4 >= offset && i * 4 < offset + bytes ? 0xdeadbeef : 0x11111111);
            EXPECT_EQ(wrong, 0u) << "offset " << offset << " size " << bytes << " domain " << domain;
        }
    }
}

TEST_P(vttm_op, copy_between_any_domains_and_offsets)
{
    std::vector<u32> bos;
    for (u32 domain : {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT})
        for (int i = 0; i < 2; i++)
            bos.push_back(file.must_create(size, domain));
    u32 seed = 1;
    for (u32 src : bos)
        for (u32 dst : bos) {
            if (src == dst)
                continue;
            write_random(src, ++seed);
            ASSERT_EQ(run({src, dst}, {file_t::fill_op(dst, 0, size, 7),
                                       file_t::copy_op(dst, 36, src, page + 8, 9 * page + 4)}),
                      0);
            std::vector<u32> from = read(src), to = read(dst);
            u64 wrong = 0;
            for (u64 i = 0; i < size / 4; i++) {
                u64 byte = i * 4;
                bool inside = byte >= 36 && byte < 36 + 9 * page + 4;
                wrong += to[i] != (inside ? from[(byte - 36 + page + 8) / 4] : 7);
            }
            EXPECT_EQ(wrong, 0u);
        }
}

TEST_P(vttm_op, copy_within_a_bo)
{
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    write_random(bo, 9);
    std::vector<u32> before = read(bo);
    ASSERT_EQ(run({bo}, {file_t::copy_op(bo, 0, bo, 32 * page, 32 * page)}), 0);
    std::vector<u32> after = read(bo);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + 8 * 1024, before.begin() + 32 * 1024));
    EXPECT_TRUE(std::equal(after.begin() + 32 * 1024, after.end(), before.begin() + 32 * 1024));
}

TEST_P(vttm_op, checksum_is_crc32)
{
    u32 result = file.must_create(page, DRM_VTTM_DOMAIN_GTT);
    for (u32 domain : {DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_DOMAIN_GTT}) {
        u32 bo = file.must_create(size, domain), fresh = file.must_create(size, domain);
        write_random(bo, domain);
        ASSERT_EQ(run({bo, fresh, result}, {file_t::checksum_op(result, 0, bo, 0, size),
                                            file_t::checksum_op(result, 4, bo, page - 4, 3 * page + 8),
                                            file_t::checksum_op(result, page - 4, fresh, 0, size)}),
                  0);
        std::vector<u32> words = read(bo), zeros(size / 4);
        auto *sums = static_cast<u32 *>(file.map(result, page));
        ASSERT_NE(sums, MAP_FAILED);
        EXPECT_EQ(sums[0], crc32(words.data(), size));
        EXPECT_EQ(sums[1], crc32(words.data() + page / 4 - 1, 3 * page + 8));
        EXPECT_EQ(sums[page / 4 - 1], crc32(zeros.data(), size)) << "fresh memory is zero";
        munmap(sums, page);
    }
}

TEST_P(vttm_op, contents_follow_their_bo_through_evictions)
{
    // Four times what fits, written by jobs, thrown about, and read by jobs.
    std::vector<u32> bos;
    u32 result = file.must_create(page, DRM_VTTM_DOMAIN_GTT);
    for (u32 i = 0; i < 4 * 8 * MiB / size; i++) {
        bos.push_back(file.must_create(size, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM));
        vttm_file::job job{{bos[i]}, {file_t::fill_op(bos[i], 0, size, i * 2654435761u)}};
        ASSERT_EQ(file.submit_job(job), 0);
    }
    u64 evictions = file.info().evictions;
    u64 last = 0;
    for (u32 i = 0; i < bos.size(); i++) {
        vttm_file::job job{{bos[i], result}, {file_t::checksum_op(result, i * 4, bos[i], 0, size)}};
        job.engine = i % 2 ? DRM_VTTM_ENGINE_COMPUTE : DRM_VTTM_ENGINE_GFX;
        ASSERT_EQ(file.submit_job(job), 0);
        last = job.seqno;
        ASSERT_EQ(file.wait(last, -1), 0);
    }
    EXPECT_GT(file.info().evictions, evictions);
    auto *sums = static_cast<u32 *>(file.map(result, page));
    ASSERT_NE(sums, MAP_FAILED);
    for (u32 i = 0; i < bos.size(); i++) {
        std::vector<u32> words(size / 4, i * 2654435761u);
        EXPECT_EQ(sums[i], crc32(words.data(), size)) << "BO " << i;
    }
    munmap(sums, page);
}

TEST_P(vttm_op, jobs_of_one_engine_are_ordered)
{
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM),
        result = file.must_create(page, DRM_VTTM_DOMAIN_GTT);
    vttm_file::job job{{bo, result}, {}};
    for (u32 i = 1; i <= 100; i++) {
        job.ops = {file_t::fill_op(bo, 0, size, i), file_t::checksum_op(result, i * 4, bo, 0, size)};
        ASSERT_EQ(file.submit_job(job), 0);
    }
    ASSERT_EQ(file.wait(job.seqno, -1), 0);
    auto *sums = static_cast<u32 *>(file.map(result, page));
    ASSERT_NE(sums, MAP_FAILED);
    for (u32 i = 1; i <= 100; i++) {
        std::vector<u32> words(size / 4, i);
        EXPECT_EQ(sums[i], crc32(words.data(), size)) << "job " << i;
    }
    munmap(sums, page);
}

TEST_P(vttm_op, files_are_ordered_by_the_bos_that_they_share)
{
    vttm_file other;
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM),
        result = file.must_create(page, DRM_VTTM_DOMAIN_GTT);
    int fd = -1;
    u32 theirs = 0;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), bo, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    for (u32 i = 1; i <= 20; i++) {
        vttm_file::job write{{theirs}, {file_t::fill_op(theirs, 0, size, i)}, {}, 2'000'000};
        write.engine = DRM_VTTM_ENGINE_COMPUTE;
        ASSERT_EQ(other.submit_job(write), 0);
        vttm_file::job sum{{bo, result}, {file_t::checksum_op(result, i * 4, bo, 0, size)}};
        ASSERT_EQ(file.submit_job(sum), 0);
        if (i == 20) {
            ASSERT_EQ(file.wait(sum.seqno, -1), 0);
        }
    }
    auto *sums = static_cast<u32 *>(file.map(result, page));
    ASSERT_NE(sums, MAP_FAILED);
    for (u32 i = 1; i <= 20; i++) {
        std::vector<u32> words(size / 4, i);
        EXPECT_EQ(sums[i], crc32(words.data(), size)) << "job " << i;
    }
    munmap(sums, page);
}

TEST_P(vttm_op, engines_of_one_file_are_ordered_by_syncs)
{
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    u32 result = file.must_create(page, DRM_VTTM_DOMAIN_GTT), line = 0;
    ASSERT_EQ(drmSyncobjCreate(file.fd(), 0, &line), 0);
    vttm_file::job job;
    u64 point = 0;
    for (u32 i = 1; i <= 20; i++) {
        job = {{}, {file_t::fill_op(bo, 0, size, i)}, {}, 1'000'000, DRM_VTTM_ENGINE_COMPUTE};
        if (point)
            job.syncs.push_back({line, DRM_VTTM_SYNC_TIMELINE, point});
        job.syncs.push_back({line, DRM_VTTM_SYNC_TIMELINE | DRM_VTTM_SYNC_SIGNAL, ++point});
        ASSERT_EQ(file.submit_job(job), 0);
        job = {{result}, {file_t::checksum_op(result, i * 4, bo, 0, size)}, {}, 1000};
        job.syncs.push_back({line, DRM_VTTM_SYNC_TIMELINE, point});
        job.syncs.push_back({line, DRM_VTTM_SYNC_TIMELINE | DRM_VTTM_SYNC_SIGNAL, ++point});
        ASSERT_EQ(file.submit_job(job), 0);
    }
    ASSERT_EQ(file.wait(job.seqno, -1), 0);
    auto *sums = static_cast<u32 *>(file.map(result, page));
    ASSERT_NE(sums, MAP_FAILED);
    for (u32 i = 1; i <= 20; i++) {
        std::vector<u32> words(size / 4, i);
        EXPECT_EQ(sums[i], crc32(words.data(), size)) << "job " << i;
    }
    munmap(sums, page);
}

TEST_P(vttm_op, delay_takes_time)
{
    u64 start = file.info().clock_ns;
    ASSERT_EQ(run({}, {file_t::delay_op(30'000'000), file_t::delay_op(10'000'000)}), 0);
    EXPECT_GE(file.info().clock_ns - start, 40'000'000u);
}

TEST_P(vttm_op, refusals)
{
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM),
        other = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    u32 unlisted = file.must_create(size, DRM_VTTM_DOMAIN_VRAM);
    u32 system = file.must_create(size, DRM_VTTM_DOMAIN_SYSTEM, 0, DRM_VTTM_DOMAIN_SYSTEM);
    auto try_op = [&](drm_vttm_op op) { return run({bo, other, system}, {file_t::delay_op(1), op}); };
    EXPECT_EQ(try_op({}), -EINVAL) << "no type";
    EXPECT_EQ(try_op({DRM_VTTM_OP_DELAY + 1, 0, 0, 0, 0, 0, 0, 0}), -EINVAL);
    EXPECT_EQ(try_op(file_t::fill_op(0xdead, 0, 4, 0)), -ENOENT);
    EXPECT_EQ(try_op(file_t::fill_op(unlisted, 0, 4, 0)), -EINVAL);
    EXPECT_EQ(try_op(file_t::fill_op(system, 0, 4, 0)), -EINVAL) << "no engine reaches SYSTEM";
    EXPECT_EQ(try_op(file_t::fill_op(bo, 0, 0, 0)), -EINVAL);
    for (auto [offset, bytes] : std::vector<std::pair<u64, u64>>{{2, 4},
                                                                 {0, 6},
                                                                 {size, 4},
                                                                 {size - 4, 8},
                                                                 {0, size + 4},
                                                                 {~u64{3}, 4},
                                                                 {~u64{3}, 8},
                                                                 {8, ~u64{3}},
                                                                 {u64{1} << 63, u64{1} << 63}}) {
        EXPECT_EQ(try_op(file_t::fill_op(bo, offset, bytes, 0)), -EINVAL) << offset << " " << bytes;
        EXPECT_EQ(try_op(file_t::copy_op(bo, offset, other, 0, bytes)), -EINVAL) << offset << " " << bytes;
        EXPECT_EQ(try_op(file_t::copy_op(bo, 0, other, offset, bytes)), -EINVAL) << offset << " " << bytes;
        EXPECT_EQ(try_op(file_t::checksum_op(bo, 0, other, offset, bytes)), -EINVAL)
            << offset << " " << bytes;
    }
    EXPECT_EQ(try_op(file_t::copy_op(bo, 0, bo, 4, 8)), -EINVAL) << "they overlap";
    EXPECT_EQ(try_op(file_t::copy_op(bo, 0, bo, 0, 8)), -EINVAL);
    EXPECT_EQ(try_op(file_t::checksum_op(bo, 8, bo, 0, 12)), -EINVAL);
    EXPECT_EQ(try_op(file_t::checksum_op(bo, 12, bo, 0, 12)), 0) << "they don't";
    auto changed = [&](drm_vttm_op op, auto change) {
        change(op);
        return try_op(op);
    };
    EXPECT_EQ(changed(file_t::fill_op(bo, 0, 4, 0), [](auto &op) { op.flags = 1; }), -EINVAL);
    EXPECT_EQ(changed(file_t::fill_op(bo, 0, 4, 0), [&](auto &op) { op.src = bo; }), -EINVAL);
    EXPECT_EQ(changed(file_t::fill_op(bo, 0, 4, 0), [](auto &op) { op.src_offset = 4; }), -EINVAL);
    EXPECT_EQ(changed(file_t::fill_op(bo, 0, 4, 0), [](auto &op) { op.value = u64{1} << 32; }), -EINVAL);
    EXPECT_EQ(changed(file_t::copy_op(bo, 0, other, 0, 4), [](auto &op) { op.value = 1; }), -EINVAL);
    EXPECT_EQ(changed(file_t::delay_op(1), [&](auto &op) { op.dst = bo; }), -EINVAL);
    EXPECT_EQ(changed(file_t::delay_op(1), [](auto &op) { op.size = 4; }), -EINVAL);
    EXPECT_EQ(try_op(file_t::delay_op(~u64{0})), -EINVAL);
    std::vector<drm_vttm_op> too_long(20, file_t::delay_op(u64{1} << 59));
    EXPECT_EQ(run({}, too_long), -EINVAL) << "a sum that nothing may reach";
    std::vector<drm_vttm_op> too_many(DRM_VTTM_OP_MAX + 1, file_t::delay_op(1));
    EXPECT_EQ(run({}, too_many), -EINVAL);
    too_many.pop_back();
    EXPECT_EQ(run({}, too_many), 0);
    EXPECT_EQ(run({}, {}, 2), -EINVAL) << "no such engine";
    EXPECT_EQ(run({}, {}, ~0u), -EINVAL);
}

TEST_P(vttm_op, private_bos_of_another_file_are_out_of_reach)
{
    vttm_file other;
    u32 handle = file.must_create(size, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    vttm_file::job job{{}, {file_t::fill_op(handle, 0, size, 1)}};
    EXPECT_EQ(other.submit_job(job), -ENOENT);
    EXPECT_EQ(file.submit_job(job), 0);
}

TEST_P(vttm_op, killed_in_the_middle)
{
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            vttm_file own;
            std::vector<u32> bos;
            for (int bo = 0; bo < 60; bo++)
                bos.push_back(own.must_create(4 * size, DRM_VTTM_DOMAIN_VRAM));
            for (u32 n = 0;; n++) {
                u32 a = bos[n % 60], b = bos[(n * 7 + 1) % 60];
                vttm_file::job job{
                    {a, b},
                    {file_t::fill_op(a, 0, 4 * size, n), file_t::copy_op(b, 0, a, 0, a == b ? 0 : 4 * size)}};
                job.engine = n % 2;
                own.submit_job(job);
            }
        }
        usleep(2000u * static_cast<unsigned>(1 + i));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(clocks, vttm_op, testing::Values(0u, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK),
                         [](const auto &param) { return param.param ? "virtual_clock" : "real_clock"; });

TEST(vttm_op_import, an_engine_reaches_another_devices_memory)
{
    vttm_file file, other(1);
    if (file.fd() < 0)
        GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
    drm_vttm_lab_config config{8 * MiB, 64 * MiB, u64{64} * GiB, u64{16} * GiB, 1000, 10, 0};
    ASSERT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), 0);
    ASSERT_GE(other.fd(), 0);
    u32 bo = file.must_create(size, DRM_VTTM_DOMAIN_VRAM),
        target = other.must_create(size, DRM_VTTM_DOMAIN_VRAM), theirs = 0;
    int fd = -1;
    ASSERT_EQ(drmPrimeHandleToFD(file.fd(), bo, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
    ASSERT_EQ(drmPrimeFDToHandle(other.fd(), fd, &theirs), 0);
    close(fd);
    for (u32 i = 1; i <= 10; i++) {
        // Neither waits for the other but by the fences of the BO that they share.
        vttm_file::job write{{bo}, {file_t::fill_op(bo, 0, size, i)}, {}, 3'000'000};
        ASSERT_EQ(file.submit_job(write), 0);
        vttm_file::job copy{{theirs, target}, {file_t::copy_op(target, 0, theirs, 0, size)}};
        ASSERT_EQ(other.submit_job(copy), 0);
        ASSERT_EQ(other.wait(copy.seqno, -1), 0);
        auto *words = static_cast<u32 *>(other.map(target, size));
        ASSERT_NE(words, MAP_FAILED);
        u64 wrong = 0;
        for (u64 w = 0; w < size / 4; w++)
            wrong += words[w] != i;
        EXPECT_EQ(wrong, 0u) << "round " << i;
        munmap(words, size);
    }
}

} // namespace
} // namespace vramlab::tests
