//! What is refused, and how.

use super::*;

#[test]
fn what_cannot_be_meant_is_refused_with_a_hint() {
    let (one, other) = (column(&A), column(&B));
    let days = with_looks(4, 10, 0.0);
    let wrong_role = AbOptions {
        columns: vec![("score".to_owned(), "value".to_owned())],
        ..AbOptions::default()
    };
    for (control, treatment, options, expected) in [
        (&one, &other, AbOptions { alpha: 0.0, ..AbOptions::default() }, "alpha is 0"),
        (&one, &other, AbOptions { expected_share: 1.5, ..AbOptions::default() }, "share is 1.5"),
        (&one, &other, wrong_role, "no role `score`"),
        (&one, &other, sequential(SequentialKind::Pocock), "how many looks are planned"),
        (&days, &other, AbOptions::default(), "only one of the files"),
        (
            &days,
            &days,
            AbOptions { planned_looks: Some(3), ..sequential(SequentialKind::Pocock) },
            "3 looks are planned, and the data have 4",
        ),
        (
            &days,
            &days,
            AbOptions { planned_units: Some(50), ..sequential(SequentialKind::Spending) },
            "50 units are planned, and look `3` has 60",
        ),
    ] {
        let error = compared(control, treatment, &options).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()));
    }
    for (text, expected) in [
        ("", "empty"),
        ("value\n", "no rows"),
        ("value\n1\nx\n", ":3: `value`: `x` is not a finite number"),
        ("score\n1\n", "value"),
    ] {
        let error = compared(&one, text, &AbOptions::default()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let three = file("variant,value\na,1\nb,2\nc,3\n");
    let input = AbInput::Variants { file: three.path().to_owned(), control: "a".to_owned() };
    let error = ab(&input, &AbOptions::default()).unwrap_err();
    assert!(error.to_string().contains(":4: `variant`: there are 3 variants"), "{error}");
}

#[test]
fn options_that_would_not_be_used_are_refused_by_name() {
    let (one, other) = (column(&A), column(&B));
    let days = with_looks(4, 10, 0.0);
    let plain = AbOptions::default;
    let anytime = || sequential(SequentialKind::ConfidenceSequence);
    for (rows, options, flags) in [
        (
            &one,
            AbOptions { prior: Some(AbPrior::Weak), ..plain() },
            ["--prior", "--method bayesian"],
        ),
        (&one, AbOptions { looks: Some(3), ..plain() }, ["--looks", "--method sequential"]),
        (
            &one,
            AbOptions { sequential: Some(SequentialKind::Pocock), ..plain() },
            ["--sequential", "--method sequential"],
        ),
        (
            &one,
            AbOptions { planned_units: Some(9), ..method(AbMethod::Bayesian) },
            ["--planned-units", "--method sequential"],
        ),
        (&one, AbOptions { tau: Some(0.1), ..anytime() }, ["--tau", "--sequential msprt"]),
        (
            &one,
            AbOptions { planned_looks: Some(3), ..anytime() },
            ["--planned-looks", "--sequential pocock"],
        ),
        (
            &one,
            AbOptions { spending: Some(Spending::Pocock), ..anytime() },
            ["--spending", "--sequential spending"],
        ),
        (
            &one,
            AbOptions {
                looks: Some(3),
                planned_looks: Some(3),
                ..sequential(SequentialKind::Pocock)
            },
            ["--looks", "--sequential pocock"],
        ),
        (&days, AbOptions { looks: Some(3), ..anytime() }, ["--looks", "column `look` or `day`"]),
        (&one, AbOptions { looks: Some(100_000_000), ..anytime() }, ["--looks", "100000000"]),
        (&one, AbOptions { looks: Some(0), ..anytime() }, ["--looks", "is 0"]),
        (
            &one,
            AbOptions { planned_looks: Some(13), ..sequential(SequentialKind::Pocock) },
            ["13 looks are planned", "12 values"],
        ),
        (
            &one,
            AbOptions {
                planned_looks: Some(300),
                planned_units: Some(200),
                ..sequential(SequentialKind::Pocock)
            },
            ["300 looks", "200 units"],
        ),
        (
            &one,
            AbOptions {
                planned_looks: Some(2),
                planned_units: Some(20),
                ..sequential(SequentialKind::Pocock)
            },
            ["20 units are planned", "have 24"],
        ),
    ] {
        let second = if rows == &days { &days } else { &other };
        let error = compared(rows, second, &options).unwrap_err();
        let text = error.to_string();
        assert!(flags.iter().all(|flag| text.contains(flag)), "{text}");
        assert!(error.hint().is_some_and(|hint| hint.contains("--")), "{text}");
    }
    let options = AbOptions { planned_units: Some(500), ..sequential(SequentialKind::Spending) };
    let error = compared(&one, &other, &options).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.starts_with("add `--planned-looks`")), "{error}");
}
