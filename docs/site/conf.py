"""The site that `make docs` builds: the pages as they are in the repository, and the reference of the public headers.

Sphinx reads a folder of links to the pages (scripts/docs.sh makes it), in which the reference's pages are written, one a header.
"""

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

root = Path(__file__).resolve().parents[2]
build = root / "build/docs"

project = "OpenTCA"
author = "The OpenTCA developers"
copyright = author
version_lines = re.findall(r"#define TCA_VERSION_\w+ (\d+)", (root / "include/tca/version.hpp").read_text())
release = version = ".".join(version_lines)

extensions = ["myst_parser", "breathe"]
root_doc = "index"
include_patterns = ["*.md", "docs/*.md", "reference/*.md", "**/README.md"]
exclude_patterns = ["README.md"]  # which index.md is
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"OpenTCA {version}"
html_copy_source = False
highlight_language = "none"

breathe_projects = {"tca": str(build / "xml")}
breathe_default_project = "tca"
breathe_default_members = ("members",)
cpp_id_attributes = ["TCA_API"]


def compounds(kind):
    """What Doxygen has written of a kind (file, class, namespace ...)."""
    index = ElementTree.parse(build / "xml/index.xml").getroot()
    names = [entry.get("refid") for entry in index.findall("compound") if re.fullmatch(kind, entry.get("kind"))]
    return [ElementTree.parse(build / f"xml/{name}.xml").getroot().find("compounddef") for name in names]


def declarations():
    """Returns, by header, (line, directive) of what namespace tca declares there; those inside it are none of a program's."""
    found = {}

    def add(node, directive):
        place = node.find("location")
        file = place.get("declfile") or place.get("file")
        found.setdefault(Path(file).name, []).append((int(place.get("declline") or place.get("line")), directive))

    for node in compounds("class|struct|concept"):
        name, kind = node.findtext("compoundname"), node.get("kind")
        if re.fullmatch(r"tca::\w+", name):
            members = kind != "concept" and not name.startswith("tca::Device")  # which kernels take as they are
            add(node, f"{{doxygen{kind}}} {name}" + ("\n:members:\n:undoc-members:" if members else ""))
    for space in compounds("namespace"):
        for node in space.iter("memberdef") if space.findtext("compoundname") == "tca" else ():
            kind, name = node.get("kind"), node.findtext("qualifiedname")
            arguments = node.findtext("argsstring") if kind == "function" else ""
            if "->" not in arguments:  # a deduction guide
                add(node, f"{{doxygen{kind}}} {name}{arguments}")
    return found


def write_reference(app):
    """A page a header, since each has one concept."""
    folder, names = Path(app.srcdir) / "reference", []
    for header in sorted(path.name for path in (root / "include/tca").iterdir() if path.is_file()):
        entries = [directive for _, directive in sorted(found)] if (found := declarations().get(header)) else []
        # What C declares is in no namespace. Its typedefs would repeat the names of structs.
        sections = "briefdescription detaileddescription" + (" innerclass enum func" if header.endswith(".h") else "")
        entries.insert(0, f"{{doxygenfile}} {header}\n:sections: {sections}")
        page = f"# tca/{header}\n\n" + "\n\n".join(f"```{entry}\n```" for entry in entries)
        names.append(header.replace(".", "_"))
        (folder / f"{names[-1]}.md").write_text(page + "\n")
    listed = "\n".join(names)
    (folder / "index.md").write_text(f"# Reference\n\nA page a header of `include/tca`.\n\n```{{toctree}}\n{listed}\n```\n")


def read_page(app, page, source):
    """Has links lead to what the site has: README is the first page, with the contents, and folders are no pages."""

    def lead_on(link):
        text, path, anchor = link.groups()
        target = os.path.normpath(Path(page).parent / path)
        if target == "README.md":
            return f"[{text}]({path.replace('README', 'index')}{anchor})"
        if target == "include/tca":
            return f"[{text}](/reference/index.md)"
        return text if (root / target).is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]]*)\]\(([\w./-]+)(#[^)]*|)\)", lead_on, source[0])
    if page == "index":
        source[0] += (root / "docs/site/contents.md").read_text()


def setup(app):
    app.connect("builder-inited", write_reference)
    app.connect("source-read", read_page)
