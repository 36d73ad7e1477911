"""Names of the XML namespaces in a figure's SVG, for the modules that write it and for the page, which doesn't need matplotlib."""

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
