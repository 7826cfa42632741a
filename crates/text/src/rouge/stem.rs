//! The Porter stemmer (Porter, 1980) with NLTK's changes, which is the one `rouge_score` uses. It is not Porter2.

/// Words with a stem of their own.
const IRREGULAR: [(&[u8], &[u8]); 16] = [
    (b"sky", b"sky"),
    (b"skies", b"sky"),
    (b"dying", b"die"),
    (b"lying", b"lie"),
    (b"tying", b"tie"),
    (b"news", b"news"),
    (b"innings", b"inning"),
    (b"inning", b"inning"),
    (b"outings", b"outing"),
    (b"outing", b"outing"),
    (b"cannings", b"canning"),
    (b"canning", b"canning"),
    (b"howe", b"howe"),
    (b"proceed", b"proceed"),
    (b"exceed", b"exceed"),
    (b"succeed", b"succeed"),
];

/// A suffix, and what takes its place.
type Rule = (&'static [u8], &'static [u8]);

const STEP_2: [Rule; 20] = [
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
];

const STEP_3: [Rule; 7] = [
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const STEP_4: [&[u8]; 19] = [
    b"al", b"ance", b"ence", b"er", b"ic", b"able", b"ible", b"ant", b"ement", b"ment", b"ent",
    b"ion", b"ou", b"ism", b"ate", b"iti", b"ous", b"ive", b"ize",
];

/// Turns a word of small ASCII letters and digits into its stem.
pub(super) fn stem(word: &mut Vec<u8>) {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(irregular, _)| word == irregular) {
        word.clear();
        word.extend_from_slice(stem);
        return;
    }
    if word.len() <= 2 {
        return;
    }
    plural(word);
    past_or_participle(word);
    final_y(word);
    step_2(word);
    let rule = STEP_3.iter().find(|(suffix, _)| word.ends_with(suffix));
    if let Some((suffix, replacement)) = rule {
        replace_if(word, suffix, replacement, |stem| measure(stem) > 0);
    }
    step_4(word);
    final_e(word);
    if word.ends_with(b"ll") && measure(&word[..word.len() - 1]) > 1 {
        word.pop();
    }
}

/// Step 1a: plurals.
fn plural(word: &mut Vec<u8>) {
    if word.ends_with(b"ies") && word.len() == 4 {
        replace(word, b"ies", b"ie");
    } else if word.ends_with(b"sses") {
        replace(word, b"sses", b"ss");
    } else if word.ends_with(b"ies") {
        replace(word, b"ies", b"i");
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        word.pop();
    }
}

/// Step 1b: `-ed` and `-ing`.
fn past_or_participle(word: &mut Vec<u8>) {
    if word.ends_with(b"ied") {
        let replacement: &[u8] = if word.len() == 4 { b"ie" } else { b"i" };
        replace(word, b"ied", replacement);
        return;
    }
    if word.ends_with(b"eed") {
        replace_if(word, b"eed", b"ee", |stem| measure(stem) > 0);
        return;
    }
    let suffixes: [&[u8]; 2] = [b"ed", b"ing"];
    let removable = |suffix: &&&[u8]| {
        word.ends_with(suffix) && contains_vowel(&word[..word.len() - suffix.len()])
    };
    let Some(suffix) = suffixes.iter().find(removable) else { return };
    word.truncate(word.len() - suffix.len());
    let last = word.last().copied().unwrap_or_default();
    if word.ends_with(b"at") || word.ends_with(b"bl") || word.ends_with(b"iz") {
        word.push(b'e');
    } else if ends_with_double_consonant(word) {
        if !matches!(last, b'l' | b's' | b'z') {
            word.pop();
        }
    } else if measure(word) == 1 && ends_with_short_syllable(word) {
        word.push(b'e');
    }
}

/// Step 1c: a final `y` after a consonant that is not the word's first letter.
fn final_y(word: &mut [u8]) {
    let Some((last @ b'y', stem)) = word.split_last_mut() else { return };
    if stem.len() > 1 && is_consonant(stem, stem.len() - 1) {
        *last = b'i';
    }
}

/// Step 2: double suffixes.
fn step_2(word: &mut Vec<u8>) {
    while word.ends_with(b"alli") && measure(&word[..word.len() - 4]) > 0 {
        replace(word, b"alli", b"al");
    }
    if let Some((suffix, replacement)) = STEP_2.iter().find(|(suffix, _)| word.ends_with(suffix)) {
        replace_if(word, suffix, replacement, |stem| measure(stem) > 0);
    } else if word.ends_with(b"fulli") {
        replace_if(word, b"fulli", b"ful", |stem| measure(stem) > 0);
    } else if word.ends_with(b"logi") && measure(&word[..word.len() - 3]) > 0 {
        word.pop();
    }
}

/// Step 4: single suffixes of longer words.
fn step_4(word: &mut Vec<u8>) {
    let Some(suffix) = STEP_4.iter().find(|suffix| word.ends_with(suffix)) else { return };
    replace_if(word, suffix, b"", |stem| {
        measure(stem) > 1 && (*suffix != b"ion" || stem.ends_with(b"s") || stem.ends_with(b"t"))
    });
}

/// Step 5a: a final `e`.
fn final_e(word: &mut Vec<u8>) {
    let Some((b'e', stem)) = word.split_last() else { return };
    let measure = measure(stem);
    if measure > 1 || measure == 1 && !ends_with_short_syllable(stem) {
        word.pop();
    }
}

fn replace(word: &mut Vec<u8>, suffix: &[u8], replacement: &[u8]) {
    word.truncate(word.len() - suffix.len());
    word.extend_from_slice(replacement);
}

fn replace_if(
    word: &mut Vec<u8>,
    suffix: &[u8],
    replacement: &[u8],
    condition: impl Fn(&[u8]) -> bool,
) {
    if condition(&word[..word.len() - suffix.len()]) {
        replace(word, suffix, replacement);
    }
}

/// For each letter whether it is a consonant: no vowel, and a `y` only where no consonant comes before it.
fn consonants(word: &[u8]) -> impl Iterator<Item = bool> {
    let mut before = false;
    word.iter().map(move |letter| {
        before = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !before,
            _ => true,
        };
        before
    })
}

fn is_consonant(word: &[u8], index: usize) -> bool {
    consonants(&word[..=index]).last().unwrap_or(true)
}

/// How often a vowel is followed by a consonant.
fn measure(stem: &[u8]) -> usize {
    let mut vowel_before = false;
    consonants(stem)
        .filter(|&consonant| std::mem::replace(&mut vowel_before, !consonant) && consonant)
        .count()
}

fn contains_vowel(stem: &[u8]) -> bool {
    consonants(stem).any(|consonant| !consonant)
}

fn ends_with_double_consonant(word: &[u8]) -> bool {
    let length = word.len();
    length >= 2 && word[length - 1] == word[length - 2] && is_consonant(word, length - 1)
}

/// Consonant, vowel and consonant other than `w`, `x` and `y` at the end; or a whole word of a vowel and a consonant.
fn ends_with_short_syllable(word: &[u8]) -> bool {
    let length = word.len();
    if length == 2 {
        return !is_consonant(word, 0) && is_consonant(word, 1);
    }
    length >= 3
        && is_consonant(word, length - 3)
        && !is_consonant(word, length - 2)
        && is_consonant(word, length - 1)
        && !matches!(word[length - 1], b'w' | b'x' | b'y')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_nltk() {
        for line in crate::reference::lines("stems") {
            for (word, expected) in line["stems"].as_object().unwrap() {
                let mut bytes = word.as_bytes().to_vec();
                stem(&mut bytes);
                assert_eq!(String::from_utf8_lossy(&bytes), expected.as_str().unwrap(), "{word}");
            }
        }
    }
}
