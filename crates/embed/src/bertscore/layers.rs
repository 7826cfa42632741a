//! The layers whose values agree best with people, as Zhang et al. (2020) and the `bert-score` library tuned them on
//! the data of WMT16, for the models built like BERT or RoBERTa.

/// Names without the organization before the slash, in the order of the alphabet.
const TUNED: &[(&str, usize)] = &[
    ("bert-base-cased-finetuned-mrpc", 9),
    ("bert-base-chinese", 8),
    ("bert-base-multilingual-cased", 9),
    ("bert-base-turkish-cased", 10),
    ("bert-base-uncased", 9),
    ("bert-large-uncased", 18),
    ("bert_uncased_L-10_H-128_A-2", 8),
    ("bert_uncased_L-10_H-256_A-4", 8),
    ("bert_uncased_L-10_H-512_A-8", 9),
    ("bert_uncased_L-10_H-768_A-12", 8),
    ("bert_uncased_L-12_H-128_A-2", 10),
    ("bert_uncased_L-12_H-256_A-4", 11),
    ("bert_uncased_L-12_H-512_A-8", 10),
    ("bert_uncased_L-12_H-768_A-12", 9),
    ("bert_uncased_L-2_H-128_A-2", 1),
    ("bert_uncased_L-2_H-256_A-4", 1),
    ("bert_uncased_L-2_H-512_A-8", 1),
    ("bert_uncased_L-2_H-768_A-12", 2),
    ("bert_uncased_L-4_H-128_A-2", 3),
    ("bert_uncased_L-4_H-256_A-4", 3),
    ("bert_uncased_L-4_H-512_A-8", 3),
    ("bert_uncased_L-4_H-768_A-12", 3),
    ("bert_uncased_L-6_H-128_A-2", 5),
    ("bert_uncased_L-6_H-256_A-4", 5),
    ("bert_uncased_L-6_H-512_A-8", 5),
    ("bert_uncased_L-6_H-768_A-12", 5),
    ("bert_uncased_L-8_H-128_A-2", 7),
    ("bert_uncased_L-8_H-256_A-4", 7),
    ("bert_uncased_L-8_H-512_A-8", 6),
    ("bert_uncased_L-8_H-768_A-12", 7),
    ("distilroberta-base", 5),
    ("finbert", 10),
    ("roberta-base", 10),
    ("roberta-base-openai-detector", 7),
    ("roberta-large", 17),
    ("roberta-large-mnli", 19),
    ("roberta-large-openai-detector", 15),
    ("scibert_basevocab_uncased", 9),
    ("scibert_scivocab_cased", 9),
    ("scibert_scivocab_uncased", 8),
    ("spanbert-base-cased", 8),
    ("spanbert-large-cased", 17),
    ("sup-simcse-bert-base-uncased", 10),
    ("sup-simcse-bert-large-uncased", 18),
    ("sup-simcse-roberta-base", 10),
    ("sup-simcse-roberta-large", 16),
    ("unsup-simcse-bert-base-uncased", 10),
    ("unsup-simcse-bert-large-uncased", 18),
    ("unsup-simcse-roberta-base", 8),
    ("unsup-simcse-roberta-large", 13),
    ("xlm-roberta-base", 9),
    ("xlm-roberta-large", 17),
];

/// The layer tuned for a model of this name, with or without its organization: `FacebookAI/roberta-large`.
pub(super) fn tuned(name: &str) -> Option<usize> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let place = TUNED.binary_search_by_key(&name, |(name, _)| *name).ok()?;
    TUNED.get(place).map(|(_, layer)| *layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_whoever_publishes_it() {
        assert!(TUNED.is_sorted());
        for (name, layer) in TUNED {
            assert_eq!(tuned(name), Some(*layer));
            assert_eq!(tuned(&format!("someone/{name}")), Some(*layer));
        }
        assert_eq!(tuned("roberta"), None);
        assert_eq!(tuned(""), None);
    }
}
