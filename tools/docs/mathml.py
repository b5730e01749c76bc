"""The part of TeX's mathematics that the pages use, as MathML, which browsers draw by themselves."""
import html
import re

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "infty": "∞", "partial": "∂",
    "nabla": "∇", "ell": "ℓ",
}
OPERATORS = {
    "cdot": "·", "times": "×", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠",
    "approx": "≈", "equiv": "≡", "in": "∈", "ni": "∋", "leftarrow": "←", "rightarrow": "→", "to": "→", "mapsto": "↦",
    "parallel": "∥", "propto": "∝", "sim": "∼", "ll": "≪", "gg": "≫", "cup": "∪", "cap": "∩", "subset": "⊂",
    "dots": "…", "ldots": "…", "cdots": "⋯", "otimes": "⊗", "circ": "∘", "mid": "|", "colon": ":", "forall": "∀",
}
LARGE = {"sum": "∑", "prod": "∏", "int": "∫"}
FENCES = {
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩", "lVert": "‖", "rVert": "‖",
    "|": "‖", "{": "{", "}": "}",
}
FUNCTIONS = {"sin", "cos", "tan", "exp", "log", "ln", "det", "min", "max", "arg", "dim"}
SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", ":": "0.22em", " ": "0.3em", "!": "-0.17em"}
ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~", "vec": "→", "dot": "˙", "ddot": "¨", "overline": "¯"}
FONTS = {"mathrm": "normal", "operatorname": "normal", "mathsf": "sans-serif", "mathbf": "bold", "mathit": "italic"}
SIZES = {"bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "big", "Big"}

TOKEN = re.compile(r"\\([A-Za-z]+|.)|\s+|([0-9]+(?:\.[0-9]+)?)|(.)", re.S)


class MathError(ValueError):
    pass


def tokens(text):
    """Pairs of kind (command, number, character) and text; spaces are dropped but in \\text{}."""
    found = []
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        position = match.end()
        command, number, character = match.groups()
        if command in ("text", "tag"):
            words = re.compile(r"\s*\{([^{}]*)\}").match(text, position)
            if not words:
                raise MathError(f"\\{command} needs words in braces")
            position = words.end()
            found.append((command, words.group(1)))
        elif command is not None:
            found.append(("command", command))
        elif number is not None:
            found.append(("number", number))
        elif character is not None:
            found.append(("character", character))
    return found


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.position = 0
        self.tag = ""

    def peek(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else (None, None)

    def take(self):
        token = self.peek()
        self.position += 1
        return token

    def row(self, *ends):
        """Everything up to one of the tokens `ends`, which is taken, too."""
        parts = []
        while self.peek() not in ends:
            if self.peek()[0] is None:
                raise MathError(f"{ends[0][1]!r} is missing")
            parts.append(self.scripted())
        self.position += 1
        return "<mrow>" + "".join(parts) + "</mrow>"

    def scripted(self):
        """One thing with what is below and above it."""
        is_large = self.peek()[1] in LARGE or self.peek()[1] in ("min", "max")
        base = self.single()
        below = above = None
        while self.peek() in (("character", "_"), ("character", "^")):
            if self.take()[1] == "_":
                below = self.argument()
            else:
                above = self.argument()
        while self.peek() == ("character", "'"):
            self.take()
            above = "<mo>′</mo>"
        kind = ("munder", "mover", "munderover") if is_large else ("msub", "msup", "msubsup")
        if below and above:
            return f"<{kind[2]}>{base}{below}{above}</{kind[2]}>"
        if below:
            return f"<{kind[0]}>{base}{below}</{kind[0]}>"
        if above:
            return f"<{kind[1]}>{base}{above}</{kind[1]}>"
        return base

    def argument(self):
        """In braces, or the next sign: TeX reads \\tfrac12 as one half."""
        kind, text = self.peek()
        if kind == "number" and len(text) > 1 and "." not in text:
            self.tokens[self.position:self.position + 1] = [("number", digit) for digit in text]
        return self.single()

    def fence(self):
        """The sign after \\left, \\right and \\bigl."""
        kind, text = self.take()
        if kind is None:
            raise MathError("a bracket is missing at the end")
        return FENCES.get(text, text) if kind == "command" else text

    def words(self):
        """The letters of a group in braces, or one letter."""
        first = self.take()
        if first != ("character", "{"):
            return first[1] or ""
        name = ""
        while self.peek() != ("character", "}"):
            if self.peek()[0] is None:
                raise MathError("'}' is missing")
            name += self.take()[1]
        self.take()
        return name

    def single(self):
        kind, text = self.take()
        if kind is None:
            raise MathError("something is missing at the end")
        if kind == "number":
            return f"<mn>{text}</mn>"
        if kind == "text":
            return f"<mtext>{html.escape(text).replace(' ', '&nbsp;')}</mtext>"
        if kind == "tag":
            self.tag = text
            return ""
        if kind == "command":
            return self.command(text)
        if text == "{":
            return self.row(("character", "}"))
        if text == "}":
            raise MathError("'}' without '{'")
        if text.isalpha():
            return f"<mi>{text}</mi>"
        if text in "()[]":
            return f'<mo stretchy="false">{text}</mo>'
        if text in "|/":
            return f'<mo stretchy="false" lspace="0" rspace="0">{text}</mo>'
        return f"<mo>{html.escape('−' if text == '-' else text)}</mo>"

    def command(self, name):
        if name in SYMBOLS:
            return f"<mi>{SYMBOLS[name]}</mi>"
        if name in OPERATORS:
            return f"<mo>{OPERATORS[name]}</mo>"
        if name in LARGE:
            return f"<mo>{LARGE[name]}</mo>"
        if name in FENCES:
            return f'<mo stretchy="false">{FENCES[name]}</mo>'
        if name in FUNCTIONS:
            space = "" if name in ("min", "max") else '<mspace width="0.17em"/>'
            return f"<mrow><mi>{name}</mi>{space}</mrow>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name in FONTS:
            return f'<mi mathvariant="{FONTS[name]}">{html.escape(self.words())}</mi>'
        if name in ("frac", "tfrac", "dfrac"):
            fraction = f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
            return f'<mstyle displaystyle="false" scriptlevel="0">{fraction}</mstyle>' if name == "tfrac" else fraction
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name == "mathrel":
            return self.argument()
        if name == "textstyle":
            return ""
        if name in SIZES:
            fence = self.fence()
            size = "1.6em" if name[0] == "B" else "1.2em"
            return f'<mo stretchy="true" minsize="{size}" maxsize="{size}">{html.escape(fence)}</mo>'
        if name == "left":
            opening = self.fence()
            inner = self.row(("command", "right"))
            closing = self.fence()
            fence = lambda sign: "" if sign == "." else f'<mo stretchy="true">{html.escape(sign)}</mo>'
            return f"<mrow>{fence(opening)}{inner}{fence(closing)}</mrow>"
        if name == "begin":
            return self.table(self.words())
        raise MathError(f"\\{name} is not known to tools/docs/mathml.py")

    def table(self, kind):
        if kind not in ("aligned", "cases", "pmatrix", "bmatrix", "matrix"):
            raise MathError(f"\\begin{{{kind}}} is not known to tools/docs/mathml.py")
        rows, cell = [[]], []
        while True:
            token = self.peek()
            if token[0] is None:
                raise MathError(f"\\end{{{kind}}} is missing")
            if token in (("character", "&"), ("command", "\\")) or token == ("command", "end"):
                self.take()
                rows[-1].append("<mtd>" + "".join(cell) + "</mtd>")
                cell = []
                if token[1] == "\\":
                    rows.append([])
                if token[1] == "end":
                    self.words()
                    break
            else:
                cell.append(self.scripted())
        body = "".join("<mtr>" + "".join(row) + "</mtr>" for row in rows)
        style = ' displaystyle="true" class="aligned"' if kind == "aligned" else ""
        fences = {"pmatrix": "()", "bmatrix": "[]", "cases": "{"}.get(kind, "")
        fence = lambda sign: f'<mo stretchy="true">{sign}</mo>' if sign else ""
        return f"<mrow>{fence(fences[:1])}<mtable{style}>{body}</mtable>{fence(fences[1:])}</mrow>"


def formula(text, is_display):
    """MathML and the number of the equation, which is \\tag{1} or (1) after a wide space at the end.

    What wide spaces separate becomes formulas of their own, which narrow pages put below one another."""
    tag = ""
    number = re.search(r"\\qquad\s*\(([A-Z]?\d+[a-z]?)\)\s*$", text)
    if is_display and number:
        tag, text = number.group(1), text[:number.start()]
    parser = Parser(text)
    formulas = [[]]
    while parser.peek()[0] is not None:
        if is_display and parser.peek() == ("command", "qquad"):
            parser.take()
            formulas.append([])
        else:
            formulas[-1].append(parser.scripted())
    style = ' displaystyle="true"' if is_display else ""
    maths = [f"<math{style}><mrow>{''.join(parts)}</mrow></math>" for parts in formulas if parts]
    return "\n".join(maths), parser.tag or tag
