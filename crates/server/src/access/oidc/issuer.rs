//! The issuer: where its pages are, and the keys it signs with.

use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreClient, CoreIdTokenVerifier, CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::{
    ClientId, ClientSecret, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, RedirectUrl,
};
use tokio::sync::Mutex;

use super::OidcConfig;
use super::http::Http;
use crate::problem::{Problem, UNAVAILABLE};

/// For how long what the issuer says of itself is believed.
const BELIEVED: Duration = Duration::from_secs(3600);
/// How long after asking it is not asked again, whatever it signed with.
const SPARED: Duration = Duration::from_secs(30);

/// Signatures that are taken: those of keys that only the issuer has.
const SIGNATURES: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// A client of the issuer whose pages are known.
pub(super) type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Somebody who vouches for people.
#[derive(Debug)]
pub(crate) struct Issuer {
    pub(super) config: OidcConfig,
    pub(super) http: Http,
    url: IssuerUrl,
    redirect: RedirectUrl,
    said: Mutex<Option<(Instant, CoreProviderMetadata)>>,
}

impl Issuer {
    /// The issuer as it is set up; else what is wrong.
    pub(crate) fn new(config: OidcConfig, public_url: &reqwest::Url) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what} is no address");
        let base = public_url.as_str().trim_end_matches('/');
        let callback = format!("{base}/v1/session/oidc/callback");
        Ok(Self {
            url: IssuerUrl::new(config.issuer.clone()).map_err(|_| wrong("the issuer"))?,
            redirect: RedirectUrl::new(callback).map_err(|_| wrong("the public address"))?,
            http: Http::new().map_err(|error| error.to_string())?,
            said: Mutex::new(None),
            config,
        })
    }

    /// A client of the issuer; asked anew where what it said is old, or something is signed with a key that it did not say.
    pub(super) async fn client(&self, is_key_unknown: bool) -> Result<Client, Problem> {
        let mut said = self.said.lock().await;
        let believed = if is_key_unknown { SPARED } else { BELIEVED };
        let known = said.as_ref().filter(|(asked, _)| asked.elapsed() < believed);
        let metadata = match known {
            Some((_, metadata)) => metadata.clone(),
            None => {
                let asked =
                    CoreProviderMetadata::discover_async(self.url.clone(), &self.http).await;
                let metadata = asked.map_err(|error| {
                    tracing::warn!(%error, issuer = %self.url.as_str(), "the issuer says nothing of itself");
                    let problem = Problem::new(UNAVAILABLE, "who vouches for people does not answer");
                    problem.hint("try again a little later, or sign in with a password")
                })?;
                *said = Some((Instant::now(), metadata.clone()));
                metadata
            }
        };
        let id = ClientId::new(self.config.client_id.clone());
        let secret = self.config.client_secret.clone().map(ClientSecret::new);
        let client = CoreClient::from_provider_metadata(metadata, id, secret);
        Ok(client.set_redirect_uri(self.redirect.clone()))
    }

    /// What checks an ID token.
    pub(super) fn verifier<'client>(
        &self,
        client: &'client Client,
    ) -> CoreIdTokenVerifier<'client> {
        client.id_token_verifier().set_allowed_algs(SIGNATURES)
    }
}
