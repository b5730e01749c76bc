#!/usr/bin/env python3
"""Tests of the program that makes the pages a site: tools/site and tools/docs."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/docs"))
import markdown  # noqa: E402
import mathml  # noqa: E402
import reference  # noqa: E402
import site_pages  # noqa: E402

SCHEMA = """{ "description": "A scene.", "type": "object", "required": ["pliant"],
  "properties": { "pliant": { "const": 1, "description": "Version." }, "rate": { "type": "number", "minimum": 1, "maximum": 10000, "default": 1000, "description": "[Hz]" },
                  "pose": { "$ref": "#/$defs/pose" } },
  "$defs": { "pose": { "type": "object", "description": "Where it is.", "properties": { "position": { "type": "array", "description": "[m]", "items": { "type": "number" } },
      "turn": { "type": "object", "description": "About z.", "required": ["degrees"], "properties": { "degrees": { "type": "number", "description": "[°]", "minimum": 0, "exclusiveMaximum": 360.0 } } } } } } }"""
BIB = "@article{Loop1987,\n  author = {M{\\\"u}ller and Barbi{\\v c}}, title = {{A} title},\n  year = {1987}}\n"
INDEX = "# Home\n\n## Guide\n\n- [One](guide/one.md)\n\n## Modules\n\n- [two](two.md)\n\n## Reference\n\n- [scenes](scene.schema.json)\n"


def html_of(text, **options):
    return markdown.Renderer(**options).render(text)[1]


def make_site(test, **pages):
    """A site of a folder with these pages beside one.md and two.md."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    root = Path(folder.name)
    files = {"index.md": INDEX, "guide/one.md": "# One\n", "two.md": "# Two\n\n## Part A\n\n    a = b      (3)\n",
             "scene-reference.md": "# Scenes\n\n<!-- generated: scene -->\n", "references.md": "# Literature\n\n<!-- generated: references -->\n",
             "scene.schema.json": SCHEMA, "references.bib": BIB}
    files.update({name.replace("__", "/") + ".md": text for name, text in pages.items()})
    for name, text in files.items():
        path = root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return site_pages.Site(root)


def dead_addresses(folder):
    """What pages of a written site lead to without its being there."""
    pages = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    dead = []
    for path, text in pages.items():
        for address in re.findall(r'(?:href|src)="([^"]+)"', text):
            file, _, anchor = address.partition("#")
            target = (path.parent / file).resolve() if file else path.resolve()
            if not address.startswith("http") and not (target.exists() and (not anchor or f'id="{anchor}"' in target.read_text(encoding="utf-8"))):
                dead.append((path.name, address))
    return dead


class Markdown(unittest.TestCase):
    def test_paragraphs_lists_and_nested_lists(self):
        self.assertEqual(html_of("a\nb\n\nc"), "<p>a\nb</p>\n<p>c</p>")
        self.assertEqual(re.sub(r"\s", "", html_of("- a\n- b\n  - c\n")), "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>")
        self.assertIn('<ol start="3">', html_of("3. a\n4. b\n"))

    def test_marks_do_not_touch_code_and_identifiers(self):
        self.assertEqual(html_of("`a*b*` x_i and y_i, 2 * 3 * 4, *em* **strong** <b>"),
                         "<p><code>a*b*</code> x_i and y_i, 2 * 3 * 4, <em>em</em> <strong>strong</strong> &lt;b&gt;</p>")

    def test_tables_split_at_bars_that_are_not_escaped(self):
        table = html_of("| a | b |\n| --- | ---: |\n| `x\\|y` | 2 |\n")
        self.assertIn("<td><code>x|y</code></td>", table)
        self.assertIn('<td style="text-align: right">2</td>', table)
        page, _ = markdown.Renderer().render("| a | b |\n| --- | --- |\n| `x|y` | 2 |\n")
        self.assertEqual(page.errors[0][0], 3)

    def test_equations_keep_their_numbers_at_the_side(self):
        page, html = markdown.Renderer().render("    f = k x             (H1)\n      + c v\n")
        self.assertEqual(page.equations, ["H1"])
        self.assertIn("<span>f = k x</span><span>(H1)</span>", html)

    def test_anchors_are_those_of_github(self):
        page, _ = markdown.Renderer().render("# A\n## Green's functions: `x_i`\n## Limits\n## Limits\n")
        self.assertEqual([heading.anchor for heading in page.headings], ["a", "greens-functions-x_i", "limits", "limits-1"])

    def test_links_know_their_line(self):
        page, html = markdown.Renderer().render("a\nb [c `d`](e.md) ![f](g.png)\n")
        self.assertEqual([(link.line, link.target, link.is_picture) for link in page.links],
                         [(2, "e.md", False), (2, "g.png", True)])
        self.assertIn('<a href="e.md">c <code>d</code></a>', html)

    def test_code_without_an_end_is_an_error(self):
        page, _ = markdown.Renderer().render("a\n\n```\ncode\n")
        self.assertEqual(page.errors, [(3, "code that begins here has no end")])


class Mathematics(unittest.TestCase):
    def test_fractions_scripts_and_numbers(self):
        math, tag = mathml.formula(r"x_i^2 = \tfrac12 \sum_{k=1}^n \hat u_k \qquad (5)", True)
        self.assertEqual(tag, "5")
        self.assertIn("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", math)
        self.assertIn("<mfrac><mn>1</mn><mn>2</mn></mfrac>", math)
        self.assertIn("<munderover><mo>∑</mo>", math)
        self.assertEqual(mathml.formula(r"a \tag{7}", True)[1], "7")

    def test_bars_are_single_unless_written_double(self):
        self.assertIn('<mo stretchy="true">|</mo>', mathml.formula(r"\left| x \right|", False)[0])
        self.assertIn('<mo stretchy="true">‖</mo>', mathml.formula(r"\left\| x \right\|", False)[0])

    def test_wide_spaces_separate_formulas_that_may_stand_below_one_another(self):
        self.assertEqual(mathml.formula(r"a = b, \qquad c = d \qquad (1)", True)[0].count("<math"), 2)

    def test_what_is_not_known_is_named_with_its_line(self):
        page, _ = markdown.Renderer().render("a\n\n$$ \\frobnicate x $$\n")
        self.assertEqual(page.errors[0][0], 3)
        self.assertIn("\\frobnicate is not known", page.errors[0][1])

    def test_dollars_of_shells_are_no_mathematics(self):
        self.assertNotIn("<math", html_of("`$XDG_CACHE_HOME/x` costs 5$ or 6$"))


class Links(unittest.TestCase):
    def test_pages_that_are_right_have_no_errors(self):
        site = make_site(self, guide__one="# One\n[a](../two.md#part-a) [b](../two.md) eq. (3), [Loop1987], `docs/two.md`, [s](../scene-reference.md#pose)\n")
        self.assertEqual(site.errors, [])
        self.assertIn('href="../two.html#part-a"', site.bodies["docs/guide/one.md"])
        self.assertIn('href="../references.html#Loop1987"', site.bodies["docs/guide/one.md"])

    def test_what_is_broken_is_named_with_file_and_line(self):
        for text, expected in (
                ("[a](three.md)", "broken link three.md: no such file"),
                ("[a](../two.md#part-b)", "broken link ../two.md#part-b: docs/two.md has no heading #part-b"),
                ("[a](#nowhere)", "broken link #nowhere: docs/guide/one.md has no heading #nowhere"),
                ("![a](no.png)", "broken picture no.png: no such file"),
                ("[a](../../../x.md)", "broken link ../../../x.md: outside of the repository"),
                ("[b](../two.md) eq. (4)", "../two.md has no equation (4)"),
                ("[Nobody2001]", "[Nobody2001] is not in docs/references.bib"),
                ("`src/nothing.cpp`", "`src/nothing.cpp`: no such file in the repository")):
            site = make_site(self, guide__one=f"# One\n\n{text}\n")
            self.assertEqual(site.errors, [("docs/guide/one.md", 3, expected)], text)

    def test_commands_and_options_must_exist(self):
        site = make_site(self)
        site.commands = type("Commands", (), {"commands": {"run": ""}, "options": lambda self, name: {"--headless", "-o"}})()
        page, _ = markdown.Renderer().render("`pliant run x --headless -o y`\n\n```\n$ pliant run x --heedless\n$ pliant walk\n```\n")
        site.check_commands("p.md", page)
        self.assertEqual(site.errors, [("p.md", 4, "`$ pliant run x --heedless`: pliant run has no option --heedless"),
                                       ("p.md", 5, "`$ pliant walk`: there is no command pliant walk")])


class Contents(unittest.TestCase):
    def test_pages_that_nobody_lists_are_found_all_the_same(self):
        site = make_site(self, three="# Three\n", guide__four="# Four\n")
        self.assertEqual(site.errors, [])
        self.assertEqual([(title, [entry.label for entry in entries]) for title, entries in site.navigation],
                         [("Guide", ["One", "Four"]), ("Modules", ["two", "Literature", "Three"]), ("Reference", ["scenes"])])

    def test_scene_keys_have_type_range_default_and_meaning(self):
        body = make_site(self).bodies["docs/scene-reference.md"]
        self.assertIn("<td><code>rate</code></td><td>number, 1 … 10,000</td><td><code>1000</code></td><td>[Hz]</td>", body)
        self.assertIn('<a href="#pose">pose</a>', body)
        self.assertIn('id="pose"', body)
        self.assertIn("<td><code>turn.degrees</code></td><td>number, ≥ 0, &lt; 360</td><td>needed</td>", body)

    def test_keys_of_scenes_without_a_meaning_are_refused(self):
        site = make_site(self)
        self.assertEqual(list(site.scene.undescribed()), [])
        path = site.root / "docs/scene.schema.json"
        path.write_text(SCHEMA.replace('"description": "[°]", ', "").replace('"description": "[Hz]"', '"title": "Hz"'), encoding="utf-8")
        self.assertEqual([(name, text) for name, _, text in site_pages.Site(site.root).errors],
                         [("docs/scene.schema.json", "rate has no description"),
                          ("docs/scene.schema.json", "pose.turn.degrees has no description")])

    def test_references_are_read_with_their_accents(self):
        body = make_site(self).bodies["docs/references.md"]
        self.assertIn("Mu\u0308ller; Barbic\u030c. <b>A title</b>. 1987.", body)

    def test_every_page_is_written(self):
        site = make_site(self)
        with tempfile.TemporaryDirectory() as folder:
            site.write(Path(folder) / "site")
            written = {path.relative_to(folder).as_posix() for path in Path(folder).rglob("*.*")}
            self.assertEqual(dead_addresses(Path(folder)), [])
        self.assertEqual(written, {"site/index.html", "site/guide/one.html", "site/two.html", "site/scene-reference.html",
                                   "site/references.html", "site/style.css"})


if __name__ == "__main__":
    unittest.main()
