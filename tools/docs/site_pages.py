"""The static site: pages, navigation, and what is wrong with them."""
import html
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import markdown
import reference

# pages of the repository outside docs/
OTHER_PAGES = {"CONTRIBUTING.md": "contributing.html", "SECURITY.md": "security.html", "CHANGELOG.md": "changes.html",
               "README.md": "readme.html"}
# files with a page of their own
SHOWN_BY = {"docs/scene.schema.json": "docs/scene-reference.md", "docs/references.bib": "docs/references.md"}
SOURCES = ("apps/", "benchmarks/", "cmake/", "docs/", "examples/", "include/", "scenes/", "src/", "tests/", "tools/", "web/")


@dataclass
class Entry:
    """Of the navigation."""
    label: str
    name: str
    anchor: str = ""
    is_part: bool = False
    line: int = 0


class Site:
    def __init__(self, root, program=None):
        self.root = root
        self.errors = []            # (file, line, text)
        self.references = reference.References(root / "docs/references.bib")
        self.scene = reference.SceneReference(root / "docs/scene.schema.json")
        self.commands = reference.CommandReference(program) if program else None
        self.files = [path.relative_to(root).as_posix() for path in sorted((root / "docs").rglob("*.md"))]
        self.files += [name for name in OTHER_PAGES if (root / name).exists()]
        # first without addresses, to know every heading; then with them
        self.pages = {name: self.read(name, markdown.Renderer())[0] for name in self.files}
        self.generated_headings = {}
        self.copied = set()         # pictures and files that pages show
        self.bodies = {name: self.body(name) for name in self.files}
        self.navigation = self.read_navigation()
        for key in self.scene.undescribed():
            self.wrong("docs/scene.schema.json", 1, f"{key} has no description")

    def read(self, name, renderer):
        return renderer.render((self.root / name).read_text(encoding="utf-8"))

    def wrong(self, name, line, text):
        self.errors.append((name, line, text))

    # ------------------------------------------------------------ where things are

    def address(self, name):
        """Of a page, from the top of the site."""
        return OTHER_PAGES.get(name) or re.sub(r"\.md$", ".html", name.removeprefix("docs/"))

    def relative(self, page, address):
        """An address from the top as seen from a page."""
        return os.path.relpath(address, os.path.dirname(self.address(page)) or ".")

    def anchors(self, name):
        headings = [heading.anchor for heading in self.pages[name].headings]
        return set(headings) | {anchor for _, _, anchor in self.generated(name)}

    def generated(self, name):
        """Headings of what is generated into a page."""
        for heading in re.findall(r"^<!-- generated: ([\w. -]+) -->$", "\n".join(self.pages[name].lines), re.M):
            if heading not in self.generated_headings:
                self.generate(heading)
            yield from self.generated_headings[heading]

    def resolve(self, page, link):
        """Where a link leads on the site; a broken one is an error."""
        target = link.target
        if re.match(r"^(https?|mailto):", target):
            return target
        path, _, anchor = target.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if name.startswith(".."):
            self.wrong(page, link.line, f"broken link {target}: outside of the repository")
            return target
        file = self.root / name
        if not file.exists():
            self.wrong(page, link.line, f"broken {'picture' if link.is_picture else 'link'} {target}: no such file")
            return target
        name = SHOWN_BY.get(name, name)
        if name in self.pages:
            if anchor and anchor not in self.anchors(name):
                self.wrong(page, link.line, f"broken link {target}: {name} has no heading #{anchor}")
            own = "" if name == page and anchor else self.relative(page, self.address(name))
            return own + (f"#{anchor}" if anchor else "")
        if file.is_dir():
            self.wrong(page, link.line, f"link to a folder, {target}: name a file in it")
            return target
        self.copied.add(name)
        if link.is_picture or name.endswith((".png", ".jpg", ".svg")):
            return self.relative(page, name.removeprefix("docs/"))
        return self.relative(page, f"files/{name}.html")

    # ------------------------------------------------------------ contents

    def generate(self, name):
        """What stands in place of <!-- generated: NAME -->."""
        if name == "commands":
            if not self.commands:
                self.generated_headings[name] = []
                return ""
            self.commands.headings = []
            body = self.commands.page()
            self.generated_headings[name] = self.commands.headings
        elif name == "scene":
            self.scene.headings = []
            body = self.scene.page()
            self.generated_headings[name] = self.scene.headings
        elif name == "references":
            body = self.references.page()
            self.generated_headings[name] = [(9, key, key) for key in self.references.entries]
        elif name == "limits":
            body = self.limits()
            self.generated_headings[name] = []
        else:
            raise SystemExit(f"tools/site: nothing makes <!-- generated: {name} -->")
        return body

    def limits(self):
        """The sections "Limits" of all pages; what is wrong in them is said of these pages, not here."""
        out, errors = [], list(self.errors)
        for name in self.files:
            page = self.pages[name]
            for at, heading in enumerate(page.headings):
                if not heading.text.startswith("Limits") or heading.level == 1:
                    continue
                end = next((after.line - 1 for after in page.headings[at + 1:] if after.level <= heading.level), len(page.lines))
                above = next((before.text for before in reversed(page.headings[:at]) if before.level < heading.level), "")
                title = page.title if above in ("", page.headings[0].text) else f"{page.title}: {above}"
                text = "\n".join(page.lines[heading.line:end])
                renderer = self.renderer("docs/guide/limits.md", os.path.dirname(name))
                out.append(f'<h3><a href="{self.relative("docs/guide/limits.md", self.address(name))}#{heading.anchor}">'
                           f"{html.escape(markdown.plain(title))}</a></h3>{renderer.render(text)[1]}")
        self.errors = errors
        return "\n".join(out)

    def renderer(self, page, folder=None):
        """`folder`: of the file whose text it is, where that is not the page itself."""
        def resolve(link):
            if folder is not None and not re.match(r"^(https?:|#)", link.target):
                link.target = os.path.relpath(os.path.join(folder, link.target), os.path.dirname(page))
            return self.resolve(page, link)

        def cite(key):
            return self.relative(page, "references.html") + f"#{key}" if key in self.references.entries else None

        return markdown.Renderer(resolve, cite, self.generate)

    def body(self, name):
        page, body = self.read(name, self.renderer(name))
        for line, text in page.errors:
            self.wrong(name, line, text)
        for line, key in page.citations:
            if key not in self.references.entries:
                self.wrong(name, line, f"[{key}] is not in docs/references.bib")
        self.check_equations(name, page)
        self.check_files(name, page)
        if self.commands and name != "CHANGELOG.md":
            self.check_commands(name, page)
        return body

    # ------------------------------------------------------------ checks beyond links

    def check_equations(self, name, page):
        """[field](field.md) eq. (3): that page must have an equation (3)."""
        for line, text in enumerate(page.lines, 1):
            for target, equation in re.findall(r"\]\(([\w./-]+\.md)\) eq\. \(([A-Z]{0,2}\d+[a-z]?)\)", text):
                other = self.pages.get(os.path.normpath(os.path.join(os.path.dirname(name), target)))
                if other and equation not in other.equations:
                    self.wrong(name, line, f"{target} has no equation ({equation})")

    def check_files(self, name, page):
        """Files of the repository named in code spans exist."""
        for line, code in page.spans:
            if code.startswith(SOURCES) and re.fullmatch(r"[\w./-]+\.\w+", code) and not (self.root / code).exists():
                self.wrong(name, line, f"`{code}`: no such file in the repository")

    def check_commands(self, name, page):
        """Every `pliant COMMAND --option` of a page exists."""
        said = [(line, code) for line, code in page.spans]
        for start, language, code in page.blocks:
            if language in ("", "sh", "bash", "console"):
                said += [(start + offset, text) for offset, text in enumerate(code.replace("\\\n", "  ").split("\n"), 1)]
        for line, text in said:
            match = re.match(r"^(?:\$ )?(?:\./|build/\w+/)?pliant ([a-z]+)(?= |$)(.*)$", text.strip())
            if not match:
                continue
            command, rest = match.groups()
            if command not in self.commands.commands:
                self.wrong(name, line, f"`{text.strip()}`: there is no command pliant {command}")
                continue
            known = self.commands.options(command)
            rest = re.split(r"\s{2,}#|[|;&>]\s|\s[→:(]|\s{3,}", re.sub(r"\"[^\"]*\"", '""', rest))[0]
            for option in re.findall(r"(?<=\s)(--[a-z][\w-]*|-[a-z]\b)", rest):
                if option not in known:
                    self.wrong(name, line, f"`{text.strip()}`: pliant {command} has no option {option}")

    # ------------------------------------------------------------ navigation

    def read_navigation(self):
        """Groups and their entries, as docs/index.md lists them under its headings; pages that it does not name come last."""
        groups, seen = [], {"docs/index.md", "README.md"}
        index = self.pages["docs/index.md"]
        for heading, following in zip(index.headings[1:], [*index.headings[2:], None]):
            entries = []
            for link in index.links:
                path, _, anchor = link.target.partition("#")
                name = os.path.normpath(os.path.join("docs", path))
                name = SHOWN_BY.get(name, name)
                is_here = link.line > heading.line and (not following or link.line < following.line)
                if is_here and name in self.pages and not link.is_picture and (anchor or name not in seen):
                    # further links in one line are parts of the first
                    is_part = bool(entries) and link.line == entries[-1].line
                    entries.append(Entry(markdown.plain(link.text), name, anchor, is_part, link.line))
                    if not anchor:
                        seen.add(name)
            if entries:
                groups.append((heading.text, entries))
        for name in self.files:
            if name not in seen:
                wanted = "Guide" if name.startswith("docs/guide/") else "Reference" if name in OTHER_PAGES else "Modules"
                group = next((entries for title, entries in groups if title == wanted), groups[-1][1])
                group.append(Entry(self.pages[name].title, name))
        return groups

    def sidebar(self, page):
        out = [f'<a class="home" href="{self.relative(page, "index.html")}">Pliant</a>']
        for title, entries in self.navigation:
            rows = []
            for entry in entries:
                address = self.relative(page, self.address(entry.name)) + (f"#{entry.anchor}" if entry.anchor else "")
                marks = " aria-current=page" if entry.name == page and not entry.anchor else ""
                marks += " class=part" if entry.is_part else ""
                rows.append(f'<li><a href="{address}"{marks}>{html.escape(entry.label)}</a></li>')
            out.append(f'<h2>{html.escape(title)}</h2><ul>{"".join(rows)}</ul>')
        return "".join(out)

    def contents(self, name):
        """Links to the sections of a page, where it has some."""
        sections = [(heading.text, heading.anchor) for heading in self.pages[name].headings if heading.level == 2]
        sections += [(title, anchor) for level, title, anchor in self.generated(name) if level == 2]
        if len(sections) < 3:
            return ""
        rows = "".join(f'<li><a href="#{anchor}">{html.escape(markdown.plain(text))}</a></li>' for text, anchor in sections)
        return f'<nav class="contents"><details open><summary>On this page</summary><ul>{rows}</ul></details></nav>'

    def neighbours(self, name):
        order = [entry for _, entries in self.navigation for entry in entries if not entry.anchor]
        at = next((index for index, entry in enumerate(order) if entry.name == name), None)
        if at is None:
            return ""
        link = lambda entry, text: f'<a href="{self.relative(name, self.address(entry.name))}">{text}</a>'
        before = link(order[at - 1], f"← {html.escape(order[at - 1].label)}") if at else "<span></span>"
        after = link(order[at + 1], f"{html.escape(order[at + 1].label)} →") if at + 1 < len(order) else "<span></span>"
        return f'<nav class="neighbours">{before}{after}</nav>'

    # ------------------------------------------------------------ output

    def whole(self, name, title, body, contents="", neighbours=""):
        style = self.relative(name, "style.css")
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} · Pliant</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<input type="checkbox" id="menu" aria-label="show the navigation"><label for="menu">☰ Pliant</label>
<nav class="pages">{self.sidebar(name)}</nav>
<main>{contents}<article>
{body}
</article>{neighbours}</main>
</body>
</html>
"""

    def write(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in self.files:
            path = folder / self.address(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.whole(name, self.pages[name].title, self.bodies[name], self.contents(name), self.neighbours(name)),
                            encoding="utf-8")
        for name in sorted(self.copied):
            if name.endswith((".png", ".jpg", ".svg")):
                path = folder / name.removeprefix("docs/")
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.root / name, path)
            else:
                self.write_source(folder, name)
        shutil.copyfile(Path(__file__).parent / "style.css", folder / "style.css")

    def write_source(self, folder, name):
        """A file of the repository as a page."""
        path = folder / "files" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = html.escape((self.root / name).read_text(encoding="utf-8"))
        stand_in = f"docs/files/{name}.md"   # for the depth of its address
        path.write_text(self.whole(stand_in, name, f"<h1><code>{name}</code></h1><pre><code>{text}</code></pre>"), encoding="utf-8")
