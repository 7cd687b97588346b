"""sbom.py VERSION COMMIT BINARY LIBRARIES: an SPDX 2.3 document of the program on stdout.

LIBRARIES: lines of name, version, Debian source package, Debian version and licence, tabs between; scripts/package writes
them. SOURCE_DATE_EPOCH is the document's time.
"""
import hashlib
import json
import os
import re
import sys
import time


def package(name, version, licence, origin):
    return {
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        **origin,
    }


def main():
    version, commit, binary, libraries = sys.argv[1:]
    with open(binary, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    program = package("msdump", version, "Apache-2.0", {
        "primaryPackagePurpose": "APPLICATION",
        "packageFileName": os.path.basename(binary),
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "sourceInfo": f"git commit {commit}",
    })
    linked = []
    with open(libraries, encoding="utf-8") as file:
        for line in file:
            name, number, source, debian, licence = line.rstrip("\n").split("\t")
            linked.append(package(name, number, licence, {
                "primaryPackagePurpose": "LIBRARY",
                "externalRefs": [{
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:deb/debian/{source}@{debian.replace('+', '%2B').replace(':', '%3A')}?arch=source",
                }],
            }))
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", program["SPDXID"])]
    relations += [(program["SPDXID"], "STATIC_LINK", library["SPDXID"]) for library in linked]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": os.path.basename(binary),
        "documentNamespace": f"https://spdx.org/spdxdocs/{os.path.basename(binary)}-{digest[:32]}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
            "creators": [f"Tool: msdump-scripts-package-{version}"],
        },
        "packages": [program, *linked],
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
