"""Pages that are made from what they describe: scenes from their schema, commands from --help, references from the .bib file."""
import html
import json
import re
import subprocess

# ---------------------------------------------------------------- scenes


def literal(value):
    return json.dumps(value, ensure_ascii=False)


def number(value):
    """As a range says it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e5:
        value = int(value)
    if isinstance(value, float) and abs(value) >= 1e5:
        return f"{value:g}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,}" if isinstance(value, int) else literal(value)


class SceneReference:
    """One section for each named part of the schema that has keys, with a row for each key."""

    def __init__(self, path):
        self.schema = json.loads(path.read_text(encoding="utf-8"))
        self.parts = self.schema["$defs"]
        self.headings = []

    def target(self, schema):
        """A schema with what it refers to, and the name of that."""
        name = None
        while "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            schema = {**self.parts[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema, name

    def undescribed(self):
        """Keys that say nothing of their meaning, as "rigid.sphere"."""
        def walk(schema, path):
            if isinstance(schema, list):
                for item in schema:
                    yield from walk(item, path)
            if not isinstance(schema, dict):
                return
            for key, value in schema.get("properties", {}).items():
                if "description" not in self.target(value)[0]:
                    yield ".".join([*path, key])
                yield from walk(value, [*path, key])
            for key in ("oneOf", "allOf", "items"):
                yield from walk(schema.get(key), path)
        yield from walk(self.schema, [])
        for name, part in self.parts.items():
            yield from walk(part, [name])

    def has_section(self, name):
        return name is not None and any("properties" in choice for choice in self.choices(self.parts[name]))

    def choices(self, schema):
        """The schema itself and what it may be instead."""
        yield schema
        for choice in schema.get("oneOf", []):
            yield self.target(choice)[0]

    def kind(self, schema):
        """Type and range of a value in words, as HTML."""
        whole, name = self.target(schema)
        if self.has_section(name):
            return f'<a href="#{name}">{name}</a>'
        if "const" in whole:
            return f"<code>{html.escape(literal(whole['const']))}</code>"
        if "enum" in whole:
            words = [f"<code>{html.escape(literal(value))}</code>" for value in whole["enum"]]
            return " or ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)
        alternatives = [choice for choice in whole.get("oneOf", []) if set(choice) - {"required"}]
        if alternatives:
            return ", or ".join(self.kind(choice) for choice in alternatives)
        if whole.get("type") == "array" and "items" in whole:
            least, most = whole.get("minItems", 0), whole.get("maxItems")
            if "title" in whole:
                return html.escape(whole["title"])
            count = f"{least}" if least == most else f"{least} to {most:,}" if most else f"at least {least}"
            return f"list of {count}: {self.kind(whole['items'])}"
        if "title" in whole:
            return html.escape(whole["title"])
        if whole.get("type") in ("number", "integer"):
            return f"{whole['type']}{html.escape(self.range(whole))}"
        if whole.get("type") == "string" and "pattern" in whole:
            return f"string <code>{html.escape(whole['pattern'])}</code>"
        if whole.get("type") == "object":
            return "object"
        if "allOf" in whole:
            return ", and ".join(self.kind(choice) for choice in whole["allOf"])
        return {"boolean": "true or false"}.get(whole.get("type"), whole.get("type", "anything"))

    @staticmethod
    def range(schema):
        low, high = schema.get("minimum"), schema.get("maximum")
        above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
        if low is not None and high is not None:
            return f", {number(low)} … {number(high)}"
        words = [f"{sign} {number(value)}" for sign, value in (("≥", low), (">", above), ("<", below), ("≤", high))
                 if value is not None]
        return ", " + ", ".join(words) if words else ""

    def rows(self, key, schema, required):
        """Of a key, and of the keys inside it where they have no section of their own."""
        whole, name = self.target(schema)
        default = "needed" if key.split(".")[-1] in required else f"<code>{html.escape(literal(whole['default']))}</code>" \
            if "default" in whole else ""
        out = [f"<tr><td><code>{html.escape(key)}</code></td><td>{self.kind(schema)}</td><td>{default}</td>"
               f"<td>{self.prose(schema.get('description', whole.get('description', '')))}</td></tr>"]
        if not self.has_section(name):
            inner, mark = (self.target(whole["items"]), "[]") if whole.get("type") == "array" and "items" in whole else \
                ((whole, name), "")
            for choice in self.choices(inner[0]) if not self.has_section(inner[1]) else ():
                for inside, value in choice.get("properties", {}).items():
                    out += self.rows(f"{key}{mark}.{inside}", value, choice.get("required", []))
        return out

    @staticmethod
    def prose(text):
        """A description with its code and its pages marked."""
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
        return re.sub(r"\bdocs/([\w-]+)\.md\b", r'<a href="\1.html">\1</a>', text)

    def section(self, title, schema):
        """A heading, what the value is, one of its keys that are needed, and a table of keys."""
        anchor = re.sub(r"[^\w-]", "-", title)
        self.headings.append((2, title, anchor))
        out = [f'<h2 id="{anchor}"><code>{html.escape(title)}</code></h2>']
        if schema.get("description"):
            out.append(f"<p>{self.prose(schema['description'])}</p>")
        short = [choice for choice in schema.get("oneOf", []) if "properties" not in self.target(choice)[0]
                 and set(choice) - {"required"}]
        if short:
            out.append("<p>May be written as: " + "; ".join(self.kind(choice) for choice in short) + ".</p>")
        one_of = [choice["required"][0] for choice in schema.get("oneOf", []) if set(choice) == {"required"}]
        if one_of:
            out.append("<p>Exactly one of " + ", ".join(f"<code>{key}</code>" for key in one_of) + ".</p>")
        for choice in self.choices(schema):
            if "properties" not in choice:
                continue
            rows = "".join(row for key, value in choice["properties"].items()
                           for row in self.rows(key, value, choice.get("required", [])))
            out.append('<div class="table"><table class="keys"><thead><tr><th>key</th><th>value</th><th>default</th>'
                       f"<th>meaning</th></tr></thead><tbody>{rows}</tbody></table></div>")
        return "\n".join(out)

    def page(self):
        out = [self.section("scene", self.schema)]
        out += [self.section(name, part) for name, part in self.parts.items() if self.has_section(name)]
        return "\n".join(out)


# ---------------------------------------------------------------- commands


class CommandReference:
    """What `program --help` says, and each command's --help."""

    def __init__(self, program):
        self.program = program
        self.headings = []
        self.overview = self.ask()
        self.commands = {name: self.ask(name) for name in re.findall(r"^  pliant (\w+)", self.overview, re.M)}
        if not self.commands:
            raise SystemExit(f"tools/site: {program} --help lists no commands")

    def ask(self, *words):
        return subprocess.run([str(self.program), *words, "--help"], capture_output=True, encoding="utf-8", check=True).stdout

    def options(self, command):
        return set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", self.commands[command]))

    def page(self):
        # one heading for each command; its options as a table
        out = []
        for name, text in self.commands.items():
            anchor = f"pliant-{name}"
            self.headings.append((2, f"pliant {name}", anchor))
            out.append(f'<h2 id="{anchor}"><code>pliant {name}</code></h2>')
            example, rest = [], []
            rows = []
            for line in text.strip().split("\n"):
                option = re.match(r"^  (-.*?)(?:\s{2,}|(?<=\S)\s(?=\S+$))(.*)$", line)
                if line.startswith("Example:"):
                    example.append(line.removeprefix("Example:").strip())
                elif option:
                    rows.append(f"<tr><td><code>{html.escape(option.group(1))}</code></td><td>{html.escape(option.group(2))}</td></tr>")
                elif line.startswith("Usage:"):
                    rest.append(f"<p>Usage: <code>{html.escape(line.removeprefix('Usage:').strip())}</code></p>")
                elif line.strip():
                    rest.append(f"<p>{html.escape(line.strip())}</p>")
            out += rest
            out.append("<pre><code>" + html.escape("\n".join(example)) + "</code></pre>")
            out.append(f'<div class="table"><table class="options"><tbody>{"".join(rows)}</tbody></table></div>')
        return "\n".join(out)


# ---------------------------------------------------------------- references


ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c", "H": "\u030b", "=": "\u0304"}
LETTERS = {"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "ss": "ß", "i": "i"}


def from_tex(text):
    """Accents, dashes and braces of a .bib value as plain text."""
    text = re.sub(r"\\([\"'`^~=])\s*\{?\\?([A-Za-z])\}?", lambda match: match.group(2) + ACCENTS[match.group(1)], text)
    text = re.sub(r"\\([cvH])(?:\s*\{(\w)\}|\s+(\w))", lambda match: (match.group(2) or match.group(3)) + ACCENTS[match.group(1)], text)
    text = re.sub(r"\\(ae|AE|aa|AA|ss|[oOlLi])(?![A-Za-z])\s*(\{\})?", lambda match: LETTERS[match.group(1)], text)
    text = text.replace("---", "—").replace("--", "–").replace("~", " ").replace("\\&", "&")
    return re.sub(r"\s+", " ", re.sub(r"[{}]", "", text)).strip()


class References:
    """Entries of a .bib file by key, with the line they begin at."""

    def __init__(self, path):
        self.entries = {}
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^@\w+\{([^,\s]+),", text, re.M):
            fields, position = {}, match.end()
            while found := re.compile(r"\s*,?\s*(\w+)\s*=\s*\{").match(text, position):
                depth, position = 1, found.end()
                while depth:
                    depth += {"{": 1, "}": -1}.get(text[position], 0)
                    position += 1
                fields[found.group(1).lower()] = from_tex(text[found.end():position - 1])
            self.entries[match.group(1)] = (text[:match.start()].count("\n") + 1, fields)

    def page(self):
        rows = []
        for key, (_, entry) in sorted(self.entries.items()):
            authors = entry.get("author", "").replace(" and ", "; ").removesuffix(".")
            source = entry.get("journal") or entry.get("booktitle") or entry.get("school") or entry.get("publisher") or \
                entry.get("institution") or entry.get("howpublished") or ""
            volume = entry.get("volume", "") + (f"({entry['number']})" if "number" in entry and "volume" in entry else "")
            parts = [f"<em>{html.escape(source)}</em>"] if source else []
            parts += [html.escape(volume)] if volume else []
            parts += [f"pp. {html.escape(entry['pages'])}"] if "pages" in entry else []
            parts += [html.escape(entry["year"])] if "year" in entry else []
            rows.append(f'<dt id="{html.escape(key)}">{html.escape(key)}</dt><dd>{html.escape(authors)}. '
                        f'<b>{html.escape(entry.get("title", ""))}</b>. {", ".join(parts)}.</dd>')
        return f'<dl class="references">{"".join(rows)}</dl>'
