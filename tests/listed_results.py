"""Minimal manifests, for tests of modules that read them."""

import hashlib
import json

from publishing.result_checks.manifest import MANIFEST


def listed(folder, path, **changes):
    content = (folder / path).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"@id": path, "@type": "File", "sha256": digest, "contentSize": str(len(content))} | changes


def write_manifest(folder, entities):
    (folder / MANIFEST).write_text(json.dumps({"@graph": [{"@id": "./", "@type": "Dataset"}, *entities]}))
