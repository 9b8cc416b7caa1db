"""Prints the table of composit/numpy/random/mt19937_jump.cpp: x**(2**128) modulo the characteristic
polynomial of MT19937, over GF(2). Takes half a minute."""

DEGREE = 19937
WORDS, DISTANCE = 624, 397


def bits(count: int) -> list[int]:
    """The lowest bit of each word of the untempered sequence."""
    key = [19650218]
    for i in range(1, WORDS):
        key.append((1812433253 * (key[-1] ^ (key[-1] >> 30)) + i) & 0xFFFFFFFF)
    while len(key) < count:
        i = len(key) - WORDS
        y = (key[i] & 0x80000000) | (key[i + 1] & 0x7FFFFFFF)
        key.append(key[i + DISTANCE] ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0))
    return [word & 1 for word in key[:count]]


def characteristic() -> int:
    """The shortest linear recurrence of such bits (Berlekamp and Massey), as a polynomial."""
    current, previous, window, length, gap = 1, 1, 0, 0, 1
    for i, bit in enumerate(bits(2 * DEGREE + 700)[WORDS:]):
        window = window << 1 | bit
        window &= (1 << (DEGREE + 64)) - 1
        if (window & current).bit_count() & 1:
            before = current
            current ^= previous << gap
            if 2 * length <= i:
                length, previous, gap = i + 1 - length, before, 0
        gap += 1
    assert length == DEGREE
    text = bin(current)[2:].zfill(DEGREE + 1)  # the reciprocal polynomial
    return int(text[::-1], 2)


def reduced(value: int, modulus: int) -> int:
    while (excess := value.bit_length() - 1 - DEGREE) >= 0:
        value ^= modulus << excess
    return value


def squared(value: int) -> int:
    """Zeros between the bits."""
    return int(bin(value)[2:], 4)


def main() -> None:
    modulus = characteristic()
    power = 2  # x
    for _ in range(128):
        power = reduced(squared(power), modulus)
    words = [power >> (32 * i) & 0xFFFFFFFF for i in range(WORDS)]
    for i in range(0, WORDS, 8):
        print("    " + ", ".join(f"0x{word:08x}" for word in words[i : i + 8]) + ",")


if __name__ == "__main__":
    main()
