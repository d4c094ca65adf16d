"""Unpacks a folder of a source distribution of PyPI, or all of it, of which nothing is built: PACKAGE VERSION FOLDER INTO.

Files are checked by the hash that the index gives. PIP_INDEX_URL names another index than PyPI's.
"""

import hashlib
import io
import json
import os
import sys
import tarfile
import urllib.parse
import urllib.request

package, version, folder, into = sys.argv[1:]
index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + f"/{package}/"
as_json = {"Accept": "application/vnd.pypi.simple.v1+json"}
with urllib.request.urlopen(urllib.request.Request(index, headers=as_json), timeout=20) as answer:
    files = json.load(answer)["files"]
wanted = f"{package}-{version}.tar.gz"
found = next((file for file in files if file["filename"] == wanted), None)
if found is None:
    sys.exit(f"{index} has no {wanted}")
with urllib.request.urlopen(urllib.parse.urljoin(index, found["url"]), timeout=60) as answer:
    content = answer.read()
if hashlib.sha256(content).hexdigest() != found["hashes"]["sha256"]:
    sys.exit(f"{wanted} is not what {index} says it is")
with tarfile.open(fileobj=io.BytesIO(content)) as archive:
    below = f"{package}-{version}/{folder}/".replace("//", "/")
    members = [member for member in archive if member.name.startswith(below)]
    if not members:
        sys.exit(f"{wanted} has no {folder}")
    for member in members:
        member.name = member.name.removeprefix(below)
    # Python before 3.11.4 may not know the filter.
    archive.extractall(into, members, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
