"use strict";

document.documentElement.classList.add("js");

// Files are carried compressed; a click unpacks one and saves it, to the byte.
async function save(button) {
  const packed = Uint8Array.from(atob(button.dataset.gzip), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unpacked).arrayBuffer();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: button.dataset.type }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

for (const button of document.querySelectorAll("button.download")) {
  button.addEventListener("click", () => save(button));
}

// A link to something inside a closed box opens the box.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// Paper can't be clicked: print everything, then restore.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const box of closed) box.open = true;
});
addEventListener("afterprint", () => {
  for (const box of closed) box.open = false;
});
