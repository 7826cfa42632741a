"""Texts to compare: of many scripts, with what tokenizers stumble over, and changed copies of them."""

import random

ENGLISH = """the a of to and in is was for on that with as it be by are from at this have an has not were which one had their but
they his her she he you we there been when who will more would about if no out so said what up its than into them can only other time new
some could these two may first then do any like my now over such our man me even most made after also did many off before must well back
through years where much your way down should because long each just state people those too mr how little good world make very year still
see work life get without between under never day same another know while last might great old come again against right take national
running runs relational conditional happiness generalization organizer operated feudalism decisiveness hopefulness formality sensitivity
electrical adjustable replacement adoption communism activate angular homologous effective controlling rolled skies dying news innings
U.S. e.g. don't it's John's 3.14 1,000 1,000,000.50 2020 2020. 50% $3.50 #1 @home C++ x=y a/b (see) [1] "quoted" 'single' well-known
10-20 5-year pre-2000 A.I. Mr. Dr. ... -- — – ; : ! ? & &amp; &quot; &lt;tag&gt; <skipped> http://example.com/a?b=1 a_b ~5 ^ ` | {x}""".split()

SCRIPTS = {
    "chinese": list("今天天气很好我们去公园玩,他说:“你好!”。《红楼梦》、中国北京大学2024年3.5%") + ["计算机", "机器翻译", "。"],
    "japanese": list("今日はいい天気ですね。カタカナとひらがな、漢字「テスト」・ー") + ["東京タワー", "コンピュータ", "。"],
    "korean": ["안녕하세요", "저는", "학생입니다.", "오늘은", "날씨가", "좋습니다!", "3.5", "서울"],
    "arabic": ["مرحبا", "بالعالم،", "كيف", "حالك؟", "هذا", "اختبار", "١٢٣٫٤", "النص.", "\u200fعربي\u200e"],
    "hindi": ["नमस्ते", "दुनिया।", "यह", "एक", "परीक्षण", "है,", "१२३", "हिन्दी", "भाषा।"],
    "cyrillic": ["Привет", "мир!", "Это", "проверка,", "которая", "ИМЕЕТ", "«кавычки»", "3,5", "г."],
    "greek": ["ΟΔΟΣ", "Καλημέρα", "κόσμε·", "ΣΑΣ", "ΆΣ", "Σ", "τί;", "λόγος", "ΣΊΣΥΦΟΣ."],
    "thai": ["สวัสดี", "ชาวโลก", "นี่คือ", "การทดสอบ", "๑๒๓", "ฯ"],
    "hebrew": ["שלום", "עולם!", "זה", "מבחן", "״ציטוט״", "3.5"],
    "turkish": ["İstanbul", "IŞIK", "ığdır", "\u212aelvin", "ǅ", "straße", "ẞ"],
    "emoji": ["😀", "👍🏽", "👨‍👩‍👧", "❤️", "🇩🇪", "text", "1️⃣", "😀😀"],
    "marks": ["e\u0301te\u0301", "n\u0303", "a\u0308\u0323", "Z\u0351\u036b", "caf\u00e9", "\u0301", "x\u20dd"],
    "symbols": ["€5", "5€", "£3.50", "±1", "×", "≠", "½", "Ⅷ", "²", "№5", "…", "“a”", "‘b’", "a—b", "1–2", "¿qué?", "©", "™"],
}

SPACES = [
    " ", "  ", "\t", "\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\u001c", "\u001f", "\u0085", "\u200b", "\r\n",
    "-\n", "\n-", "\x0b", "\u202f",
]
MARKS = [
    ".", ",", "..", ".,", ",.", "...", "-", "--", "'", "'s", "\"", "(", ")", ":", ";", "!", "?", "&", "/", "1", "23",
    "x", " ", "5.", ".5", "0,0",
]
ODD = [
    "", " ", ".", ",", "-", "a", "1", "1.", ".1", "'s", "the", "A", "an the", "\n", "\u00a0", "\x00", "\x00\x00 a",
    "&", "&amp;", "&amp;lt;", "&lt;", "<skipped>", "a<skipped>b", "<skip<skipped>ped>", "a-\n", "a-\nb", "\n-a",
    "x's", "x's ", "'s's", "。", "你", "😀", "\u0301", "İ", "Σ", "\ufeff", "y", "yy",
]
SUFFIXES = """s es ies ed ied eed ing ational tional enci anci izer abli alli entli eli ousli ization ation ator alism iveness fulness ousness
aliti iviti biliti logi fulli icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate
iti ous ive ize e ll y ly ally ably ingly edly ss sses at bl iz""".split()


def english(generator: random.Random, shortest: int, longest: int) -> str:
    """A sentence of English words, numbers and punctuation."""
    return " ".join(generator.choices(ENGLISH, k=generator.randint(shortest, longest)))


def scripted(generator: random.Random) -> str:
    """A sentence of one or two scripts."""
    words = [word for name in generator.sample(sorted(SCRIPTS), generator.randint(1, 2)) for word in SCRIPTS[name]]
    space = generator.choice(["", " ", " "])
    return space.join(generator.choices(words, k=generator.randint(1, 25)))


def spaced(generator: random.Random) -> str:
    """Words with all kinds of white space between them."""
    words = generator.choices(ENGLISH, k=generator.randint(1, 15))
    return "".join(word + generator.choice(SPACES) for word in words)


def punctuated(generator: random.Random) -> str:
    """Runs of punctuation and digits."""
    return "".join(generator.choices(MARKS, k=generator.randint(1, 30)))


def lines(generator: random.Random) -> str:
    """Several sentences, one on each line."""
    return "\n".join(english(generator, 0, 12) for _ in range(generator.randint(1, 6)))


def repeated(generator: random.Random) -> str:
    """Few words again and again."""
    return " ".join(generator.choices(generator.choices(ENGLISH, k=3), k=generator.randint(1, 30)))


def changed(generator: random.Random, text: str, amount: float) -> str:
    """A copy with words dropped, replaced, doubled and moved."""
    words = text.split(" ")
    for _ in range(round(len(words) * amount)):
        place = generator.randrange(len(words)) if words else 0
        match generator.randrange(6):
            case 0 if words:
                del words[place]
            case 1 if words:
                words[place] = generator.choice(ENGLISH)
            case 2 if words:
                words.insert(place, words[place])
            case 3 if words:
                words[place] = words[place].swapcase()
            case _:
                end = place + generator.randint(1, 6)
                moved, words = words[place:end], words[:place] + words[end:]
                target = generator.randint(0, len(words))
                words[target:target] = moved
    return " ".join(words)


def suffixed(generator: random.Random) -> str:
    """Something like an English word, with up to three suffixes."""
    if generator.random() < 0.3:
        stem = "".join(letter for letter in generator.choice(ENGLISH).lower() if letter in "abcdefghijklmnopqrstuvwxyz0123456789")
    else:
        stem = "".join(generator.choices("abcdefghiklmnoprstuvwyz", k=generator.randint(0, 6)))
    return (stem + "".join(generator.choices(SUFFIXES, k=generator.randint(0, 3)))) or "y"


def pairs(generator: random.Random, count: int) -> list[tuple[str, list[str]]]:
    """Hypotheses with one to three references."""
    makers = [lambda made: english(made, 1, 40), scripted, spaced, punctuated, lines, repeated, lambda made: made.choice(ODD)]
    made = []
    for index in range(count):
        reference = makers[index % len(makers)](generator)
        references = [reference] + [changed(generator, reference, 0.4) for _ in range(generator.choice([0, 0, 1, 2]))]
        if generator.random() < 0.1:
            references.append(generator.choice(ODD))
        hypothesis = changed(generator, reference, 0.5)
        if generator.random() < 0.15:
            hypothesis = generator.choice([reference, generator.choice(ODD), scripted(generator)])
        generator.shuffle(references)
        made.append((hypothesis, references))
    return made
