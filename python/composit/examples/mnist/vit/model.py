"""A vision transformer: patches, positions, encoder layers, the mean of all tokens."""

from __future__ import annotations

from typing import Any


def network(
    torch: Any, patch_size: int = 4, embed: int = 128, num_heads: int = 2, num_layers: int = 1
) -> Any:
    """A module of `torch`, which is composit.torch or PyTorch: images (batch, 1, 28, 28) to
    (batch, 10)."""
    nn = torch.nn
    base: Any = nn.Module
    count = (28 // patch_size) ** 2

    class Encoder(base):
        """Attention and a network of two layers, each added to what it was given, then normed."""

        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(embed, num_heads, batch_first=True)
            self.norm = nn.LayerNorm(embed)
            self.hidden = nn.Linear(embed, 2 * embed)
            self.output = nn.Linear(2 * embed, embed)

        def forward(self, x: Any) -> Any:
            """Tokens to tokens."""
            x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
            return self.norm(x + self.output(self.hidden(x).relu()))

    class VisionTransformer(base):
        """Images to ten numbers."""

        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Linear(patch_size * patch_size, embed)
            self.positions = nn.Parameter(0.02 * torch.randn(1, count, embed))
            self.layers = nn.Sequential(*(Encoder() for _ in range(num_layers)))
            self.dropout = nn.Dropout(0.1)
            self.output = nn.Linear(embed, 10)

        def forward(self, x: Any) -> Any:
            """(batch, 1, 28, 28) to (batch, 10)"""
            batch, side = x.shape[0], 28 // patch_size
            x = x.reshape(batch, side, patch_size, side, patch_size).permute(0, 1, 3, 2, 4)
            x = self.patches(x.reshape(batch, count, patch_size * patch_size)) + self.positions
            return self.output(self.dropout(self.layers(x).mean(1)))

    return VisionTransformer()
