"""Markdown as the pages of Pliant write it, to HTML.

Headings, paragraphs, lists, tables, code (fenced and indented), quotes, pictures, links, code spans, emphasis, mathematics
between $ and $$, and equations written as indented text with a number at their end. Every link and heading is kept with its
line, so that what is wrong can be named.
"""
import html
import re
from dataclasses import dataclass, field

import mathml

FENCE = re.compile(r"^( *)(```+)\s*([\w+-]*)\s*$")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ITEM = re.compile(r"^( *)([-*+]|\d+[.)])( +)(?=\S)")
TABLE_RULE = re.compile(r"^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$")
GENERATED = re.compile(r"^<!-- generated: ([\w. -]+) -->$")
# the number of an equation stands apart at the end of its line
EQUATION = re.compile(r"^(.*\S)\s{2,}\(([A-Z]{0,2}\d+[a-z]?'?)\)\s*$")
CITATION = re.compile(r"\[([A-Z][A-Za-z]*(?:19|20)\d\d[a-z]?)\]")
LINK = re.compile(r"(!?)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"                # words, perhaps with a picture
                  r"\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"([^\"]*)\")?\)")  # address and title


@dataclass
class Link:
    line: int
    target: str
    is_picture: bool = False
    text: str = ""


@dataclass
class Heading:
    line: int
    level: int
    text: str
    anchor: str


@dataclass
class Page:
    """What a file says: its HTML is made by `to_html`, which needs to know where links lead."""
    lines: list
    headings: list = field(default_factory=list)
    links: list = field(default_factory=list)
    citations: list = field(default_factory=list)  # (line, key)
    spans: list = field(default_factory=list)      # (line, code)
    blocks: list = field(default_factory=list)     # (line, language, code)
    equations: list = field(default_factory=list)  # numbers
    errors: list = field(default_factory=list)     # (line, text)

    @property
    def title(self):
        return plain(self.headings[0].text) if self.headings else ""


def plain(text):
    """Inline Markdown without its marks."""
    text = LINK.sub(lambda match: match.group(2), text)
    return re.sub(r"(\*\*|`|\$|(?<!\w)\*|\*(?!\w))", "", text).replace("\\", "")


def anchor_of(text, taken):
    """The anchor of a heading, by the rules of GitHub."""
    anchor = re.sub(r"[^\w\- ]", "", plain(text).lower()).replace(" ", "-")
    count, unique = 0, anchor
    while unique in taken:
        count += 1
        unique = f"{anchor}-{count}"
    return unique


class Renderer:
    """Turns lines into HTML. `resolve(link)` gives the address of a link, `cite(key)` that of a citation (or None),
    `generate(name)` the HTML in place of a comment <!-- generated: NAME -->."""

    def __init__(self, resolve=None, cite=None, generate=None):
        self.resolve = resolve or (lambda link: link.target)
        self.cite = cite or (lambda key: None)
        self.generate = generate or (lambda name: "")

    def render(self, text):
        self.page = Page(text.split("\n"))
        self.anchors = set()
        return self.page, self.blocks(list(enumerate(self.page.lines, 1)))

    # blocks: each function takes numbered lines and returns HTML

    def blocks(self, lines, is_tight=False):
        out, i = [], 0
        while i < len(lines):
            number, line = lines[i]
            if not line.strip():
                i += 1
                continue
            fence = FENCE.match(line)
            heading = HEADING.match(line)
            if fence:
                i = self.fenced(lines, i, fence, out)
            elif line.startswith("    "):
                i = self.indented(lines, i, out)
            elif heading:
                out.append(self.heading(number, heading))
                i += 1
            elif GENERATED.match(line.strip()):
                out.append(self.generate(GENERATED.match(line.strip()).group(1)))
                i += 1
            elif line.lstrip().startswith("<!--"):
                while i < len(lines) and "-->" not in lines[i][1]:
                    i += 1
                i += 1
            elif line.strip().startswith("$$"):
                i = self.display(lines, i, out)
            elif line.startswith(">"):
                inner = []
                while i < len(lines) and lines[i][1].startswith(">"):
                    inner.append((lines[i][0], re.sub(r"^> ?", "", lines[i][1])))
                    i += 1
                out.append(f"<blockquote>{self.blocks(inner)}</blockquote>")
            elif ITEM.match(line):
                i = self.list(lines, i, out)
            elif "|" in line and i + 1 < len(lines) and TABLE_RULE.match(lines[i + 1][1]) and "|" in lines[i + 1][1]:
                i = self.table(lines, i, out)
            elif re.match(r"^(-{3,}|\*{3,})\s*$", line):
                out.append("<hr>")
                i += 1
            else:
                i = self.paragraph(lines, i, out, is_tight)
        return "\n".join(out)

    def heading(self, number, match):
        level, text = len(match.group(1)), match.group(2)
        anchor = anchor_of(text, self.anchors)
        self.anchors.add(anchor)
        self.page.headings.append(Heading(number, level, text, anchor))
        link = f'<a class="anchor" href="#{anchor}" aria-label="link to this section">#</a>' if level > 1 else ""
        return f'<h{level} id="{anchor}">{self.inline(text, number)}{link}</h{level}>'

    def fenced(self, lines, i, fence, out):
        start, indent = lines[i][0], len(fence.group(1))
        code = []
        i += 1
        while i < len(lines) and not re.match(rf"^ *{fence.group(2)}\s*$", lines[i][1]):
            code.append(re.sub(rf"^ {{0,{indent}}}", "", lines[i][1]))
            i += 1
        if i == len(lines):
            self.page.errors.append((start, "code that begins here has no end"))
        text = "\n".join(code)
        self.page.blocks.append((start, fence.group(3), text))
        out.append(f"<pre><code>{mark_shell(text)}</code></pre>")
        return i + 1

    def indented(self, lines, i, out):
        block = []
        while i < len(lines) and (lines[i][1].startswith("    ") or not lines[i][1].strip()):
            block.append((lines[i][0], lines[i][1][4:]))
            i += 1
        while not block[-1][1].strip():
            block.pop()
        if any(EQUATION.match(line) for _, line in block):
            rows = []
            for _, line in block:
                match = EQUATION.match(line)
                text, tag = (match.group(1), match.group(2)) if match else (line, "")
                if tag:
                    self.page.equations.append(tag)
                rows.append(f"<span>{html.escape(text)}</span><span>{f'({tag})' if tag else ''}</span>")
            out.append(f'<div class="equations">{"".join(rows)}</div>')
        else:
            text = "\n".join(line for _, line in block)
            self.page.blocks.append((block[0][0], "", text))
            out.append(f"<pre><code>{mark_shell(text)}</code></pre>")
        return i

    def display(self, lines, i, out):
        start, text = lines[i][0], lines[i][1].strip()[2:]
        i += 1
        while "$$" not in text and i < len(lines):
            text += "\n" + lines[i][1]
            i += 1
        if "$$" not in text:
            self.page.errors.append((start, "an equation that begins here with $$ has no end"))
            return i
        formula, tag = self.formula(text[:text.index("$$")], start, True)
        if tag:
            self.page.equations.append(tag)
        out.append(f'<div class="display"><div>{formula}</div><span>{f"({tag})" if tag else ""}</span></div>')
        rest = text[text.index("$$") + 2:].strip()
        if rest:
            self.page.errors.append((start, "text after the end of an equation: start a new line"))
        return i

    def formula(self, text, number, is_display):
        try:
            return mathml.formula(text, is_display)
        except mathml.MathError as error:
            self.page.errors.append((number, f"equation {text.strip()!r}: {error}"))
            return f"<code>{html.escape(text)}</code>", ""

    def list(self, lines, i, out):
        first = ITEM.match(lines[i][1])
        is_ordered = first.group(2)[0].isdigit()
        items, is_loose = [], False
        while i < len(lines):
            match = ITEM.match(lines[i][1])
            if not match or len(match.group(1)) != len(first.group(1)) or match.group(2)[0].isdigit() != is_ordered:
                break
            width = match.end()
            item = [(lines[i][0], lines[i][1][width:])]
            i += 1
            while i < len(lines):
                line = lines[i][1]
                indent = len(line) - len(line.lstrip())
                if not line.strip():
                    following = next((text for _, text in lines[i:] if text.strip()), "")
                    if len(following) - len(following.lstrip()) < width:
                        break
                    item.append((lines[i][0], ""))
                elif indent >= width:
                    item.append((lines[i][0], line[width:]))
                elif ITEM.match(line) or not item[-1][1].strip() or HEADING.match(line) or FENCE.match(line):
                    break
                else:
                    item.append((lines[i][0], line.lstrip()))  # a paragraph that goes on without its indent
                i += 1
            if any(not text.strip() for _, text in item):
                is_loose = True
            items.append(item)
            after = i
            while after < len(lines) and not lines[after][1].strip():
                after += 1
            following = ITEM.match(lines[after][1]) if after < len(lines) else None
            if after > i and following and len(following.group(1)) == len(first.group(1)) and \
                    following.group(2)[0].isdigit() == is_ordered:
                is_loose, i = True, after
        body = "".join(f"<li>{self.blocks(item, not is_loose)}</li>\n" for item in items)
        start = re.match(r"\d+", first.group(2))
        attribute = f' start="{int(start.group())}"' if start and int(start.group()) != 1 else ""
        tag = "ol" if is_ordered else "ul"
        out.append(f"<{tag}{attribute}>\n{body}</{tag}>")
        return i

    def table(self, lines, i, out):
        def cells(text):
            text = re.sub(r"^\s*\|", "", re.sub(r"(?<!\\)\|\s*$", "", text.rstrip()))
            return [part.strip().replace("\\|", "|") for part in re.split(r"(?<!\\)\|", text)]

        head = cells(lines[i][1])
        sides = ["right" if rule.endswith(":") and not rule.startswith(":") else "center" if rule.endswith(":") else ""
                 for rule in cells(lines[i + 1][1])]
        style = lambda k: f' style="text-align: {sides[k]}"' if k < len(sides) and sides[k] else ""
        rows = []
        if any(head):
            row = "".join(f"<th{style(k)}>{self.inline(cell, lines[i][0])}</th>" for k, cell in enumerate(head))
            rows.append(f"<thead><tr>{row}</tr></thead>")
        rows.append("<tbody>")
        pictures = True
        i += 2
        while i < len(lines) and "|" in lines[i][1]:
            row = cells(lines[i][1])
            if len(row) > len(head):
                self.page.errors.append((lines[i][0], f"a row of {len(row)} cells in a table of {len(head)} columns; "
                                                      "write | inside cells as \\|"))
            pictures = pictures and all(cell.startswith("![") for cell in row if cell)
            row += [""] * (len(head) - len(row))
            rows.append("<tr>" + "".join(f"<td{style(k)}>{self.inline(cell, lines[i][0])}</td>"
                                         for k, cell in enumerate(row)) + "</tr>")
            i += 1
        kind = ' class="pictures"' if pictures else ""
        out.append(f'<div class="table"><table{kind}>{"".join(rows)}</tbody></table></div>')
        return i

    def paragraph(self, lines, i, out, is_tight):
        start, text = lines[i][0], [lines[i][1]]
        i += 1
        while i < len(lines):
            line = lines[i][1]
            if not line.strip() or HEADING.match(line) or FENCE.match(line) or line.startswith(">") or \
                    line.strip().startswith("$$") or (ITEM.match(line) and not ITEM.match(line).group(2)[0].isdigit()):
                break
            text.append(line.strip())
            i += 1
        inner = self.inline("\n".join(text), start)
        out.append(inner if is_tight else f"<p>{inner}</p>")
        return i

    # inside a paragraph

    def inline(self, text, number):
        """Marks are replaced by private characters while the rest is escaped, and put back at the end."""
        kept = []

        def keep(markup):
            kept.append(markup)
            return f"\ue000{len(kept) - 1}\ue001"

        def line_at(match):
            return number + text_now[:match.start()].count("\n")

        def code(match):
            content = match.group(2).replace("\n", " ")
            self.page.spans.append((line_at(match), content.strip()))
            return keep(f"<code>{html.escape(content.strip() if content.strip() else content)}</code>") + "\n" * match.group(0).count("\n")

        def link(match):
            is_picture, words, target, title = match.groups()
            found = Link(line_at(match), target, bool(is_picture), words)
            self.page.links.append(found)
            address = html.escape(self.resolve(found), quote=True)
            if is_picture:
                markup = f'<img src="{address}" alt="{html.escape(plain(words), quote=True)}" loading="lazy">'
            else:
                markup = f'<a href="{address}">{self.emphasis(self.nested(words, number, keep))}</a>'
            return keep(markup) + "\n" * match.group(0).count("\n")

        def citation(match):
            self.page.citations.append((line_at(match), match.group(1)))
            address = self.cite(match.group(1))
            shown = f"[{match.group(1)}]"
            return keep(f'<a class="citation" href="{html.escape(address, quote=True)}">{shown}</a>') if address else shown

        def math(match):
            return keep(self.formula(match.group(1), line_at(match), False)[0]) + "\n" * match.group(0).count("\n")

        text_now = text
        text_now = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", code, text_now, flags=re.S)
        text_now = re.sub(r"(?<![\w$\\])\$(?=\S)([^$]+?)(?<=\S)\$(?![\d$])", math, text_now)
        text_now = re.sub(r"\\([\\`*_{}\[\]()#+.!|$<>-])", lambda match: keep(html.escape(match.group(1))), text_now)
        text_now = re.sub(r"<(https?://[^>\s]+)>", lambda match: keep(f'<a href="{html.escape(match.group(1), quote=True)}">{html.escape(match.group(1))}</a>'), text_now)
        text_now = LINK.sub(link, text_now)
        text_now = CITATION.sub(citation, text_now)
        text_now = self.emphasis(html.escape(text_now, quote=False))
        text_now = re.sub(r"  +\n", "<br>\n", text_now)
        for _ in range(3):  # code in the words of a link, in its turn kept
            text_now = re.sub("\ue000(\\d+)\ue001", lambda match: kept[int(match.group(1))], text_now)
        return text_now

    def nested(self, words, number, keep):
        """Text of a link: what has been kept already stays, pictures in links are links, too."""
        def picture(match):
            found = Link(number, match.group(3), True, match.group(2))
            self.page.links.append(found)
            return keep(f'<img src="{html.escape(self.resolve(found), quote=True)}" alt="{html.escape(match.group(2), quote=True)}" loading="lazy">')
        return html.escape(LINK.sub(picture, words), quote=False)

    @staticmethod
    def emphasis(text):
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        return re.sub(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=[^\s*])\*(?![\w*])", r"<em>\1</em>", text, flags=re.S)


def mark_shell(text):
    """Commands of a shell session stand out from what they print."""
    marked = []
    for line in text.split("\n"):
        prompt = re.match(r"^(\$ )(.*)$", line)
        comment = re.match(r"^(.*?)(\s{2,}# .*)$", line)
        if prompt:
            marked.append(f'<span class="prompt">$ </span><b>{html.escape(prompt.group(2))}</b>')
        elif comment:
            marked.append(html.escape(comment.group(1)) + f'<span class="comment">{html.escape(comment.group(2))}</span>')
        else:
            marked.append(html.escape(line))
    return "\n".join(marked)
