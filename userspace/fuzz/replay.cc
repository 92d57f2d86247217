// SPDX-License-Identifier: MIT
// Runs a fuzzer on files, or on all files of directories, without libFuzzer: seeds, and what crashed it once.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int main(int argc, char **argv)
{
    std::size_t count = 0;
    const auto run = [&](const std::filesystem::path &path) {
        std::ifstream in(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};

        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
        count++;
    };

    for (int i = 1; i < argc; i++) {
        if (!std::filesystem::is_directory(argv[i])) {
            run(argv[i]);
            continue;
        }
        for (const auto &entry : std::filesystem::directory_iterator(argv[i]))
            if (entry.is_regular_file())
                run(entry.path());
    }
    std::printf("%zu inputs\n", count);
    return count ? 0 : 1;
}
