//! Closed lists of what makes no difference, in English. A pair is here when no sensible judge would grade the two
//! otherwise, in any sentence: "since" is no "because" in "since 1990", and "few" is not "a few".

/// Words that make a text English.
pub(super) const ENGLISH: &[&str] = &[
    "the", "is", "are", "was", "were", "of", "and", "to", "it", "this", "that", "for", "with",
    "has", "have", "you", "not", "be", "by", "from", "they", "we", "he", "she", "its", "their",
    "will", "can", "does", "did", "should", "would", "there", "which", "because", "when", "than",
    "at", "my", "your",
];

/// Words that make it another language; none is an English word that is often used.
pub(super) const OTHER_LANGUAGES: &[&str] = &[
    "der", "das", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "le", "la", "les", "et",
    "est", "une", "des", "dans", "el", "los", "las", "una", "que", "il", "che", "di", "della",
    "een", "het", "och", "att", "não", "em", "uma", "nie", "jest", "bir",
];

/// Said before the answer and no part of it, when a comma or an exclamation mark follows.
pub(super) const OPENINGS: &[&[&str]] = &[
    &["sure"],
    &["sure", "thing"],
    &["certainly"],
    &["of", "course"],
    &["indeed"],
    &["well"],
    &["okay"],
    &["ok"],
    &["basically"],
    &["in", "short"],
    &["in", "summary"],
    &["to", "summarize"],
    &["simply", "put"],
];

/// Words that link a sentence to the one before, when a comma follows: the comma may be missing.
pub(super) const LINKS: &[&str] = &["therefore", "also", "however"];

/// Words before a comma that may be missing: "tea, and cake".
pub(super) const JOINING: &[&str] = &["and", "or"];

/// Words before which "the" is more than an article: "the few", "the most", "in the case of".
pub(super) const AFTER_THE: &[&str] = &[
    "case", "few", "little", "less", "more", "most", "one", "only", "other", "others", "question",
    "rest", "same", "the", "way", "who",
];

/// Words of one or two letters that begin sentences, and are no names or units when they do.
pub(super) const SHORT: &[&str] = &[
    "a", "an", "as", "at", "by", "do", "he", "if", "in", "is", "it", "me", "my", "no", "of", "on",
    "or", "so", "to", "up", "we",
];

/// Phrases that are said otherwise: what is written, and what it is read as. Longer ones first.
pub(super) const PHRASES: &[(&[&str], &[&str])] = &[
    (&["due", "to", "the", "fact", "that"], &["because"]),
    (&["in", "order", "to"], &["to"]),
    (&["as", "a", "result", ","], &["therefore", ","]),
    (&["in", "addition", ","], &["also", ","]),
    (&["for", "instance"], &["for", "example"]),
    (&["a", "lot", "of"], &["lots", "of"]),
];

/// Words that are read as another.
pub(super) const WORDS: &[(&str, &str)] = &[
    ("an", "a"),
    ("thus", "therefore"),
    ("hence", "therefore"),
    ("consequently", "therefore"),
    ("begin", "start"),
    ("begins", "starts"),
    ("began", "started"),
    ("big", "large"),
    ("bigger", "larger"),
    ("biggest", "largest"),
    ("quick", "fast"),
    ("quicker", "faster"),
    ("quickest", "fastest"),
    ("utilise", "use"),
    ("utilize", "use"),
    ("utilises", "uses"),
    ("utilizes", "uses"),
    ("utilised", "used"),
    ("utilized", "used"),
    ("utilising", "using"),
    ("utilizing", "using"),
    ("assist", "help"),
    ("assists", "helps"),
    ("nearly", "almost"),
    ("perhaps", "maybe"),
    ("whilst", "while"),
    ("amongst", "among"),
    ("towards", "toward"),
    ("colour", "color"),
    ("colours", "colors"),
    ("grey", "gray"),
    ("centre", "center"),
    ("favourite", "favorite"),
    ("behaviour", "behavior"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("organise", "organize"),
    ("organised", "organized"),
    ("recognise", "recognize"),
    ("recognised", "recognized"),
    ("analyse", "analyze"),
    ("analysed", "analyzed"),
    ("travelled", "traveled"),
    ("travelling", "traveling"),
    ("okay", "ok"),
];

/// The same at the beginning of a sentence, when a comma follows.
pub(super) const LINKING_WORDS: &[(&str, &str)] = &[
    ("so", "therefore"),
    ("additionally", "also"),
    ("moreover", "also"),
    ("furthermore", "also"),
    ("nevertheless", "however"),
];

/// The same before a number.
pub(super) const BEFORE_NUMBERS: &[(&[&str], &str)] = &[
    (&["is", "equal", "to"], "is"),
    (&["equals"], "is"),
    (&["approximately"], "about"),
    (&["roughly"], "about"),
];

/// Contractions that stand for one thing only, and "'s" as "is": "it has" is then another text.
pub(super) const CONTRACTIONS: &[(&str, &[&str])] = &[
    ("cannot", &["can", "not"]),
    ("can't", &["can", "not"]),
    ("won't", &["will", "not"]),
    ("shan't", &["shall", "not"]),
    ("don't", &["do", "not"]),
    ("doesn't", &["does", "not"]),
    ("didn't", &["did", "not"]),
    ("isn't", &["is", "not"]),
    ("aren't", &["are", "not"]),
    ("wasn't", &["was", "not"]),
    ("weren't", &["were", "not"]),
    ("hasn't", &["has", "not"]),
    ("haven't", &["have", "not"]),
    ("hadn't", &["had", "not"]),
    ("couldn't", &["could", "not"]),
    ("wouldn't", &["would", "not"]),
    ("shouldn't", &["should", "not"]),
    ("mustn't", &["must", "not"]),
    ("needn't", &["need", "not"]),
    ("it's", &["it", "is"]),
    ("that's", &["that", "is"]),
    ("there's", &["there", "is"]),
    ("here's", &["here", "is"]),
    ("what's", &["what", "is"]),
    ("he's", &["he", "is"]),
    ("she's", &["she", "is"]),
    ("i'm", &["I", "am"]),
    ("you're", &["you", "are"]),
    ("we're", &["we", "are"]),
    ("they're", &["they", "are"]),
    ("i've", &["I", "have"]),
    ("you've", &["you", "have"]),
    ("we've", &["we", "have"]),
    ("they've", &["they", "have"]),
    ("i'll", &["I", "will"]),
    ("you'll", &["you", "will"]),
    ("we'll", &["we", "will"]),
    ("they'll", &["they", "will"]),
    ("it'll", &["it", "will"]),
    ("let's", &["let", "us"]),
];

/// Numbers that are words; "one" is often no number.
pub(super) const NUMBERS: &[(&str, &str)] = &[
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
];

/// Words that turn a sentence into its opposite: named as such where they differ.
pub(super) const NEGATIONS: &[&str] =
    &["not", "no", "never", "none", "nothing", "nobody", "neither", "nor", "without", "cannot"];
