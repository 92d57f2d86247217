// SPDX-License-Identifier: MIT
// Are traces found in zip archives, and are broken archives refused?
#include "trace/trace_fixture.h"

#include <gtest/gtest.h>

#include <zlib.h>

using namespace vramlab;
using namespace vramlab::trace;
using namespace vramlab::trace::test;

namespace {

class zip_builder {
public:
    void add(const std::string &name, std::span<const u8> bytes, bool packed)
    {
        std::vector<u8> data(bytes.begin(), bytes.end());
        if (packed)
            data = deflated(bytes);
        const u64 offset = out.size();
        number(0x04034b50, 4);
        common(name, data.size(), bytes.size(), packed);
        out.insert(out.end(), name.begin(), name.end());
        out.insert(out.end(), data.begin(), data.end());
        std::swap(out, directory_);
        number(0x02014b50, 4);
        number(20, 2);
        common(name, data.size(), bytes.size(), packed);
        for (const int size : {2, 2, 2, 4})
            number(0, size);
        number(offset, 4);
        out.insert(out.end(), name.begin(), name.end());
        std::swap(out, directory_);
        entries_++;
    }

    std::vector<u8> finish(const std::string &comment = "")
    {
        const u64 offset = out.size();
        out.insert(out.end(), directory_.begin(), directory_.end());
        number(0x06054b50, 4);
        number(0, 4);
        number(entries_, 2);
        number(entries_, 2);
        number(directory_.size(), 4);
        number(offset, 4);
        number(comment.size(), 2);
        out.insert(out.end(), comment.begin(), comment.end());
        return out;
    }

private:
    static std::vector<u8> deflated(std::span<const u8> bytes)
    {
        z_stream z = {};
        deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        std::vector<u8> d(deflateBound(&z, bytes.size()));
        z.next_in = const_cast<u8 *>(bytes.data());
        z.avail_in = static_cast<uInt>(bytes.size());
        z.next_out = d.data();
        z.avail_out = static_cast<uInt>(d.size());
        deflate(&z, Z_FINISH);
        d.resize(z.total_out);
        deflateEnd(&z);
        return d;
    }
    void common(const std::string &name, u64 packed_bytes, u64 bytes, bool packed)
    {
        number(20, 2);
        number(0, 2);
        number(packed ? 8 : 0, 2);
        number(0, 8); // time, and a checksum that nobody looks at
        number(packed_bytes, 4);
        number(bytes, 4);
        number(name.size(), 2);
        number(0, 2);
    }
    void number(u64 v, int size)
    {
        for (int i = 0; i < size; i++)
            out.push_back(static_cast<u8>(v >> (8 * i)));
    }

    std::vector<u8> out, directory_;
    u64 entries_ = 0;
};

std::vector<u8> notes()
{
    const std::string s = "recorded on a Monday\n";
    return {s.begin(), s.end()};
}

TEST(zip, traces_are_found)
{
    const written w = write_trace(5, 3000, 2);
    for (const bool packed : {false, true}) {
        zip_builder z;
        z.add("notes.txt", notes(), packed);
        z.add("x/trace.dat", w.bytes, packed);
        z.add("x/", {}, false);
        const read_result r = read_all(z.finish("a comment"));
        EXPECT_EQ(r.error, "");
        EXPECT_EQ(r.events, w.events);
    }
}

TEST(zip, what_is_wrong_is_said)
{
    zip_builder z;
    z.add("notes.txt", notes(), true);
    EXPECT_NE(read_all(z.finish()).error.find("no trace"), std::string::npos);
    EXPECT_NE(read_all(zip_builder().finish()).error, "");
}

// At every length, and with every byte of the headers changed: an error or the events, nothing else.
TEST(zip, damaged)
{
    const written w = write_trace(6, 50, 1);
    zip_builder z;
    z.add("trace.dat", w.bytes, true);
    const std::vector<u8> whole = z.finish();
    for (std::size_t n = 4; n < whole.size(); n++) {
        const read_result r = read_all(std::span(whole).first(n));
        ASSERT_NE(r.error.find("offset"), std::string::npos) << n << r.error;
    }
    for (std::size_t i = 0; i < whole.size(); i++) {
        std::vector<u8> bad = whole;
        bad[i] = static_cast<u8>(bad[i] ^ 0xff);
        const read_result r = read_all(bad);
        EXPECT_TRUE(!r.error.empty() || r.events.size() <= w.events.size()) << i;
    }
}

} // namespace
