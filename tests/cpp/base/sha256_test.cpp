// SHA-256 against the examples of FIPS 180-4 and lengths around a block.
#include "composit/base/sha256.h"

#include <gtest/gtest.h>

namespace composit {
namespace {

std::string digest(const std::string& text) {
    Sha256 sha;
    sha.update(text.data(), text.size());
    return sha.hex();
}

TEST(Sha256, PublishedExamples) {
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
    for (size_t length : {1, 55, 56, 57, 63, 64, 65, 128, 200}) {
        std::string text;
        for (size_t i = 0; i < length; ++i) text += static_cast<char>('a' + i % 26);
        Sha256 pieces;
        for (size_t i = 0; i < length; i += 7)
            pieces.update(&text[i], std::min<size_t>(7, length - i));
        EXPECT_EQ(pieces.hex(), digest(text)) << length;
    }
}

}  // namespace
}  // namespace composit
