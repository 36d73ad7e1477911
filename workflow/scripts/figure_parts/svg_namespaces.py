"""XML namespaces in the figures' SVG files.

The namespaces are in a separate module, so that the page can use them without importing matplotlib.
"""

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
