//! Where traces go and which are kept: what the user gave, and the variables that OpenTelemetry has for it.

use std::fmt;

use opentelemetry_sdk::trace::Sampler;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Where a collector takes traces, below the address it has for everything.
const PATH: &str = "v1/traces";
/// The argument that has the address for everything.
const ENDPOINT: &str = "--otlp-endpoint";

/// A setting that is an argument of the command line, with what stands below it.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Its value, wherever it comes from.
    pub value: Option<String>,
    /// It was said on the command line, which nothing goes before.
    pub is_on_command_line: bool,
}

/// Where traces go and which are kept.
pub struct TraceSettings {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) sampler: Sampler,
}

/// A setting that is wrong, told without its value, which may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl TraceSettings {
    /// The settings from arguments and variables; none where no collector is named, or traces are turned off.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn read(
        endpoint: &Given,
        headers: &Given,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, SettingsError> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is = |name: &str, word: &str| {
            variable(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let Some((name, value)) =
            chosen(ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", endpoint, &variable)
        else {
            return Ok(None);
        };
        let url = url(name, &value)?;
        check_protocol(&variable)?;
        let of_traces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
        let headers = match chosen("--otlp-headers", of_traces, headers, &variable) {
            Some((name, value)) => self::headers(name, &value)?,
            None => HeaderMap::new(),
        };
        Ok(Some(Self { url, headers, sampler: sampler(&variable)? }))
    }

    /// The address traces are posted to, as it may be shown.
    #[must_use]
    pub fn collector(&self) -> String {
        without_secrets(self.url.as_str()).unwrap_or_default()
    }
}

impl fmt::Debug for TraceSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let collector = self.collector();
        formatter
            .debug_struct("TraceSettings")
            .field("collector", &collector)
            .finish_non_exhaustive()
    }
}

/// An address as it may be shown: without the name, the password and the parameters in it.
#[must_use]
pub fn without_secrets(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

/// The value that counts, and what it is called: said on the command line, else in the variable for traces alone, else what
/// stands for the argument elsewhere.
fn chosen(
    argument: &'static str,
    of_traces: &'static str,
    given: &Given,
    variable: &impl Fn(&str) -> Option<String>,
) -> Option<(&'static str, String)> {
    let value = given.value.clone().filter(|value| !value.trim().is_empty());
    if given.is_on_command_line {
        return Some((argument, value?));
    }
    match variable(of_traces) {
        Some(value) => Some((of_traces, value)),
        None => Some((argument, value?)),
    }
}

/// The address traces are posted to; the variable for traces has it whole.
fn url(name: &'static str, text: &str) -> Result<Url, SettingsError> {
    let wrong = || SettingsError {
        message: format!("{name} is not the address of a collector"),
        hint: "give a URL with http or https, for example http://127.0.0.1:4318".to_owned(),
    };
    let mut url = Url::parse(text.trim()).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong());
    }
    if name == ENDPOINT {
        let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

fn check_protocol(variable: &impl Fn(&str) -> Option<String>) -> Result<(), SettingsError> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
    let set = names.into_iter().find_map(|name| Some((name, variable(name)?)));
    match set {
        Some((name, value)) if value.trim() != "http/protobuf" => Err(SettingsError {
            message: format!("{name} asks for a protocol that traces are not sent by"),
            hint: "set it to http/protobuf, and name the port that the collector has for it, 4318 by default"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Headers in the form `name=value,name=value`, with values percent-encoded.
fn headers(name: &'static str, text: &str) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    let pairs = text.split(',').enumerate().filter(|(_, pair)| !pair.trim().is_empty());
    for (position, pair) in pairs {
        let header = pair.split_once('=').and_then(|(header, value)| {
            let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::from_bytes(header.trim().as_bytes()).ok()?, value))
        });
        let Some((header, value)) = header else {
            return Err(SettingsError {
                message: format!("header {} in {name} cannot be sent", position + 1),
                hint:
                    "write name=value, separated by commas, with other characters percent-encoded"
                        .to_owned(),
            });
        };
        headers.insert(header, value);
    }
    Ok(headers)
}

/// Which traces are kept, by OpenTelemetry's own words; all that the caller keeps, where nothing is said.
fn sampler(variable: &impl Fn(&str) -> Option<String>) -> Result<Sampler, SettingsError> {
    let word = variable("OTEL_TRACES_SAMPLER");
    let word = word.as_deref().map_or("parentbased_always_on", str::trim);
    let (is_of_parent, own) = match word.strip_prefix("parentbased_") {
        Some(own) => (true, own),
        None => (false, word),
    };
    let own = match own {
        "always_on" => Sampler::AlwaysOn,
        "always_off" => Sampler::AlwaysOff,
        "traceidratio" => Sampler::TraceIdRatioBased(ratio(variable)?),
        _ => {
            return Err(SettingsError {
                message: format!("OTEL_TRACES_SAMPLER: there is no sampler `{word}`"),
                hint: "use always_on, always_off or traceidratio, each also with parentbased_ before it"
                    .to_owned(),
            });
        }
    };
    Ok(if is_of_parent { Sampler::ParentBased(Box::new(own)) } else { own })
}

fn ratio(variable: &impl Fn(&str) -> Option<String>) -> Result<f64, SettingsError> {
    let Some(text) = variable("OTEL_TRACES_SAMPLER_ARG") else { return Ok(1.0) };
    match text.trim().parse() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(ratio),
        _ => Err(SettingsError {
            message: "OTEL_TRACES_SAMPLER_ARG is not a part of all traces".to_owned(),
            hint: "give a number from 0 to 1, for example 0.1".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(
        endpoint: (&str, bool),
        headers: &str,
        variables: &[(&str, &str)],
    ) -> Result<Option<TraceSettings>, SettingsError> {
        let given = |value: &str, is_on_command_line| Given {
            value: Some(value.to_owned()),
            is_on_command_line,
        };
        let found = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        TraceSettings::read(&given(endpoint.0, endpoint.1), &given(headers, false), found)
    }

    #[test]
    fn the_command_line_goes_before_the_variable_for_traces_and_that_before_the_rest() {
        let variables = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://whole:1/as/it/is")];
        let url = |is_on_command_line, variables: &[(&str, &str)]| {
            let settings = read(("http://base:2/below/", is_on_command_line), "", variables);
            settings.unwrap().unwrap().url.to_string()
        };
        assert_eq!(url(true, &variables), "http://base:2/below/v1/traces");
        assert_eq!(url(false, &variables), "http://whole:1/as/it/is");
        assert_eq!(url(false, &[]), "http://base:2/below/v1/traces");
        assert!(read((" ", true), "", &variables).unwrap().is_none(), "an empty one turns it off");
        assert!(read(("", false), "", &[]).unwrap().is_none());
    }

    #[test]
    fn headers_are_read_with_their_characters_and_never_shown() {
        let settings = read(("http://me:pass@c:1", true), "a=b%2Cc+d, Key=s3cret==", &[]);
        let settings = settings.unwrap().unwrap();
        assert_eq!(settings.headers.get("a").unwrap(), "b,c+d");
        assert_eq!(settings.headers.get("key").unwrap(), "s3cret==");
        assert_eq!(settings.collector(), "http://c:1/v1/traces");
        let shown = format!("{settings:?} {:?}", settings.headers);
        assert!(!shown.contains("s3cret") && !shown.contains("pass"), "{shown}");
        let error = read(("http://c:1", true), "a=b,=c", &[]).unwrap_err();
        assert!(error.message.contains("header 2"), "{error:?}");
        assert!(read(("http://c:1", true), "a=line\nbreak", &[]).is_err());
    }

    #[test]
    fn samplers_have_the_names_of_opentelemetry() {
        let sampler = |name: &str, share: Option<&str>| {
            let mut variables = vec![("OTEL_TRACES_SAMPLER", name)];
            variables.extend(share.map(|share| ("OTEL_TRACES_SAMPLER_ARG", share)));
            let settings = read(("http://c:1", true), "", &variables)?;
            Ok::<_, SettingsError>(format!("{:?}", settings.unwrap().sampler))
        };
        assert_eq!(sampler("", None).unwrap(), "ParentBased(AlwaysOn)");
        assert_eq!(sampler("always_off", None).unwrap(), "AlwaysOff");
        assert_eq!(sampler("traceidratio", Some("0.25")).unwrap(), "TraceIdRatioBased(0.25)");
        let of_parent = sampler("parentbased_traceidratio", Some("0")).unwrap();
        assert_eq!(of_parent, "ParentBased(TraceIdRatioBased(0.0))");
        assert!(sampler("traceidratio", Some("NaN")).is_err());
        assert!(sampler("xray", None).is_err());
    }
}
