"""The appearance of colours to readers, including colour-blind ones."""

import numpy as np

# Colour blindness: Machado, Oliveira and Fernandes (2009), severity 1.0.
DEFICIENCY = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def linear(code):
    """Return the linear RGB of a colour such as `#1b2c3d`."""
    value = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one, two):
    """Return the contrast of two colours as defined by WCAG 2.2."""
    light, dark = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lab(rgb):
    """Return linear RGB in CIE L*a*b*."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
