"""Downloads Node and npm for an image: fetch-node.py <package-lock.json> <folder> <package> ...

Debian's npm would need 700 packages. The lock file contains the versions and the hashes of both."""

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
import urllib.request

lock_file, folder, *names = sys.argv[1:]
registry = os.environ.get("npm_config_registry", "https://registry.npmjs.org")

with open(lock_file) as file:
    packages = json.load(file)["packages"]

for name in names:
    package = packages[f"node_modules/{name}"]
    url = f"{registry}/{name}/-/{name}-{package['version']}.tgz"
    with urllib.request.urlopen(url) as response:
        archive = response.read()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if integrity != package["integrity"]:
        sys.exit(f"{url} has the hash {integrity}, and {lock_file} has {package['integrity']}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(os.path.join(folder, name), filter="data")
