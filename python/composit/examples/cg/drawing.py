"""Digits beside their reconstructions, as SVG."""

import numpy as np

PIXEL, GAP = 6, 12


def side_by_side(images: np.ndarray, reconstructions: np.ndarray) -> str:
    """Arrays (count, height, width) of numbers from 0 to 1: one row of each."""
    count, height, width = images.shape
    column, row = width * PIXEL + GAP, height * PIXEL + GAP
    across, down = count * column + GAP, 2 * row + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" '
        'shape-rendering="crispEdges">',
        f'<rect width="{across}" height="{down}" fill="white"/>',
    ]
    for line, every in enumerate((images, reconstructions)):
        for number, image in enumerate(every):
            x, y = GAP + number * column, GAP + line * row
            lines.append(f'<g transform="translate({x},{y})">')
            for (i, j), value in np.ndenumerate(np.clip(image, 0, 1)):
                gray = 255 - round(255 * float(value))
                place = f'x="{j * PIXEL}" y="{i * PIXEL}" width="{PIXEL}" height="{PIXEL}"'
                lines.append(f'<rect {place} fill="rgb({gray},{gray},{gray})"/>')
            lines.append("</g>")
    return "\n".join([*lines, "</svg>\n"])
